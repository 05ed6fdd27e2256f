package law

import (
	"math"

	"wayside/internal/geo"
)

// Widths of zones in metres.
const (
	MinZone     = 300
	MaxZone     = 50_000
	DefaultZone = 4_000 // outside towns
)

// maxDrift is how many widths of its zone a camera may be shown away from its place, at most: half a square's diagonal is
// 0.71, and cells are somewhat wider than their width. TestZone checks it.
const maxDrift = 0.8

// maxZoneLatitude is the highest at which areas may have zones: nearer to a pole, cells are no squares any more.
const maxZoneLatitude = 85

const metresPerDegree = geo.EarthRadius * math.Pi / 180

// Middle gives the middle of the cell in which a place lies, of a grid whose cells are nowhere narrower or lower than a
// width in metres: a geo.Grid's may be narrower. Two places are in one cell if they have one middle. The grid is fixed, so
// that a middle tells nothing of where in the cell the camera is.
func Middle(p geo.Point, width float64) geo.Point {
	rows := math.Floor(180 * metresPerDegree / width)
	height := 180 / rows
	row := math.Min(math.Floor((p.Lat+90)/height), rows-1)
	south := row*height - 90
	// Cells are narrowest at the edge towards the pole.
	poleward := math.Max(math.Abs(south), math.Abs(south+height))
	columns := math.Max(1, math.Floor(turn*metresPerDegree*math.Cos(poleward*math.Pi/180)/width))
	across := turn / columns
	column := math.Min(math.Floor(math.Mod(p.Lng+180, turn)/across), columns-1)
	return geo.Point{Lat: round(south + height/2), Lng: round((column+0.5)*across - 180)}
}

// round keeps five decimals, about a metre.
func round(degrees float64) float64 { return math.Round(degrees*1e5) / 1e5 }
