package tilemaker

import (
	"cmp"
	"context"
	"slices"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/osmpbf"
)

// Reasons why something is not drawn, in Counts.LeftOut.
const (
	badTexts      = "map_invalid_texts"
	unclosedAreas = "map_unclosed_areas"
	crossingAreas = "map_self_crossing_areas" // drawn as the parts between the crossings
	aroundAreas   = "map_areas_over_antimeridian"
	crowdedAreas  = "map_crowded_areas" // too many rings or crossings
	missingNodes  = "map_missing_nodes"
	longSegments  = "map_long_segments"
	coastlineGaps = "map_coastline_gaps" // closed by a straight line
	coastlineEnds = "map_coastline_ends" // too many to close
	crowdedTiles  = "map_crowded_tiles"  // drawn without their smallest objects
)

// way is a way that is drawn, or part of something drawn.
type way struct {
	id       int64
	from, to int // in source.refs
	drawings []drawn
	coast    bool
}

// drawn is a drawing whose attributes are interned.
type drawn struct {
	attributes *attributes
	geometry   geometry
	lowest     uint8
	priority   int64
}

// relation is an area made of ways.
type relation struct {
	members  []int64
	drawings []drawn
}

// route is a network that a way belongs to by a relation.
type route struct {
	way     int64
	network string
}

// source is the data read from the extracts.
type source struct {
	ways      []way
	refs      []int64 // of all ways, concatenated
	relations []relation
	points    []*feature
	nodes     nodes
	headers   []*geo.Box // bounds in the headers of the extracts
	bounds    []box      // bounds of the extracts as they are drawn
	effort    effort

	*interner
	left map[string]int

	// From relations about ways; sorted.
	members, borders []int64
	routes           []route
	seen             map[int64]bool // ways; nil: there is one extract
}

// nodes are the positions of the nodes that ways refer to, by their sorted ids.
type nodes struct {
	ids   []int64
	spots []spot
}

func (n *nodes) find(id int64) (int, bool) { return slices.BinarySearch(n.ids, id) }

