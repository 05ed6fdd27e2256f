package index

import (
	"sync/atomic"

	"wayside/internal/geo"
)

// Sizes of a segment: with about 250 bytes of text an entity both fill up together.
const (
	segmentSlots = 4096
	segmentText  = 1 << 20
)

// ref names a slot: its segment's number and its row there.
type ref struct{ seg, row uint32 }

// entry is an entity in its cell: what decides whether a search wants it, without a look elsewhere.
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
	length    uint32 // of both together
	kind      uint8
	dead      bool // the writer's own note: no cell refers to it any more
}

// segment holds slots and their text. Arrays are made at full size: readers of published slots and the writer of the
// next ones then share them without a lock.
type segment struct {
	slots []slot
	text  []byte

	used, textUsed, deadSlots int // the writer's own
}

func newSegment(text int) *segment {
	return &segment{slots: make([]slot, segmentSlots), text: make([]byte, max(text, segmentText))}
}

// fits says whether a slot with so much text can be added.
func (s *segment) fits(text int) bool {
	return s.used < len(s.slots) && s.textUsed+text <= len(s.text)
}

func (s *slot) externalID(seg *segment) []byte {
	end := s.start + uint32(s.idLen)
	return seg.text[s.start:end:end]
}

func (s *slot) prepared(seg *segment) []byte {
	end := s.start + s.length
	return seg.text[s.start+uint32(s.idLen) : end : end]
}

// seenAt is when the entity was last seen, in milliseconds since 1970.
func (s *slot) seenAt(f *feedSlot) int64 {
	if seen := s.seen.Load(); seen != 0 {
		return seen
	}
	return f.snapshotAt.Load()
}

// expiresAt is when the entity goes, in milliseconds since 1970; 0 for one that persists.
func (s *slot) expiresAt(f *feedSlot) int64 {
	if s.lifetime == 0 {
		return 0
	}
	return s.seenAt(f) + s.lifetime
}
