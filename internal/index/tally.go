package index

import (
	"sync/atomic"
	"time"

	"wayside/internal/mapdata"
)

// tallies holds what was voted on entities. Few entities are voted on, and votes come one by one: a slot names a place
// here, and a vote moves the tally in that place, where every version sees it. Places are not given back before the next
// load, so that an old version never sees another entity's votes.
type tallies struct {
	chunks atomic.Pointer[[]*tallyChunk]
	places map[string]uint32 // by twinKey; the writer's own
}

const tallyChunkSize = 256

type tallyChunk [tallyChunkSize]atomic.Pointer[mapdata.Tally]

func newTallies() *tallies {
	t := &tallies{places: make(map[string]uint32)}
	t.chunks.Store(new([]*tallyChunk))
	return t
}

// at gives the tally in a place, which is none of place 0.
func (t *tallies) at(place uint32) *mapdata.Tally {
	chunks := *t.chunks.Load()
	place--
	return chunks[place/tallyChunkSize][place%tallyChunkSize].Load()
}

// set stores a tally and gives its place.
func (t *tallies) set(key string, tally *mapdata.Tally) uint32 {
	place, known := t.places[key]
	chunks := *t.chunks.Load()
	if !known {
		place = uint32(len(t.places) + 1)
		if (place-1)%tallyChunkSize == 0 {
			chunks = append(chunks[:len(chunks):len(chunks)], new(tallyChunk))
		}
		t.places[key] = place
	}
	chunks[(place-1)/tallyChunkSize][(place-1)%tallyChunkSize].Store(tally)
	t.chunks.Store(&chunks)
	return place
}

// placeOf gives the place of an entity's tally; 0: nobody voted.
func (t *tallies) placeOf(feed uint32, externalID []byte) uint32 {
	if len(t.places) == 0 {
		return 0
	}
	return t.places[twinKey(feed, externalID)]
}

// setTally takes over the votes on an entity, whether it is held or was held.
func (e *edit) setTally(place uint32, t *mapdata.Tally) {
	key := twinKey(place, []byte(t.ExternalID))
	number := e.ix.tallies.set(key, t)
	if r, known := e.find(place, []byte(t.ExternalID)); known {
		s, _ := e.slot(r)
		s.tally.Store(number)
		e.touchVoted(s, t)
	}
}

// tally gives the votes that are about the entity in the slot; nil: none.
func (q *search) tally(s *slot) *mapdata.Tally {
	place := s.tally.Load()
	if place == 0 {
		return nil
	}
	return q.tallies.at(place)
}

// voted is what a tally makes of an entity at a moment, in milliseconds since 1970.
type voted struct {
	counts        bool  // the votes are about the entity as it is now
	keptUntil     int64 // 0: not at all
	disputedUntil int64 // 0: not hidden
	changed       int64 // when votes last changed what readers see
}

func judge(t *mapdata.Tally, s *slot, now int64) voted {
	kind := mapdata.Kind(s.kind)
	var v voted
	if until := milli(t.DisputedUntil(kind)); until > now {
		v.disputedUntil = until
	}
	// As mapdata.Tally.Counts has it.
	v.counts = s.firstSeen <= milli(t.LifeAt) || v.disputedUntil != 0
	v.changed = milli(t.Returned(kind, time.UnixMilli(now)))
	if v.counts {
		v.changed = max(v.changed, milli(t.ChangedAt))
	}
	if v.counts && s.lifetime != 0 {
		v.keptUntil = milli(t.KeptUntil)
	}
	return v
}
