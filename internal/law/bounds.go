package law

import (
	"math"

	"wayside/internal/geo"
)

// turn is a full turn of longitude in degrees.
const turn = 360

// bounds are the outermost degrees of something. West lies in [-180, 180); east may lie beyond 180, and is less than a
// turn and a bit away.
type bounds struct{ south, west, north, east float64 }

// around gives the bounds of a circle.
func around(center geo.Point, radius float64) bounds {
	const radian = math.Pi / 180
	angle := radius / geo.EarthRadius
	b := bounds{
		south: math.Max(-90, center.Lat-angle/radian), north: math.Min(90, center.Lat+angle/radian),
		west: -180, east: 180,
	}
	// The circle's outermost meridians; there are none if it holds a pole.
	if ratio := math.Sin(angle) / math.Cos(center.Lat*radian); b.south > -90 && b.north < 90 && ratio < 1 {
		width := math.Asin(ratio) / radian
		b.west, b.east = center.Lng-width, center.Lng+width
		if b.west < -180 {
			b.west, b.east = b.west+turn, b.east+turn
		}
	}
	return b
}

// touch says whether two bounds have a place in common.
func (b *bounds) touch(o *bounds) bool {
	if b.south > o.north || o.south > b.north {
		return false
	}
	for _, shift := range [...]float64{0, turn, -turn} {
		if b.west <= o.east+shift && o.west+shift <= b.east {
			return true
		}
	}
	return false
}

// cells yields the squares that the bounds touch.
func (b *bounds) cells(yield func(cell) bool) {
	first, last := math.Floor(b.west), math.Floor(b.east)
	if last-first >= turn {
		last = first + turn - 1
	}
	for row := math.Floor(b.south); row <= b.north; row++ {
		for column := first; column <= last; column++ {
			if !yield(cell{int16(row), int16(math.Mod(column+180+2*turn, turn))}) {
				return
			}
		}
	}
}
