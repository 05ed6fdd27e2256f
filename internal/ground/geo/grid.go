package geo

import (
	"cmp"
	"iter"
	"math"
)

// Grid divides the globe into cells that are about as wide as high: bands of latitude, Height degrees high, each divided
// into columns. Bands are counted from the south pole and end at the north pole. Columns are counted eastward from the
// antimeridian and wrap there, so that 180 and -180 are one place.
type Grid struct {
	Height float64 // of a band in degrees; it divides 180
}

// Cell identifies a cell of a grid.
type Cell struct{ Band, Column int32 }

// Compare orders cells by band, then by column.
func (c Cell) Compare(o Cell) int {
	return cmp.Or(cmp.Compare(c.Band, o.Band), cmp.Compare(c.Column, o.Column))
}

// Bands returns the number of bands.
func (g Grid) Bands() int32 { return int32(math.Round(180 / g.Height)) }

// Columns returns the number of cells in a band: as many as make a cell about as wide as high in the band's middle, at
// least one.
func (g Grid) Columns(band int32) int32 {
	middle := (float64(band)+0.5)*g.Height - 90
	return max(1, int32(360/g.Height*math.Cos(middle*radian)))
}

// Band returns the band of a latitude. Latitudes beyond a pole count as the pole.
func (g Grid) Band(lat float64) int32 {
	return min(max(int32((lat+90)/g.Height), 0), g.Bands()-1)
}

// Cell returns the cell of a valid point.
func (g Grid) Cell(p Point) Cell {
	band := g.Band(p.Lat)
	n := g.Columns(band)
	return Cell{band, wrap(int32(math.Floor((p.Lng+180)/360*float64(n))), n)}
}

// ColumnsIn returns the columns of a band that a box touches, if the box touches the band: count columns from first on,
// which wrap at n, the band's number of columns.
func (g Grid) ColumnsIn(b Box, band int32) (first, count, n int32) {
	n = g.Columns(band)
	width := 360 / float64(n)
	west := int32(math.Floor((b.West + 180) / width))
	east := int32(math.Floor((b.East + 180) / width))
	if east-west+1 >= n {
		return 0, n, n
	}
	return wrap(west, n), east - west + 1, n
}

// Cells yields the cells that a box touches, each once.
func (g Grid) Cells(b Box) iter.Seq[Cell] {
	return func(yield func(Cell) bool) {
		for band, last := g.Band(b.South), g.Band(b.North); band <= last; band++ {
			first, count, n := g.ColumnsIn(b, band)
			for i := range count {
				if !yield(Cell{band, wrap(first+i, n)}) {
					return
				}
			}
		}
	}
}

// Box returns the box that a cell fills.
func (g Grid) Box(c Cell) Box {
	width := 360 / float64(g.Columns(c.Band))
	south, west := float64(c.Band)*g.Height-90, float64(c.Column)*width-180
	return Box{South: south, West: west, North: math.Min(south+g.Height, 90), East: west + width}
}

func wrap(column, n int32) int32 { return (column%n + n) % n }
