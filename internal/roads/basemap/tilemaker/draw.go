package tilemaker

import (
	"cmp"
	"context"
	"math"
	"slices"

	"wayside/internal/ground/geo"
)

// artist makes features from the source.
type artist struct {
	*source
	features []*feature
	pieces   []piece
	effort   effort
}

// piece is a way, or a part of one, that is drawn as a line.
type piece struct {
	drawn
	ends  [2]int64 // nodes
	spots []spot
}

// draw makes all features, in the order of features in a tile.
func (s *source) draw(ctx context.Context) ([]*feature, error) {
	a := &artist{source: s, features: s.points, effort: s.effort}
	var coast [][]int64
	for i := range s.ways {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		w := &s.ways[i]
		refs := s.refs[w.from:w.to]
		if w.coast {
			coast = append(coast, refs)
		}
		a.way(w, refs)
	}
	a.join()
	a.setBounds()
	for i := range s.relations {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a.relation(&s.relations[i])
	}
	a.coast(coast)
	lowest := s.lowestZoom()
	for _, f := range a.features {
		f.lowest = max(f.lowest, lowest)
	}
	slices.SortStableFunc(a.features, func(a, b *feature) int {
		return cmp.Or(cmp.Compare(a.attributes.layer, b.attributes.layer), cmp.Compare(b.priority, a.priority))
	})
	return a.features, ctx.Err()
}

// way draws the drawings of a way by itself.
func (a *artist) way(w *way, refs []int64) {
	var areas []drawn
	for _, d := range w.drawings {
		if d.geometry == stroke && d.attributes.layer != buildingsLayer {
			a.line(d, refs)
		} else {
			areas = append(areas, d)
		}
	}
	if len(areas) > 0 {
		a.area(areas, [][]int64{refs})
	}
}

// maxSegment is the longest segment of a line, in units of the plane: about 50 km at the equator. A longer segment leads
// to a node that was moved by mistake.
const maxSegment = 1 << 20

// line cuts a line at nodes that the extract lacks and at segments that are too long.
func (a *artist) line(d drawn, refs []int64) {
	p := piece{drawn: d}
	end := func() {
		if len(p.spots) > 1 {
			a.pieces = append(a.pieces, p)
		}
		p.spots = nil
	}
	for _, id := range refs {
		at := a.spotOf(id)
		if at == nowhere {
			a.left[missingNodes]++
			end()
			continue
		}
		if n := len(p.spots); n > 0 {
			switch last := p.spots[n-1]; {
			case last == at:
				p.ends[1] = id
				continue
			case isAround(last, at), d.attributes.layer != boundariesLayer && max(last.X-at.X, at.X-last.X, last.Y-at.Y, at.Y-last.Y) > maxSegment:
				a.left[longSegments]++
				end()
			}
		}
		if p.spots == nil {
			p.ends[0] = id
		}
		p.spots, p.ends[1] = append(p.spots, at), id
	}
	end()
}

// isAround reports whether a segment crosses the antimeridian, where the map ends.
func isAround(a, b spot) bool { return max(a.X-b.X, b.X-a.X) > world/2 }

func (a *artist) spotOf(id int64) spot {
	i, ok := a.nodes.find(id)
	if !ok {
		return nowhere
	}
	return a.nodes.spots[i]
}

// lineEnd is an end of a piece.
type lineEnd struct {
	attributes int // number of the attributes, in order of first use
	lowest     uint8
	node       int64
	piece      int
	end        int
}

// join joins pieces that continue each other: two with the same attributes that end at a node where no third one does.
// This makes room for names, and lines are thinned across the joints.
func (a *artist) join() {
	numbers := make(map[*attributes]int)
	ends := make([]lineEnd, 0, 2*len(a.pieces))
	for i := range a.pieces {
		p := &a.pieces[i]
		number, ok := numbers[p.attributes]
		if !ok {
			number = len(numbers)
			numbers[p.attributes] = number
		}
		for end, node := range p.ends {
			ends = append(ends, lineEnd{number, p.lowest, node, i, end})
		}
	}
	same := func(a, b lineEnd) int {
		return cmp.Or(cmp.Compare(a.attributes, b.attributes), cmp.Compare(a.node, b.node), cmp.Compare(a.lowest, b.lowest))
	}
	slices.SortFunc(ends, func(a, b lineEnd) int {
		return cmp.Or(same(a, b), cmp.Compare(a.piece, b.piece), cmp.Compare(a.end, b.end))
	})
	next := make([][2]int, len(a.pieces)) // by piece and end: 1 + 2*piece + end of the other piece
	for from := 0; from < len(ends); {
		to := from + 1
		for to < len(ends) && same(ends[from], ends[to]) == 0 {
			to++
		}
		if p, q := ends[from], ends[to-1]; to-from == 2 && p.piece != q.piece {
			next[p.piece][p.end], next[q.piece][q.end] = 1+2*q.piece+q.end, 1+2*p.piece+p.end
		}
		from = to
	}
	used := make([]bool, len(a.pieces))
	for pass := range 2 { // first lines with an end, then closed ones
		for i := range a.pieces {
			for end := range 2 {
				if !used[i] && (next[i][end] == 0 || pass == 1) {
					a.chain(i, end, next, used)
				}
			}
		}
	}
	a.pieces = nil
}

