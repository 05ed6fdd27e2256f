package index

import (
	"math"
	"slices"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// refOf gives the slot that an item of nearest stands for.
func refOf(place uint64) ref { return ref{uint32(place >> 32), uint32(place)} }

// place is what stands for the slot in an item of nearest.
func (r ref) place() uint64 { return uint64(r.seg)<<32 | uint64(r.row) }

// search is the state of one search, kept and reused so that searching allocates nothing.
type search struct {
	v          *version
	center     geo.Vector
	chord      float64 // no hit beyond it
	kinds      mapdata.KindSet
	feeds      bitset // that the search may see
	own        bitset // whose chargers are found whatever their network, and whose suppressed pins
	tallies    *tallies
	suppressed bool // what votes hide is found too
	since      int64
	now        int64
	limit      int
	all        bool // networks
	networks   []uint64
	candidates []candidate
	hits       []geo.Ranked // by refs
	more       bool
	order      geo.Ranking
	scratch    bitset
	scratch2   bitset
	touched    byte // keeps touch from being left out
}

// Search appends to hits what s asks for, nearest first, then by id, and says whether more than s.Limit matched.
func (ix *Index) Search(s *mapdata.Search, hits []mapdata.Hit) ([]mapdata.Hit, bool) {
	q, ok := ix.searches.Get().(*search)
	if !ok {
		q = new(search)
	}
	defer ix.searches.Put(q)
	q.prepare(ix, s)
	q.scan(reachOf(s.Center, s.Radius))
	q.sift()
	q.prune()
	start := len(hits)
	hits = slices.Grow(hits, len(q.hits))[:start+len(q.hits)]
	for i := range q.hits {
		q.fill(&hits[start+i], q.hits[i])
	}
	q.touch(hits[start:])
	more := q.more
	q.v, q.tallies = nil, nil // let the version go
	clear(q.candidates[:cap(q.candidates)])
	return hits, more
}

func (q *search) prepare(ix *Index, s *mapdata.Search) {
	q.v = ix.current.Load()
	q.tallies = q.v.tallies
	q.suppressed = s.Suppressed
	q.center = s.Center.Vector()
	q.chord = geo.ChordSquaredOf(s.Radius)
	q.kinds = s.Kinds
	q.now = s.Now.UnixMilli()
	q.since = math.MinInt64
	if !s.Since.IsZero() {
		q.since = s.Since.UnixMilli()
	}
	q.limit = s.Limit
	q.hits = q.hits[:0]
	q.more = false
	q.all = s.AllNetworks
	q.networks = q.networks[:0]
	for _, n := range s.Networks {
		q.networks = append(q.networks, ix.networkHash(n))
	}
	q.feeds = q.allowed(s)
}

// allowed is the set of feeds that the search may see.
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

// scan looks through the cells within reach.
func (q *search) scan(r reach) {
	for number := r.first; number <= r.last; number++ {
		b := q.v.bands[number]
		if b == nil {
			continue
		}
		n := columns(number)
		first, count := r.columnsIn(n)
		end := first + count
		q.scanColumns(b, first, min(end, n))
		if end > n {
			q.scanColumns(b, 0, end-n)
		}
	}
}

// scanColumns looks through a band's cells from column first to before end.
func (q *search) scanColumns(b *band, first, end int32) {
	for at := b.find(first); at < len(b.cols) && b.cols[at] < end; at++ {
		entries, top := b.cells[at], math.Inf(1)
		if len(entries) > manyEntries {
			reach := math.Sqrt(q.chord) + hair
			entries, top = entries[northOf(entries, q.center.Z-reach):], q.center.Z+reach
		}
		for i := range entries {
			e := &entries[i]
			if e.at.Z > top {
				break
			}
			chord := e.at.ChordSquared(q.center)
			if chord <= q.chord && q.kinds.Has(mapdata.Kind(e.kind)) && q.feeds.has(e.feed) {
				q.candidates = append(q.candidates, candidate{chord, e})
				if len(q.candidates) == candidatesAtOnce {
					q.sift()
				}
			}
		}
	}
}

// manyEntries is how large a cell must be for the search to look where in it to begin.
const manyEntries = 64

// hair is a length on the unit sphere of some micrometres, for what rounding might take to be farther than it is.
const hair = 1e-12

// candidate is an entry that only its slot can still rule out.
type candidate struct {
	chord float64
	entry *entry
}

// candidatesAtOnce is how many slots are fetched from memory side by side.
const candidatesAtOnce = 32

// sift takes those candidates that are wanted. Their slots lie anywhere in memory: they are read first, in a loop of reads
// that do not depend on each other, so that the processor waits for many at once. See touch.
func (q *search) sift() {
	sum := int64(0)
	for i := range q.candidates {
		r := q.candidates[i].entry.ref
		sum += q.v.segments[r.seg].slots[r.row].lifetime
	}
	q.touched += byte(sum)
	for i := range q.candidates {
		if c := &q.candidates[i]; c.chord <= q.chord && q.wants(c.entry) {
			q.take(c.chord, c.entry.ref)
		}
	}
	q.candidates = q.candidates[:0]
}

// wants judges by what only the slot knows.
func (q *search) wants(e *entry) bool {
	s := &q.v.segments[e.ref.seg].slots[e.ref.row]
	if t := q.tally(s); t != nil {
		if !q.wantsVoted(s, t) {
			return false
		}
	} else if s.lifetime != 0 && s.expiresAt(q.v.feeds[e.feed]) <= q.now || s.changed <= q.since {
		return false
	}
	if q.all || s.network == 0 || !mapdata.Kind(e.kind).Charger() || q.own.has(e.feed) {
		return true
	}
	return slices.Contains(q.networks, s.network)
}

// wantsVoted judges an entity that drivers voted on: votes hide it (D9.5), keep it (D9.6), and count as a change (D4.3).
func (q *search) wantsVoted(s *slot, t *mapdata.Tally) bool {
	v := judge(t, s, q.now)
	if v.disputedUntil != 0 && !q.suppressed && !q.own.has(s.feed) {
		return false
	}
	if s.lifetime != 0 && max(s.expiresAt(q.v.feeds[s.feed]), v.keptUntil) <= q.now {
		return false
	}
	return max(s.changed, v.changed) > q.since
}

// take keeps a hit. Once twice the limit is held, the farther half goes, and nothing beyond what is left counts any
// more.
func (q *search) take(chord float64, r ref) {
	q.hits = append(q.hits, geo.Ranked{Chord: chord, Ref: r.place()})
	if len(q.hits) >= 2*q.limit+16 {
		q.prune()
		q.chord = q.hits[len(q.hits)-1].Chord
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

// cacheLine is the least that a processor fetches from memory, in bytes.
const cacheLine = 64

// touch reads a byte of each line of the texts that the caller is about to copy. The reads do not depend on each other, so
// that the processor waits for many lines at once; copied one text after the other, each line would be waited for by
// itself. Measured: a quarter of the time of an answer with 100 entities.
func (q *search) touch(hits []mapdata.Hit) {
	sum := byte(0)
	for i := range hits {
		text := hits[i].Prepared
		for at := 0; at < len(text); at += cacheLine {
			sum += text[at]
		}
	}
	q.touched += sum
}

// CompareTies orders by id what lies equally far.
func (q *search) CompareTies(placeA, placeB uint64) int {
	if placeA == placeB {
		return 0
	}
	a, b := refOf(placeA), refOf(placeB)
	segA, segB := q.v.segments[a.seg], q.v.segments[b.seg]
	slotA, slotB := &segA.slots[a.row], &segB.slots[b.row]
	return mapdata.CompareEntityIDs(
		q.v.feeds[slotA.feed].source, slotA.externalID(segA),
		q.v.feeds[slotB.feed].source, slotB.externalID(segB))
}

// fill writes a hit where it will lie: it is large, and a copy of it would cost as much as finding it.
func (q *search) fill(hit *mapdata.Hit, item geo.Ranked) {
	r := refOf(item.Ref)
	seg := q.v.segments[r.seg]
	s := &seg.slots[r.row]
	feed := q.v.feeds[s.feed]
	hit.Source, hit.Layer, hit.Kind, hit.Point = feed.source, feed.layer, mapdata.Kind(s.kind), s.point
	hit.Chord = item.Chord
	hit.ExternalID, hit.Prepared = s.externalID(seg), s.prepared(seg)
	hit.FirstSeenAt, hit.LastSeenAt, hit.ExpiresAt, hit.ChangedAt = s.firstSeen, s.seenAt(feed), s.expiresAt(feed), s.changed
	hit.Prior, hit.Rank, hit.Zone = mapdata.DefaultPrior, mapdata.RankOfFeeds, 0
	hit.Confirms, hit.Disputes, hit.DisputedUntil = 0, 0, 0
	hit.Upstream, hit.Merged = "", nil
	if t := q.tally(s); t != nil {
		q.fillVotes(hit, s, t)
	}
}

func (q *search) fillVotes(hit *mapdata.Hit, s *slot, t *mapdata.Tally) {
	v := judge(t, s, q.now)
	hit.DisputedUntil = v.disputedUntil
	hit.ChangedAt = max(hit.ChangedAt, v.changed)
	if !v.counts {
		return
	}
	hit.Confirms, hit.Disputes = int32(t.Confirms), int32(t.Disputes)
	if s.lifetime != 0 {
		hit.ExpiresAt = max(hit.ExpiresAt, v.keptUntil)
	}
}
