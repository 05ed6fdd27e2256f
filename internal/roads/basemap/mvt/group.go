package mvt

import "slices"

// Group is one feature of several lines or areas with the same tags. The caller must add only geometry that is clipped
// to the tile.
type Group struct {
	geometryType uint64
	numbers      []byte // the tags, encoded
	pen          pen
	kept         []Cell
}

// LineGroup returns the group of lines with the tags, always the same one for the same tags. Groups are encoded in the
// order of their first use, after the layer's other features.
func (l *Layer) LineGroup(tags ...Tag) *Group { return l.group(line, tags) }

// AreaGroup is like LineGroup for areas.
func (l *Layer) AreaGroup(tags ...Tag) *Group { return l.group(polygon, tags) }

func (l *Layer) group(geometryType uint64, tags []Tag) *Group {
	numbers := l.numbers(tags)
	key := string(rune(geometryType)) + string(numbers)
	g := l.grouped[key]
	if g == nil {
		if l.grouped == nil {
			l.grouped = make(map[string]*Group)
		}
		g = &Group{geometryType: geometryType, numbers: numbers}
		l.grouped[key] = g
		l.groups = append(l.groups, g)
	}
	return g
}

// Line adds a line. It drops consecutive equal points, and then lines of a single point.
func (g *Group) Line(points []Cell) {
	g.thread(points, false)
	g.pen.stroke(g.kept, false)
}

// Ring adds the outline of an area, or a hole in the preceding outline, reversing it if the format requires that. A ring
// must not repeat its first point. Ring reports whether the ring has an area; the holes of an outline without one must
// not be added.
func (g *Group) Ring(points []Cell, hole bool) bool {
	g.thread(points, true)
	if (twiceArea(g.kept) < 0) != hole {
		slices.Reverse(g.kept)
	}
	return g.pen.stroke(g.kept, true)
}

func (g *Group) thread(points []Cell, ring bool) {
	g.kept = g.kept[:0]
	for _, at := range points {
		g.kept = thread(g.kept, at, ring)
	}
}
