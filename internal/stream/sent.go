package stream

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
	"time"

	"wayside/internal/mapdata"
)

// ahead is how long before an expiry that the client knows a stream looks whether the entity lasts longer by now: the
// client is to learn it before it takes the pin away.
const ahead = 2 * time.Second

// tick is the resolution of expiries in marks, in milliseconds.
const tick = 125

// mark is what is remembered of one entity that a client has. The id is that of the index's or the cache's own memory,
// which a look takes over anew each time: what is gone cannot be named otherwise.
type mark struct {
	hash    uint64 // of the entity's id
	content uint32 // hash of what the client was told, but for when it expires
	expires uint32 // what the client was told, in ticks since the epoch of the Sent, rounded up; 0: it persists
	source  mapdata.SourceID
	id      []byte
}

// Sent remembers what a client has. It takes 56 bytes an entity and copies nothing. The zero value is a client that has
// nothing.
type Sent struct {
	epoch int64 // milliseconds since 1970
	marks []mark
}

// Difference is what a client must be told. It may be used again for the next.
type Difference struct {
	Changed []int              // places in the hits of what is new or changed, in their order
	Gone    []mapdata.MergedID // what is there no longer
	Next    time.Time          // when to look again because something expires; zero: nothing does

	found []found // scratch
}

// found is a hit on its way into the marks.
type found struct {
	mark
	place int // in the hits
}

// Forget lets go of what the difference holds and keeps its memory.
func (d *Difference) Forget() {
	clear(d.Gone[:cap(d.Gone)])
	clear(d.found[:cap(d.found)])
}

// Diff compares what there is at now with what the client has, puts down in d what it must be told, and takes it for told.
// When an entity expires counts as changed once the client is about to take it away, or when it is sooner than the client
// knows: every poll moves it, and nobody needs to know each time.
func (h *Hub) Diff(s *Sent, hits []mapdata.Hit, now time.Time, d *Difference) {
	h.find(s, hits, now, d)
	soon := s.ticks(now.Add(ahead).UnixMilli())
	old := s.marks
	for i := range d.found {
		f := &d.found[i]
		for len(old) > 0 && old[0].hash < f.hash {
			d.Gone = append(d.Gone, mapdata.MergedID{Source: old[0].source, ExternalID: old[0].id})
			old = old[1:]
		}
		if len(old) == 0 || old[0].hash != f.hash {
			d.Changed = append(d.Changed, f.place)
			continue
		}
		was := old[0]
		old = old[1:]
		lasts := was.expires != 0 && f.expires > was.expires
		switch {
		case was.content != f.content, was.expires != f.expires && !lasts, lasts && was.expires <= soon:
			d.Changed = append(d.Changed, f.place)
		default:
			f.expires = was.expires
		}
	}
	for _, m := range old {
		d.Gone = append(d.Gone, mapdata.MergedID{Source: m.source, ExternalID: m.id})
	}
	slices.Sort(d.Changed)
	s.take(d.found)
	d.Next = s.next(now)
}

// Resume takes the client for one that had at since what it needs not be told: of all else, Changed tells. What expires is
// not known of it, but that nothing of what it had was to expire before floor; zero: nothing was to expire.
func (h *Hub) Resume(s *Sent, hits []mapdata.Hit, since, floor, now time.Time, d *Difference) {
	h.find(s, hits, now, d)
	known := s.ticks(floor.UnixMilli())
	for i := range d.found {
		f := &d.found[i]
		switch {
		case hits[f.place].ChangedAt > since.UnixMilli():
			d.Changed = append(d.Changed, f.place)
		case f.expires != 0 && !floor.IsZero():
			f.expires = min(f.expires, known)
		}
	}
	slices.Sort(d.Changed)
	s.take(d.found)
	d.Next = s.next(now)
}

// Floor is the soonest expiry that the client knows; zero: nothing expires.
func (s *Sent) Floor() time.Time {
	least := uint32(0)
	for i := range s.marks {
		if e := s.marks[i].expires; e != 0 && (least == 0 || e < least) {
			least = e
		}
	}
	return s.time(least)
}

