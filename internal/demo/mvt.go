package demo

import (
	"encoding/binary"
	"math"
)

// Vector tiles are encoded as protobuf (Mapbox Vector Tile 2.1).
const (
	tileExtent = 4096 // units along a tile's side
	tileBuffer = 128  // units around the tile, so that wide lines are drawn up to its edges
)

// Geometry types and commands of the format.
const (
	pointGeometry   = 1
	lineGeometry    = 2
	polygonGeometry = 3
	moveTo          = 1
	lineTo          = 2
	closePath       = 7
)

// pixel is a point in a tile, in its units; y points down.
type pixel struct{ x, y float64 }

// tileLayer collects the features of one layer.
type tileLayer struct {
	name     string
	features []byte
	keys     map[string]uint64
	values   map[string]uint64
	order    [2][]string // keys and values in order of first use
}

func newTileLayer(name string) *tileLayer {
	return &tileLayer{name: name, keys: make(map[string]uint64), values: make(map[string]uint64)}
}

// tag is a key and a value of a feature.
type tag struct{ name, value string }

func number(known map[string]uint64, order *[]string, text string) uint64 {
	n, ok := known[text]
	if !ok {
		n = uint64(len(*order))
		known[text] = n
		*order = append(*order, text)
	}
	return n
}

// add adds a feature unless its geometry is empty, without its empty tags.
func (l *tileLayer) add(geometryType uint64, commands []uint32, tags ...tag) {
	if len(commands) == 0 {
		return
	}
	var numbers, geometry, feature []byte
	for _, t := range tags {
		if t.value == "" {
			continue
		}
		numbers = binary.AppendUvarint(numbers, number(l.keys, &l.order[0], t.name))
		numbers = binary.AppendUvarint(numbers, number(l.values, &l.order[1], t.value))
	}
	for _, c := range commands {
		geometry = binary.AppendUvarint(geometry, uint64(c))
	}
	feature = appendBytes(feature, 2, numbers)
	feature = appendNumber(feature, 3, geometryType)
	feature = appendBytes(feature, 4, geometry)
	l.features = appendBytes(l.features, 2, feature)
}

// appendTo appends the encoded layer to a tile, unless it is empty.
func (l *tileLayer) appendTo(tile []byte) []byte {
	if len(l.features) == 0 {
		return tile
	}
	body := appendNumber(nil, 15, 2) // version
	body = appendBytes(body, 1, []byte(l.name))
	body = append(body, l.features...)
	for _, key := range l.order[0] {
		body = appendBytes(body, 3, []byte(key))
	}
	for _, value := range l.order[1] {
		body = appendBytes(body, 4, appendBytes(nil, 1, []byte(value)))
	}
	body = appendNumber(body, 5, tileExtent)
	return appendBytes(tile, 3, body)
}

func appendNumber(b []byte, field int, n uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3), n)
}

func appendBytes(b []byte, field int, body []byte) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3|2), uint64(len(body)))
	return append(b, body...)
}

// pen encodes geometry commands with delta-coded coordinates.
type pen struct {
	commands []uint32
	x, y     int32
}

func (p *pen) step(x, y int32) {
	zigzag := func(n int32) uint32 { return uint32(n)<<1 ^ uint32(n>>31) }
	p.commands = append(p.commands, zigzag(x-p.x), zigzag(y-p.y))
	p.x, p.y = x, y
}

func command(id, count int) uint32 { return uint32(count)<<3 | uint32(id) }

// dot encodes one point unless it lies outside the tile: it belongs to one tile only.
func (p *pen) dot(at pixel) {
	if min(at.x, at.y) < 0 || max(at.x, at.y) >= tileExtent {
		return
	}
	p.commands = append(p.commands, command(moveTo, 1))
	p.step(int32(at.x), int32(at.y))
}

// draw encodes one line or ring without consecutive equal points. It drops degenerate ones.
func (p *pen) draw(line []pixel, ring bool) {
	var kept [][2]int32
	for _, s := range line {
		at := [2]int32{int32(math.Round(s.x)), int32(math.Round(s.y))}
		if n := len(kept); n == 0 || kept[n-1] != at {
			kept = append(kept, at)
		}
	}
	least := 2
	if ring {
		for least = 3; len(kept) > 1 && kept[0] == kept[len(kept)-1]; {
			kept = kept[:len(kept)-1]
		}
	}
	if len(kept) < least {
		return
	}
	p.commands = append(p.commands, command(moveTo, 1))
	p.step(kept[0][0], kept[0][1])
	p.commands = append(p.commands, command(lineTo, len(kept)-1))
	for _, at := range kept[1:] {
		p.step(at[0], at[1])
	}
	if ring {
		p.commands = append(p.commands, command(closePath, 1))
	}
}

// depths returns the distance of a point to each side of the buffered tile; negative: outside.
func depths() [4]func(pixel) float64 {
	const low, high = -tileBuffer, tileExtent + tileBuffer
	return [4]func(pixel) float64{
		func(p pixel) float64 { return p.x - low }, func(p pixel) float64 { return high - p.x },
		func(p pixel) float64 { return p.y - low }, func(p pixel) float64 { return high - p.y },
	}
}

func between(a, b pixel, share float64) pixel {
	return pixel{a.x + (b.x-a.x)*share, a.y + (b.y-a.y)*share}
}

// clipRing clips a ring to the tile (Sutherland-Hodgman).
func clipRing(ring []pixel) []pixel {
	for _, depth := range depths() {
		var kept []pixel
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

// clipLine clips a line to the tile. A line that leaves and comes back becomes several.
func clipLine(line []pixel) [][]pixel {
	var parts [][]pixel
	for i := 1; i < len(line); i++ {
		a, b, from, to := line[i-1], line[i], 0.0, 1.0
		for _, depth := range depths() {
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
		parts = append(parts, []pixel{begin, end})
	}
	return parts
}
