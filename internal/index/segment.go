package index

import (
	"cmp"
	"sync/atomic"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// Sizes of a segment: with about 250 bytes of text an entity both fill up together.
const (
	segmentSlots = 4096
	segmentText  = 1 << 20
)

// ref names a slot: its segment's number and its row there.
type ref struct{ segment, row uint32 }

// compare orders references by where their slots lie in memory.
func (r ref) compare(o ref) int { return cmp.Compare(r.number(), o.number()) }

// number is the reference as one number.
func (r ref) number() uint64 { return uint64(r.segment)<<32 | uint64(r.row) }

func refOf(number uint64) ref { return ref{uint32(number >> 32), uint32(number)} }

// entry is an entity in its cell: what decides whether a search wants it, without reading its slot.
type entry struct {
	at   geo.Vector
	ref  ref
	feed uint32 // place in the version's feeds
	kind uint8
}

// slot is what an answer needs of an entity. All but seen is written once, before the slot is published.
type slot struct {
	point     geo.Point
	firstSeen int64        // milliseconds since 1970
	changed   int64        // milliseconds since 1970
	lifetime  int64        // milliseconds; 0: persistent
	seen      atomic.Int64 // milliseconds since 1970; 0: at the feed's last snapshot
	network   uint64       // hash of the charger network's name; 0: none
	start     uint32       // of external id and prepared text in the segment's text
	idLen     uint16
	feed      uint32
	length    uint32        // of both together
	tally     atomic.Uint32 // number of its tally; 0: there are no votes on it
	kind      uint8
	dead      bool // for the writer only: no cell of the newest version refers to it
}

// segment holds slots and their text. Arrays are made at full size: readers of published slots and the writer of the
// next ones then share them without a lock.
type segment struct {
	slots []slot
	text  []byte

	used, textUsed, deadSlots int // for the writer only
}

func newSegment(text int) *segment {
	return &segment{slots: make([]slot, segmentSlots), text: make([]byte, max(text, segmentText))}
}

// fits says whether a slot with so many bytes of text can be added.
func (s *segment) fits(text int) bool {
	return s.used < len(s.slots) && s.textUsed+text <= len(s.text)
}

// record is what a slot is made of.
type record struct {
	point                                geo.Point
	firstSeen, changed, lifetime, seenAt int64 // as in slot
	network                              uint64
	feed, tally                          uint32
	idLen                                uint16
	kind                                 uint8
}

// recordOf takes an entity apart, without its votes. place is its feed's.
func (ix *Index) recordOf(place uint32, ent *mapdata.Entity) record {
	return record{
		point: ent.Point, firstSeen: milli(ent.FirstSeenAt), changed: milli(ent.ChangedAt), lifetime: ent.Lifetime.Milliseconds(),
		seenAt: milli(ent.SeenAt), network: ix.networkHash(ent.Network), feed: place,
		idLen: uint16(len(ent.ExternalID)), kind: uint8(ent.Kind),
	}
}

// record gives back what the slot was made of.
func (s *slot) record() record {
	return record{
		point: s.point, firstSeen: s.firstSeen, changed: s.changed, lifetime: s.lifetime, seenAt: s.seen.Load(),
		network: s.network, feed: s.feed, tally: s.tally.Load(), idLen: s.idLen, kind: s.kind,
	}
}

// write fills the next slot and gives its row. text is the external id and what the encoder made.
func (s *segment) write(r *record, text []byte) (row uint32) {
	sl := &s.slots[s.used]
	sl.point, sl.firstSeen, sl.changed, sl.lifetime = r.point, r.firstSeen, r.changed, r.lifetime
	sl.seen.Store(r.seenAt)
	sl.network, sl.feed, sl.idLen, sl.kind = r.network, r.feed, r.idLen, r.kind
	sl.tally.Store(r.tally)
	sl.start, sl.length = uint32(s.textUsed), uint32(len(text))
	copy(s.text[s.textUsed:], text)
	s.textUsed += len(text)
	s.used++
	return uint32(s.used - 1)
}

// entry is the slot's entry in its cell.
func (s *slot) entry(r ref) entry {
	return entry{at: s.point.Vector(), ref: r, feed: s.feed, kind: s.kind}
}

func (s *slot) externalID(seg *segment) []byte {
	end := s.start + uint32(s.idLen)
	return seg.text[s.start:end:end]
}

// text is the external id and what the encoder made, in one.
func (s *slot) text(seg *segment) []byte {
	end := s.start + s.length
	return seg.text[s.start:end:end]
}

func (s *slot) prepared(seg *segment) []byte {
	end := s.start + s.length
	return seg.text[s.start+uint32(s.idLen) : end : end]
}

// seenAt is when the entity was last seen, in milliseconds since 1970.
func (s *slot) seenAt(f *feed) int64 {
	if seen := s.seen.Load(); seen != 0 {
		return seen
	}
	return f.snapshotAt.Load()
}

// expiresAt is when the entity expires, in milliseconds since 1970; 0 for one that persists.
func (s *slot) expiresAt(f *feed) int64 {
	if s.lifetime == 0 {
		return 0
	}
	return s.seenAt(f) + s.lifetime
}
