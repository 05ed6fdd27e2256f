package law

import (
	"math"

	"wayside/internal/ground/geo"
)

// turn is 360° of longitude.
const turn = 360

// shape is one polygon of an area with its holes, indexed for point-in-polygon tests. Its longitudes exceed 180 if it
// crosses the antimeridian.
type shape struct {
	area   int32
	bounds geo.Box  // of the outer ring
	slabs  [][]edge // by latitude, from the south: the edges that cross each
	height float64  // of a slab, in degrees
}

// edge is a straight line between two points in degrees, as in GeoJSON (RFC 7946, 3.1.1).
type edge struct{ ax, ay, bx, by float64 }

// contains reports whether a point lies in the shape. For points on its boundary the result is unspecified.
func (s *shape) contains(p geo.Point) bool {
	b := &s.bounds
	if p.Lat < b.South || p.Lat > b.North {
		return false
	}
	for _, shift := range [...]float64{0, turn, -turn} {
		if x := p.Lng + shift; x >= b.West && x <= b.East && s.inside(x, p.Lat) {
			return true
		}
	}
	return false
}

// inside applies the even-odd rule: it counts the edges east of a point.
func (s *shape) inside(x, y float64) bool {
	odd := false
	for _, e := range s.slabs[s.slab(y)] {
		if (e.ay > y) != (e.by > y) && x < e.ax+(y-e.ay)/(e.by-e.ay)*(e.bx-e.ax) {
			odd = !odd
		}
	}
	return odd
}

func (s *shape) slab(y float64) int {
	return max(0, min(int((y-s.bounds.South)/s.height), len(s.slabs)-1))
}

// Sizes of the slabs: few edges each, with bounded memory.
const (
	edgesPerSlab = 4
	maxSlabs     = 4096
	maxCopies    = 8 // slabs per edge, on average
)

// newShape creates a shape from rings, the outer one first, each closed and unrolled.
func newShape(area int32, rings [][]geo.Point) shape {
	s := shape{area: area, bounds: boundsOf(rings[0])}
	var edges []edge
	for _, ring := range rings {
		for i := 1; i < len(ring); i++ {
			if a, b := ring[i-1], ring[i]; a.Lat != b.Lat {
				edges = append(edges, edge{a.Lng, a.Lat, b.Lng, b.Lat})
			}
		}
	}
	for count := max(1, min(len(edges)/edgesPerSlab, maxSlabs)); ; count /= 2 {
		s.slabs = make([][]edge, count)
		s.height = (s.bounds.North - s.bounds.South) / float64(count)
		copies := 0
		for _, e := range edges {
			copies += s.slab(math.Max(e.ay, e.by)) - s.slab(math.Min(e.ay, e.by)) + 1
		}
		if count == 1 || copies <= maxCopies*len(edges) {
			break
		}
	}
	for _, e := range edges {
		for i := s.slab(math.Min(e.ay, e.by)); i <= s.slab(math.Max(e.ay, e.by)); i++ {
			s.slabs[i] = append(s.slabs[i], e)
		}
	}
	return s
}

func boundsOf(ring []geo.Point) geo.Box {
	b := geo.Box{South: 90, West: math.Inf(1), North: -90, East: math.Inf(-1)}
	for _, p := range ring {
		b.South, b.North = math.Min(b.South, p.Lat), math.Max(b.North, p.Lat)
		b.West, b.East = math.Min(b.West, p.Lng), math.Max(b.East, p.Lng)
	}
	return b
}
