package votes

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"sync/atomic"
	"time"

	"wayside/internal/mapdata"
)

// pageCount divides the tallies into pages: a vote copies one page, which at 100 000 tallies has some 25.
const pageCount = 1 << 12

// Tallies holds the tallies of votes on live incidents. Any number of goroutines may look up beside the one that calls
// Load, Apply, Publish and Sweep.
type Tallies struct {
	now   func() time.Time
	seed  maphash.Seed
	pages atomic.Pointer[pages]
}

// pages is replaced whole by a load, and page by page by a change. A page is never changed once it is stored.
type pages [pageCount]atomic.Pointer[page]

type page map[string]*mapdata.Tally // by external id

// NewTallies makes an empty set of tallies. now is asked for what is too old to load.
func NewTallies(now func() time.Time) *Tallies {
	t := &Tallies{now: now, seed: maphash.MakeSeed()}
	t.pages.Store(new(pages))
	return t
}

// Lookup gives the tally of a live incident, and false if it has had no votes. It neither locks nor allocates.
func (t *Tallies) Lookup(externalID []byte) (mapdata.Tally, bool) {
	page := t.pages.Load()[maphash.Bytes(t.seed, externalID)%pageCount].Load()
	if page == nil {
		return mapdata.Tally{}, false
	}
	tally := (*page)[string(externalID)]
	if tally == nil {
		return mapdata.Tally{}, false
	}
	return *tally, true
}

// All yields the tallies of all incidents by their external ids, in no order.
func (t *Tallies) All() iter.Seq2[string, mapdata.Tally] {
	return func(yield func(string, mapdata.Tally) bool) {
		all := t.pages.Load()
		for i := range all {
			page := all[i].Load()
			if page == nil {
				continue
			}
			for id, tally := range *page {
				if !yield(id, *tally) {
					return
				}
			}
		}
	}
}

// stage is what changed: pages in the making, which readers do not see.
type stage struct {
	of    *Tallies
	pages map[uint64]page
	whole bool // nothing but the pages is left
	live  []mapdata.Tally
}

// Load builds the tallies anew from what the store holds.
func (t *Tallies) Load(ctx context.Context, from mapdata.StoreSnapshot) (mapdata.Staged, error) {
	s := &stage{of: t, pages: make(map[uint64]page), whole: true}
	now := t.now()
	for kind := range mapdata.Kind(mapdata.KindCount) {
		err := from.LiveTallies(ctx, kind, mapdata.OldestLiveVote(kind, now), func(tally *mapdata.Tally) { s.set(*tally, nil) })
		if err != nil {
			return nil, fmt.Errorf("load votes on live incidents: %w", err)
		}
	}
	return s, nil
}

// Apply stages tallies, each in the place of an earlier one of the same incident. One without votes is kept: its ChangedAt
// says that the last vote was taken back (D4.3).
func (t *Tallies) Apply(changes []mapdata.FeedChange) mapdata.Staged {
	s := &stage{of: t, pages: make(map[uint64]page)}
	present := t.pages.Load()
	for i := range changes {
		if !changes[i].FeedID.IsZero() {
			continue
		}
		for _, tally := range changes[i].Tallies {
			s.set(tally, present)
			s.live = append(s.live, tally)
		}
	}
	return s
}

// set puts a tally into its page, which is a copy of the present one, or empty when there is none.
func (s *stage) set(tally mapdata.Tally, present *pages) {
	number := maphash.String(s.of.seed, tally.ExternalID) % pageCount
	if s.pages[number] == nil {
		s.pages[number] = make(page, 1)
		if present != nil {
			if old := present[number].Load(); old != nil {
				s.pages[number] = maps.Clone(*old)
			}
		}
	}
	s.pages[number][tally.ExternalID] = &tally
}

// Publish shows the tallies to readers and tells which of them changed.
func (s *stage) Publish() mapdata.Touched {
	all := s.of.pages.Load()
	if s.whole {
		all = new(pages)
	}
	for number, page := range s.pages {
		all[number].Store(&page)
	}
	s.of.pages.Store(all)
	return mapdata.Touched{Everywhere: s.whole, Live: s.live}
}

// Sweep forgets the tallies of incidents that cannot be live any more at the given time. The store keeps them.
func (t *Tallies) Sweep(before time.Time) []mapdata.Expired {
	isOld := func(_ string, tally *mapdata.Tally) bool {
		return tally.ChangedAt.Before(mapdata.OldestLiveVote(tally.Kind, before))
	}
	all := t.pages.Load()
	for i := range all {
		old := all[i].Load()
		if old == nil || !anyOf(*old, isOld) {
			continue
		}
		next := maps.Clone(*old)
		maps.DeleteFunc(next, isOld)
		all[i].Store(&next)
	}
	return nil
}

func anyOf(p page, is func(string, *mapdata.Tally) bool) bool {
	for id, tally := range p {
		if is(id, tally) {
			return true
		}
	}
	return false
}
