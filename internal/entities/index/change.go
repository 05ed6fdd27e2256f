package index

import (
	"bytes"
	"maps"
	"slices"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// change is the next version while it is built from the current one. It changes only copies of its own.
type change struct {
	ix   *Index
	w    *writer
	v    *version
	undo *undo
	pace pace

	ownsFeeds, ownsCoverage bool // these tables are copies already

	removed   []removal
	added     []addition
	compacted compacted
	freed     []uint32 // numbers of segments that were removed. Not used before the next change, because this one's removals name them
	moves     moves

	touched mapdata.Touched // in addition to the changed cells
}

// newChange begins a change of the current version. It reverts a staged change that was never published.
func (ix *Index) newChange() *change {
	ix.dropStaged()
	next := *ix.current.Load()
	c := &change{ix: ix, w: ix.writer, v: &next, undo: ix.writer.newUndo(&next), moves: newMoves()}
	c.followLaw()
	return c
}

// ownFeeds copies the tables of feeds, once per change.
func (c *change) ownFeeds() {
	if c.ownsFeeds {
		return
	}
	c.ownsFeeds = true
	c.v.feeds = slices.Clone(c.v.feeds)
	c.v.places = maps.Clone(c.v.places)
	c.v.served = slices.Clone(c.v.served)
	c.v.lapsing = slices.Clone(c.v.lapsing)
}

// setFeed applies the new state of a feed, and returns the feed's place.
func (c *change) setFeed(f *mapdata.Feed) uint32 {
	place, known := c.v.places[f.ID]
	if known {
		old := c.v.feeds[place]
		if old.layer == f.Layer.Slug && old.served == f.Served() && old.lapses == milli(f.PersistentUntil()) {
			c.moves.snapshots = append(c.moves.snapshots, snapshotMove{old, milli(f.SnapshotAt)})
			return place
		}
	}
	c.ownFeeds()
	next := newFeed(f)
	if known {
		old := c.v.feeds[place]
		next.persistent.Store(old.persistent.Load())
		next.decaying.Store(old.decaying.Load())
		c.v.feeds[place] = next
	} else {
		// Places of removed feeds are not reused before the next load, because an entry that still names one must not
		// become another feed's.
		place = uint32(len(c.v.feeds))
		c.v.feeds = append(c.v.feeds, next)
		c.v.places[f.ID] = place
	}
	c.v.served = c.v.served.with(place)
	if !next.served {
		c.v.served.without(place)
	}
	c.v.setLapsing(place)
	c.touchFeed(place)
	return place
}

// rowsPerSegment is the number of rows that are stored in the time in which all slots of a segment are read.
const rowsPerSegment = 32

// removeFeed removes a feed with all its entities.
func (c *change) removeFeed(id mapdata.FeedID) {
	place, ok := c.v.places[id]
	if !ok {
		return
	}
	c.ownFeeds()
	for number, seg := range c.v.segments {
		if seg == nil {
			continue
		}
		c.pace.row(rowsPerSegment)
		for row := range seg.used {
			if s := &seg.slots[row]; s.feed == place && !s.dead {
				c.drop(ref{uint32(number), uint32(row)})
			}
		}
	}
	delete(c.v.places, id)
	c.v.served.without(place)
	c.v.lapsing.without(place)
}

// put stores the current state of an entity.
func (c *change) put(place uint32, ent *mapdata.Entity) {
	c.pace.row(1)
	c.w.text = c.ix.encode(appendText(c.w.text[:0], ent), ent)
	externalID := c.w.text[pointSize : pointSize+len(ent.ExternalID)]
	rec := c.ix.recordOf(place, ent)
	if old, known := c.w.find(c.v, place, externalID); known {
		if s, seg := c.v.slot(old); s.same(seg, &rec, c.w.text) {
			c.moves.seen = append(c.moves.seen, seenMove{s, rec.seenAt})
			return
		}
		c.drop(old)
	}
	rec.tally = c.w.voteNumber(c.v.feeds[place].id, externalID)
	r := c.write(&rec, c.w.text)
	c.w.setKey(c.v, place, externalID, r, c.undo)
	s, seg := c.v.slot(r)
	c.cover(place, ent.Point)
	c.added = append(c.added, addition{grid.Cell(ent.Point), s.entry(seg, r, c.v.law)})
	c.count(s, 1)
	if rec.tally != 0 {
		c.touchVoted(s, seg, c.tally(rec.tally))
	}
}

// same reports whether a record differs from the slot at most in the time when the entity was last seen.
func (s *slot) same(seg *segment, rec *record, text []byte) bool {
	return s.kind == rec.kind && s.lifetime == rec.lifetime && s.ends == rec.ends && s.firstSeen == rec.firstSeen &&
		s.changed == rec.changed && s.network == rec.network && bytes.Equal(s.text(seg), text)
}

// write stores a record in the open segment.
func (c *change) write(rec *record, text []byte) ref {
	seg := c.openSegment(len(text))
	return ref{c.w.open, seg.write(rec, text)}
}

// openSegment returns the segment that takes the next slot, with room for the given bytes of text.
func (c *change) openSegment(text int) *segment {
	seg := c.v.segments[c.w.open]
	if seg.fits(text) {
		return seg
	}
	seg = newSegment(text, seg)
	if n := len(c.w.free); n > 0 {
		c.w.open, c.w.free = c.w.free[n-1], c.w.free[:n-1]
		c.v.segments = slices.Clone(c.v.segments) // published versions keep their segment of this number
		c.v.segments[c.w.open] = seg
		return seg
	}
	c.v.segments = append(c.v.segments, seg) // beyond the length that published versions see
	c.w.open = uint32(len(c.v.segments) - 1)
	return seg
}

// count adds to the number of entities held, by feed and in total.
func (c *change) count(s *slot, by int) {
	c.v.entities += by
	n := c.moves.counts[s.feed]
	if s.lifetime == 0 {
		n.persistent += by
	} else {
		n.decaying += by
	}
	c.moves.counts[s.feed] = n
}

// remove removes an entity, if the index holds it.
func (c *change) remove(place uint32, externalID []byte) {
	if r, ok := c.w.find(c.v, place, externalID); ok {
		c.drop(r)
	}
}

// drop removes a slot from its cell and from the keys.
func (c *change) drop(r ref) {
	c.pace.row(1)
	s, seg := c.v.slot(r)
	c.w.deleteKey(s.feed, s.externalID(seg), r, c.undo)
	c.removed = append(c.removed, removal{grid.Cell(s.point(seg)), r})
	c.kill(s, seg)
	c.count(s, -1)
}

// kill marks a slot to which no cell refers any more.
func (c *change) kill(s *slot, seg *segment) {
	s.dead = true
	seg.deadSlots++
	c.undo.dead = append(c.undo.dead, deadSlot{s, seg})
}

// setTally applies the votes on an entity, whether the index holds it, held it or will hold it.
func (c *change) setTally(place uint32, t *mapdata.Tally) {
	externalID := []byte(t.ExternalID)
	number := c.w.addVote(c.v.feeds[place].id, externalID, c.undo)
	c.moves.tallies[number] = t
	if r, known := c.w.find(c.v, place, externalID); known {
		s, seg := c.v.slot(r)
		c.moves.votes = append(c.moves.votes, voteMove{s, r, number})
		c.touchVoted(s, seg, t)
	}
}

// tally returns the votes with a number; those of this change take precedence.
func (c *change) tally(number uint32) *mapdata.Tally {
	if t, changed := c.moves.tallies[number]; changed {
		return t
	}
	return c.v.tallies.at(number)
}

// finish builds the changed cells and stages the version.
func (c *change) finish() *Staged {
	c.touchCells()
	c.withhold()
	c.summarize()
	c.mergeCells()
	c.w.free = append(c.w.free, c.freed...)
	s := &Staged{ix: c.ix, version: c.v, writer: c.w, undo: c.undo, moves: c.moves, touched: c.touched}
	c.ix.staged = s
	return s
}

// touchCells records the cells in which readers see a change.
func (c *change) touchCells() {
	cells := make([]geo.Cell, 0, len(c.added)+len(c.removed))
	for i := range c.removed[c.compacted.removed:] {
		cells = append(cells, c.removed[c.compacted.removed+i].cell)
	}
	for i := range c.added[c.compacted.added:] {
		cells = append(cells, c.added[c.compacted.added+i].cell)
	}
	slices.SortFunc(cells, geo.Cell.Compare)
	for _, cell := range slices.Compact(cells) {
		c.touched.Areas = append(c.touched.Areas, touchMargin(grid.Box(cell).Circle()))
	}
}
