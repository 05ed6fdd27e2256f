package tilemaker

import (
	"cmp"
	"math"
	"slices"
)

// maxCoastEnds is the maximum number of ends of coastlines within the bounds that are joined. Each end is compared with
// every other one.
const maxCoastEnds = 500

// landAndSea makes areas of land and of sea within bounds, from coastlines, which have the land on their left. gaps
// counts the straight lines that closed them. ok is false if there were too many ends, in which case only closed
// coastlines counted.
func landAndSea(lines [][]spot, bounds box) (land, sea [][][]spot, gaps int, ok bool) {
	var rings, open [][]spot
	ok = true
	for _, line := range lines {
		if closed := line[0] == line[len(line)-1]; closed && bounds.holds(boxOf(line)) {
			if r := tidy(line); r != nil {
				rings = append(rings, r)
			}
		} else {
			open = append(open, within(line, bounds)...)
		}
	}
	if dangling(open, bounds) > maxCoastEnds {
		open, ok = nil, false
	}
	open, closed, gaps := closeGaps(open, bounds)
	rings = append(rings, closed...)
	landRings, seaRings := slices.Clone(rings), slices.Clone(rings)
	switch {
	case len(open) > 0:
		onLand, atSea := bounds.parts(open)
		landRings, seaRings = append(landRings, onLand...), append(seaRings, atSea...)
	case isIslands(rings):
		seaRings = append(seaRings, bounds.ring())
	default:
		landRings = append(landRings, bounds.ring())
	}
	return areasOf(landRings), areasOf(seaRings), gaps, ok
}

// areasOf splits rings where they cross themselves, and nests the results.
func areasOf(rings [][]spot) [][][]spot {
	effort := effort(minEffort)
	var sound [][]spot
	for _, r := range rings {
		if r = tidy(r); r == nil {
			continue
		}
		parts, _, ok := effort.simple(r)
		if !ok {
			parts = [][]spot{r} // too large to check: drawn unchanged
		}
		sound = append(sound, parts...)
	}
	slices.SortStableFunc(sound, func(a, b []spot) int { return cmp.Compare(math.Abs(area(b)), math.Abs(area(a))) })
	areas, _ := effort.nest(sound[:min(len(sound), maxRings)])
	return areas
}

// isIslands reports whether the largest of some closed coastlines has its land inside.
func isIslands(rings [][]spot) bool {
	largest := 0.0
	for _, r := range rings {
		if a := area(r); math.Abs(a) > math.Abs(largest) {
			largest = a
		}
	}
	return largest > 0
}

// within returns the parts of a line in bounds. The point at which a closed line begins does not split it.
func within(line []spot, bounds box) [][]spot {
	var parts [][]spot
	for _, part := range appendClipped(nil, vertices(line), bounds) {
		var spots []spot
		for _, v := range part {
			spots = append(spots, v.spot)
		}
		parts = append(parts, spots)
	}
	if n := len(parts); n > 1 && line[0] == line[len(line)-1] && parts[0][0] == line[0] && parts[n-1][len(parts[n-1])-1] == line[0] {
		parts[0] = append(parts[n-1], parts[0][1:]...)
		parts = parts[:n-1]
	}
	return parts
}

func (b box) isOnEdge(s spot) bool {
	return b.contains(s) && (s.X == b.west || s.X == b.east || s.Y == b.north || s.Y == b.south)
}

// dangling counts the ends of lines that are not on the edge of bounds.
func dangling(lines [][]spot, bounds box) int {
	n := 0
	for _, line := range lines {
		for _, s := range []spot{line[0], line[len(line)-1]} {
			if !bounds.isOnEdge(s) {
				n++
			}
		}
	}
	return n
}

// gap is a straight line that may close the coast: from the end of one line to the start of another, or to the edge of
// the bounds.
type gap struct {
	length   float64
	from, to int // lines; negative: the edge
}

// closeGaps joins lines that end within the bounds with the nearest others, or with the edge if that is nearer, the
// shortest gaps first. The remaining lines reach from edge to edge, or are closed.
func closeGaps(lines [][]spot, bounds box) (open, closed [][]spot, gaps int) {
	var possible []gap
	for i, a := range lines {
		end := a[len(a)-1]
		if !bounds.isOnEdge(end) {
			possible = append(possible, gap{distance(end, bounds.nearestEdge(end)), i, -1})
			for j, b := range lines {
				if !bounds.isOnEdge(b[0]) {
					possible = append(possible, gap{distance(end, b[0]), i, j})
				}
			}
		}
		if !bounds.isOnEdge(a[0]) {
			possible = append(possible, gap{distance(a[0], bounds.nearestEdge(a[0])), -1, i})
		}
	}
	slices.SortStableFunc(possible, func(a, b gap) int { return cmp.Compare(a.length, b.length) })
	next, before := make([]int, len(lines)), make([]int, len(lines)) // -1: none yet; -2: the edge
	for i := range lines {
		next[i], before[i] = -1, -1
	}
	for _, g := range possible {
		switch {
		case g.from < 0 && before[g.to] == -1:
			before[g.to] = -2
			lines[g.to] = append([]spot{bounds.nearestEdge(lines[g.to][0])}, lines[g.to]...)
		case g.to < 0 && next[g.from] == -1:
			next[g.from] = -2
			line := lines[g.from]
			lines[g.from] = append(slices.Clip(line), bounds.nearestEdge(line[len(line)-1]))
		case g.from >= 0 && g.to >= 0 && next[g.from] == -1 && before[g.to] == -1:
			next[g.from], before[g.to] = g.to, g.from
		default:
			continue
		}
		gaps++
	}
	used := make([]bool, len(lines))
	follow := func(i int) []spot {
		var line []spot
		for ; i >= 0 && !used[i]; i = next[i] {
			used[i] = true
			line = append(line, lines[i]...)
		}
		return line
	}
	for i := range lines {
		if before[i] < 0 {
			open = append(open, follow(i))
		}
	}
	for i := range lines {
		if !used[i] {
			if r := tidy(follow(i)); r != nil {
				closed = append(closed, r)
			}
		}
	}
	return open, closed, gaps
}

