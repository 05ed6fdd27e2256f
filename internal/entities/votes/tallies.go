package votes

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"sync/atomic"
	"time"

	"wayside/internal/ground/mapdata"
)

// pageCount is the number of pages: a vote copies one page (copy-on-write), which has some 25 of 100 000 tallies.
const pageCount = 1 << 12

// Tallies holds the tallies of votes on live incidents. Lookups are safe concurrently with the one goroutine that calls Load,
// Apply, Publish and Sweep.
type Tallies struct {
	now   func() time.Time
	seed  maphash.Seed
	pages atomic.Pointer[pages]
}

// pages is replaced as a whole by a load, and page by page by a change. A stored page is immutable.
type pages [pageCount]atomic.Pointer[page]

type page map[string]*mapdata.Tally // by external id

// NewTallies creates an empty Tallies. now determines which tallies are too old to load.
func NewTallies(now func() time.Time) *Tallies {
	t := &Tallies{now: now, seed: maphash.MakeSeed()}
	t.pages.Store(new(pages))
	return t
}

// Lookup returns the tally of a live incident, or false if it has no votes. It neither locks nor allocates.
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

// All yields the tallies of all incidents by their external ids, in unspecified order.
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

// stage holds the pages of a change or load until they are published.
type stage struct {
	target     *Tallies
	pages      map[uint64]page
	replaceAll bool // replaces all pages (load)
	live       []mapdata.Tally
}

// Load stages all tallies of the store.
func (t *Tallies) Load(ctx context.Context, from mapdata.StoreSnapshot) (mapdata.Staged, error) {
	s := &stage{target: t, pages: make(map[uint64]page), replaceAll: true}
	now := t.now()
	for kind := range mapdata.Kind(mapdata.KindCount) {
		err := from.LiveTallies(ctx, kind, mapdata.OldestLiveVote(kind, now), func(tally *mapdata.Tally) { s.set(*tally, nil) })
		if err != nil {
			return nil, fmt.Errorf("load votes on live incidents: %w", err)
		}
	}
	return s, nil
}

// Apply stages changed tallies, replacing earlier ones of the same incidents. A tally without votes is kept, because
// its ChangedAt is the time when the last vote was withdrawn (D4.3).
func (t *Tallies) Apply(changes []mapdata.FeedChange) mapdata.Staged {
	s := &stage{target: t, pages: make(map[uint64]page)}
	current := t.pages.Load()
	for i := range changes {
		if !changes[i].FeedID.IsZero() {
			continue
		}
		for _, tally := range changes[i].Tallies {
			s.set(tally, current)
			s.live = append(s.live, tally)
		}
	}
	return s
}

// set puts a tally into the staged copy of its page. Without current pages, as in a load, the copy begins empty.
func (s *stage) set(tally mapdata.Tally, current *pages) {
	number := maphash.String(s.target.seed, tally.ExternalID) % pageCount
	if s.pages[number] == nil {
		s.pages[number] = make(page, 1)
		if current != nil {
			if old := current[number].Load(); old != nil {
				s.pages[number] = maps.Clone(*old)
			}
		}
	}
	s.pages[number][tally.ExternalID] = &tally
}

// Publish makes the tallies visible to readers and returns which of them changed.
func (s *stage) Publish() mapdata.Touched {
	all := s.target.pages.Load()
	if s.replaceAll {
		all = new(pages)
	}
	for number, page := range s.pages {
		all[number].Store(&page)
	}
	s.target.pages.Store(all)
	return mapdata.Touched{Everywhere: s.replaceAll, Live: s.live}
}

// Sweep drops the tallies of incidents that cannot be live any more at the given time. The store keeps them.
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
