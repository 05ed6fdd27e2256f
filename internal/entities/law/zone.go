package law

import (
	"math"

	"wayside/internal/ground/geo"
)

// Widths of zones in metres.
const (
	MinZone     = 300
	MaxZone     = 50_000
	DefaultZone = 4_000 // outside towns
)

// maxDrift is the maximum distance between a camera and the centre of its zone, in widths of the zone: half a square's
// diagonal is 0.71, and cells are somewhat larger than their nominal width. TestZone checks it.
const maxDrift = 0.8

// maxZoneLatitude is the highest latitude of areas with zones: nearer to a pole, cells are not nearly square.
const maxZoneLatitude = 85

const metresPerDegree = geo.EarthRadius * math.Pi / 180

// Middle returns the centre of the point's cell in a grid whose cells are at least width metres wide and high everywhere
// (unlike geo.Grid's). Two points are in the same cell if they have the same middle. The grid is fixed, so that a middle
// does not reveal where in the cell the camera is.
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

// round rounds to five decimals, about a metre.
func round(degrees float64) float64 { return math.Round(degrees*1e5) / 1e5 }
