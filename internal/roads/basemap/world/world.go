// Package world is the built-in overview of the world: coastlines, borders and large places, so that no map is ever
// blank. It also finds the large place nearest to a point.
//
// The archive is embedded. `make world` makes it again from its sources (see makeworld): Natural Earth 1:50m, which is
// in the public domain, and places of at least 200 000 people and capitals from GeoNames (CC BY 4.0), which must be
// credited wherever the archive is shown.
package world

import (
	_ "embed" // the archive
	"fmt"
	"math"
	"sync"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/basemap"
	"wayside/internal/roads/basemap/mvt"
)

//go:embed world.pmtiles
var archive []byte

// World is the overview. It is safe for concurrent use.
type World struct {
	Archive *basemap.Archive

	places func() []locatedPlace // read on first use
}

// Place is a large populated place.
type Place struct {
	Name string // in English, or as locals write it in Latin letters
	At   geo.Point
}

type locatedPlace struct {
	Place
	vector geo.Vector
}

// Open opens the embedded archive.
func Open() (*World, error) {
	a, err := basemap.OpenBytes(archive)
	if err != nil {
		return nil, fmt.Errorf("the overview of the world %w", err)
	}
	return &World{Archive: a, places: sync.OnceValue(func() []locatedPlace { return readPlaces(a) })}, nil
}

// NearestPlace returns the large place nearest to a point. It compares with some two thousand places, which takes
// microseconds. ok is false if the archive has no places.
func (w *World) NearestPlace(p geo.Point) (nearest Place, ok bool) {
	here, least := p.Vector(), math.Inf(1)
	places := w.places()
	for i := range places {
		if d := float64(here.ChordSquared(places[i].vector)); d < least {
			nearest, least = places[i].Place, d
		}
	}
	return nearest, len(places) > 0
}

// readPlaces reads the places from the tiles of the highest zoom. It skips tiles that cannot be read; a test verifies
// that there are none.
func readPlaces(a *basemap.Archive) []locatedPlace {
	var out []locatedPlace
	_, z := a.Zooms()
	for x := range 1 << z {
		for y := range 1 << z {
			stored, ok, err := a.Tile(uint8(z), uint32(x), uint32(y))
			if err != nil || !ok {
				continue
			}
			tile, err := stored.Plain()
			if err != nil {
				continue
			}
			features, err := mvt.Read(tile, "places")
			if err != nil {
				continue
			}
			for _, f := range features {
				at := pointAt(z, x, y, f.Parts[0][0])
				out = append(out, locatedPlace{Place{f.Texts["name"], at}, at.Vector()})
			}
		}
	}
	return out
}

// pointAt returns the point at a position in a tile.
func pointAt(z, x, y int, at mvt.Pixel) geo.Point {
	side := float64(int(1) << z)
	lng := (float64(x)+at.X/mvt.Extent)/side*360 - 180
	lat := math.Atan(math.Sinh(math.Pi*(1-2*(float64(y)+at.Y/mvt.Extent)/side))) * 180 / math.Pi
	return geo.Point{Lat: lat, Lng: lng}
}
