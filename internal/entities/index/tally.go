package index

import (
	"slices"
	"sync/atomic"
	"time"

	"wayside/internal/ground/mapdata"
)

// tallies holds the votes on entities by number. Few entities have votes, and votes come one by one: a slot has the
// number of its tally, and a vote replaces the tally under that number, where every version of one load sees it. A
// number is reused only when no search can refer to it, so that no version sees the votes on another entity. Each load
// has its own tallies.
type tallies struct {
	chunks atomic.Pointer[[]*tallyChunk]
}

const tallyChunkSize = 256

type tallyChunk [tallyChunkSize]atomic.Pointer[mapdata.Tally]

// at returns the tally with a number, which must not be 0.
func (t *tallies) at(number uint32) *mapdata.Tally {
	chunks := *t.chunks.Load()
	number--
	return chunks[number/tallyChunkSize][number%tallyChunkSize].Load()
}

// set stores the tally with a number. It is for the writer only.
func (t *tallies) set(number uint32, tally *mapdata.Tally) {
	var chunks []*tallyChunk
	if stored := t.chunks.Load(); stored != nil {
		chunks = *stored
	}
	number--
	if missing := int(number/tallyChunkSize) + 1 - len(chunks); missing > 0 {
		chunks = slices.Clone(chunks)
		for range missing {
			chunks = append(chunks, new(tallyChunk))
		}
		t.chunks.Store(&chunks)
	}
	chunks[number/tallyChunkSize][number%tallyChunkSize].Store(tally)
}

// tally returns the votes on the entity in the slot, or nil if there are none.
func (q *search) tally(s *slot) *mapdata.Tally {
	number := s.tally.Load()
	if number == 0 {
		return nil
	}
	return q.tallies.at(number)
}

// voted is the effect of a tally on an entity at a moment, in milliseconds since 1970.
type voted struct {
	counts        bool  // the votes are about the entity's current life
	keptUntil     int64 // 0: not at all
	disputedUntil int64 // by votes or a curator; 0: not hidden
	changed       int64 // when votes last changed what readers see
}

func judge(t *mapdata.Tally, s *slot, now int64) voted {
	kind := mapdata.Kind(s.kind)
	var v voted
	if until := milli(t.WithheldUntil(kind)); until > now {
		v.disputedUntil = until
	}
	// The rule of mapdata.Tally.Counts.
	v.counts = s.firstSeen <= milli(t.LifeAt) || milli(t.DisputedUntil(kind)) > now
	v.changed = milli(t.Returned(kind, time.UnixMilli(now)))
	if v.counts {
		v.changed = max(v.changed, milli(t.ChangedAt))
	}
	if v.counts && s.lifetime != 0 {
		v.keptUntil = s.noLater(milli(t.KeptUntil)) // the end may have moved since the confirm
	}
	return v
}
