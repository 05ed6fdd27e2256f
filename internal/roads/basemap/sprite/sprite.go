// Package sprite holds the icons of points of interest on the map, as one picture for each density of pixels and an index that tells
// where in it an icon lies, in the form that MapLibre reads.
package sprite

import (
	_ "embed"
	"fmt"
)

//go:generate go run ./makesprite

// The pictures, which makesprite draws of Icons.
var (
	//go:embed sprite.png
	picture []byte
	//go:embed sprite@2x.png
	doublePicture []byte
)

// Side is the width and height of an icon in CSS pixels.
const Side = 18

// columns is how many icons lie beside each other.
const columns = 6

// Icon is an icon: white lines on a rounded square.
type Icon struct {
	Kind   string // of the points, in the layer pois of the tiles
	Ground string // colour of the square
	Lines  string // path of an SVG in a square of 24 by 24
}

// Colours of the squares, which are quiet so that pins are not: care, ways on and by the car, learning and authorities, food and
// shopping, sleeping, looking.
const (
	care    = "#b4505a"
	car     = "#3f6f9c"
	station = "#56637a"
	food    = "#a8702f"
	shop    = "#7a5ea8"
	sleep   = "#4f6d8f"
	nature  = "#4d7f55"
)

// Icons returns all icons.
func Icons() []Icon {
	return []Icon{
		{"hospital", care, "M12 5v14M5 12h14"},
		{"pharmacy", nature, "M12 5v14M5 12h14"},
		{"fuel", car, "M6 19V5h7v14M5 19h9M6 11h7M13 9l4 3v4.5a1.3 1.3 0 0 0 2.6 0V9l-2.6-2.5"},
		{"charging_station", car, "M13 4L7 13h4l-1 7 6-9h-4z"},
		{"parking", car, "M9 19V5h4a4 4 0 0 1 0 8.4H9"},
		{"rest_area", car, "M4 9h16M6 9l-2 9M18 9l2 9M5 14h14"},
		{"station", station, "M7 5h10v10H7zM7 11h10M9 15l-3 4M15 15l3 4M10 8h4"},
		{"ferry_terminal", station, "M4 14h16l-3 5H7zM7 14V9h10v5M12 9V5"},
		{"aerodrome", station, "M12 4v16M12 9l-8 5M12 9l8 5M12 18l-3 2M12 18l3 2"},
		{"police", station, "M12 4l7 2.5v5c0 4-3 7-7 8.5-4-1.500-7-4.500-7-8.500v-5z"},
		{"school", station, "M3 10l9-4 9 4-9 4zM7 12v5c3 2 7 2 10 0v-5"},
		{"supermarket", shop, "M4 6h2l2.500 9h8.500l2-6H7M10 19h.1M16 19h.1"},
		{"restaurant", food, "M8 5v5a2 2 0 0 0 4 0V5M10 12v8M16 20V5c-2.500 2-2.500 6 0 8"},
		{"cafe", food, "M6 9h10v5a4 4 0 0 1-4 4h-2a4 4 0 0 1-4-4zM16 10h2a2 2 0 0 1 0 4h-2"},
		{"hotel", sleep, "M4 18V7M4 15h16v3M20 15v-2a3 3 0 0 0-3-3h-7v5M7 11.500h.1"},
		{"viewpoint", nature, "M3 18l6-9 4 5 3-4 5 8z"},
		{"toilets", station, "M8 6h.1M8 9v9M6 11h4M16 6h.1M16 9v9M14 11h4"},
		{"traffic_signals", "#2e3642", "M12 6a.7.7 0 1 0 .01 0M12 11.3a.7.7 0 1 0 .01 0M12 16.600a.7.7 0 1 0 .01 0"},
		{"level_crossing", "#2e3642", "M6 6l12 12M18 6L6 18"},
	}
}

// Size returns the width and height of the picture, in CSS pixels.
func Size() (width, height int) {
	return columns * Side, (len(Icons()) + columns - 1) / columns * Side
}

// At returns where the icon of a number lies in the picture, in CSS pixels.
func At(number int) (x, y int) { return number % columns * Side, number / columns * Side }

// Picture returns the PNG for screens with one pixel, or two, for a CSS pixel.
func Picture(double bool) []byte {
	if double {
		return doublePicture
	}
	return picture
}

// Index returns the index of the picture, as JSON.
func Index(double bool) []byte {
	ratio := 1
	if double {
		ratio = 2
	}
	out := []byte{'{'}
	for i, icon := range Icons() {
		if i > 0 {
			out = append(out, ',')
		}
		x, y := At(i)
		out = fmt.Appendf(out, `%q:{"x":%d,"y":%d,"width":%d,"height":%d,"pixelRatio":%d}`, icon.Kind, x*ratio, y*ratio, Side*ratio, Side*ratio, ratio)
	}
	return append(out, '}')
}
