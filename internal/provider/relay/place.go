package relay

import (
	"math"
	"strconv"

	"wayside/internal/geo"
)

// Bounds of what an upstream is asked (Provider-hosted: relay mode; D8.2).
const (
	roundTo   = 100.0 // metres
	minRadius = 100.0
	maxRadius = 50_000.0
	decimals  = 5 // of degrees: a metre
)

// place is what an upstream is asked about: a circle whose middle is rounded to 100 m, wide enough to cover what the driver
// asked for. All that fall into one box have one key.
type place struct {
	center geo.Point
	radius float64 // metres, a multiple of 100, [100, 50000]
	key    string
}

// placeOf rounds a driver's circle. An upstream learns no more of where the driver is than the box of 100 m.
func placeOf(center geo.Point, radius float64) place {
	step := roundTo / geo.EarthRadius * (180 / math.Pi)
	row := math.Round(center.Lat / step)
	lat := shorten(min(max(row*step, -90), 90))
	// As many columns as are about 100 m wide; one of them around a pole.
	columns := max(1, math.Floor(360/step*math.Cos(lat*(math.Pi/180))))
	width := 360 / columns
	column := math.Mod(math.Round((center.Lng+180)/width), columns)
	p := place{center: geo.Point{Lat: lat, Lng: shorten(column*width - 180)}}
	widened := radius + geo.Distance(center, p.center)
	p.radius = min(max(math.Ceil(widened/roundTo)*roundTo, minRadius), maxRadius)
	p.key = strconv.FormatInt(int64(row), 36) + "/" + strconv.FormatInt(int64(column), 36) + "/" + strconv.FormatInt(int64(p.radius/roundTo), 36)
	return p
}

// shorten cuts a coordinate to what is sent, so that what is asked is what is known to be asked.
func shorten(degrees float64) float64 {
	const scale = 1e5
	return math.Round(degrees*scale) / scale
}

// Area bounds where an upstream has something to say, in degrees. West of more than East crosses the antimeridian.
type Area struct{ West, South, East, North float64 }

// touches says whether the circle may reach into the area. It errs on the side of asking.
func (a *Area) touches(p *place) bool {
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

// eastOf is how many degrees one must go east from one longitude to another: [0, 360).
func eastOf(from, to float64) float64 {
	return math.Mod(math.Mod(to-from, 360)+360, 360)
}
