package index

import (
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// touchedMargin widens touched areas, in metres, so that rounding hides no change from readers who watch their edge.
const touchedMargin = 1

func touchMargin(c geo.Circle) geo.Circle {
	c.Radius += touchedMargin
	return c
}

// touchFeed records that all entities of a feed look different, wherever the feed has been.
func (c *change) touchFeed(place uint32) {
	for region, feeds := range c.v.coverage.regions {
		if feeds.has(place) {
			c.touched.Areas = append(c.touched.Areas, touchMargin(regions.Box(region).Circle()))
		}
	}
}

// touchVoted records that an entity with votes moved, or that its votes changed, and when they cease to hide it.
func (c *change) touchVoted(s *slot, seg *segment, t *mapdata.Tally) {
	at := touchMargin(geo.Circle{Center: s.point(seg)})
	c.touched.Areas = append(c.touched.Areas, at)
	if end, hidden := returnOf(s, seg, t); hidden {
		c.touched.Returns = append(c.touched.Returns, end)
	}
}

// returnOf returns when and where votes and a curator cease to hide the entity in a slot, if they hide it.
func returnOf(s *slot, seg *segment, t *mapdata.Tally) (mapdata.Return, bool) {
	until := t.WithheldUntil(mapdata.Kind(s.kind))
	if t.Waits() {
		until = mapdata.ForGood() // until another vote
	}
	if until.IsZero() {
		return mapdata.Return{}, false
	}
	return mapdata.Return{EntityID: mapdata.EntityID(t.Source, t.ExternalID), At: until, Area: touchMargin(geo.Circle{Center: s.point(seg)})}, true
}