// chain makes a feature of a piece, from one of its ends on, and the pieces that continue it.
func (a *artist) chain(first, end int, next [][2]int, used []bool) {
	var line []spot
	for i := first; !used[i]; {
		used[i] = true
		spots := a.pieces[i].spots
		if end == 1 {
			slices.Reverse(spots)
		}
		if line == nil {
			line = spots
		} else {
			line = append(line, spots[1:]...)
		}
		to := next[i][1-end]
		if to == 0 {
			break
		}
		i, end = (to-1)/2, (to-1)%2
	}
	p := &a.pieces[first]
	a.features = append(a.features, newFeature(p.attributes, stroke, p.lowest, thinLine(line)))
}

// setBounds determines the area of each extract: that in its header or, without one, the extent of its roads. With a
// single extract, the area is limited to the surroundings of its roads.
func (a *artist) setBounds() {
	used := emptyBox
	for _, f := range a.features {
		if f.geometry == stroke && f.attributes.layer == roadsLayer {
			used = used.with(spot{f.box.west, f.box.north}).with(spot{f.box.east, f.box.south})
		}
	}
	if used != emptyBox {
		const rim = 1 << 13 // 300 m at the equator, so that a street does not end at the edge of the land
		used = box{used.west - rim, used.north - rim, used.east + rim, used.south + rim}.intersect(box{0, 0, world, world})
	}
	for _, h := range a.headers {
		b := used
		if h != nil {
			northWest, southEast := project(geo.Point{Lat: h.North, Lng: h.West}), project(geo.Point{Lat: h.South, Lng: h.East})
			b = box{northWest.X, northWest.Y, southEast.X, southEast.Y}
			if len(a.headers) == 1 && used != emptyBox {
				const around = 1 << 18 // 10 km at the equator
				wide := max(used.east-used.west, used.south-used.north) + around
				if b = b.intersect(box{used.west - wide, used.north - wide, used.east + wide, used.south + wide}); !b.meets(used) {
					b = used // bounds that contain nothing are wrong
				}
			}
		}
		if !b.isEmpty() && !slices.Contains(a.bounds, b) {
			a.bounds = append(a.bounds, b)
		}
	}
}

// relation draws an area that is made of ways.
func (a *artist) relation(r *relation) {
	var lines [][]int64
	complete := true
	members := slices.Clone(r.members)
	slices.Sort(members)
	for _, id := range slices.Compact(members) {
		at, ok := slices.BinarySearchFunc(a.ways, id, func(w way, id int64) int { return cmp.Compare(w.id, id) })
		if !ok {
			complete = false
			continue
		}
		lines = append(lines, a.refs[a.ways[at].from:a.ways[at].to])
	}
	rings, unclosed := join(lines)
	if unclosed > 0 || !complete {
		a.left[unclosedAreas]++
	}
	a.area(r.drawings, rings)
}

// area draws areas made of closed lines.
func (a *artist) area(drawings []drawn, lines [][]int64) {
	var rings [][]spot
	for _, line := range lines {
		ring := make([]spot, 0, len(line))
		missing := 0
		for _, id := range line {
			if at := a.spotOf(id); at != nowhere {
				ring = append(ring, at)
			} else {
				missing++
			}
		}
		if missing > 0 {
			a.left[missingNodes] += missing
			a.left[unclosedAreas]++
			continue
		}
		if ring = tidy(ring); ring == nil {
			continue
		}
		if b := boxOf(ring); isAround(spot{X: b.west}, spot{X: b.east}) {
			a.left[aroundAreas]++
			continue
		}
		parts, crossed, ok := a.effort.simple(ring)
		switch {
		case !ok:
			a.left[crowdedAreas]++
		case crossed:
			a.left[crossingAreas]++
		}
		rings = append(rings, parts...)
	}
	areas, ok := a.effort.nest(rings)
	if !ok {
		a.left[crowdedAreas]++
		return
	}
	slices.SortStableFunc(areas, func(a, b [][]spot) int { return cmp.Compare(math.Abs(area(b[0])), math.Abs(area(a[0]))) })
	for _, d := range drawings {
		for i, rings := range areas {
			switch {
			case d.geometry == fill:
				a.fill(d, rings)
			case i == 0: // only the largest is named
				a.features = append(a.features, labelled(d, rings))
			}
		}
	}
}