// find makes marks of the hits, ordered by hash.
func (h *Hub) find(s *Sent, hits []mapdata.Hit, now time.Time, d *Difference) {
	if s.epoch == 0 {
		s.epoch = now.UnixMilli() - tick // so that nothing expires at 0
	}
	d.Changed, d.Gone, d.found = d.Changed[:0], d.Gone[:0], d.found[:0]
	var hash maphash.Hash
	hash.SetSeed(h.seed)
	for i := range hits {
		hit := &hits[i]
		d.found = append(d.found, found{place: i, mark: mark{
			hash: hashID(&hash, hit.Source, hit.ExternalID), content: hashContent(&hash, hit), expires: s.ticks(hit.ExpiresAt),
			source: hit.Source, id: hit.ExternalID,
		}})
	}
	slices.SortFunc(d.found, func(a, b found) int { return cmp.Compare(a.hash, b.hash) })
}

func hashID(h *maphash.Hash, source mapdata.SourceID, id []byte) uint64 {
	h.Reset()
	_, _ = h.WriteString(string(source)) // a hash never fails
	_ = h.WriteByte(0)
	_, _ = h.Write(id)
	return h.Sum64()
}

// hashContent covers what readers see of an entity, but for when it was last seen and when it expires.
func hashContent(h *maphash.Hash, hit *mapdata.Hit) uint32 {
	h.Reset()
	var fixed [41]byte
	binary.LittleEndian.PutUint64(fixed[0:], uint64(hit.FirstSeenAt))
	binary.LittleEndian.PutUint64(fixed[8:], uint64(hit.DisputedUntil))
	binary.LittleEndian.PutUint32(fixed[16:], uint32(hit.Confirms))
	binary.LittleEndian.PutUint32(fixed[20:], uint32(hit.Disputes))
	binary.LittleEndian.PutUint32(fixed[24:], math.Float32bits(hit.Prior))
	binary.LittleEndian.PutUint32(fixed[28:], uint32(len(hit.Prepared)))
	binary.LittleEndian.PutUint32(fixed[32:], uint32(len(hit.Merged)))
	binary.LittleEndian.PutUint32(fixed[36:], uint32(hit.Zone))
	fixed[40] = byte(hit.Kind)
	_, _ = h.Write(fixed[:])
	_, _ = h.Write(hit.Prepared)
	_, _ = h.WriteString(hit.Layer)
	for i := range hit.Merged {
		_ = h.WriteByte(0)
		_, _ = h.WriteString(string(hit.Merged[i].Source))
		_ = h.WriteByte(0)
		_, _ = h.Write(hit.Merged[i].ExternalID)
	}
	return uint32(h.Sum64())
}

// take makes the marks those that were found.
func (s *Sent) take(found []found) {
	if cap(s.marks) < len(found) {
		s.marks = make([]mark, 0, len(found)+len(found)/8)
	}
	clear(s.marks[min(len(found), len(s.marks)):])
	s.marks = s.marks[:0]
	for i := range found {
		s.marks = append(s.marks, found[i].mark)
	}
}

// next is when to look again: shortly before what the client knows expires, and when it does.
func (s *Sent) next(now time.Time) time.Time {
	soon := s.ticks(now.Add(ahead).UnixMilli())
	lead := s.ticks(s.epoch + ahead.Milliseconds())
	next := uint32(0)
	for i := range s.marks {
		e := s.marks[i].expires
		if e == 0 {
			continue
		}
		if e > soon {
			e -= lead
		}
		if next == 0 || e < next {
			next = e
		}
	}
	return s.time(next)
}

// ticks turns milliseconds since 1970 into ticks; 0 stays 0.
func (s *Sent) ticks(at int64) uint32 {
	if at == 0 {
		return 0
	}
	return uint32(min(max(at-s.epoch+tick-1, tick)/tick, math.MaxUint32))
}

// time turns ticks into a time; 0 into the zero time.
func (s *Sent) time(ticks uint32) time.Time {
	if ticks == 0 {
		return time.Time{}
	}
	return time.UnixMilli(s.epoch + int64(ticks)*tick)
}
