package index

import (
	"maps"
	"math/bits"
	"slices"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// regions is the grid of coverage: cells about a degree high. Where thousands of feeds are served, an answer names only
// the sources of its surroundings.
var regions = geo.Grid{Height: 1}

// coverage holds the regions in which feeds have had entities since the last load; immutable once published.
type coverage struct {
	regions map[geo.Cell]bitset // places of feeds by region
	located bitset              // places of feeds that have had an entity anywhere
}

func newCoverage() *coverage { return &coverage{regions: make(map[geo.Cell]bitset)} }

// cover records that a feed has an entity in a point's region.
func (c *change) cover(place uint32, p geo.Point) {
	region := regions.Cell(p)
	if c.v.coverage.regions[region].has(place) {
		return
	}
	if !c.ownsCoverage {
		c.ownsCoverage = true
		c.v.coverage = &coverage{regions: maps.Clone(c.v.coverage.regions), located: slices.Clone(c.v.coverage.located)}
	}
	c.v.coverage.add(place, region)
}

// add records a feed in a coverage that is not published yet.
func (c *coverage) add(place uint32, region geo.Cell) {
	if feeds := c.regions[region]; !feeds.has(place) {
		c.regions[region] = slices.Clone(feeds).with(place)
		c.located = c.located.with(place)
	}
}

// Around returns the feeds that have, or since the last load had, an entity in the surroundings of a circle, and those
// that have none anywhere, because it is unknown where their entities would be.
func (ix *Index) Around(center geo.Point, radius float64) []mapdata.FeedID {
	v := ix.current.Load()
	near := make(bitset, (len(v.feeds)+63)/64)
	for region := range regions.Cells(geo.Circle{Center: center, Radius: radius}.Box()) {
		for k, word := range v.coverage.regions[region] {
			near[k] |= word
		}
	}
	for k := range near {
		if k < len(v.coverage.located) {
			near[k] |= ^v.coverage.located[k]
		} else {
			near[k] = ^uint64(0)
		}
	}
	var ids []mapdata.FeedID
	for k, word := range near {
		for ; word != 0; word &= word - 1 {
			place := k*64 + bits.TrailingZeros64(word)
			if place >= len(v.feeds) {
				break
			}
			if id := v.feeds[place].id; v.places[id] == uint32(place) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
