package index

import (
	"math"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// bounds is a box in a form that searches can compare with vectors. Rounding may admit positions some micrometres
// outside.
type bounds struct {
	set          bool
	south, north float64 // heights over the equator's plane
	west, east   geo.Vector
	turn         float64 // degrees from west to east
}

func newBounds(b *geo.Box) bounds {
	if b == nil {
		return bounds{}
	}
	return bounds{
		set: true, turn: b.East - b.West,
		south: math.Sin(b.South*math.Pi/180) - chordEpsilon, north: math.Sin(b.North*math.Pi/180) + chordEpsilon,
		west: geo.Point{Lng: b.West}.Vector(), east: geo.Point{Lng: b.East}.Vector(),
	}
}

// contain reports whether the bounds contain a position; unset bounds contain all.
func (b *bounds) contain(v *geo.Vector) bool {
	if !b.set {
		return true
	}
	if v.Z < b.south || v.Z > b.north {
		return false
	}
	eastOfWest := b.west.X*v.Y-b.west.Y*v.X >= -chordEpsilon
	westOfEast := v.X*b.east.Y-v.Y*b.east.X >= -chordEpsilon
	switch {
	case b.turn >= 360:
		return true
	case b.turn <= 180:
		return eastOfWest && westOfEast && (v.X*(b.west.X+b.east.X)+v.Y*(b.west.Y+b.east.Y) >= -chordEpsilon)
	}
	return eastOfWest || westOfEast
}

// box returns a box that contains all possible results of a search.
func (q *search) box(s *mapdata.Search) geo.Box {
	if s.Within != nil {
		return *s.Within
	}
	return geo.Circle{Center: s.Center, Radius: s.Radius}.Box()
}
