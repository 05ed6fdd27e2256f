package tilemaker

import (
	"cmp"
	"math"
	"slices"
)

// Bounds of the cost of areas. A real extract needs a hundredth.
const (
	maxRings  = 10_000 // of one area: each is compared with the larger ones
	maxSplits = 64     // crossings at which a ring is split

	minEffort     = 500_000_000 // comparisons of segments for all areas together, some nanoseconds each,
	effortPerByte = 300         // and this many more for each byte of the extracts
	smallArea     = 64          // rings and vertices; smaller areas are always drawn
)

// effort is the number of comparisons that are left for areas.
type effort int64

// take takes comparisons, and reports whether enough were left.
func (e *effort) take(n int) bool {
	*e -= effort(n)
	return *e >= 0
}

// join joins lines at their end nodes to closed ones. Closed lines stay unchanged. Rings that touch are kept apart: walk
// takes out a loop as soon as the line comes back to a node that it passed. unclosed counts lines that belong to no
// ring.
func join(lines [][]int64) (rings [][]int64, unclosed int) {
	ends := make(map[int64][]int)
	used := make([]bool, len(lines))
	for i, line := range lines {
		first, last := line[0], line[len(line)-1]
		if first == last {
			used[i] = true
			rings = append(rings, line)
			continue
		}
		ends[first], ends[last] = append(ends[first], i), append(ends[last], i)
	}
	for i := range lines {
		if !used[i] {
			var closed [][]int64
			closed, unclosed = walk(lines, ends, used, i, unclosed)
			rings = append(rings, closed...)
		}
	}
	return rings, unclosed
}

// walk follows lines from one on until no more follow, and takes out each loop.
func walk(lines [][]int64, ends map[int64][]int, used []bool, first, unclosed int) ([][]int64, int) {
	var rings [][]int64
	start := lines[first][0]
	at := start
	met := map[int64]int{start: 0} // number of lines of the path before each node
	var path [][]int64
	var from []int64 // index of the first line after each node
	for {
		next := -1
		for list := ends[at]; len(list) > 0 && next < 0; list = ends[at] {
			if ends[at] = list[1:]; !used[list[0]] {
				next = list[0]
			}
		}
		if next < 0 {
			if len(path) == 0 {
				return rings, unclosed
			}
			delete(met, at) // a dead end: go back to where the last line began
			at, path, from = from[len(from)-1], path[:len(path)-1], from[:len(from)-1]
			unclosed++
			continue
		}
		used[next] = true
		line := lines[next]
		if line[0] != at {
			line = slices.Clone(line)
			slices.Reverse(line)
		}
		path, from = append(path, line), append(from, at)
		at = line[len(line)-1]
		before, again := met[at]
		if !again {
			met[at] = len(path)
			continue
		}
		var ring []int64
		for i, part := range path[before:] {
			if ring = append(ring, part[1:]...); i > 0 {
				delete(met, part[0])
			}
		}
		rings = append(rings, append(ring, ring[0]))
		path, from = path[:before], from[:before]
	}
}

// tidy returns a ring without equal neighbours, or nil if fewer than three spots are left.
func tidy(ring []spot) []spot {
	kept := make([]spot, 0, len(ring))
	for _, s := range ring {
		if n := len(kept); n == 0 || kept[n-1] != s {
			kept = append(kept, s)
		}
	}
	for len(kept) > 1 && kept[0] == kept[len(kept)-1] {
		kept = kept[:len(kept)-1]
	}
	if len(kept) < 3 {
		return nil
	}
	return kept
}

// simple splits a ring where it crosses itself, into rings that do not. crossed reports whether it was split, and ok is
// false if the ring needs too much work.
func (e *effort) simple(ring []spot) (rings [][]spot, crossed, ok bool) {
	todo := [][]spot{ring}
	for splits := 0; len(todo) > 0; splits++ {
		r := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		i, j, sure := e.crossing(r)
		switch {
		case !sure || splits == maxSplits:
			return nil, true, false
		case i < 0:
			if area(r) != 0 {
				rings = append(rings, r)
			}
			continue
		}
		crossed = true
		at := meeting(r[i], r[i+1], r[j], r[(j+1)%len(r)])
		loop := append([]spot{at}, r[i+1:j+1]...)
		rest := append(append(slices.Clone(r[:i+1]), at), r[j+1:]...)
		for _, part := range [][]spot{loop, rest} {
			if part = tidy(part); part != nil && len(part) < len(r)+1 {
				todo = append(todo, part)
			}
		}
	}
	return rings, crossed, true
}

