package index

import (
	"cmp"
	"encoding/binary"
	"math"
	"sync/atomic"
	"time"

	"wayside/internal/entities/law"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Sizes of a segment. Its text is sized by the average of earlier entities, so that both arrays fill up together.
const (
	segmentSlots   = 4096
	firstText      = 1 << 20 // bytes, of a segment without a predecessor
	spareTextShare = 16      // a share of 1/16 of a segment's text is reserved for entities longer than before
)

// ref names a slot: its segment's number and its row there.
type ref struct{ segment, row uint32 }

// compare orders references by the position of their slots in memory.
func (r ref) compare(o ref) int { return cmp.Compare(r.number(), o.number()) }

// number returns the reference as one number.
func (r ref) number() uint64 { return uint64(r.segment)<<32 | uint64(r.row) }

func refOf(number uint64) ref { return ref{uint32(number >> 32), uint32(number)} }

// entry is an entity in its cell, with the data that decide whether a search selects it without reading its slot.
type entry struct {
	at   geo.Vector
	ref  ref
	feed uint32 // place in the version's feeds
	kind uint8

	hidden bool   // a law hides it
	zone   uint16 // metres: width of the zone as which a law shows it; 0: the exact position
}

// slot holds the data that decide about an entity, and those that each answer encodes anew. All but seen and tally is
// written once, before the slot is published. A slot fills one cache line, so that judging a candidate loads one line.
type slot struct {
	firstSeen int64        // milliseconds since 1970
	changed   int64        // milliseconds since 1970
	lifetime  int64        // milliseconds; 0: persistent
	seen      atomic.Int64 // milliseconds since 1970; 0: at the feed's last snapshot
	network   uint64       // hash of the charger network's name; 0: none
	start     uint32       // of the text, in the segment's
	length    uint32       // of the text
	feed      uint32
	tally     atomic.Uint32 // number of its tally; 0: no votes
	ends      uint32        // seconds since 1970; 0: no end (D17.3)
	idLen     uint16        // of the external id
	kind      uint8
	dead      bool // for the writer only: no cell of the newest version refers to it
}

// A slot's text consists of the point, the external id and the encoder's output.

// pointSize is the length of a point in a text.
const pointSize = 16

// appendText begins an entity's text; the encoder appends the rest.
func appendText(dst []byte, ent *mapdata.Entity) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(ent.Point.Lat))
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(ent.Point.Lng))
	return append(dst, ent.ExternalID...)
}

// segment holds slots and their text. Arrays are allocated at full size, so that readers of published slots and the
// writer of the next ones share them without a lock.
type segment struct {
	slots []slot
	text  []byte

	used, textUsed, deadSlots int // for the writer only
}

// newSegment returns a segment with room for a text of the given bytes. Its size depends on the text in the previous
// segment, if there is one.
func newSegment(text int, before *segment) *segment {
	size := firstText
	if before != nil && before.used > 0 {
		size = before.textUsed * segmentSlots / before.used
		size += size / spareTextShare
	}
	return &segment{slots: make([]slot, segmentSlots), text: make([]byte, max(text, size))}
}

// fits reports whether a slot with the given bytes of text can be added.
func (s *segment) fits(text int) bool {
	return s.used < len(s.slots) && s.textUsed+text <= len(s.text)
}

// record is the content of a slot.
type record struct {
	firstSeen, changed, lifetime, seenAt int64 // as in slot
	network                              uint64
	feed, tally, ends                    uint32
	idLen                                uint16
	kind                                 uint8
}

// recordOf returns the record of an entity, without its votes. place is its feed's.
func (ix *Index) recordOf(place uint32, ent *mapdata.Entity) record {
	return record{
		firstSeen: milli(ent.FirstSeenAt), changed: milli(ent.ChangedAt), lifetime: ent.Lifetime.Milliseconds(),
		seenAt: milli(ent.SeenAt), network: ix.networkHash(ent.Network), feed: place,
		ends: endOf(ent.EndsAt), idLen: uint16(len(ent.ExternalID)), kind: uint8(ent.Kind),
	}
}

// endOf returns an end in the form of a slot. An end before 1970 becomes the first second after, which has passed as
// well.
func endOf(at time.Time) uint32 {
	if at.IsZero() {
		return 0
	}
	return uint32(min(max(at.Unix(), 1), math.MaxUint32))
}

// record returns the record from which the slot was made.
func (s *slot) record() record {
	return record{
		firstSeen: s.firstSeen, changed: s.changed, lifetime: s.lifetime, seenAt: s.seen.Load(),
		network: s.network, feed: s.feed, tally: s.tally.Load(), ends: s.ends, idLen: s.idLen, kind: s.kind,
	}
}

// write fills the next slot and returns its row. text begins with the output of appendText.
func (s *segment) write(r *record, text []byte) (row uint32) {
	sl := &s.slots[s.used]
	sl.firstSeen, sl.changed, sl.lifetime = r.firstSeen, r.changed, r.lifetime
	sl.seen.Store(r.seenAt)
	sl.network, sl.feed, sl.ends, sl.idLen, sl.kind = r.network, r.feed, r.ends, r.idLen, r.kind
	sl.tally.Store(r.tally)
	sl.start, sl.length = uint32(s.textUsed), uint32(len(text))
	copy(s.text[s.textUsed:], text)
	s.textUsed += len(text)
	s.used++
	return uint32(s.used - 1)
}

// entry returns the slot's entry in its cell, under a law; nil: there is none.
func (s *slot) entry(seg *segment, r ref, l *law.Law) entry {
	at, kind := s.point(seg), mapdata.Kind(s.kind)
	e := entry{at: at.Vector(), ref: r, feed: s.feed, kind: s.kind}
	if l.Kinds().Has(kind) {
		verdict := l.Judge(at, kind)
		e.hidden, e.zone = verdict.Hidden, uint16(verdict.Zone)
	}
	return e
}

// text returns the slot's whole text.
func (s *slot) text(seg *segment) []byte {
	end := s.start + s.length
	return seg.text[s.start:end:end]
}

func (s *slot) point(seg *segment) geo.Point {
	text := seg.text[s.start : s.start+pointSize]
	return geo.Point{
		Lat: math.Float64frombits(binary.LittleEndian.Uint64(text)),
		Lng: math.Float64frombits(binary.LittleEndian.Uint64(text[pointSize/2:])),
	}
}

func (s *slot) externalID(seg *segment) []byte {
	start := s.start + pointSize
	end := start + uint32(s.idLen)
	return seg.text[start:end:end]
}

// prepared returns the encoder's output.
func (s *slot) prepared(seg *segment) []byte {
	end := s.start + s.length
	return seg.text[s.start+pointSize+uint32(s.idLen) : end : end]
}

// seenAt returns when the entity was last seen, in milliseconds since 1970.
func (s *slot) seenAt(f *feed) int64 {
	if seen := s.seen.Load(); seen != 0 {
		return seen
	}
	return f.snapshotAt.Load()
}

// expires reports whether the entity expires at some time.
func (s *slot) expires() bool { return s.lifetime != 0 || s.ends != 0 }

// expiresAt returns when the entity expires, in milliseconds since 1970, or 0 if it does not.
func (s *slot) expiresAt(f *feed) int64 {
	if s.lifetime == 0 {
		return int64(s.ends) * 1000
	}
	return s.noLater(s.seenAt(f) + s.lifetime)
}

// noLater returns a time, or the entity's end if that is earlier; both in milliseconds since 1970.
func (s *slot) noLater(at int64) int64 {
	if s.ends != 0 {
		return min(at, int64(s.ends)*1000)
	}
	return at
}
