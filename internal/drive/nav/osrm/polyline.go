package osrm

import (
	"errors"
	"math"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// Precision is the number of units of a polyline in a degree.
type Precision int64

// The precisions of polylines.
const (
	Precision5 Precision = 1e5
	Precision6 Precision = 1e6
)

// micro returns a coordinate in units of 1e-6 degrees, as written in answers: rounded, halves away from zero.
func micro(tenths int32) int64 { return divideRounded(int64(tenths), 10) }

func divideRounded(v, by int64) int64 {
	if v < 0 {
		return -((-v + by/2) / by)
	}
	return (v + by/2) / by
}

// AppendPolyline appends positions in Google's polyline format.
func AppendPolyline(dst []byte, line []graph.Position, precision Precision) []byte {
	var lat, lng int64
	for _, p := range line {
		y, x := micro(p.Lat), micro(p.Lng)
		if precision == Precision5 {
			y, x = divideRounded(y, 10), divideRounded(x, 10)
		}
		dst = appendDifference(dst, y-lat)
		dst = appendDifference(dst, x-lng)
		lat, lng = y, x
	}
	return dst
}

func appendDifference(dst []byte, v int64) []byte {
	u := uint64(v) << 1
	if v < 0 {
		u = ^u
	}
	for u >= 0x20 {
		dst = append(dst, byte(u&0x1f|0x20)+63)
		u >>= 5
	}
	return append(dst, byte(u)+63)
}

var errPolyline = errors.New("not a polyline")

// ParsePolyline decodes a polyline. The result may lie outside the globe.
func ParsePolyline(text string, precision Precision) ([]geo.Point, error) {
	var points []geo.Point
	var lat, lng int64
	for len(text) > 0 {
		for _, sum := range [...]*int64{&lat, &lng} {
			v, rest, ok := cutDifference(text)
			if !ok {
				return nil, errPolyline
			}
			*sum, text = *sum+v, rest
			if *sum < math.MinInt32 || *sum > math.MaxInt32 {
				return nil, errPolyline
			}
		}
		points = append(points, geo.Point{Lat: float64(lat) / float64(precision), Lng: float64(lng) / float64(precision)})
	}
	return points, nil
}

// cutDifference takes one number off a polyline.
func cutDifference(text string) (v int64, rest string, ok bool) {
	var u uint64
	for i := range len(text) {
		c := text[i] - 63
		if c > 63 || i > 6 { // seven characters hold more than any coordinate needs
			return 0, "", false
		}
		u |= uint64(c&0x1f) << (5 * i)
		if c < 0x20 {
			if v = int64(u >> 1); u&1 != 0 {
				v = ^v
			}
			return v, text[i+1:], true
		}
	}
	return 0, "", false
}