// crossing returns two segments of a ring that cross, by the index of their first spot, the lower first; i is negative
// if none cross. sure is false if there are too many neighbouring segments to check.
func (e *effort) crossing(ring []spot) (i, j int, sure bool) {
	n := len(ring)
	if n <= 3 {
		return -1, -1, true
	}
	type segment struct {
		number     int
		west, east int32
	}
	segments := make([]segment, n)
	for i, a := range ring {
		b := ring[(i+1)%n]
		segments[i] = segment{i, min(a.X, b.X), max(a.X, b.X)}
	}
	slices.SortFunc(segments, func(a, b segment) int {
		return cmp.Or(cmp.Compare(a.west, b.west), cmp.Compare(a.number, b.number))
	})
	var active []segment
	for _, s := range segments {
		kept := active[:0]
		for _, o := range active {
			if o.east < s.west {
				continue
			}
			kept = append(kept, o)
			if cross(ring[s.number], ring[(s.number+1)%n], ring[o.number], ring[(o.number+1)%n]) {
				return min(s.number, o.number), max(s.number, o.number), true
			}
		}
		if !e.take(len(kept)+1) && n > smallArea {
			return 0, 0, false
		}
		active = append(kept, s)
	}
	return -1, -1, true
}

// side returns a positive, zero or negative number for the side of the line from a to b on which p lies.
func side(a, b, p spot) int {
	v := (int64(b.X)-int64(a.X))*(int64(p.Y)-int64(a.Y)) - (int64(b.Y)-int64(a.Y))*(int64(p.X)-int64(a.X))
	return cmp.Compare(v, 0)
}

// cross reports whether two segments cross in the interior of both.
func cross(a, b, c, d spot) bool {
	if max(a.Y, b.Y) < min(c.Y, d.Y) || max(c.Y, d.Y) < min(a.Y, b.Y) {
		return false
	}
	return side(a, b, c)*side(a, b, d) < 0 && side(c, d, a)*side(c, d, b) < 0
}

// meeting returns the intersection of two segments that cross.
func meeting(a, b, c, d spot) spot {
	ux, uy := float64(b.X-a.X), float64(b.Y-a.Y)
	vx, vy := float64(d.X-c.X), float64(d.Y-c.Y)
	share := (float64(c.X-a.X)*vy - float64(c.Y-a.Y)*vx) / (ux*vy - uy*vx)
	return spot{a.X + int32(math.Round(ux*share)), a.Y + int32(math.Round(uy*share))}
}

// nest makes areas of rings that do not cross: an outline, then its holes. A ring in a hole is an area again. ok is
// false if there are too many rings.
func (e *effort) nest(rings [][]spot) (areas [][][]spot, ok bool) {
	if len(rings) > maxRings {
		return nil, false
	}
	type shape struct {
		ring  []spot
		box   box
		size  float64
		depth int
		area  int // in areas, of an outline
	}
	shapes := make([]shape, len(rings))
	for i, r := range rings {
		shapes[i] = shape{ring: r, box: boxOf(r), size: math.Abs(area(r))}
	}
	slices.SortStableFunc(shapes, func(a, b shape) int { return cmp.Compare(b.size, a.size) })
	for i := range shapes {
		s := &shapes[i]
		parent := -1
		var x, y float64
		for j := range shapes[:i] {
			o := &shapes[j]
			if !o.box.holds(s.box) {
				continue
			}
			if x == 0 && y == 0 {
				x, y = inside(s.ring)
			}
			if !e.take(len(o.ring)) && len(rings) > smallArea {
				return nil, false
			}
			if encloses(o.ring, x, y) {
				s.depth++
				parent = j
			}
		}
		if s.depth%2 == 0 {
			s.area = len(areas)
			areas = append(areas, [][]spot{s.ring})
		} else if o := &shapes[parent]; o.depth%2 == 0 {
			areas[o.area] = append(areas[o.area], s.ring)
		}
	}
	return areas, true
}

// inside returns a place in an outline and in none of its holes, where the area is wide: in the middle of its height,
// unless it is flat.
func inside(rings ...[]spot) (x, y float64) {
	b := boxOf(rings[0])
	y = math.Floor((float64(b.north)+float64(b.south))/2) + 0.5
	var at []float64
	for _, ring := range rings {
		for i, p := range ring {
			q := ring[(i+1)%len(ring)]
			if (float64(p.Y) > y) != (float64(q.Y) > y) {
				at = append(at, float64(p.X)+(float64(q.X)-float64(p.X))*(y-float64(p.Y))/(float64(q.Y)-float64(p.Y)))
			}
		}
	}
	slices.Sort(at)
	x, widest := float64(rings[0][0].X), -1.0
	for i := 0; i+1 < len(at); i += 2 {
		if w := at[i+1] - at[i]; w > widest {
			x, widest = (at[i]+at[i+1])/2, w
		}
	}
	return x, y
}

// encloses reports whether a place is in a ring.
func encloses(ring []spot, x, y float64) bool {
	in := false
	for i, p := range ring {
		q := ring[(i+1)%len(ring)]
		if (float64(p.Y) > y) != (float64(q.Y) > y) &&
			x < float64(p.X)+(float64(q.X)-float64(p.X))*(y-float64(p.Y))/(float64(q.Y)-float64(p.Y)) {
			in = !in
		}
	}
	return in
}
