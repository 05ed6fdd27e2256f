package index

import (
	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// rounding widens what was touched, in metres, so that nobody misses it by a bit.
const rounding = 1

// touched tells what the edit changed of what searches find. What compaction moves looks the same as before, so that this
// is asked before it.
func (e *edit) touched() mapdata.Touched {
	t := mapdata.Touched{Areas: e.areas, Returns: e.returns}
	for c := range e.cells {
		t.Areas = append(t.Areas, c.circle())
	}
	return t
}

// touchFeed notes that everything of a feed looks different, wherever the feed has been.
func (e *edit) touchFeed(place uint32) {
	for region, feeds := range e.v.trodden.regions {
		if feeds.has(place) {
			e.areas = append(e.areas, circleAround(float64(region/regionCols)-90, 1, float64(region%regionCols)-180, 1))
		}
	}
}

// touchVoted notes that an entity with votes moved, or its votes did, and when they cease to hide it.
func (e *edit) touchVoted(s *slot, t *mapdata.Tally) {
	at := geo.Circle{Center: s.point, Radius: rounding}
	e.areas = append(e.areas, at)
	if until := t.DisputedUntil(mapdata.Kind(s.kind)); !until.IsZero() {
		e.returns = append(e.returns, mapdata.Return{At: until, Area: at})
	}
}

// circle is a circle that holds the cell.
func (c cell) circle() geo.Circle {
	width := 360 / float64(columns(c.band))
	return circleAround(float64(c.band)*bandHeight-90, bandHeight, float64(c.col)*width-180, width)
}

// circleAround gives a circle that holds what lies between two parallels and two meridians, which are less than half the
// globe apart: no place there is farther from the middle than a corner is.
func circleAround(south, height, west, width float64) geo.Circle {
	middle := geo.Point{Lat: south + height/2, Lng: west + width/2}
	low, high := geo.Point{Lat: max(south, -90), Lng: west}, geo.Point{Lat: min(south+height, 90), Lng: west}
	return geo.Circle{Center: middle, Radius: max(geo.Distance(middle, low), geo.Distance(middle, high)) + rounding}
}
