package geo

import "math"

// Box is the part of the globe between two parallels and two meridians, in degrees. East is not less than West, and
// exceeds 180 if the box crosses the antimeridian.
type Box struct{ South, West, North, East float64 }

// boxMargin, about a centimetre, widens the box of a circle, in degrees, so that rounding never excludes a point on the
// circle's edge.
const boxMargin = 1e-7

// Box returns a box that contains the circle. If the circle contains a pole, the box contains every longitude.
func (c Circle) Box() Box {
	angle := math.Min(c.Radius/EarthRadius, math.Pi)
	height := angle/radian + boxMargin
	b := Box{South: c.Center.Lat - height, North: c.Center.Lat + height, West: -180, East: 180}
	if b.South <= -90 || b.North >= 90 {
		b.South, b.North = math.Max(b.South, -90), math.Min(b.North, 90)
		return b
	}
	// The circle touches its outermost meridians where the sine of the width is this ratio.
	if ratio := math.Sin(angle) / math.Cos(c.Center.Lat*radian); ratio < 1 {
		width := math.Asin(ratio)/radian + boxMargin
		b.West, b.East = c.Center.Lng-width, c.Center.Lng+width
	}
	return b
}

// Meets reports whether the boxes have a common point.
func (b Box) Meets(o Box) bool {
	if b.South > o.North || o.South > b.North {
		return false
	}
	turns := math.Floor((b.West - o.West) / 360) // one too many if the difference is rounded up to a turn
	for _, shift := range [...]float64{360 * (turns - 1), 360 * turns, 360 * (turns + 1)} {
		if b.West <= o.East+shift && o.West+shift <= b.East {
			return true
		}
	}
	return false
}

// Circle returns a circle that contains the box, which must be less than half the globe wide, because then no point of
// the box is farther from its middle than its corners.
func (b Box) Circle() Circle {
	middle := Point{Lat: (b.South + b.North) / 2, Lng: (b.West + b.East) / 2}
	return Circle{Center: middle, Radius: math.Max(
		Distance(middle, Point{Lat: b.South, Lng: b.West}), Distance(middle, Point{Lat: b.North, Lng: b.West}))}
}
