package match

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

const (
	leafPieces = 8  // pieces in one box of the lowest level
	fanout     = 16 // boxes in one box of another level
)

// Index finds roads near a place: a packed R-tree over the pieces, ordered along a Hilbert curve. Its arrays contain
// only plain values, so that they can lie in a mapped file.
type Index struct {
	graph  *graph.Graph
	pieces []uint32    // in the order of the curve
	boxes  []packedBox // level by level, the lowest first
	levels []uint32    // index of each level's first box, and the total; follows from the number of pieces
	pool   sync.Pool
}

// box is a box in units of 1e-7 degrees. The east of a box that crosses the antimeridian exceeds 180 degrees.
type box struct{ west, south, east, north int64 }

// packedBox is a box as it is stored: west, south, width and height.
type packedBox [4]uint32

// Place is a place on a piece of road.
type Place struct {
	Piece    uint32
	Segment  uint32    // index of the segment of the piece's line
	Share    float64   // of the piece's length, before the place in the piece's direction; [0, 1]
	Point    geo.Point // on the road
	Distance float64   // metres from the queried point
}

// NewIndex returns the index of a graph.
func NewIndex(g *graph.Graph) *Index {
	x := newIndex(g)
	x.pieces = make([]uint32, len(g.Pieces))
	keys := make([]uint64, len(g.Pieces))
	for i := range g.Pieces {
		x.pieces[i] = uint32(i)
		keys[i] = boxOf(g.PieceLine(uint32(i))).curveKey()
	}
	slices.SortFunc(x.pieces, func(a, b uint32) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(a, b)) })
	x.boxes = make([]packedBox, 0, x.levels[len(x.levels)-1])
	var level []box
	for group := range slices.Chunk(x.pieces, leafPieces) {
		around := boxOf(g.PieceLine(group[0]))
		for _, piece := range group[1:] {
			around = around.with(boxOf(g.PieceLine(piece)))
		}
		level = append(level, around)
	}
	for {
		for _, b := range level {
			x.boxes = append(x.boxes, b.pack())
		}
		if len(level) <= 1 {
			return x
		}
		above := level[:0]
		for group := range slices.Chunk(level, fanout) {
			around := group[0]
			for _, b := range group[1:] {
				around = around.with(b)
			}
			above = append(above, around)
		}
		level = above
	}
}

// newIndex returns an index without its arrays.
func newIndex(g *graph.Graph) *Index {
	x := &Index{graph: g, levels: []uint32{0}}
	x.pool.New = func() any { return new(search) }
	size, at := (len(g.Pieces)+leafPieces-1)/leafPieces, 0
	for {
		at += size
		x.levels = append(x.levels, uint32(at))
		if size <= 1 {
			return x
		}
		size = (size + fanout - 1) / fanout
	}
}

const turn = 360 * 1e7 // once around the globe, in units of positions

func boxOf(line []graph.Position) box {
	first := line[0]
	b := box{int64(first.Lng), int64(first.Lat), int64(first.Lng), int64(first.Lat)}
	lng := int64(first.Lng)
	for _, p := range line[1:] {
		lng += shorter(int64(p.Lng) - lng)
		b.west, b.east = min(b.west, lng), max(b.east, lng)
		b.south, b.north = min(b.south, int64(p.Lat)), max(b.north, int64(p.Lat))
	}
	return b
}

// shorter returns a difference of longitudes along the shorter way around the globe.
func shorter(difference int64) int64 {
	switch difference %= turn; {
	case difference > turn/2:
		return difference - turn
	case difference < -turn/2:
		return difference + turn
	}
	return difference
}

func (b box) with(o box) box {
	return box{min(b.west, o.west), min(b.south, o.south), max(b.east, o.east), max(b.north, o.north)}
}

// pack converts a box to its stored form, at most once around the globe, with its west within 180 degrees of Greenwich.
func (b box) pack() packedBox {
	west, width := wrapped(b.west+turn/2)-turn/2, b.east-b.west
	if width >= turn {
		west, width = -turn/2, turn
	}
	return packedBox{uint32(int32(west)), uint32(int32(b.south)), uint32(width), uint32(b.north - b.south)}
}

