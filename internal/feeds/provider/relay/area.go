package relay

import (
	"math"
	"strconv"

	"wayside/internal/ground/geo"
)

// Bounds of the requests to an upstream (Provider-hosted: relay mode; D8.2).
const (
	roundTo   = 100.0 // metres
	minRadius = 100.0
	maxRadius = 50_000.0
	decimals  = 5 // of degrees: a metre
)

// requestArea is the circle that a request to an upstream names: its centre is rounded to 100 m, and it is wide enough
// to cover the driver's own circle. All circles within one box have one key.
type requestArea struct {
	center geo.Point
	radius float64 // metres, a multiple of 100, [100, 50000]
	key    string
}

// areaOf rounds a driver's circle, so that an upstream learns the driver's position to 100 m only.
func areaOf(center geo.Point, radius float64) requestArea {
	step := roundTo / geo.EarthRadius * (180 / math.Pi)
	row := math.Round(center.Lat / step)
	lat := roundCoordinate(min(max(row*step, -90), 90))
	// As many columns as are about 100 m wide; a single one around a pole.
	columns := max(1, math.Floor(360/step*math.Cos(lat*(math.Pi/180))))
	width := 360 / columns
	column := math.Mod(math.Round((center.Lng+180)/width), columns)
	p := requestArea{center: geo.Point{Lat: lat, Lng: roundCoordinate(column*width - 180)}}
	widened := radius + geo.Distance(center, p.center)
	p.radius = min(max(math.Ceil(widened/roundTo)*roundTo, minRadius), maxRadius)
	p.key = strconv.FormatInt(int64(row), 36) + "/" + strconv.FormatInt(int64(column), 36) + "/" + strconv.FormatInt(int64(p.radius/roundTo), 36)
	return p
}

// roundCoordinate rounds a coordinate to the digits that are sent, so that the stored area is the requested one.
func roundCoordinate(degrees float64) float64 {
	const scale = 1e5
	return math.Round(degrees*scale) / scale
}

// Area bounds the region that an upstream covers, in degrees. West of more than East crosses the antimeridian.
type Area struct{ West, South, East, North float64 }

// touches reports whether the circle may reach into the area. In doubt it returns true.
func (a *Area) touches(p *requestArea) bool {
	if a == nil {
		return true
	}
	degrees := p.radius / geo.EarthRadius * (180 / math.Pi)
	if p.center.Lat+degrees < a.South || p.center.Lat-degrees > a.North {
		return false
	}
	widest := math.Cos((math.Abs(p.center.Lat) + degrees) * (math.Pi / 180))
	if math.Abs(p.center.Lat)+degrees >= 90 || degrees/widest >= 180 || a.East-a.West >= 360 {
		return true
	}
	reach := degrees / widest
	return eastOf(a.West, p.center.Lng+reach) <= eastOf(a.West, a.East)+2*reach
}

// eastOf returns the angle in degrees from one longitude eastwards to another: [0, 360).
func eastOf(from, to float64) float64 {
	return math.Mod(math.Mod(to-from, 360)+360, 360)
}
