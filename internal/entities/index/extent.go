package index

import (
	"math"

	"wayside/internal/entities/law"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Extent returns a box around all entities that s selects under a law, wherever they are, and false if there are none. Of several boxes it
// returns the narrowest one. The box is exact where it contains few entities, and otherwise consists of whole tiles of a summary. As in an
// overview, expired entities count until they are swept, and withheld ones count, except for reports that wait for a second driver, because
// the box must not reveal their position.
func (ix *Index) Extent(s *mapdata.Search, l *law.Law) (geo.Box, bool) {
	q, ok := ix.searches.Get().(*search)
	if !ok {
		q = new(search)
	}
	q.prepare(ix, s)
	q.obey(l)
	defer ix.release(q)
	box := geo.Box{South: -90, West: -180, North: 90, East: 180}
	for i, level := range summaryLevels {
		var span tileSpan
		tiles, waiting := box.Tiles(level), q.v.waiting(i)
		q.eachRow(i, tiles, func(r *row) bool {
			if !q.wantsRow(r.kind, r.flags, r.feed, r.network) || allIn(waiting, r) {
				return false
			}
			span.add(r.tile&(1<<level-1), r.tile>>level)
			return true
		})
		if span.count == 0 {
			return geo.Box{}, false
		}
		t := span.tiles(level)
		box = t.Box()
		if t.Columns > fineSpan || t.Rows() > fineSpan {
			return box, true // its edge is exact enough
		}
	}
	if q.findCells(box); q.held() > maxCounted {
		return box, true
	}
	return q.exactExtent(box), true
}

// fineSpan is the number of tiles across an extent from which on a finer summary would not improve it visibly.
const fineSpan = 64

// exactExtent returns the box around the entities in the found cells that lie within box, or box itself if there are none.
func (q *search) exactExtent(box geo.Box) geo.Box {
	middle, waits := (box.West+box.East)/2, q.v.waits()
	exact := geo.Box{South: 90, West: math.Inf(1), North: -90, East: math.Inf(-1)}
	for _, cells := range q.cells {
		for _, entries := range cells {
			for i := range entries {
				e := &entries[i]
				if !q.kinds.Has(mapdata.Kind(e.kind)) || !q.feeds.has(e.feed) || e.hidden && !q.unrestricted(e.feed) || !q.wants(e) || waits[e.ref] {
					continue
				}
				s, seg := q.v.slot(e.ref)
				at := e.shownAt(s, seg)
				p := geo.PointOnMap(share(at.X), share(at.Y))
				lng := middle + math.Remainder(p.Lng-middle, 360)
				exact.South, exact.North = min(exact.South, p.Lat), max(exact.North, p.Lat)
				exact.West, exact.East = min(exact.West, lng), max(exact.East, lng)
			}
		}
	}
	if exact.South > exact.North {
		return box
	}
	if turn := 360 * math.Floor((exact.West+180)/360); turn != 0 {
		exact.West, exact.East = exact.West-turn, exact.East-turn
	}
	return exact
}

// tileSpan records which columns and rows of tiles are occupied.
type tileSpan struct {
	columns     []bool // by column; nil: none yet
	top, bottom uint32
	count       int
}

func (t *tileSpan) add(x, y uint32) {
	if t.count == 0 {
		t.columns = make([]bool, 1<<finestSummary)
		t.top, t.bottom = y, y
	}
	t.columns[x] = true
	t.top, t.bottom = min(t.top, y), max(t.bottom, y)
	t.count++
}

// tiles returns the narrowest range of columns that contains all occupied ones, by leaving out the widest gap.
func (t *tileSpan) tiles(level int) geo.Tiles {
	n := 1 << level
	gap, widest, after := 0, 0, 0
	for i := range 2 * n {
		if t.columns[i%n] {
			gap = 0
			continue
		}
		if gap++; gap > widest && gap < n {
			widest, after = gap, i+1
		}
	}
	return geo.Tiles{Level: level, X: uint32(after % n), Columns: uint32(n - widest), Top: t.top, Bottom: t.bottom}
}

// Reach returns a distance in metres from s.Center within which an entity that s selects is shown under a law. It is not much longer than
// the shortest such distance, and negative if there is none. Reach ignores expiry, and all votes except on reports that wait for a second
// driver, so that a search may find nothing within the distance.
func (ix *Index) Reach(s *mapdata.Search, l *law.Law) float64 {
	q, ok := ix.searches.Get().(*search)
	if !ok {
		q = new(search)
	}
	q.prepare(ix, s)
	q.obey(l)
	defer ix.release(q)
	reach := math.Pi * geo.EarthRadius
	for i, level := range summaryLevels {
		nearest, waiting := math.Inf(1), q.v.waiting(i)
		q.eachRow(i, geo.Circle{Center: s.Center, Radius: reach}.Box().Tiles(level), func(r *row) bool {
			if !q.wantsRow(r.kind, r.flags, r.feed, r.network) || allIn(waiting, r) {
				return false
			}
			nearest = min(nearest, q.farthest(level, r.tile&(1<<level-1), r.tile>>level))
			return true
		})
		if math.IsInf(nearest, 1) {
			return -1
		}
		reach = min(reach, nearest)
	}
	return reach
}

// farthest returns an upper bound of the distance in metres from the search's center to any point of a tile.
func (q *search) farthest(level int, x, y uint32) float64 {
	b := geo.Tiles{Level: level, X: x, Columns: 1, Top: y, Bottom: y}.Box()
	widest := math.Cos(min(math.Abs(b.South), math.Abs(b.North)) * math.Pi / 180)
	if b.South < 0 && b.North > 0 {
		widest = 1
	}
	half := math.Hypot(b.North-b.South, (b.East-b.West)*widest) / 2 * math.Pi / 180 * geo.EarthRadius
	middle := geo.Point{Lat: (b.South + b.North) / 2, Lng: (b.West + b.East) / 2}
	return geo.MetresOf(middle.Vector().ChordSquared(q.center)) + half
}
