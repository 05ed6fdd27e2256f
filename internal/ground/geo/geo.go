// Package geo holds the geometry that every other package shares: points on the globe in degrees, great-circle
// distance on the WGS 84 mean sphere (D4.1), and the unit vectors that make comparing distances cheap.
package geo

import "math"

// EarthRadius is the WGS 84 mean radius in metres (D4.1).
const EarthRadius = 6_371_008.8

// Point is a point on the globe in degrees.
type Point struct {
	Lat float64 // [-90, 90]
	Lng float64 // [-180, 180]
}

// Valid reports whether both coordinates are numbers within their ranges.
func (p Point) Valid() bool {
	return p.Lat >= -90 && p.Lat <= 90 && p.Lng >= -180 && p.Lng <= 180
}

// Vector is a point on the unit sphere. Comparing vectors needs no trigonometry, and has neither an antimeridian nor
// poles.
type Vector struct{ X, Y, Z float64 }

// Vector returns the point's place on the unit sphere.
func (p Point) Vector() Vector {
	sinLat, cosLat := math.Sincos(p.Lat * (math.Pi / 180))
	sinLng, cosLng := math.Sincos(p.Lng * (math.Pi / 180))
	return Vector{X: cosLat * cosLng, Y: cosLat * sinLng, Z: sinLat}
}

// ChordSquared returns the squared straight-line distance through the unit sphere. It grows with the distance over the
// sphere, so it orders places in the same way as metres.
func (v Vector) ChordSquared(o Vector) float64 {
	dx, dy, dz := v.X-o.X, v.Y-o.Y, v.Z-o.Z
	return dx*dx + dy*dy + dz*dz
}

// ChordSquaredOf converts metres over the globe to a squared chord as returned by ChordSquared.
func ChordSquaredOf(metres float64) float64 {
	half := math.Sin(math.Min(metres/EarthRadius, math.Pi) / 2)
	return 4 * half * half
}

// MetresOf converts a squared chord to metres over the globe.
func MetresOf(chordSquared float64) float64 {
	return 2 * EarthRadius * math.Asin(math.Min(1, math.Sqrt(chordSquared)/2))
}

// Distance returns the great-circle distance in metres.
func Distance(a, b Point) float64 {
	return MetresOf(a.Vector().ChordSquared(b.Vector()))
}
