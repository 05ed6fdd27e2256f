package geocode

import (
	"math"
	"slices"

	"wayside/internal/roads/graph"
)

// area is a closed administrative boundary, or a place that is mapped as an area.
type area struct {
	object int // in the collector's objects
	rank   Layer
	level  int
	size   float64 // of its box, in square units
	around box
	bands  [][]edge // edges by latitude
}

// edge is a piece of the boundary.
type edge struct{ a, b graph.Position }

// maxBands is the maximum number of latitude bands into which an area's edges are sorted.
const maxBands = 512

// areas returns the areas that can contain places: the objects whose rings are complete. It counts those with gaps.
func (c *collector) areas() []area {
	var out []area
	for i := range c.objects {
		o := &c.objects[i]
		rank := o.kind.layer()
		switch {
		case o.role == isBoundary:
			rank = layerOfLevel(o.rare.level)
		case o.role == isPlace && o.kind.key == "place" && (o.osm&3 != osmNode) && rank >= LayerDistrict:
		default:
			continue
		}
		if rank == LayerOther {
			continue
		}
		a := area{object: i, rank: rank, level: o.rare.level, around: o.around}
		edges, closed := c.edgesOf(o)
		if !closed {
			if o.role == isBoundary {
				c.leftOut["boundaries_with_gaps"]++
			}
			continue
		}
		a.size = float64(a.around.east-a.around.west) * float64(a.around.north-a.around.south)
		a.sort(edges)
		out = append(out, a)
	}
	return out
}

// layerOfLevel returns the layer that a boundary of an admin_level encloses in most countries.
func layerOfLevel(level int) Layer {
	switch level {
	case 2:
		return LayerCountry
	case 3, 4:
		return LayerState
	case 5, 6:
		return LayerCounty
	case 7, 8:
		return LayerCity
	case 9, 10:
		return LayerDistrict
	}
	return LayerOther
}

// edgesOf returns the edges of an area, and whether they are closed: each node ends as many lines as it begins, and no
// node is missing.
func (c *collector) edgesOf(o *object) (edges []edge, closed bool) {
	ends := map[int64]int{}
	line := func(first, count uint32) bool {
		refs := c.refs[first : first+count]
		if len(refs) == 0 {
			return false
		}
		ends[refs[0]]++
		ends[refs[len(refs)-1]]++
		for i := range refs {
			at, ok := c.position(refs[i])
			if !ok {
				return false
			}
			if i > 0 {
				before, _ := c.position(refs[i-1])
				edges = append(edges, edge{before, at})
			}
		}
		return true
	}
	if o.osm&3 == osmWay {
		if !line(o.firstRef, o.refs) {
			return nil, false
		}
	}
	for _, way := range o.rare.members {
		if !line(c.lines[way][0], c.lines[way][1]) {
			return nil, false
		}
	}
	for _, n := range ends {
		if n%2 != 0 {
			return nil, false
		}
	}
	return edges, len(edges) > 2
}

func (a *area) band(lat int32) int {
	height := a.around.north - a.around.south + 1
	return int((int64(lat) - a.around.south) * int64(len(a.bands)) / height)
}

// sort puts edges into the bands that they touch.
func (a *area) sort(edges []edge) {
	a.bands = make([][]edge, min(maxBands, 1+len(edges)/8))
	for _, e := range edges {
		for band := a.band(min(e.a.Lat, e.b.Lat)); band <= a.band(max(e.a.Lat, e.b.Lat)); band++ {
			a.bands[band] = append(a.bands[band], e)
		}
	}
}

// contains reports whether a place lies inside the area: whether a line from it to the east crosses the boundary an odd
// number of times.
func (a *area) contains(p graph.Position) bool {
	if !a.around.contains(p, 0) {
		return false
	}
	inside := false
	for _, e := range a.bands[a.band(p.Lat)] {
		if (e.a.Lat > p.Lat) == (e.b.Lat > p.Lat) {
			continue
		}
		ax, bx := shorter(int64(e.a.Lng)-int64(p.Lng)), shorter(int64(e.b.Lng)-int64(p.Lng))
		share := float64(int64(p.Lat)-int64(e.a.Lat)) / float64(int64(e.b.Lat)-int64(e.a.Lat))
		if float64(ax)+share*float64(bx-ax) > 0 {
			inside = !inside
		}
	}
	return inside
}

// shorter returns a difference of longitudes along the shorter way around the globe.
func shorter(difference int64) int64 {
	switch {
	case difference > fullTurn/2:
		return difference - fullTurn
	case difference < -fullTurn/2:
		return difference + fullTurn
	}
	return difference
}

// surroundings finds the areas and places that a position lies in.
type surroundings struct {
	areas    []area
	document []uint32 // of each area
	centres  []centre // places that are nodes, sorted by latitude
}

// centre is a place that is a node.
type centre struct {
	at       graph.Position
	document uint32
	rank     Layer
	radius   float64 // metres within which things belong to the place
}

// placeRadius returns the radius in metres of a place that is mapped as a point.
func placeRadius(value string) float64 {
	switch value {
	case "city":
		return 12_000
	case "town", "municipality":
		return 6_000
	case "village":
		return 4_000
	case "hamlet":
		return 2_000
	case "borough", "suburb":
		return 2_500
	case "quarter", "neighbourhood":
		return 1_500
	}
	return 0
}

// widestPlace is the largest radius of a place, in metres.
const widestPlace = 12_000

// at returns what a position lies in: by boundaries and, for a city or district without one, by the nearest place that
// is a point.
func (s *surroundings) at(p graph.Position) place {
	out := place{City: none, District: none, County: none, State: none, Country: none}
	var levels, sizes [layers]float64
	for i := range s.areas {
		a := &s.areas[i]
		into := out.of(a.rank)
		if into == nil || !a.contains(p) {
			continue
		}
		// The most local area of a layer counts: the one with the highest admin_level, then the one with the smallest
		// box. So a municipality takes precedence over an association of municipalities, and a quarter over a district.
		if *into != none && (float64(a.level) < levels[a.rank] || float64(a.level) == levels[a.rank] && a.size >= sizes[a.rank]) {
			continue
		}
		*into, levels[a.rank], sizes[a.rank] = s.document[i], float64(a.level), a.size
	}
	if out.City == none {
		out.City = s.nearest(p, LayerCity)
	}
	if out.District == none {
		out.District = s.nearest(p, LayerDistrict)
	}
	return out
}

// of returns a pointer to the field of a layer, or nil if places have none for it.
func (p *place) of(l Layer) *uint32 {
	switch l {
	case LayerCity:
		return &p.City
	case LayerDistrict:
		return &p.District
	case LayerCounty:
		return &p.County
	case LayerState:
		return &p.State
	case LayerCountry:
		return &p.Country
	}
	return nil
}

// nearest returns the nearest place of a layer, with distances measured relative to each place's radius.
func (s *surroundings) nearest(p graph.Position, rank Layer) uint32 {
	reach := int64(math.Ceil(widestPlace / metresPerUnit))
	from, _ := slices.BinarySearchFunc(s.centres, int64(p.Lat)-reach, func(c centre, lat int64) int { return int(int64(c.at.Lat) - lat) })
	best, least := uint32(none), 1.0
	for _, c := range s.centres[from:] {
		if int64(c.at.Lat) > int64(p.Lat)+reach {
			break
		}
		if c.rank != rank {
			continue
		}
		if share := metres(c.at, p) / c.radius; share < least {
			best, least = c.document, share
		}
	}
	return best
}
