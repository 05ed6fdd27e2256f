package live

import (
	"fmt"
	"iter"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// tileGrid divides the globe into tiles of about 11 km: a town is one value or four, and the widest circle of readers some
// hundred. Tiles name keys in a cache that nodes share: another height is another cache.
var tileGrid = geo.Grid{Height: 0.1}

// area is a circle with its bounding box.
type area struct {
	center geo.Vector
	chord  float64 // the radius as a squared chord
	box    geo.Box
}

// newArea fails when the circle is invalid or larger than MaxRadius.
func newArea(center geo.Point, radius float64) (area, error) {
	if !center.Valid() || !(radius > 0 && radius <= MaxRadius) {
		return area{}, fmt.Errorf("live: area: %w", mapdata.ErrMalformed)
	}
	circle := geo.Circle{Center: center, Radius: radius}
	return area{center: center.Vector(), chord: geo.ChordSquaredOf(radius), box: circle.Box()}, nil
}

func (a *area) contains(v geo.Vector) bool { return a.center.ChordSquared(v) <= a.chord }

// tiles yields the tiles that the area may touch, each once.
func (a *area) tiles() iter.Seq[geo.Cell] { return tileGrid.Cells(a.box) }
