package geo

import "math"

// NearestOnSegment returns the point of the segment from a to b that is nearest to p. It measures on a plane that
// touches the globe at p, which is accurate to a metre within some ten kilometres of p, except close to a pole.
func NearestOnSegment(p, a, b Point) Point {
	scale := math.Cos(p.Lat * radian)
	ax, ay := lngBetween(p.Lng, a.Lng)*scale, a.Lat-p.Lat
	dx, dy := lngBetween(a.Lng, b.Lng)*scale, b.Lat-a.Lat
	length := dx*dx + dy*dy
	if length == 0 {
		return a
	}
	share := math.Max(0, math.Min(1, -(ax*dx+ay*dy)/length))
	return Between(a, b, share)
}

// Between returns the point of the segment from a to b at a share of its length, [0, 1], from a.
func Between(a, b Point, share float64) Point {
	return Point{Lat: a.Lat + share*(b.Lat-a.Lat), Lng: wrapLng(a.Lng + share*lngBetween(a.Lng, b.Lng))}
}

// lngBetween returns the difference of two longitudes on the shorter way in degrees, [-180, 180].
func lngBetween(from, to float64) float64 { return math.Remainder(to-from, 360) }

func wrapLng(lng float64) float64 {
	if lng < -180 || lng > 180 {
		return math.Remainder(lng, 360)
	}
	return lng
}
