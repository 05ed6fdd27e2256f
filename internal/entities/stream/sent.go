package stream

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
	"time"

	"wayside/internal/ground/mapdata"
)

// expiryLead is how long before an expiry that the client knows the stream checks for a later one, so that the client gets
// it before it removes the pin.
const expiryLead = 2 * time.Second

// tickMillis is the resolution of stored expiries, in milliseconds.
const tickMillis = 125

// known is the remembered part of one entity that a client has. The id shares the memory of the index or the cache and is replaced
// on each update; it is kept because a removal has to name the entity.
type known struct {
	hash    uint64 // of the entity's id
	content uint32 // hash of the sent content, without the expiry
	expires uint32 // the expiry that the client was sent, in ticks since the epoch of the Sent, rounded up; 0: it persists
	source  mapdata.SourceID
	id      []byte
}

// Sent remembers the entities that one client has, in 56 bytes each. The zero value is a client that has none.
type Sent struct {
	epoch    int64 // milliseconds since 1970
	entities []known
}

// Difference is the difference between two updates of a client. Its memory may be reused for the next one.
type Difference struct {
	Changed []int              // indexes of the hits that are new or changed, ascending
	Gone    []mapdata.MergedID // entities that the client has and that are gone
	Next    time.Time          // when to update again because something expires; zero: nothing does

	current []hitEntry // scratch
}

// hitEntry is a hit, prepared for comparison.
type hitEntry struct {
	known
	index int // in the hits
}

// Release drops all references but keeps the memory.
func (d *Difference) Release() {
	clear(d.Gone[:cap(d.Gone)])
	clear(d.current[:cap(d.current)])
}

// Diff compares the hits at now with the entities that the client has, writes the difference to d, and records it as sent. A later
// expiry counts as a change only shortly before the client would remove the pin, because every poll moves it; a sooner one counts
// immediately.
func (h *Hub) Diff(s *Sent, hits []mapdata.Hit, now time.Time, d *Difference) {
	h.collect(s, hits, now, d)
	soon := s.ticks(now.Add(expiryLead).UnixMilli())
	old := s.entities
	for i := range d.current {
		f := &d.current[i]
		for len(old) > 0 && old[0].hash < f.hash {
			d.Gone = append(d.Gone, mapdata.MergedID{Source: old[0].source, ExternalID: old[0].id})
			old = old[1:]
		}
		if len(old) == 0 || old[0].hash != f.hash {
			d.Changed = append(d.Changed, f.index)
			continue
		}
		was := old[0]
		old = old[1:]
		lasts := was.expires != 0 && f.expires > was.expires
		switch {
		case was.content != f.content, was.expires != f.expires && !lasts, lasts && was.expires <= soon:
			d.Changed = append(d.Changed, f.index)
		default:
			f.expires = was.expires
		}
	}
	for _, m := range old {
		d.Gone = append(d.Gone, mapdata.MergedID{Source: m.source, ExternalID: m.id})
	}
	slices.Sort(d.Changed)
	s.replace(d.current)
	d.Next = s.nextUpdate(now)
}

// Resume computes the difference for a client that reconnects and was up to date at since: d.Changed gets the hits that changed
// later. The expiries that the client knows are unknown, except that none was before floor; zero: the client knows none.
func (h *Hub) Resume(s *Sent, hits []mapdata.Hit, since, floor, now time.Time, d *Difference) {
	h.collect(s, hits, now, d)
	expiry := s.ticks(floor.UnixMilli())
	for i := range d.current {
		f := &d.current[i]
		switch {
		case hits[f.index].ChangedAt > since.UnixMilli():
			d.Changed = append(d.Changed, f.index)
		case f.expires != 0 && !floor.IsZero():
			f.expires = min(f.expires, expiry)
		}
	}
	slices.Sort(d.Changed)
	s.replace(d.current)
	d.Next = s.nextUpdate(now)
}

// EarliestExpiry returns the earliest expiry that the client knows; zero: nothing expires.
func (s *Sent) EarliestExpiry() time.Time {
	least := uint32(0)
	for i := range s.entities {
		if e := s.entities[i].expires; e != 0 && (least == 0 || e < least) {
			least = e
		}
	}
	return s.time(least)
}

// collect prepares the hits for comparison, ordered by hash.
func (h *Hub) collect(s *Sent, hits []mapdata.Hit, now time.Time, d *Difference) {
	if s.epoch == 0 {
		s.epoch = now.UnixMilli() - tickMillis // 0 ticks mean that nothing expires
	}
	d.Changed, d.Gone, d.current = d.Changed[:0], d.Gone[:0], d.current[:0]
	var hash maphash.Hash
	hash.SetSeed(h.seed)
	for i := range hits {
		hit := &hits[i]
		d.current = append(d.current, hitEntry{index: i, known: known{
			hash: hashID(&hash, hit.Source, hit.ExternalID), content: hashContent(&hash, hit), expires: s.ticks(hit.ExpiresAt),
			source: hit.Source, id: hit.ExternalID,
		}})
	}
	slices.SortFunc(d.current, func(a, b hitEntry) int { return cmp.Compare(a.hash, b.hash) })
}

func hashID(h *maphash.Hash, source mapdata.SourceID, id []byte) uint64 {
	h.Reset()
	_, _ = h.WriteString(string(source)) // writing to a hash cannot fail
	_ = h.WriteByte(0)
	_, _ = h.Write(id)
	return h.Sum64()
}

// hashContent covers what readers see of an entity, except "last seen" and the expiry.
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
	if hit.Hidden != nil {
		_ = h.WriteByte(1)
		_, _ = h.WriteString(hit.Hidden.Reason)
	}
	for i := range hit.Merged {
		_ = h.WriteByte(0)
		_, _ = h.WriteString(string(hit.Merged[i].Source))
		_ = h.WriteByte(0)
		_, _ = h.Write(hit.Merged[i].ExternalID)
	}
	return uint32(h.Sum64())
}

// replace records the current hits as the entities that the client has.
func (s *Sent) replace(current []hitEntry) {
	if cap(s.entities) < len(current) {
		s.entities = make([]known, 0, len(current)+len(current)/8)
	}
	clear(s.entities[min(len(current), len(s.entities)):])
	s.entities = s.entities[:0]
	for i := range current {
		s.entities = append(s.entities, current[i].known)
	}
}

// nextUpdate returns the time expiryLead before the next expiry that the client knows, or that expiry itself if the lead has begun.
func (s *Sent) nextUpdate(now time.Time) time.Time {
	soon := s.ticks(now.Add(expiryLead).UnixMilli())
	lead := s.ticks(s.epoch + expiryLead.Milliseconds())
	next := uint32(0)
	for i := range s.entities {
		e := s.entities[i].expires
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

// ticks converts milliseconds since 1970 to ticks; 0 stays 0.
func (s *Sent) ticks(at int64) uint32 {
	if at == 0 {
		return 0
	}
	return uint32(min(max(at-s.epoch+tickMillis-1, tickMillis)/tickMillis, math.MaxUint32))
}

// time converts ticks to a time; 0 is the zero time.
func (s *Sent) time(ticks uint32) time.Time {
	if ticks == 0 {
		return time.Time{}
	}
	return time.UnixMilli(s.epoch + int64(ticks)*tickMillis)
}
