package tilemaker

// geometry is the type of a feature.
type geometry uint8

const (
	dot geometry = iota
	stroke
	fill
)

// feature is a drawn object.
type feature struct {
	attributes *attributes
	geometry   geometry
	lowest     uint8 // zoom
	box        box
	parts      [][]vertex // lines; or an outline followed by its holes; or one spot
	priority   int64      // see drawing
}

func newFeature(a *attributes, g geometry, lowest uint8, parts ...[]vertex) *feature {
	f := &feature{attributes: a, geometry: g, lowest: lowest, parts: parts}
	f.measure()
	return f
}

func (f *feature) measure() {
	f.box = emptyBox
	for _, part := range f.parts {
		for _, v := range part {
			f.box = f.box.with(v.spot)
		}
	}
}

// clip returns the part of a feature in a box, or nil. The result may be the feature itself.
func (f *feature) clip(to box) *feature {
	switch {
	case !f.box.meets(to):
		return nil
	case to.holds(f.box):
		return f
	}
	out := &feature{attributes: f.attributes, geometry: f.geometry, lowest: f.lowest}
	for i, part := range f.parts {
		if f.geometry == stroke {
			out.parts = appendClipped(out.parts, part, to)
			continue
		}
		ring := clipRing(part, to)
		if len(ring) < 3 || isFlat(ring) {
			if i == 0 {
				return nil
			}
			continue
		}
		out.parts = append(out.parts, ring)
	}
	if len(out.parts) == 0 {
		return nil
	}
	out.measure()
	return out
}

// covers reports whether the feature is an area that fills exactly a box.
func (f *feature) covers(b box) bool {
	if f.geometry != fill || len(f.parts) != 1 || len(f.parts[0]) != len(b.ring()) || f.box != b {
		return false
	}
	for _, v := range f.parts[0] {
		if (v.X != b.west && v.X != b.east) || (v.Y != b.north && v.Y != b.south) {
			return false
		}
	}
	return true
}

// Edges of a box, as half planes: whether a spot is inside, and where the line between two spots crosses the edge.
const (
	westEdge = iota
	eastEdge
	northEdge
	southEdge
	edges
)

func (b box) inside(edge int, s spot) bool {
	switch edge {
	case westEdge:
		return s.X >= b.west
	case eastEdge:
		return s.X <= b.east
	case northEdge:
		return s.Y >= b.north
	}
	return s.Y <= b.south
}

// cross returns where the line between two spots on different sides of an edge crosses it. The result does not depend on
// the order of the spots.
func (b box) cross(edge int, p, q spot) spot {
	at := func(v, from, to, low, high int32) int32 {
		if from > to {
			from, to, low, high = to, from, high, low
		}
		return low + int32((int64(high)-int64(low))*(int64(v)-int64(from))/(int64(to)-int64(from)))
	}
	switch edge {
	case westEdge:
		return spot{b.west, at(b.west, p.X, q.X, p.Y, q.Y)}
	case eastEdge:
		return spot{b.east, at(b.east, p.X, q.X, p.Y, q.Y)}
	case northEdge:
		return spot{at(b.north, p.Y, q.Y, p.X, q.X), b.north}
	}
	return spot{at(b.south, p.Y, q.Y, p.X, q.X), b.south}
}

// clipRing clips a ring to a box (Sutherland-Hodgman). A ring that leaves and comes back runs along the edges in
// between.
func clipRing(ring []vertex, to box) []vertex {
	for edge := range edges {
		whole := true
		for _, v := range ring {
			if whole = to.inside(edge, v.spot); !whole {
				break
			}
		}
		if whole {
			continue
		}
		kept := make([]vertex, 0, len(ring)/2+4)
		add := func(v vertex) {
			if n := len(kept); n == 0 || kept[n-1].spot != v.spot {
				kept = append(kept, v)
			}
		}
		for i, b := range ring {
			a := ring[(i+len(ring)-1)%len(ring)]
			in := to.inside(edge, b.spot)
			if to.inside(edge, a.spot) != in {
				add(vertex{spot: to.cross(edge, a.spot, b.spot)})
			}
			if in {
				add(b)
			}
		}
		ring = withoutSpikes(kept)
	}
	return ring
}

// withoutSpikes removes vertices on one horizontal or vertical line with both neighbours, which clipping leaves along
// edges, so that a large area has few vertices in a tile that it fills.
func withoutSpikes(ring []vertex) []vertex {
	level := func(a, b, c vertex) bool { return a.X == b.X && b.X == c.X || a.Y == b.Y && b.Y == c.Y }
	kept := ring[:0]
	for _, v := range ring {
		for n := len(kept); n > 1 && level(kept[n-2], kept[n-1], v); n = len(kept) {
			kept = kept[:n-1]
		}
		kept = append(kept, v)
	}
	for n := len(kept); n > 2; n = len(kept) {
		switch {
		case kept[0].spot == kept[n-1].spot, level(kept[n-2], kept[n-1], kept[0]):
			kept = kept[:n-1]
		case level(kept[n-1], kept[0], kept[1]):
			kept = kept[1:]
		default:
			return kept
		}
	}
	return kept
}

func isFlat(ring []vertex) bool {
	sum := int64(0)
	origin := ring[0]
	for i, a := range ring {
		b := ring[(i+1)%len(ring)]
		sum += (int64(a.X)-int64(origin.X))*(int64(b.Y)-int64(origin.Y)) - (int64(b.X)-int64(origin.X))*(int64(a.Y)-int64(origin.Y))
	}
	return sum == 0
}

// appendClipped appends the parts of a line that lie in a box.
func appendClipped(parts [][]vertex, line []vertex, to box) [][]vertex {
	var part []vertex
	end := func() {
		if len(part) > 1 {
			parts = append(parts, part)
		}
		part = nil
	}
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		if to.contains(a.spot) && to.contains(b.spot) {
			if part == nil {
				part = append(part, a)
			}
			part = append(part, b)
			continue
		}
		from, upTo, ok := clipSegment(a, b, to)
		if !ok {
			end()
			continue
		}
		if part == nil || part[len(part)-1].spot != from.spot {
			end()
			part = append(part, from)
		}
		if part = append(part, upTo); upTo.spot != b.spot {
			end()
		}
	}
	end()
	return parts
}

// clipSegment clips the line between two vertices. ok is false if no part of it is in the box.
func clipSegment(a, b vertex, to box) (vertex, vertex, bool) {
	for edge := range edges {
		inA, inB := to.inside(edge, a.spot), to.inside(edge, b.spot)
		switch {
		case !inA && !inB:
			return a, b, false
		case !inA:
			a = vertex{spot: to.cross(edge, a.spot, b.spot)}
		case !inB:
			b = vertex{spot: to.cross(edge, a.spot, b.spot)}
		}
	}
	return a, b, a.spot != b.spot
}
