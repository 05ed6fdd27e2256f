package index

import (
	"math"
	"slices"
	"sort"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// search is the state of one search, kept and reused so that searching allocates nothing.
type search struct {
	v          *version
	center     geo.Vector
	chord      float64 // the squared chord beyond which nothing is a hit
	kinds      mapdata.KindSet
	feeds      bitset // that the search may see
	own        bitset // the caller's own: finds their chargers of every network and their suppressed pins
	lapsed     bitset // feeds whose persistent entities the search may not see; empty: none (D4.16)
	tallies    *tallies
	suppressed bool // also finds entities that votes hide
	viewer     mapdata.AccountID
	waiting    bool // finds everybody's reports that wait for supporters
	since      int64
	now        int64
	limit      int
	all        bool        // finds chargers of every network
	networks   []uint64    // otherwise of these, by hash
	cells      [][][]entry // cells to scan: for each band those between two columns
	candidates []candidate
	hits       []geo.Ranked // by the numbers of their references
	more       bool         // hits were left out
	last       uint64       // the farthest that was kept when hits were left out, at the distance chord
	order      geo.Ranking
	scratch    bitset
	scratch2   bitset
	bounds     bounds
	tiles      []tally // of an overview
	seen       bitset  // feeds in an overview
	loaded     byte    // a result that keeps the compiler from leaving out the loads of preload
}

// Search appends to hits the entities that s selects, nearest first, then by id, and reports whether more than s.Limit matched.
func (ix *Index) Search(s *mapdata.Search, hits []mapdata.Hit) ([]mapdata.Hit, bool) {
	q, ok := ix.searches.Get().(*search)
	if !ok {
		q = new(search)
	}
	q.prepare(ix, s)
	q.scan(q.box(s))
	q.judgeCandidates()
	if len(q.hits) <= q.limit {
		q.preload() // in the order of memory; prune, which reads none of the texts, would scatter them
		q.prune()
	} else {
		q.prune()
		q.preload()
	}
	start := len(hits)
	hits = slices.Grow(hits, len(q.hits))[:start+len(q.hits)]
	for i := range q.hits {
		q.fill(&hits[start+i], q.hits[i])
	}
	more := q.more
	ix.release(q)
	return hits, more
}

// release keeps a search's memory for another one. It is not called after a panic, which leaves an undefined state.
func (ix *Index) release(q *search) {
	q.v, q.tallies = nil, nil // lets the version be collected
	clear(q.cells)
	clear(q.candidates[:cap(q.candidates)])
	ix.searches.Put(q)
}

func (q *search) prepare(ix *Index, s *mapdata.Search) {
	q.v = ix.current.Load()
	q.tallies = q.v.tallies
	q.suppressed = s.Suppressed
	q.viewer, q.waiting = s.Viewer, s.Waiting
	q.center = s.Center.Vector()
	q.chord = geo.ChordSquaredOf(s.Radius)
	q.kinds = s.Kinds
	q.now = s.Now.UnixMilli()
	q.since = math.MinInt64
	if !s.Since.IsZero() {
		q.since = s.Since.UnixMilli()
	}
	q.limit = s.Limit
	q.cells, q.candidates, q.hits = q.cells[:0], q.candidates[:0], q.hits[:0]
	q.more = false
	q.bounds = newBounds(s.Within)
	q.all = s.AllNetworks
	q.networks = q.networks[:0]
	for _, n := range s.Networks {
		q.networks = append(q.networks, ix.networkHash(n))
	}
	q.feeds = q.allowed(s)
	q.lapsed = q.v.lapsed(q.lapsed[:0], q.own, q.now)
}

// allowed returns the set of feeds that the search may see.
func (q *search) allowed(s *mapdata.Search) bitset {
	q.own = q.scratch2[:0]
	for _, id := range s.Own {
		if place, ok := q.v.places[id]; ok {
			q.own = q.own.with(place)
		}
	}
	q.scratch2 = q.own
	if s.Served && len(s.Feeds)+len(s.Own) == 0 {
		return q.v.served
	}
	q.scratch = q.scratch[:0]
	if s.Served {
		q.scratch = append(q.scratch, q.v.served...)
	}
	for _, id := range s.Feeds {
		if place, ok := q.v.places[id]; ok {
			q.scratch = q.scratch.with(place)
		}
	}
	for i, word := range q.own {
		if i == len(q.scratch) {
			q.scratch = append(q.scratch, 0)
		}
		q.scratch[i] |= word
	}
	return q.scratch
}

// scan scans the cells that a box touches.
func (q *search) scan(box geo.Box) {
	q.findCells(box)
	q.preloadCells()
	for _, cells := range q.cells {
		for _, entries := range cells {
			q.scanCell(entries)
		}
	}
}

// findCells lists the cells that a box touches.
func (q *search) findCells(box geo.Box) {
	for number, last := grid.Band(box.South), grid.Band(box.North); number <= last; number++ {
		b := q.v.bands[number]
		if b == nil {
			continue
		}
		first, count, n := grid.ColumnsIn(box, number)
		end := first + count
		q.addCells(b, first, min(end, n))
		if end > n {
			q.addCells(b, 0, end-n)
		}
	}
}

// addCells adds a band's cells from column first to before end to those that the search scans.
func (q *search) addCells(b *band, first, end int32) {
	from := b.find(first)
	to := from
	for to < len(b.columns) && b.columns[to] < end {
		to++
	}
	if from < to {
		q.cells = append(q.cells, b.cells[from:to])
	}
}

// preloadCells reads the first and the last entry of each small cell. Cells are scattered in memory, and the processor often mispredicts
// whether an entry is near enough: without the preload, it would wait for each cell separately.
func (q *search) preloadCells() {
	sum := byte(0)
	for _, cells := range q.cells {
		for _, entries := range cells {
			if n := len(entries); n > 0 && n <= minStripSearch {
				sum += entries[0].kind + entries[n-1].kind
			}
		}
	}
	q.loaded += sum
}

// scanCell scans a cell. Of a large one it scans the strip of latitude that the search can reach.
func (q *search) scanCell(entries []entry) {
	top := math.Inf(1)
	if len(entries) > minStripSearch {
		reach := math.Sqrt(q.chord) + chordEpsilon
		entries, top = entries[firstNorthOf(entries, q.center.Z-reach):], q.center.Z+reach
	}
	for i := range entries {
		e := &entries[i]
		if e.at.Z > top {
			break
		}
		chord := e.at.ChordSquared(q.center)
		if chord <= q.chord && q.kinds.Has(mapdata.Kind(e.kind)) && q.feeds.has(e.feed) && q.bounds.contain(&e.at) {
			q.candidates = append(q.candidates, candidate{chord, e})
			if len(q.candidates) == candidateBatch {
				q.judgeCandidates()
			}
		}
	}
}

// minStripSearch is the number of entries up to which scanning all of a cell is as fast as finding a strip of it.
const minStripSearch = 64

// chordEpsilon widens a strip on the unit sphere by some micrometres, so that rounding excludes no entity that is near enough.
const chordEpsilon = 1e-12

// firstNorthOf returns the index of the first of a cell's entries, which are ordered by height over the equator's plane, that is higher
// than z. It begins where the entry would be in an even distribution, and continues from there in growing steps, because in a large index
// each look is a wait for memory.
func firstNorthOf(entries []entry, z float64) int {
	n := len(entries)
	if n == 0 || entries[0].at.Z > z {
		return 0
	}
	south, north := entries[0].at.Z, entries[n-1].at.Z
	if north <= z {
		return n
	}
	at, step := int((z-south)/(north-south)*float64(n-1)), firstStep
	low, high := at, at
	if entries[at].at.Z > z {
		for low > 0 && entries[low].at.Z > z {
			low, high, step = max(0, low-step), low, 2*step
		}
	} else {
		for high < n-1 && entries[high].at.Z <= z {
			low, high, step = high, min(n-1, high+step), 2*step
		}
	}
	return low + sort.Search(high-low, func(i int) bool { return entries[low+i].at.Z > z })
}

// firstStep is the first step of firstNorthOf, in entries: a few cache lines.
const firstStep = 8

// candidate is an entry that is near enough; its slot decides whether it is a hit.
type candidate struct {
	chord float64
	entry *entry
}

// candidateBatch is the number of slots that are loaded from memory in parallel.
const candidateBatch = 32

// judgeCandidates adds the candidates that the search selects to the hits. Their slots are scattered in memory: all are loaded first, in a
// loop of independent loads, so that the processor waits for many at a time. See preload.
func (q *search) judgeCandidates() {
	sum := int64(0)
	for i := range q.candidates {
		r := q.candidates[i].entry.ref
		sum += q.v.segments[r.segment].slots[r.row].lifetime
	}
	q.loaded += byte(sum)
	for i := range q.candidates {
		if c := &q.candidates[i]; c.chord <= q.chord && q.wants(c.entry) {
			q.take(c.chord, c.entry.ref)
		}
	}
	q.candidates = q.candidates[:0]
}

// wants reports whether the search selects a candidate, by its slot.
func (q *search) wants(e *entry) bool {
	s, _ := q.v.slot(e.ref)
	if t := q.tally(s); t != nil {
		if !q.wantsVoted(s, t) {
			return false
		}
	} else if s.expires() && q.over(s, q.v.feeds[e.feed]) || s.changed <= q.since {
		return false
	}
	if len(q.lapsed) > 0 && s.lifetime == 0 && q.lapsed.has(e.feed) {
		return false
	}
	if q.all || s.network == 0 || !mapdata.Kind(e.kind).Charger() || q.own.has(e.feed) {
		return true
	}
	return slices.Contains(q.networks, s.network)
}

// over reports whether an entity without a tally has expired. A driver's report without a tally was stored incompletely, and nobody may
// read it.
func (q *search) over(s *slot, f *feed) bool {
	return s.expiresAt(f) <= q.now || f.source == mapdata.Drivers
}

// wantsVoted reports whether the search selects an entity with votes: votes hide it (D9.5), keep it (D9.6), and count as a change (D4.3).
func (q *search) wantsVoted(s *slot, t *mapdata.Tally) bool {
	if !q.waiting && t.WaitsFor(q.viewer) {
		return false
	}
	v := judge(t, s, q.now)
	if v.disputedUntil != 0 && !q.suppressed && !q.own.has(s.feed) {
		return false
	}
	if s.expires() && max(s.expiresAt(q.v.feeds[s.feed]), v.keptUntil) <= q.now {
		return false
	}
	return max(s.changed, v.changed) > q.since
}

// take adds a hit. Once there are twice as many as the limit, it drops the farther half and reduces the search's chord to the rest.
func (q *search) take(chord float64, r ref) {
	if q.more && chord == q.chord && q.CompareTies(r.number(), q.last) > 0 {
		return // of a crowd at one point
	}
	q.hits = append(q.hits, geo.Ranked{Chord: chord, Ref: r.number()})
	if len(q.hits) >= 2*q.limit+16 {
		q.prune()
		farthest := q.hits[len(q.hits)-1]
		q.chord, q.last = farthest.Chord, farthest.Ref
	}
}

// prune orders the hits and cuts them to the limit.
func (q *search) prune() {
	q.hits = q.order.Sort(q.hits, q)
	if len(q.hits) > q.limit {
		q.hits = q.hits[:q.limit]
		q.more = true
	}
}

// cacheLine is the unit that a processor loads from memory, in bytes.
const cacheLine = 64

// preload reads a byte of each cache line of the hits' texts, which the caller is about to copy. The loads are independent, so that the
// processor waits for many lines at a time; copying one text after the other would wait for each line separately. Measured: a quarter of
// the time of an answer with 100 entities.
func (q *search) preload() {
	sum := byte(0)
	for i := range q.hits {
		s, seg := q.v.slot(refOf(q.hits[i].Ref))
		text := s.text(seg)
		for at := 0; at < len(text); at += cacheLine {
			sum += text[at]
		}
	}
	q.loaded += sum
}

// CompareTies orders entities at equal distances by id.
func (q *search) CompareTies(a, b uint64) int {
	if a == b {
		return 0
	}
	slotA, segA := q.v.slot(refOf(a))
	slotB, segB := q.v.slot(refOf(b))
	return mapdata.CompareEntityIDs(
		q.v.feeds[slotA.feed].source, slotA.externalID(segA),
		q.v.feeds[slotB.feed].source, slotB.externalID(segB))
}

// fill writes a hit to its final place, because a hit is large and copying it would cost as much as finding it.
func (q *search) fill(hit *mapdata.Hit, item geo.Ranked) {
	s, seg := q.v.slot(refOf(item.Ref))
	feed := q.v.feeds[s.feed]
	hit.Source, hit.Layer, hit.Kind, hit.Point = feed.source, feed.layer, mapdata.Kind(s.kind), s.point(seg)
	hit.Chord = item.Chord
	hit.ExternalID, hit.Prepared = s.externalID(seg), s.prepared(seg)
	hit.FirstSeenAt, hit.LastSeenAt, hit.ExpiresAt, hit.ChangedAt = s.firstSeen, s.seenAt(feed), s.expiresAt(feed), s.changed
	hit.Prior, hit.Rank, hit.Zone = feed.source.Prior(), feed.source.Rank(), 0
	hit.Confirms, hit.Disputes, hit.DisputedUntil = 0, 0, 0
	hit.CountedConfirms, hit.CountedDisputes = 0, 0
	hit.Upstream, hit.Merged, hit.Hidden = "", nil, nil
	if t := q.tally(s); t != nil {
		q.fillVotes(hit, s, t)
	}
}

func (q *search) fillVotes(hit *mapdata.Hit, s *slot, t *mapdata.Tally) {
	v := judge(t, s, q.now)
	hit.DisputedUntil = v.disputedUntil
	if t.Hidden != nil {
		hit.Hidden = t.HiddenAt(time.UnixMilli(q.now))
	}
	hit.ChangedAt = max(hit.ChangedAt, v.changed)
	if !v.counts {
		return
	}
	hit.Confirms, hit.Disputes = t.Shown()
	hit.CountedConfirms, hit.CountedDisputes = t.Counted()
	if s.lifetime != 0 {
		hit.ExpiresAt = max(hit.ExpiresAt, v.keptUntil)
	}
}