func distance(a, b spot) float64 {
	return math.Hypot(float64(a.X)-float64(b.X), float64(a.Y)-float64(b.Y))
}

// nearestEdge returns the spot on the edge of a box that is nearest to a spot inside.
func (b box) nearestEdge(s spot) spot {
	nearest, least := spot{b.west, s.Y}, s.X-b.west
	for _, edge := range []struct {
		at   spot
		away int32
	}{{spot{b.east, s.Y}, b.east - s.X}, {spot{s.X, b.north}, s.Y - b.north}, {spot{s.X, b.south}, b.south - s.Y}} {
		if edge.away < least {
			nearest, least = edge.at, edge.away
		}
	}
	return nearest
}

// around returns the distance of a spot on the edge of a box along the edge, counterclockwise on the map, from the
// north-west corner.
func (b box) around(s spot) int64 {
	width, height := int64(b.east)-int64(b.west), int64(b.south)-int64(b.north)
	switch {
	case s.X == b.west:
		return int64(s.Y) - int64(b.north)
	case s.Y == b.south:
		return height + int64(s.X) - int64(b.west)
	case s.X == b.east:
		return height + width + int64(b.south) - int64(s.Y)
	}
	return 2*height + width + int64(b.east) - int64(s.X)
}

// lineTip is a place where a line from edge to edge meets the edge.
type lineTip struct {
	line   int
	isLast bool  // the line ends here
	at     int64 // as returned by around
}

// parts returns the parts into which lines from edge to edge divide a box, as rings: those of land and those of sea.
// Along the edge, land and sea alternate from line to line. The lines' own directions decide which is which, weighted by
// length. So a reversed line, or one whose end was closed the wrong way, affects nothing else.
func (b box) parts(lines [][]spot) (land, sea [][]spot) {
	var tips []lineTip
	for i, line := range lines {
		tips = append(tips, lineTip{i, false, b.around(line[0])}, lineTip{i, true, b.around(line[len(line)-1])})
	}
	slices.SortStableFunc(tips, func(a, b lineTip) int { return cmp.Compare(a.at, b.at) })
	other := make(map[lineTip]int)
	votes := 0.0 // for land after the first tip
	for k, t := range tips {
		other[t] = k
		vote := 0.0
		for i, s := range lines[t.line][1:] {
			vote += distance(lines[t.line][i], s)
		}
		if t.isLast == (k%2 == 0) { // land is on the left where a line leaves
			votes += vote
		} else {
			votes -= vote
		}
	}
	opposite := func(k int) int {
		t := tips[k]
		line := lines[t.line]
		at := line[len(line)-1]
		if t.isLast {
			at = line[0]
		}
		return other[lineTip{t.line, !t.isLast, b.around(at)}]
	}
	rings := [2][][]spot{}
	for parity := range rings {
		used := make([]bool, len(tips))
		for first := parity; first < len(tips); first += 2 {
			var ring []spot
			for k := first; !used[k]; {
				next := (k + 1) % len(tips) // forward along the edge from tips whose turn it is, and back from others
				if k%2 != parity {
					next = (k + len(tips) - 1) % len(tips)
				}
				used[k], used[next] = true, true
				if k%2 == parity {
					ring = b.appendCorners(ring, tips[k].at, tips[next].at)
				} else {
					back := b.appendCorners(nil, tips[next].at, tips[k].at)
					slices.Reverse(back)
					ring = append(ring, back...)
				}
				line := slices.Clone(lines[tips[next].line])
				if tips[next].isLast {
					slices.Reverse(line)
				}
				ring = append(ring, line...)
				k = opposite(next)
			}
			if ring != nil {
				rings[parity] = append(rings[parity], ring)
			}
		}
	}
	if votes < 0 {
		return rings[1], rings[0]
	}
	return rings[0], rings[1]
}

// appendCorners appends the corners of a box between two places on its edge, counterclockwise.
func (b box) appendCorners(ring []spot, from, to int64) []spot {
	width, height := int64(b.east)-int64(b.west), int64(b.south)-int64(b.north)
	places := [4]int64{0, height, height + width, 2*height + width}
	whole := 2 * (height + width)
	if to < from {
		to += whole
	}
	for turn := int64(0); turn <= whole; turn += whole {
		for i, corner := range b.ring() {
			if at := places[i] + turn; at > from && at < to {
				ring = append(ring, corner)
			}
		}
	}
	return ring
}
