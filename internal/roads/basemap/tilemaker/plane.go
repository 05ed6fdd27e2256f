package tilemaker

import (
	"math"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/basemap/mvt"
)

// The plane: Web Mercator in whole numbers, with X to the east and Y to the south. A unit is 4 cm at the equator.
const (
	worldBits = 30
	world     = 1 << worldBits

	highestZoom = 14
	bufferCells = 64 // around a tile, in units of mvt.Extent

	maxLat = 85.0511 // of Web Mercator
)

// spot is a place in the plane. Buffers reach beyond the world, so that numbers may be negative.
type spot struct{ X, Y int32 }

// nowhere is the spot of a node that the extracts lack.
var nowhere = spot{math.MinInt32, math.MinInt32}

// project returns the spot of a point, or nowhere for one off the globe. Near the poles it returns the edge of the
// plane.
func project(p geo.Point) spot {
	if !p.Valid() {
		return nowhere
	}
	x, y := mvt.Mercator(worldBits, math.Max(-maxLat, math.Min(maxLat, p.Lat)), p.Lng)
	clamp := func(v float64) int32 { return int32(math.Round(math.Max(0, math.Min(world, v)))) }
	return spot{clamp(x), clamp(y)}
}

// vertex is a spot of a line or ring, and the lowest zoom that needs it.
type vertex struct {
	spot
	from uint8
}

// never is a zoom above all others.
const never = highestZoom + 1

// box is an area with its edges.
type box struct{ west, north, east, south int32 }

var emptyBox = box{math.MaxInt32, math.MaxInt32, math.MinInt32, math.MinInt32}

func (b box) with(s spot) box {
	return box{min(b.west, s.X), min(b.north, s.Y), max(b.east, s.X), max(b.south, s.Y)}
}

func (b box) meets(o box) bool {
	return b.west <= o.east && o.west <= b.east && b.north <= o.south && o.north <= b.south
}

func (b box) holds(o box) bool {
	return b.west <= o.west && o.east <= b.east && b.north <= o.north && o.south <= b.south
}

func (b box) contains(s spot) bool {
	return b.west <= s.X && s.X <= b.east && b.north <= s.Y && s.Y <= b.south
}

func (b box) isEmpty() bool { return b.west >= b.east || b.north >= b.south }

// intersect returns the intersection of two boxes.
func (b box) intersect(o box) box {
	return box{max(b.west, o.west), max(b.north, o.north), min(b.east, o.east), min(b.south, o.south)}
}

// ring returns the box as a ring, counterclockwise on the map.
func (b box) ring() []spot {
	return []spot{{b.west, b.north}, {b.west, b.south}, {b.east, b.south}, {b.east, b.north}}
}

func boxOf(spots []spot) box {
	b := emptyBox
	for _, s := range spots {
		b = b.with(s)
	}
	return b
}

// area returns the area of a ring, positive if it is counterclockwise on the map. It is exact, because intermediate
// overflows cancel out.
func area(ring []spot) float64 {
	sum := int64(0)
	for i, a := range ring {
		b := ring[(i+1)%len(ring)]
		sum += int64(b.X)*int64(a.Y) - int64(a.X)*int64(b.Y)
	}
	return float64(sum) / 2
}

// tile is a tile of the map.
type tile struct {
	z    uint8
	x, y uint32
}

// bounds returns the tile's area, with or without its buffer.
func (t tile) bounds(buffered bool) box {
	side := int32(1) << (worldBits - t.z)
	rim := int32(0)
	if buffered {
		rim = side / (mvt.Extent / bufferCells)
	}
	west, north := int32(t.x)*side, int32(t.y)*side
	return box{west - rim, north - rim, west + side + rim, north + side + rim}
}

// parts returns the four tiles below.
func (t tile) parts() [4]tile {
	x, y, z := 2*t.x, 2*t.y, t.z+1
	return [4]tile{{z, x, y}, {z, x + 1, y}, {z, x, y + 1}, {z, x + 1, y + 1}}
}

// cell returns a spot in the tile's own units.
func (t tile) cell(s spot) mvt.Cell {
	side := int64(1) << (worldBits - t.z)
	scale := func(v int32, at uint32) int32 {
		from := (int64(v) - int64(at)*side) * mvt.Extent * 2 / side // floor, in half units
		return int32((from + 1) >> 1)
	}
	return mvt.Cell{X: scale(s.X, t.x), Y: scale(s.Y, t.y)}
}
