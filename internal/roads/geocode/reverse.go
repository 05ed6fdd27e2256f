package geocode

import (
	"cmp"
	"context"
	"math"
	"slices"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// Near is a reverse query.
type Near struct {
	At       geo.Point
	Radius   float64 // metres
	Limit    int     // at most MaxLimit
	Language int     // index in Languages; -1: the default names
	Filter   Filter
}

// Penalties in metres, added to the distance for the order of results.
const (
	featureBehind = 10  // because drivers want the address first
	placeBehind   = 300 // because drivers want the place around them last
)

// found is a hit of a reverse search.
type found struct {
	hit
	away float64 // metres
	rank float64 // metres, including the penalty
}

// Reverse appends what is near a position, the nearest first: house numbers, streets, features and places. It returns
// the same errors as Search.
func (x *Index) Reverse(ctx context.Context, dst []Result, q *Near) ([]Result, error) {
	s, err := x.take(ctx)
	if err != nil {
		return dst, err
	}
	defer func() { x.scratches <- s }()
	s.kinds = q.Filter.kinds(s.kinds[:0], x.kindList)
	s.near = s.near[:0]
	x.nearStreets(s, q)
	x.nearPoints(s, q)
	slices.SortFunc(s.near, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.id, b.id), cmp.Compare(a.house, b.house))
	})
	query := &Query{Language: q.Language}
	for i := range s.near {
		f := &s.near[i]
		if len(dst) == q.Limit {
			break
		}
		if slices.ContainsFunc(s.near[:i], func(o found) bool { return o.id == f.id && o.house == f.house }) {
			continue
		}
		r := x.result(&f.hit, query)
		r.Distance = f.away
		dst = append(dst, r)
	}
	return dst, nil
}

// streetsLookedAt is the number of pieces of named roads that a reverse search considers for each result.
const streetsLookedAt = 4

// nearStreets finds the nearest named roads.
func (x *Index) nearStreets(s *scratch, q *Near) {
	if !q.Filter.allows(LayerStreet) {
		return
	}
	s.roads = x.roads.Nearest(s.roads[:0], q.At, match.Nearest{Within: q.Radius, Count: streetsLookedAt * q.Limit, Accept: func(piece uint32) bool {
		return x.graph.Ways[x.graph.Pieces[piece].Way].Name.Length > 0
	}})
	for _, road := range s.roads {
		at := positionOf(road.Point)
		id := x.streetOf(x.graph.Ways[x.graph.Pieces[road.Piece].Way].Name.Start, at)
		if id != none && s.kinds[x.documents[id].Kind] {
			s.near = append(s.near, found{hit{id: id, house: none, other: none, at: at}, road.Distance, road.Distance})
		}
	}
}

// streetOf returns the street with a name, given by its offset in the graph's texts, or with it as another spelling. Of
// several it returns the one whose box is nearest to a position.
func (x *Index) streetOf(name uint32, at graph.Position) uint32 {
	streets := x.documents[x.features:]
	first, _ := slices.BinarySearchFunc(streets, name, func(d document, name uint32) int { return cmp.Compare(d.Name, name) })
	best, least := uint32(none), math.Inf(1)
	consider := func(id uint32) {
		around := x.boxOf(id)
		if away := around.distance(at); away < least && !x.documents[id].has(hidden) {
			best, least = id, away
		}
	}
	for i := first; i < len(streets) && streets[i].Name == name; i++ {
		consider(uint32(x.features + i))
	}
	other, _ := slices.BinarySearchFunc(x.spellings, spelling{Name: name}, compareSpellings)
	for ; other < len(x.spellings) && x.spellings[other].Name == name; other++ {
		consider(x.spellings[other].Street)
	}
	return best
}

