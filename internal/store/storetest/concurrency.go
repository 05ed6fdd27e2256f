package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
)

func concurrencyTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"a follower misses nothing of interleaved writers": followsWriters,
		"of two changes from one mark one succeeds":        refusesSecondChangeOfMark,
	}
}

// follower maintains a copy of the feeds' entities from the changes alone.
type follower struct {
	revision int64
	known    map[string]mapdata.Entity // by external id, which is unique across feeds in these tests
	steps    int
}

// catchUp applies new changes, and fails when revisions do not increase strictly.
func (f *follower) catchUp(ctx context.Context, s Store) error {
	for {
		changes, err := s.Changes(ctx, f.revision, 100)
		if err != nil || len(changes) == 0 {
			return err
		}
		for i := range changes {
			c := &changes[i]
			if c.Revision != f.revision+1 {
				return fmt.Errorf("revision %d comes after %d", c.Revision, f.revision)
			}
			f.revision = c.Revision
			f.steps++
			for _, e := range c.Entities {
				f.known[e.ExternalID] = e
			}
			for _, id := range c.Gone {
				delete(f.known, id)
			}
		}
	}
}

// followsWriters changes feeds from several writers in two processes, each batch with new, changed and retired rows,
// while a third process follows the revisions. Revisions from a sequence drawn before the commit would lose rows here.
func followsWriters(w *testStore) {
	const writers, batches, rows = 6, 25, 5
	owner := w.account()
	feeds := make([]*mapdata.Feed, writers)
	for i := range feeds {
		feeds[i] = w.pushFeed(owner)
	}
	processes := [3]Store{w.store, w.another(), w.another()}
	following := &follower{known: make(map[string]mapdata.Entity)}
	done := make(chan struct{})
	var writing, reading sync.WaitGroup
	reading.Go(func() {
		for last := false; !last; {
			select {
			case <-done:
				last = true
			default:
			}
			if err := following.catchUp(w.ctx, processes[2]); err != nil {
				w.Errorf("follower: %v", err)
				return
			}
		}
	})
	for i, f := range feeds {
		writing.Go(func() {
			s := processes[i%2]
			for n := range batches {
				if err := writeBatch(w.ctx, s, f, n, rows); err != nil {
					w.Errorf("writer: %v", err)
					return
				}
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()

	want := make(map[string]mapdata.Entity)
	for _, f := range feeds {
		for id, e := range w.entities(f) {
			want[id] = e
		}
	}
	w.same("what the follower knows", following.known, want)
	if following.steps < writers*batches || following.revision != w.state().Revision {
		w.Errorf("follower saw %d changes up to revision %d, want at least %d up to %d",
			following.steps, following.revision, writers*batches, w.state().Revision)
	}
}

func writeBatch(ctx context.Context, s Store, f *mapdata.Feed, n, rows int) error {
	mark, err := s.Mark(ctx, f.ID)
	if err != nil {
		return err
	}
	when := at(time.Duration(n) * time.Second)
	c := &mapdata.Change{Feed: f.ID, Base: mark.EntitiesRevision, Holds: mark.Holds, At: when, Attempt: mapdata.Attempt{At: when, OK: true}}
	name := func(batch, row int) string { return fmt.Sprintf("%s/%d/%d", f.ID, batch, row) }
	for row := range rows {
		c.Upserts = append(c.Upserts, entity(f, name(n, row), when))
	}
	if n > 0 {
		c.Upserts = append(c.Upserts, entity(f, name(n-1, 0), when))
		c.Touched = []string{name(n-1, 1)}
		c.Retired = []string{name(n-1, 2)}
	}
	return s.Apply(ctx, c)
}

func refusesSecondChangeOfMark(w *testStore) {
	f := w.pushFeed(w.account())
	stores := [2]Store{w.store, w.another()}
	for round := range 10 {
		var (
			both   sync.WaitGroup
			errs   [2]error
			change [2]*mapdata.Change
		)
		for i := range stores {
			change[i] = w.pushed(f, at(time.Duration(round)*time.Second), entity(f, fmt.Sprint(round, "-", i), start))
		}
		for i, s := range stores {
			both.Go(func() { errs[i] = s.Apply(w.ctx, change[i]) })
		}
		both.Wait()
		if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs[:]...), mapdata.ErrConflict) {
			w.Fatalf("two changes from one mark: %v; want one stored and one conflict", errs)
		}
	}
	w.same("entities", len(w.entities(f)), 10)
}