// Sizes from which areas are drawn or named, in square pixels.
const (
	minArea      = 10
	minNamedArea = 2500
)

// zoomOf returns the lowest zoom at which an area has at least the given square pixels, at most highestZoom.
func zoomOf(area float64, pixels float64) uint8 {
	for z := range uint8(highestZoom) {
		if pixel := float64(int(1)<<(worldBits-z)) / 512; area >= pixels*pixel*pixel {
			return z
		}
	}
	return highestZoom
}

// fill draws an outline with its holes.
func (a *artist) fill(d drawn, rings [][]spot) {
	if f := filled(d, rings); f != nil {
		a.features = append(a.features, f)
	}
}

// filled makes a feature of an outline and its holes, or nil if no zoom shows it.
func filled(d drawn, rings [][]spot) *feature {
	f := &feature{attributes: d.attributes, geometry: fill}
	for i, ring := range rings {
		lowest := zoomOf(math.Abs(area(ring)), minArea)
		part := thinRing(ring)
		switch {
		case len(part) < 3 && i == 0:
			return nil
		case len(part) < 3:
			continue
		case i == 0:
			f.lowest = max(d.lowest, lowest)
		}
		for j := range part {
			part[j].from = max(part[j].from, lowest)
		}
		f.parts = append(f.parts, part)
	}
	f.measure()
	return f
}

// labelled makes the point at which an area is named.
func labelled(d drawn, rings [][]spot) *feature {
	x, y := inside(rings...)
	if d.lowest == 0 {
		const named = 8 // the lowest zoom at which an area has a name
		d.lowest = max(named, zoomOf(math.Abs(area(rings[0])), minNamedArea))
	}
	return point(d, spot{int32(math.Round(x)), int32(math.Round(y))})
}

// lowestZoom returns the lowest zoom at which anything is drawn. Below it the map is so small that its roads would cover
// the names of the overview of the world.
func (s *source) lowestZoom() uint8 {
	widest := int32(1)
	for _, b := range s.bounds {
		widest = max(widest, b.east-b.west, b.south-b.north)
	}
	const perTile, latest = 6, 9 // a sixth of a tile's side: 85 pixels
	for z := range uint8(latest) {
		if int64(widest)*perTile >= 1<<(worldBits-z) {
			return z
		}
	}
	return latest
}

// coast draws land and sea.
func (a *artist) coast(ways [][]int64) {
	var lines [][]spot
	for _, line := range joinDirected(ways) {
		var spots []spot
		end := func() {
			if len(spots) > 1 {
				lines = append(lines, spots)
			}
			spots = nil
		}
		for _, id := range line {
			at := a.spotOf(id)
			switch n := len(spots); {
			case at == nowhere:
				a.left[missingNodes]++
				continue
			case n > 0 && isAround(spots[n-1], at):
				end()
			}
			spots = append(spots, at)
		}
		end()
	}
	earth := drawn{attributes: a.intern(earthLayer, appendText(nil, "kind", "earth", 0)), geometry: fill}
	ocean := drawn{attributes: a.intern(waterLayer, appendText(nil, "kind", "ocean", 0)), geometry: fill}
	for _, b := range a.bounds {
		land, sea, gaps, ok := landAndSea(lines, b)
		if a.left[coastlineGaps] += gaps; !ok {
			a.left[coastlineEnds]++
		}
		for _, rings := range land {
			a.fill(earth, rings)
		}
		for _, rings := range sea {
			a.fill(ocean, rings)
		}
	}
}

// joinDirected joins lines where one ends at the node at which another begins.
func joinDirected(lines [][]int64) [][]int64 {
	byStart := make(map[int64][]int)
	ended := make(map[int64]int)
	for i, line := range lines {
		byStart[line[0]] = append(byStart[line[0]], i)
		ended[line[len(line)-1]]++
	}
	used := make([]bool, len(lines))
	var out [][]int64
	for pass := range 2 { // first lines without a predecessor, then closed ones
		for i := range lines {
			if used[i] || pass == 0 && ended[lines[i][0]] > 0 {
				continue
			}
			var line []int64
			for i >= 0 {
				used[i] = true
				if line == nil {
					line = slices.Clone(lines[i])
				} else {
					line = append(line, lines[i][1:]...)
				}
				i = -1
				for _, next := range byStart[line[len(line)-1]] {
					if !used[next] {
						i = next
						break
					}
				}
			}
			out = append(out, line)
		}
	}
	return out
}