// read reads everything that is drawn.
func read(ctx context.Context, files []*osmpbf.File) (*source, error) {
	s := &source{interner: newInterner(), left: make(map[string]int)}
	s.effort = minEffort
	for _, f := range files {
		s.effort += effort(f.Size()) * effortPerByte
	}
	if len(files) > 1 {
		s.seen = make(map[int64]bool)
	}
	for _, f := range files {
		if err := s.readRelations(ctx, f); err != nil {
			return nil, err
		}
	}
	for _, ids := range []*[]int64{&s.members, &s.borders} {
		slices.Sort(*ids)
		*ids = slices.Clip(slices.Compact(*ids))
	}
	slices.SortStableFunc(s.routes, func(a, b route) int { return cmp.Compare(a.way, b.way) })
	for _, f := range files {
		if err := s.readWays(ctx, f); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(s.ways, func(a, b way) int { return cmp.Compare(a.id, b.id) })
	s.nodes.ids = slices.Clone(s.refs)
	slices.Sort(s.nodes.ids)
	s.nodes.ids = slices.Clip(slices.Compact(s.nodes.ids))
	s.nodes.spots = make([]spot, len(s.nodes.ids))
	for i := range s.nodes.spots {
		s.nodes.spots[i] = nowhere
	}
	for _, f := range files {
		if err := s.readNodes(ctx, f); err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		s.headers = append(s.headers, f.Header.Bounds)
	}
	return s, nil
}

// found is the result of a worker for a block.
type found struct {
	objects  []object
	badTexts int
}

// object is an object that is drawn or needed.
type object struct {
	id       int64
	refs     []int64 // of a way: its nodes; of a relation: its ways
	at       spot    // of a node
	index    int     // of a node in nodes; -1: no way refers to it
	drawings []drawing
	coast    bool
	use      relationUse
	network  string
}

// relationUse is the purpose for which a relation is read.
type relationUse uint8

const (
	asArea relationUse = iota
	asBorder
	asRoute
)

func (s *source) readRelations(ctx context.Context, f *osmpbf.File) error {
	work := func(b *osmpbf.Block) (found, error) {
		var out found
		var facts facts
		for i := range b.Relations {
			r := &b.Relations[i]
			facts.read(r.Tags)
			o := object{id: r.ID, network: facts.network}
			switch {
			case facts.kind == "multipolygon", facts.kind == "boundary" && facts.boundary != "administrative":
				o.drawings = facts.areas()
			case facts.kind == "boundary" && facts.adminLevel == "2":
				o.use = asBorder
			case facts.kind == "route" && facts.route == "road" && facts.network != "":
				o.use = asRoute
			}
			if o.use == asArea && len(o.drawings) == 0 {
				continue
			}
			out.badTexts += facts.badTexts
			for _, m := range r.Members {
				if m.Type == osmpbf.Ways {
					o.refs = append(o.refs, m.Ref)
				}
			}
			out.objects = append(out.objects, o)
		}
		return out, nil
	}
	return osmpbf.Map(ctx, f, osmpbf.Options{Want: osmpbf.Relations}, work, func(b found) error {
		s.left[badTexts] += b.badTexts
		for _, o := range b.objects {
			switch o.use {
			case asArea:
				s.members = append(s.members, o.refs...)
				s.relations = append(s.relations, relation{o.refs, s.keep(o.drawings)})
			case asBorder:
				s.borders = append(s.borders, o.refs...)
			case asRoute:
				for _, id := range o.refs {
					s.routes = append(s.routes, route{id, s.text(o.network)})
				}
			}
		}
		return nil
	})
}

// keep interns the attributes of drawings.
func (s *source) keep(drawings []drawing) []drawn {
	out := make([]drawn, len(drawings))
	for i, d := range drawings {
		out[i] = drawn{s.intern(d.layer, d.tags), d.geometry, d.lowest, d.priority}
	}
	return out
}

// network returns the network of a way's first route, or "".
func (s *source) network(way int64) string {
	i, ok := slices.BinarySearchFunc(s.routes, way, func(r route, id int64) int { return cmp.Compare(r.way, id) })
	if !ok {
		return ""
	}
	return s.routes[i].network
}

func (s *source) readWays(ctx context.Context, f *osmpbf.File) error {
	work := func(b *osmpbf.Block) (found, error) {
		var out found
		var facts facts
		for i := range b.Ways {
			w := &b.Ways[i]
			facts.read(w.Tags)
			o := object{id: w.ID, coast: facts.natural == "coastline", drawings: facts.lines(s.network(w.ID))}
			if n := len(w.Refs); n > 3 && w.Refs[0] == w.Refs[n-1] && facts.area != "no" {
				o.drawings = append(o.drawings, facts.areas()...)
			}
			_, isBorder := slices.BinarySearch(s.borders, w.ID)
			if isBorder && facts.maritime != "yes" && !o.coast {
				o.drawings = append(o.drawings, drawing{layer: boundariesLayer, geometry: stroke, tags: appendText(nil, "kind", "country", 0)})
			}
			_, isMember := slices.BinarySearch(s.members, w.ID)
			if len(w.Refs) < 2 || len(o.drawings) == 0 && !o.coast && !isMember {
				continue
			}
			out.badTexts += facts.badTexts
			o.refs = slices.Clone(w.Refs)
			out.objects = append(out.objects, o)
		}
		return out, nil
	}
	return osmpbf.Map(ctx, f, osmpbf.Options{Want: osmpbf.Ways}, work, func(b found) error {
		s.left[badTexts] += b.badTexts
		for _, o := range b.objects {
			if s.seen != nil {
				if s.seen[o.id] {
					continue
				}
				s.seen[o.id] = true
			}
			from := len(s.refs)
			s.refs = append(s.refs, o.refs...)
			s.ways = append(s.ways, way{o.id, from, len(s.refs), s.keep(o.drawings), o.coast})
		}
		return nil
	})
}

func (s *source) readNodes(ctx context.Context, f *osmpbf.File) error {
	work := func(b *osmpbf.Block) (found, error) {
		var out found
		var facts facts
		for i := range b.Nodes {
			n := &b.Nodes[i]
			o := object{id: n.ID, index: -1}
			if index, ok := s.nodes.find(n.ID); ok {
				o.index = index
			}
			if len(n.Tags) > 0 {
				facts.read(n.Tags)
				o.drawings = facts.points()
			}
			if o.index < 0 && len(o.drawings) == 0 {
				continue
			}
			if len(o.drawings) > 0 {
				out.badTexts += facts.badTexts
			}
			o.at = project(n.Point())
			out.objects = append(out.objects, o)
		}
		return out, nil
	}
	return osmpbf.Map(ctx, f, osmpbf.Options{Want: osmpbf.Nodes}, work, func(b found) error {
		s.left[badTexts] += b.badTexts
		for _, o := range b.objects {
			if o.index >= 0 {
				s.nodes.spots[o.index] = o.at
			}
			if o.at == nowhere {
				continue
			}
			for _, d := range s.keep(o.drawings) {
				s.points = append(s.points, point(d, o.at))
			}
		}
		return nil
	})
}

// point makes a feature of one spot.
func point(d drawn, at spot) *feature {
	f := newFeature(d.attributes, dot, d.lowest, []vertex{{spot: at}})
	f.priority = d.priority
	return f
}
