package match

import (
	"iter"
	"math"

	"wayside/internal/ground/geo"
)

// In yields the pieces that may have a part in a box, each once, in no particular order: all that have one, and some
// next to the box.
func (x *Index) In(area geo.Box) iter.Seq[uint32] {
	units := func(degrees float64) float64 { return degrees * 1e7 }
	wanted := box{
		west: int64(math.Floor(units(area.West))), south: int64(math.Floor(units(area.South))),
		east: int64(math.Ceil(units(area.East))), north: int64(math.Ceil(units(area.North))),
	}
	return func(yield func(piece uint32) bool) {
		if len(x.boxes) > 0 {
			x.visit(wanted, len(x.levels)-2, uint32(len(x.boxes)-1), yield)
		}
	}
}

// visit yields the pieces below one box of a level, and reports whether the caller wants more.
func (x *Index) visit(wanted box, level int, index uint32, yield func(piece uint32) bool) bool {
	if !x.boxes[index].unpack().overlaps(wanted) {
		return true
	}
	if level == 0 {
		from := int(index) * leafPieces
		for _, piece := range x.pieces[from:min(from+leafPieces, len(x.pieces))] {
			if !yield(piece) {
				return false
			}
		}
		return true
	}
	from := x.levels[level-1] + (index-x.levels[level])*fanout
	for below := from; below < min(from+fanout, x.levels[level]); below++ {
		if !x.visit(wanted, level-1, below, yield) {
			return false
		}
	}
	return true
}

func (b box) overlaps(o box) bool {
	if b.south > o.north || o.south > b.north {
		return false
	}
	return wrapped(o.west-b.west) <= b.east-b.west || wrapped(b.west-o.west) <= o.east-o.west
}
