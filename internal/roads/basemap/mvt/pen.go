package mvt

import "math"

// Commands of the format.
const (
	moveTo    = 1
	lineTo    = 2
	closePath = 7
)

// pen encodes geometry commands with delta-coded coordinates.
type pen struct {
	commands []uint32
	coarse   float64 // see Layer
	buffer   float64
	x, y     int32
}

func (p *pen) step(x, y int32) {
	zigzag := func(n int32) uint32 { return uint32(n)<<1 ^ uint32(n>>31) }
	p.commands = append(p.commands, zigzag(x-p.x), zigzag(y-p.y))
	p.x, p.y = x, y
}

func command(id, count int) uint32 { return uint32(count)<<3 | uint32(id) }

// dot encodes one point.
func (p *pen) dot(at Pixel) {
	p.commands = append(p.commands, command(moveTo, 1))
	p.step(int32(at.X/p.coarse), int32(at.Y/p.coarse))
}

// area encodes an outline and its holes, clipped to the tile.
func (p *pen) area(rings [][]Pixel) {
	for i, ring := range rings {
		before := len(p.commands)
		p.draw(oriented(clipRing(ring, p.buffer), i > 0), true)
		if i == 0 && len(p.commands) == before {
			return // without an outline there are no holes
		}
	}
}

// draw encodes one line or ring without consecutive equal points. It drops degenerate ones.
func (p *pen) draw(line []Pixel, ring bool) {
	kept := make([]Cell, 0, len(line))
	for _, s := range line {
		kept = thread(kept, Cell{int32(math.Round(s.X / p.coarse)), int32(math.Round(s.Y / p.coarse))}, ring)
	}
	p.stroke(kept, ring)
}

// thread appends a point to a line or ring, without consecutive equal points and, in a ring, without needless ones.
func thread(kept []Cell, at Cell, ring bool) []Cell {
	for n := len(kept); ring && n > 1 && needless(kept[n-2], kept[n-1], at); n = len(kept) {
		kept = kept[:n-1]
	}
	if n := len(kept); n == 0 || kept[n-1] != at {
		kept = append(kept, at)
	}
	return kept
}

// stroke encodes a line or ring made by thread, and reports whether it is not degenerate.
func (p *pen) stroke(kept []Cell, ring bool) bool {
	least := 2
	if ring {
		for least = 3; len(kept) > 1 && kept[0] == kept[len(kept)-1]; {
			kept = kept[:len(kept)-1]
		}
	}
	if len(kept) < least || ring && twiceArea(kept) == 0 {
		return false
	}
	p.commands = append(p.commands, command(moveTo, 1))
	p.step(kept[0].X, kept[0].Y)
	p.commands = append(p.commands, command(lineTo, len(kept)-1))
	for _, at := range kept[1:] {
		p.step(at.X, at.Y)
	}
	if ring {
		p.commands = append(p.commands, command(closePath, 1))
	}
	return true
}

// needless reports whether three points lie on one horizontal or vertical line, as clipping leaves them along the edges
// of a tile.
func needless(a, b, c Cell) bool {
	return a.X == b.X && b.X == c.X || a.Y == b.Y && b.Y == c.Y
}

// twiceArea returns twice the area of a ring, positive if it is clockwise on the screen, where Y points down.
func twiceArea(ring []Cell) int64 {
	sum := int64(0)
	for i, a := range ring {
		b := ring[(i+1)%len(ring)]
		sum += int64(a.X)*int64(b.Y) - int64(b.X)*int64(a.Y)
	}
	return sum
}

// depths returns the distance of a point to each side of the buffered tile; negative: outside.
func depths(buffer float64) [4]func(Pixel) float64 {
	low, high := -buffer, Extent+buffer
	return [4]func(Pixel) float64{
		func(p Pixel) float64 { return p.X - low }, func(p Pixel) float64 { return high - p.X },
		func(p Pixel) float64 { return p.Y - low }, func(p Pixel) float64 { return high - p.Y },
	}
}

func between(a, b Pixel, share float64) Pixel {
	return Pixel{a.X + (b.X-a.X)*share, a.Y + (b.Y-a.Y)*share}
}

// clipRing clips a ring to the tile (Sutherland-Hodgman).
func clipRing(ring []Pixel, buffer float64) []Pixel {
	for _, depth := range depths(buffer) {
		var kept []Pixel
		for i, b := range ring {
			a := ring[(i+len(ring)-1)%len(ring)]
			da, db := depth(a), depth(b)
			if (da < 0) != (db < 0) {
				kept = append(kept, between(a, b, da/(da-db)))
			}
			if db >= 0 {
				kept = append(kept, b)
			}
		}
		ring = kept
	}
	return ring
}

// clipLine clips a line to the tile. A line that leaves and comes back is split into several.
func clipLine(line []Pixel, buffer float64) [][]Pixel {
	var parts [][]Pixel
	for i := 1; i < len(line); i++ {
		a, b, from, to := line[i-1], line[i], 0.0, 1.0
		for _, depth := range depths(buffer) {
			da, db := depth(a), depth(b)
			switch {
			case da < 0 && db < 0:
				from, to = 1, 0
			case da < 0:
				from = max(from, da/(da-db))
			case db < 0:
				to = min(to, da/(da-db))
			}
		}
		if from >= to {
			continue
		}
		begin, end := between(a, b, from), between(a, b, to)
		if n := len(parts); n > 0 && from == 0 && parts[n-1][len(parts[n-1])-1] == begin {
			parts[n-1] = append(parts[n-1], end)
			continue
		}
		parts = append(parts, []Pixel{begin, end})
	}
	return parts
}
