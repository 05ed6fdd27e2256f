package ahead

import (
	"math"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// metresPerDegree is the length of a degree of latitude (D4.1).
const metresPerDegree = 6_371_008.8 * math.Pi / 180

// xy is a place in metres east and north of the car. Within the three kilometres of a walk, the error of the plane is
// some centimetres.
type xy struct{ x, y float64 }

// plane projects places to xy.
type plane struct {
	center geo.Point
	east   float64 // metres of a degree of longitude
}

func newPlane(center geo.Point) plane {
	return plane{center: center, east: metresPerDegree * math.Cos(center.Lat*math.Pi/180)}
}

func (p plane) place(at geo.Point) xy {
	return xy{math.Remainder(at.Lng-p.center.Lng, 360) * p.east, (at.Lat - p.center.Lat) * metresPerDegree}
}

func (a xy) distance(b xy) float64 { return math.Hypot(b.x-a.x, b.y-a.y) }

// bearing returns the direction from a to b, in degrees clockwise from north.
func (a xy) bearing(b xy) float64 {
	return math.Mod(math.Atan2(b.x-a.x, b.y-a.y)*(180/math.Pi)+360, 360)
}

// nearestOn returns the place on the segment from a to b that is nearest to p, as a share of the segment, and its
// distance from p.
func (a xy) nearestOn(b, p xy) (share, distance float64) {
	dx, dy := b.x-a.x, b.y-a.y
	if squared := dx*dx + dy*dy; squared > 0 {
		share = max(0, min(1, ((p.x-a.x)*dx+(p.y-a.y)*dy)/squared))
	}
	return share, math.Hypot(p.x-a.x-share*dx, p.y-a.y-share*dy)
}

// rectangle is a bounding box of places.
type rectangle struct{ west, south, east, north float64 }

func emptyRectangle() rectangle {
	return rectangle{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
}

func (r *rectangle) add(p xy) {
	r.west, r.east = min(r.west, p.x), max(r.east, p.x)
	r.south, r.north = min(r.south, p.y), max(r.north, p.y)
}

// near reports whether a place lies in the rectangle, extended by some metres to each side.
func (r *rectangle) near(p xy, metres float64) bool {
	return p.x >= r.west-metres && p.x <= r.east+metres && p.y >= r.south-metres && p.y <= r.north+metres
}

// meets reports whether two rectangles, one extended by some metres to each side, overlap.
func (r *rectangle) meets(o *rectangle, metres float64) bool {
	return r.west <= o.east+metres && o.west <= r.east+metres && r.south <= o.north+metres && o.south <= r.north+metres
}

// lookAt is how many metres of a road determine its direction at a junction. The first metres alone often belong to a
// rounded corner.
const lookAt = 20

// leaving and arriving return the directions in which an arc begins and ends.
func leaving(g *graph.Graph, arc uint32) float64 {
	a := &g.Arcs[arc]
	return directionFrom(g.PieceLine(a.Piece), a.Flags&graph.Backward != 0)
}

func arriving(g *graph.Graph, arc uint32) float64 {
	a := &g.Arcs[arc]
	return math.Mod(directionFrom(g.PieceLine(a.Piece), a.Flags&graph.Backward == 0)+180, 360)
}

// directionFrom returns the direction of a line away from one of its ends.
func directionFrom(line []graph.Position, fromEnd bool) float64 {
	at := func(i int) geo.Point {
		if fromEnd {
			i = len(line) - 1 - i
		}
		return line[i].Point()
	}
	p := newPlane(at(0))
	left, before := float64(lookAt), xy{}
	for i := 1; i < len(line); i++ {
		next := p.place(at(i))
		length := before.distance(next)
		if length >= left || i == len(line)-1 {
			if length > 0 {
				share := min(1, left/length)
				before = xy{before.x + share*(next.x-before.x), before.y + share*(next.y-before.y)}
			}
			break
		}
		left -= length
		before = next
	}
	return xy{}.bearing(before)
}
