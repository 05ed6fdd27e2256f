package demo

import (
	"cmp"
	"math"
	"slices"
)

const (
	sameSpot = 1.0 // metres within which two spots are one junction
	// shortStub is how far a street may end from another one that it should meet, because the edge of water or a park is rarely at
	// a junction.
	shortStub = 8.0
)

// junction is a place where roads meet.
type junction struct {
	at    spot
	roads []int // sorted
}

// cut is a junction on a road.
type cut struct {
	along    float64 // metres from the road's start
	junction int
}

// network is the junctions of a plan's roads.
type network struct {
	junctions []junction
	cuts      [][]cut // by road, in its direction
	cells     map[[2]int][]int
}

// junctions finds where the roads of the plan meet.
func (p *plan) junctions() *network {
	n := &network{cuts: make([][]cut, len(p.roads)), cells: map[[2]int][]int{}}
	for i := range p.roads {
		for j := range i {
			if apart(&p.roads[i], &p.roads[j]) {
				continue
			}
			for _, s := range meetings(p.roads[i].line, p.roads[j].line) {
				at := n.junction(s)
				n.add(p, i, at)
				n.add(p, j, at)
			}
		}
	}
	for i := range n.cuts {
		slices.SortFunc(n.cuts[i], func(a, b cut) int { return cmp.Compare(a.along, b.along) })
		n.cuts[i] = slices.CompactFunc(n.cuts[i], func(a, b cut) bool { return math.Abs(b.along-a.along) < sameSpot })
	}
	return n
}

// apart reports whether the roads never meet, but at most cross by a bridge: only ramps meet the motorway, and of the small streets
// only those meet the ring road that end there.
func apart(a, b *road) bool {
	switch {
	case a.class == trunk && b.class == small:
		return !endsAt(b, a)
	case a.class == small && b.class == trunk:
		return !endsAt(a, b)
	case a.class == highway || b.class == highway:
		return a.class != ramp && b.class != ramp && a.class != b.class
	}
	return false
}

// endsAt reports whether a road ends at another one, or nearly.
func endsAt(r, other *road) bool {
	for _, end := range []spot{r.line[0], r.line[len(r.line)-1]} {
		if other.at(alongOf(other.line, end)).distance(end) < shortStub {
			return true
		}
	}
	return false
}

// junction finds or adds the junction at a spot.
func (n *network) junction(s spot) int {
	cell := [2]int{int(math.Floor(s.x)), int(math.Floor(s.y))}
	for dx := -1; dx <= 1; dx++ {
		for dy := -1; dy <= 1; dy++ {
			for _, i := range n.cells[[2]int{cell[0] + dx, cell[1] + dy}] {
				if n.junctions[i].at.distance(s) < sameSpot {
					return i
				}
			}
		}
	}
	n.junctions = append(n.junctions, junction{at: s})
	n.cells[cell] = append(n.cells[cell], len(n.junctions)-1)
	return len(n.junctions) - 1
}

// add records that a road leads over a junction, maybe twice.
func (n *network) add(p *plan, r, at int) {
	j := &n.junctions[at]
	if i, known := slices.BinarySearch(j.roads, r); !known {
		j.roads = slices.Insert(j.roads, i, r)
	}
	before := 0.0
	line := p.roads[r].line
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		if share := nearestShare(a, b, j.at); a.to(b, share).distance(j.at) < sameSpot {
			n.cuts[r] = append(n.cuts[r], cut{before + share*a.distance(b), at})
		}
		before += a.distance(b)
	}
}

// nearestShare returns where a straight line is nearest to a spot, as a share of its length.
func nearestShare(a, b, s spot) float64 {
	length := a.distance(b)
	return min(max(((s.x-a.x)*(b.x-a.x)+(s.y-a.y)*(b.y-a.y))/(length*length), 0), 1)
}

// meetings returns the spots where two lines cross or touch.
func meetings(one, other []spot) []spot {
	var out []spot
	for i := 1; i < len(one); i++ {
		for j := 1; j < len(other); j++ {
			a, b, c, d := one[i-1], one[i], other[j-1], other[j]
			if max(a.x, b.x) < min(c.x, d.x)-sameSpot || max(c.x, d.x) < min(a.x, b.x)-sameSpot ||
				max(a.y, b.y) < min(c.y, d.y)-sameSpot || max(c.y, d.y) < min(a.y, b.y)-sameSpot {
				continue
			}
			out = append(out, meeting(a, b, c, d)...)
		}
	}
	return out
}

// meeting returns where two straight lines touch with an end, or else cross.
func meeting(a, b, c, d spot) []spot {
	var touching []spot
	for _, end := range []spot{a, b} {
		if c.to(d, nearestShare(c, d, end)).distance(end) < sameSpot/2 {
			touching = append(touching, end)
		}
	}
	for _, end := range []spot{c, d} {
		if a.to(b, nearestShare(a, b, end)).distance(end) < sameSpot/2 {
			touching = append(touching, end)
		}
	}
	cross := (b.x-a.x)*(d.y-c.y) - (b.y-a.y)*(d.x-c.x)
	if len(touching) > 0 || cross == 0 {
		return touching
	}
	t := ((c.x-a.x)*(d.y-c.y) - (c.y-a.y)*(d.x-c.x)) / cross
	u := ((c.x-a.x)*(b.y-a.y) - (c.y-a.y)*(b.x-a.x)) / cross
	if t < 0 || t > 1 || u < 0 || u > 1 {
		return nil
	}
	return []spot{a.to(b, t)}
}

// join makes streets end at the junctions that they nearly reach or just pass.
func (p *plan) join() {
	for i := range p.roads {
		if r := &p.roads[i]; r.class == small || r.class == second {
			p.reach(i, 0, 1)
			p.reach(i, len(r.line)-1, len(r.line)-2)
		}
	}
	n := p.junctions()
	for i := range p.roads {
		if r := &p.roads[i]; r.class == small && len(n.cuts[i]) > 0 {
			length, first, last := r.length(), n.cuts[i][0], n.cuts[i][len(n.cuts[i])-1]
			if length-last.along < shortStub {
				r.line[len(r.line)-1] = n.junctions[last.junction].at
			}
			if first.along < shortStub {
				r.line[0] = n.junctions[first.junction].at
			}
		}
	}
}

// reach moves the end of a road onto another one that it nearly reaches.
func (p *plan) reach(road, end, before int) {
	r := &p.roads[road]
	best, least := r.line[end], shortStub
	for i := range p.roads {
		if other := &p.roads[i]; i != road && !apart(r, other) {
			for j := 1; j < len(other.line); j++ {
				a, b := other.line[j-1], other.line[j]
				at := a.to(b, nearestShare(a, b, r.line[end]))
				if d := at.distance(r.line[end]); d < least {
					best, least = at, d
				}
			}
		}
	}
	if best.distance(r.line[before]) > shortStub {
		r.line[end] = best
	}
}
