package live

import (
	"fmt"
	"iter"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// grid is the grid of tiles. Tiles are about 11 km high: a town is one value or four, and the widest circle of readers is
// about a hundred. Nodes that share a cache must agree on it.
var grid = geo.Grid{Height: 0.1}

// tileID names a tile.
type tileID = geo.Cell

// circle is an area, and the box around it.
type circle struct {
	center geo.Vector
	chord  float64 // the radius as a squared chord
	box    geo.Box
}

// circleOf fails when there is no such circle, or it is larger than MaxRadius.
func circleOf(center geo.Point, radius float64) (circle, error) {
	if !center.Valid() || !(radius > 0 && radius <= MaxRadius) {
		return circle{}, fmt.Errorf("live: area: %w", mapdata.ErrMalformed)
	}
	return circle{
		center: center.Vector(), chord: geo.ChordSquaredOf(radius), box: geo.Circle{Center: center, Radius: radius}.Box(),
	}, nil
}

func (c *circle) holds(v geo.Vector) bool { return c.center.ChordSquared(v) <= c.chord }

// tiles gives the tiles that the circle may touch, each once.
func (c *circle) tiles() iter.Seq[tileID] { return grid.Cells(c.box) }
