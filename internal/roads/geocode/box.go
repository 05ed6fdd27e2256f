package geocode

import (
	"math"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

const fullTurn = 360 * 1e7 // once around the globe, in units of positions

// box is a box in units of 1e-7 degrees. The east of a box that crosses the antimeridian exceeds 180 degrees.
type box struct{ west, south, east, north int64 }

func boxAt(p graph.Position) box {
	return box{int64(p.Lng), int64(p.Lat), int64(p.Lng), int64(p.Lat)}
}

// add extends the box to a place, on the shorter way around the globe.
func (b *box) add(p graph.Position) {
	lng := int64(p.Lng)
	for lng-b.west > fullTurn/2 && lng > b.east {
		lng -= fullTurn
	}
	for b.east-lng > fullTurn/2 && lng < b.west {
		lng += fullTurn
	}
	b.west, b.east = min(b.west, lng), max(b.east, lng)
	b.south, b.north = min(b.south, int64(p.Lat)), max(b.north, int64(p.Lat))
	if b.west < -fullTurn/2 {
		b.west, b.east = b.west+fullTurn, b.east+fullTurn
	}
}

// with extends the box to include another one.
func (b *box) with(o box) {
	b.add(graph.Position{Lng: wrapped(o.west), Lat: int32(o.south)})
	b.add(graph.Position{Lng: wrapped(o.east), Lat: int32(o.north)})
}

func wrapped(lng int64) int32 {
	if lng > fullTurn/2 {
		lng -= fullTurn
	}
	return int32(max(min(lng, fullTurn/2), -fullTurn/2))
}

func (b *box) middle() graph.Position {
	return graph.Position{Lng: wrapped((b.west + b.east) / 2), Lat: int32((b.south + b.north) / 2)}
}

// contains reports whether a place lies in the box, extended by a margin in units to each side.
func (b *box) contains(p graph.Position, margin int64) bool {
	lng := int64(p.Lng)
	if lng < b.west-margin {
		lng += fullTurn
	}
	return int64(p.Lat) >= b.south-margin && int64(p.Lat) <= b.north+margin && lng >= b.west-margin && lng <= b.east+margin
}

func (b *box) extent() extent {
	return extent{int32(b.west), int32(b.south), int32(min(b.east, math.MaxInt32)), int32(b.north)}
}

const metresPerUnit = geo.EarthRadius * math.Pi / 180 * 1e-7

// metres returns the approximate distance of two places, correct to a few per mille up to some hundred kilometres.
func metres(a, b graph.Position) float64 {
	lng := math.Abs(float64(int64(a.Lng) - int64(b.Lng)))
	if lng > fullTurn/2 {
		lng = fullTurn - lng
	}
	x := lng * math.Cos(float64(int64(a.Lat)+int64(b.Lat))/2*1e-7*math.Pi/180)
	y := float64(int64(a.Lat) - int64(b.Lat))
	return math.Hypot(x, y) * metresPerUnit
}

// distance returns how far a place is from the box in metres, or 0 inside.
func (b *box) distance(p graph.Position) float64 {
	lng := int64(p.Lng)
	if gap := b.west - lng; gap > 0 && b.east-b.west < fullTurn && lng+fullTurn-b.east < gap {
		lng += fullTurn
	}
	nearest := graph.Position{Lng: wrapped(max(b.west, min(b.east, lng))), Lat: int32(max(b.south, min(b.north, int64(p.Lat))))}
	return metres(p, nearest)
}

// gap returns how far two boxes are from each other in metres, or 0 if they meet. Boxes on both sides of the antimeridian
// are far from each other.
func (b *box) gap(o *box) float64 {
	lng, lat := max(0, o.west-b.east, b.west-o.east), max(0, o.south-b.north, b.south-o.north)
	from := graph.Position{Lat: int32(min(b.south, o.south))}
	return metres(from, graph.Position{Lng: int32(min(lng, fullTurn/2)), Lat: from.Lat + int32(lat)})
}

// positionOf converts a point on the globe to units.
func positionOf(p geo.Point) graph.Position {
	return graph.Position{Lng: int32(math.Round(p.Lng * 1e7)), Lat: int32(math.Round(p.Lat * 1e7))}
}
