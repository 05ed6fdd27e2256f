package index

import (
	"maps"
	"math"
	"math/bits"
	"slices"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// A region is a square degree. The index remembers which feeds ever had an entity in which region since it was loaded:
// where thousands of feeds are served, an answer names the sources of its surroundings, and not all there are.
const (
	regionRows = 180
	regionCols = 360
)

// footprint is where feeds have been; immutable once published.
type footprint struct {
	regions map[int32]bitset
	rooted  bitset // feeds that have been anywhere
}

func regionOf(p geo.Point) int32 {
	row := min(int32(p.Lat+90), regionRows-1)
	col := int32(p.Lng+180) % regionCols
	return row*regionCols + col
}

// tread notes that a feed has been in a point's region.
func (e *edit) tread(place uint32, p geo.Point) {
	region := regionOf(p)
	if e.v.trodden.regions[region].has(place) {
		return
	}
	if !e.ownTrodden {
		e.ownTrodden = true
		e.v.trodden = &footprint{regions: maps.Clone(e.v.trodden.regions), rooted: slices.Clone(e.v.trodden.rooted)}
	}
	e.v.trodden.tread(place, region)
}

// tread notes a feed in a footprint that nobody else sees.
func (f *footprint) tread(place uint32, region int32) {
	f.regions[region] = slices.Clone(f.regions[region]).with(place)
	f.rooted = f.rooted.with(place)
}

// Around names the feeds that have, or since the last load had, an entity in the surroundings of a circle, and those that
// have none anywhere: nobody knows where they would be.
func (ix *Index) Around(center geo.Point, radius float64) []mapdata.FeedID {
	v := ix.current.Load()
	var near bitset
	r := reachOf(center, radius)
	first := int32(math.Floor(float64(r.first) * bandHeight))
	last := int32(math.Floor(float64(r.last) * bandHeight))
	for row := first; row <= last; row++ {
		col, count := r.columnsIn(regionCols)
		for i := range count {
			for k, word := range v.trodden.regions[row*regionCols+(col+i)%regionCols] {
				for k >= len(near) {
					near = append(near, 0)
				}
				near[k] |= word
			}
		}
	}
	for k := range (len(v.feeds) + 63) / 64 {
		for k >= len(near) {
			near = append(near, 0)
		}
		if k < len(v.trodden.rooted) {
			near[k] |= ^v.trodden.rooted[k]
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