// nearPoints finds houses, features and places, and streets that are not roads for cars.
func (x *Index) nearPoints(s *scratch, q *Near) {
	n := nearest{x: x, frame: newFrame(q.At), limit: q.Limit, worst: q.Radius, best: s.points[:0]}
	houses := q.Filter.allows(LayerHouse) && q.Filter.allowsKind(&indexKind{houseKey, houseValue})
	unnamed := q.Filter.wantsTags() // a place without a name says nothing of where the position is
	n.accept = func(number uint32) (behind float64, ok bool) {
		switch k := int(number) - x.features; {
		case k < 0:
			d := &x.documents[number]
			if d.layer() >= LayerLocality || d.Kind == x.postcodes {
				behind = placeBehind
			} else {
				behind = featureBehind
			}
			return behind, s.kinds[d.Kind] && q.Filter.allows(d.layer()) && (unnamed || d.NameLength > 0)
		case k < len(x.houses):
			return 0, houses
		default:
			street := x.samples[k-len(x.houses)].Street
			return 0, q.Filter.allows(LayerStreet) && s.kinds[x.documents[street].Kind]
		}
	}
	for turn := -1; turn <= 1; turn++ { // places beyond the antimeridian
		if lng := int64(n.frame.at.Lng) + int64(turn)*fullTurn; turn == 0 || lng-n.reachLng() < fullTurn/2 && lng+n.reachLng() > -fullTurn/2 {
			n.lng = lng
			n.visit(x.tree, false, 0)
		}
	}
	s.points = n.best
	for _, p := range n.best {
		at := x.treePosition(p.number, x.features)
		h := hit{id: p.number, house: none, other: none, at: at}
		switch k := int(p.number) - x.features; {
		case k < 0:
		case k < len(x.houses):
			h.id, h.house = x.streetOfHouse(uint32(k)), uint32(k)
		default:
			h.id = x.samples[k-len(x.houses)].Street
		}
		s.near = append(s.near, found{h, p.away, p.away + p.behind})
	}
}

// point is an entry of the tree with its distance.
type point struct {
	number       uint32
	away, behind float64 // metres
}

// nearest is a search in the tree.
type nearest struct {
	x      *Index
	frame  frame
	lng    int64 // of the position, possibly beyond the antimeridian
	limit  int
	worst  float64 // maximum distance in metres
	accept func(number uint32) (behind float64, ok bool)
	best   []point // the nearest first
}

// reachLng returns the radius in units of longitude.
func (n *nearest) reachLng() int64 {
	return int64(n.worst/metresPerUnit/max(float64(n.frame.cos)-1e-3, 1e-3)) + 1
}

// visit searches a part of the tree.
func (n *nearest) visit(part []uint32, byLng bool, depth int) {
	if len(part) == 0 || depth > 64 {
		return
	}
	middle := len(part) / 2
	at := n.x.treePosition(part[middle], n.x.features)
	n.try(part[middle], at)
	gap := float64(int64(n.frame.at.Lat)-int64(at.Lat)) * metresPerUnit
	if byLng {
		// A degree of longitude is narrower towards the poles, so use the narrowest within reach.
		gap = float64(n.lng-int64(at.Lng)) * metresPerUnit * max(0, float64(n.frame.cos)-n.worst/6e6)
	}
	near, far := part[:middle], part[middle+1:]
	if byLng && n.lng > int64(at.Lng) || !byLng && n.frame.at.Lat > at.Lat {
		near, far = far, near
	}
	n.visit(near, !byLng, depth+1)
	if math.Abs(gap) <= n.worst {
		n.visit(far, !byLng, depth+1)
	}
}

// try keeps an entry if it is among the nearest.
func (n *nearest) try(number uint32, at graph.Position) {
	away := metres(n.frame.at, at)
	if away > n.worst {
		return
	}
	behind, ok := n.accept(number)
	if !ok || slices.ContainsFunc(n.best, func(p point) bool { return p.number == number }) {
		return
	}
	rank := away + behind
	i := len(n.best)
	for i > 0 {
		before := &n.best[i-1]
		if c := cmp.Compare(before.away+before.behind, rank); c < 0 || c == 0 && before.number < number {
			break // of equally near ones the first counts, whatever the tree looks like
		}
		i--
	}
	if i >= n.limit {
		return
	}
	n.best = slices.Insert(n.best, i, point{number, away, behind})
	if len(n.best) > n.limit {
		n.best = n.best[:n.limit]
	}
	if len(n.best) == n.limit {
		last := n.best[n.limit-1]
		n.worst = min(n.worst, last.away+last.behind)
	}
}