func (p packedBox) unpack() box {
	west, south := int64(int32(p[0])), int64(int32(p[1]))
	return box{west, south, west + int64(p[2]), south + int64(p[3])}
}

// curveKey returns the position of the box's middle on a Hilbert curve over the globe.
func (b box) curveKey() uint64 {
	const bits = 24
	x := uint32((b.west + b.east + turn) * (1 << (bits - 1)) / turn & (1<<bits - 1))
	y := uint32((b.south + b.north + turn/2) * (1 << (bits - 1)) / (turn / 2) & (1<<bits - 1))
	var key uint64
	for s := uint32(1 << (bits - 1)); s > 0; s >>= 1 {
		var right, upper uint32
		if x&s != 0 {
			right = 1
		}
		if y&s != 0 {
			upper = 1
		}
		key += uint64(s) * uint64(s) * uint64((3*right)^upper)
		if upper == 0 {
			if right == 1 {
				x, y = (s-1)-x&(s-1), (s-1)-y&(s-1)
			}
			x, y = y, x
		}
	}
	return key
}

// frame measures from a point: metres to the north, and to the east on the parallel half-way between. This is accurate
// to some centimetres within ten kilometres, except close to a pole.
type frame struct {
	lng, lat int64
	cos, sin float64 // of the latitude
}

const (
	northMetres = geo.EarthRadius * math.Pi / 180 * 1e-7 // metres per unit of latitude
	halfRadian  = math.Pi / 180 * 1e-7 / 2               // radians of half a unit
)

func newFrame(at geo.Point) frame {
	sin, cos := math.Sincos(at.Lat * math.Pi / 180)
	return frame{int64(math.Round(at.Lng * 1e7)), int64(math.Round(at.Lat * 1e7)), cos, sin}
}

// east returns the metres of a unit of longitude for places whose latitude differs by the given units.
func (f frame) east(north int64) float64 {
	half := float64(north) * halfRadian
	return northMetres * math.Max(0, f.cos*(1-half*half/2)-f.sin*half)
}

func (f frame) place(p graph.Position) (x, y float64) {
	north := int64(p.Lat) - f.lat
	return float64(shorter(int64(p.Lng)-f.lng)) * f.east(north), float64(north) * northMetres
}

// distanceTo returns a lower bound of the squared distance of a box.
func (f frame) distanceTo(b box) float64 {
	gap := int64(0)
	if toWest, toEast := wrapped(b.west-f.lng), wrapped(f.lng-b.east); toWest+toEast+(b.east-b.west) == turn && b.east-b.west < turn {
		gap = min(toWest, toEast)
	}
	// The width of a unit of longitude is taken only from latitudes near enough to be found.
	x := float64(gap) * math.Min(f.east(max(b.south-f.lat, -farthest)), f.east(min(b.north-f.lat, farthest)))
	y := float64(max(0, b.south-f.lat, f.lat-b.north)) * northMetres
	return x*x + y*y
}

// farthest is half a degree in units of latitude, which exceeds the distance of any search.
const farthest = 5_000_000

// wrapped reduces a difference of longitudes to [0, turn).
func wrapped(difference int64) int64 { return ((difference % turn) + turn) % turn }

// nearestOn returns the nearest place of a line: the segment, the share of the segment before it, and the squared
// distance.
func (f frame) nearestOn(line []graph.Position) (segment int, share, squared float64) {
	squared = math.Inf(1)
	ax, ay := f.place(line[0])
	for i, p := range line[1:] {
		bx, by := f.place(p)
		if around := turn * f.east(int64(p.Lat)-f.lat); bx-ax > around/2 { // the segment crosses the opposite meridian
			bx -= around
		} else if ax-bx > around/2 {
			bx += around
		}
		dx, dy := bx-ax, by-ay
		along := 0.0
		if length := dx*dx + dy*dy; length > 0 {
			along = math.Max(0, math.Min(1, -(ax*dx+ay*dy)/length))
		}
		x, y := ax+along*dx, ay+along*dy
		if d := x*x + y*y; d < squared {
			segment, share, squared = i, along, d
		}
		ax, ay = f.place(p)
	}
	return segment, share, squared
}
