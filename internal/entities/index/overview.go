package index

import (
	"slices"
	"sort"

	"wayside/internal/entities/law"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

const (
	// finestTiles is the finest level of an overview's tiles: some 600 m at the equator.
	finestTiles = 16
	// maxCounted is the largest number of entities that an overview counts one by one: more in an area are counted by
	// the tiles of the finest summary.
	maxCounted = 20_000
)

// tally is the count of an overview's tile.
type tally struct {
	kinds [mapdata.KindCount]int32
	count int32
	x, y  float64 // sums of the positions, as shares of the map's side
}

func (t *tally) add(kind uint8, by int32, x, y float64) {
	t.kinds[kind] += by
	t.count += by
	t.x, t.y = t.x+x, t.y+y
}

// Overview counts in o the entities that s selects by the tiles of a level, or of a coarser one, that the box touches,
// without a limit. Tiles are counted as a whole, so that the count of a tile does not depend on the box. An entity
// counts in the tile in which it is shown to readers to whom the law l applies; an entity that l hides counts for its
// feed's owners and for readers who find entities that votes hide. Up to finestSummary, and where many entities lie in
// the box, expired entities count until they are swept.
func (ix *Index) Overview(s *mapdata.Search, box geo.Box, level int, l *law.Law, o *mapdata.Overview) {
	q, ok := ix.searches.Get().(*search)
	if !ok {
		q = new(search)
	}
	q.prepare(ix, s)
	q.obey(l)
	tiles := box.Tiles(min(level, finestTiles))
	if tiles.Level > finestSummary {
		if q.findCells(tiles.Box().Grown(l.Drift())); q.held() > maxCounted {
			tiles = box.Tiles(finestSummary)
		}
	}
	q.tiles = slices.Grow(q.tiles[:0], tiles.Count())[:tiles.Count()]
	clear(q.tiles)
	q.seen = q.seen[:0]
	if tiles.Level > finestSummary {
		q.countEntries(tiles)
	} else {
		q.countRows(tiles)
	}
	q.report(tiles, o)
	ix.release(q)
}

// obey leaves out the kinds for which the version does not follow the law l.
func (q *search) obey(l *law.Law) {
	if q.v.law != l {
		q.kinds &^= q.v.law.Kinds() | l.Kinds()
	}
}

// held returns the number of entities in the found cells.
func (q *search) held() int {
	n := 0
	for _, cells := range q.cells {
		for _, entries := range cells {
			n += len(entries)
		}
	}
	return n
}

// countEntries counts the entities in the found cells one by one.
func (q *search) countEntries(tiles geo.Tiles) {
	for _, cells := range q.cells {
		for _, entries := range cells {
			for i := range entries {
				e := &entries[i]
				if !q.kinds.Has(mapdata.Kind(e.kind)) || !q.feeds.has(e.feed) || e.hidden && !q.unrestricted(e.feed) || !q.wants(e) {
					continue
				}
				at := e.at.Mercator()
				if e.zone != 0 {
					s, seg := q.v.slot(e.ref)
					at = e.shownAt(s, seg)
				}
				if n, in := tiles.Position(at.Tile(tiles.Level)); in {
					q.tiles[n].add(e.kind, 1, share(at.X), share(at.Y))
					q.seen = q.seen.with(e.feed)
				}
			}
		}
	}
}

// share returns a coordinate as a share of the map's side.
func share(coordinate uint32) float64 { return (float64(coordinate) + 0.5) / (1 << 32) }

// unrestricted reports whether the search finds entities of a feed that votes and laws hide.
func (q *search) unrestricted(feed uint32) bool { return q.suppressed || q.own.has(feed) }

// countRows adds up the summary's rows of the tiles, and subtracts withheld entities.
func (q *search) countRows(tiles geo.Tiles) {
	i := 0
	for summaryLevels[i] < tiles.Level {
		i++
	}
	by := summaryLevels[i] - tiles.Level
	q.eachRow(i, tiles.Finer(by), func(r *row) bool {
		x, y := r.tile&(1<<summaryLevels[i]-1), r.tile>>summaryLevels[i]
		if at, in := tiles.Position(x>>by, y>>by); in && q.wantsRow(r.kind, r.flags, r.feed, r.network) {
			sumX, sumY := r.sums(i)
			q.tiles[at].add(r.kind, r.count, sumX, sumY)
			q.seen = q.seen.with(r.feed)
		}
		return false
	})
	for k := range q.v.withheld {
		w := &q.v.withheld[k]
		p := &w.spot
		at, in := tiles.Position(p.at.Tile(tiles.Level))
		if in && w.until > q.now && (w.waits || !q.unrestricted(p.feed)) && q.wantsRow(p.kind, p.flags, p.feed, p.network) {
			q.tiles[at].add(p.kind, -1, -share(p.at.X), -share(p.at.Y))
		}
	}
}

// sums returns the sums of a row's positions as shares of the map's side; i is the number of its summary.
func (r *row) sums(i int) (x, y float64) {
	const unit = 1.0 / (1 << unitLevel)
	level := summaryLevels[i]
	tile := float64(r.count) / float64(int(1)<<level)
	half := 0.5 * float64(r.count)
	return tile*float64(r.tile&(1<<level-1)) + (float64(r.x)+half)*unit, tile*float64(r.tile>>level) + (float64(r.y)+half)*unit
}

// wantsRow reports whether the search selects the entities of a row.
func (q *search) wantsRow(kind uint8, flags rowFlags, feed, network uint32) bool {
	if !q.kinds.Has(mapdata.Kind(kind)) || !q.feeds.has(feed) || flags&hidden != 0 && !q.unrestricted(feed) {
		return false
	}
	if flags&decaying == 0 && len(q.lapsed) > 0 && q.lapsed.has(feed) {
		return false
	}
	if network == 0 || q.all || q.own.has(feed) {
		return true
	}
	return slices.ContainsFunc(q.networks, func(hash uint64) bool { return shortNetwork(hash) == network })
}

// eachRow calls use with the rows of one of the summaries that lie in tiles of its level. If use returns true, it skips
// the other rows of the row's tile.
func (q *search) eachRow(summary int, tiles geo.Tiles, use func(*row) bool) {
	chunks := q.v.summaries[summary].chunks
	side := uint32(1) << tiles.Level
	for y := tiles.Top; y <= tiles.Bottom; y++ {
		end := tiles.X + tiles.Columns
		eachRowIn(chunks, y*side+tiles.X, y*side+min(end, side), use)
		if end > side {
			eachRowIn(chunks, y*side, y*side+end-side, use)
		}
	}
}

// eachRowIn calls use with the rows of tiles from first to before end.
func eachRowIn(chunks []chunk, first, end uint32, use func(*row) bool) {
	from := sort.Search(len(chunks), func(i int) bool { return chunks[i].first>>32 >= uint64(first) })
	if from > 0 {
		from-- // its last rows may belong to these tiles
	}
	passed, pass := uint32(0), false
	for _, c := range chunks[from:] {
		if c.first>>32 >= uint64(end) {
			return
		}
		for i := range c.rows {
			r := &c.rows[i]
			if r.tile < first || r.tile >= end || pass && r.tile == passed {
				continue
			}
			if pass = use(r); pass {
				passed = r.tile
			}
		}
	}
}

// report writes the overview of the tiles.
func (q *search) report(tiles geo.Tiles, o *mapdata.Overview) {
	o.Level, o.Count, o.Clusters, o.Feeds = tiles.Level, 0, o.Clusters[:0], o.Feeds[:0]
	for at := range q.tiles {
		t := &q.tiles[at]
		if t.count <= 0 {
			continue
		}
		column := uint32(at) % tiles.Columns
		o.Count += int(t.count)
		o.Clusters = append(o.Clusters, mapdata.Cluster{
			X: (tiles.X + column) & (1<<tiles.Level - 1), Y: tiles.Top + uint32(at)/tiles.Columns,
			Count: int(t.count), Kind: t.gravest(), Point: geo.PointOnMap(t.x/float64(t.count), t.y/float64(t.count)),
		})
	}
	for place, f := range q.v.feeds {
		if q.seen.has(uint32(place)) && len(o.Feeds) < mapdata.MaxOverviewFeeds {
			o.Feeds = append(o.Feeds, f.id)
		}
	}
}

// gravest returns the kind of the highest gravity in a tile.
func (t *tally) gravest() mapdata.Kind {
	gravest, found := mapdata.Kind(0), false
	for k := range mapdata.Kind(mapdata.KindCount) {
		if t.kinds[k] > 0 && (!found || k.Gravity() > gravest.Gravity()) {
			gravest, found = k, true
		}
	}
	return gravest
}
