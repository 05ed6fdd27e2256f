package geo

import "math"

const radian = math.Pi / 180

// Bearing returns the direction in which the shortest way from a to b begins, in degrees clockwise from north, [0, 360).
// At a pole it is relative to the meridian given by a's longitude. It is 0 if the points are equal.
func Bearing(a, b Point) float64 {
	sinA, cosA := math.Sincos(a.Lat * radian)
	sinB, cosB := math.Sincos(b.Lat * radian)
	sinEast, cosEast := math.Sincos((b.Lng - a.Lng) * radian)
	degrees := math.Atan2(sinEast*cosB, cosA*sinB-sinA*cosB*cosEast) / radian
	if degrees < 0 {
		degrees += 360
	}
	return math.Mod(degrees, 360) // rounding may give 360
}

// AngleBetween returns the angle between two directions in degrees, [0, 180].
func AngleBetween(a, b float64) float64 {
	turn := math.Mod(math.Abs(a-b), 360)
	return math.Min(turn, 360-turn)
}
