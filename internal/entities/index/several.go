package index

import (
	"wayside/internal/ground/mapdata"
)

// SeveralFeeds reports whether the entities that s selects, without a limit, come from at least two feeds. It stops at
// the second feed, and judges entities of one feed only until it has found one that is selected.
func (ix *Index) SeveralFeeds(s *mapdata.Search) bool {
	q, ok := ix.searches.Get().(*search)
	if !ok {
		q = new(search)
	}
	q.prepare(ix, s)
	q.findCells(q.box(s))
	several := q.severalFeeds()
	ix.release(q)
	return several
}

func (q *search) severalFeeds() bool {
	found, first := false, uint32(0)
	for _, cells := range q.cells {
		for _, entries := range cells {
			for i := range entries {
				e := &entries[i]
				if found && e.feed == first || !q.kinds.Has(mapdata.Kind(e.kind)) || !q.feeds.has(e.feed) ||
					e.at.ChordSquared(q.center) > q.chord || !q.bounds.contain(&e.at) || !q.wants(e) {
					continue
				}
				if found {
					return true
				}
				found, first = true, e.feed
			}
		}
	}
	return false
}
