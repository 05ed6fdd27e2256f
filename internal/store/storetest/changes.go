package storetest

import (
	"fmt"
	"slices"
	"time"

	"wayside/internal/ground/mapdata"
)

func changeTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"a new store is empty and has an epoch":   newState,
		"a change contains all that it moved":     readsChanges,
		"changes contain current entities":        readsCurrentEntities,
		"an unchanged snapshot is in the changes": readsSnapshotTimes,
		"changes are read up to a limit":          limitsChanges,
		"attempts later than a time":              readsAttempts,
		"a restart keeps everything":              keepsStateOverRestart,
	}
}

func newState(w *testStore) {
	s := w.state()
	if s.Epoch == "" || s.Revision != 0 || s.Floor != 0 {
		w.Errorf("state = %+v, want an epoch and revision 0", s)
	}
	changes, err := w.store.Changes(w.ctx, 0, 100)
	if err != nil || len(changes) != 0 {
		w.Errorf("Changes = %+v, %v; want none", changes, err)
	}
}

func (w *testStore) changes(after int64, limit int) []mapdata.FeedChange {
	w.Helper()
	all, err := w.store.Changes(w.ctx, after, limit)
	w.must(err)
	for i := range all {
		slices.SortFunc(all[i].Entities, func(a, b mapdata.Entity) int { return compare(a.ExternalID, b.ExternalID) })
		slices.Sort(all[i].Gone)
	}
	return all
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func readsChanges(w *testStore) {
	f := w.pullFeed(w.account())
	created := w.state().Revision
	a, b, c, d := entity(f, "a", start), entity(f, "b", start), entity(f, "c", start), entity(f, "d", start)
	c.SeenAt = time.Time{}
	w.apply(w.polled(f, start, 4, a, b, c, d))
	second := w.polled(f, at(time.Minute), 3, entity(f, "e", at(time.Minute)))
	second.Touched, second.Absent, second.Retired = []string{"b"}, []string{"c"}, []string{"d", "never stored"}
	w.apply(second)

	b.SeenAt = at(time.Minute)
	c.SeenAt, c.AbsentSince = start, 2
	now := w.feed(f)
	w.same("changes", w.changes(created, 100), []mapdata.FeedChange{
		{Revision: created + 1, FeedID: f.ID, Feed: now, Entities: []mapdata.Entity{a, b, c}, Gone: []string{"d"}},
		{Revision: created + 2, FeedID: f.ID, Feed: now, Entities: []mapdata.Entity{b, c, second.Upserts[0]}, Gone: []string{"d", "never stored"}},
	})
	w.same("changes after the first", len(w.changes(created+1, 100)), 1)
	w.same("changes after the last", len(w.changes(created+2, 100)), 0)
	w.same("changes after a future one", len(w.changes(created+200, 100)), 0)
}

func readsCurrentEntities(w *testStore) {
	owner := w.account()
	f, gone := w.pushFeed(owner), w.pushFeed(owner)
	after := w.state().Revision
	w.apply(w.pushed(f, start, entity(f, "a", start)))
	w.apply(w.pushed(gone, start, entity(gone, "x", start)))
	newer := entity(f, "a", at(time.Hour))
	newer.Properties = []byte(`{"newer":true}`)
	w.apply(w.pushed(f, at(time.Hour), newer))
	w.must(w.store.DeleteFeed(w.ctx, gone.ID, mapdata.AuditEntry{At: start}))
	now := w.feed(f)
	w.same("changes", w.changes(after, 100), []mapdata.FeedChange{
		{Revision: after + 1, FeedID: f.ID, Feed: now, Entities: []mapdata.Entity{newer}},
		{Revision: after + 2, FeedID: gone.ID},
		{Revision: after + 3, FeedID: f.ID, Feed: now, Entities: []mapdata.Entity{newer}},
		{Revision: after + 4, FeedID: gone.ID},
	})
}

func readsSnapshotTimes(w *testStore) {
	f := w.pullFeed(w.account())
	unmoved := entity(f, "a", start)
	unmoved.SeenAt = time.Time{}
	w.apply(w.polled(f, start, 1, unmoved))
	moved := w.state().Revision
	w.apply(w.polled(f, at(time.Minute), 1))
	changes := w.changes(moved, 100)
	w.same("changes", changes, []mapdata.FeedChange{{Revision: moved + 1, FeedID: f.ID, Feed: w.feed(f)}})
	if got := changes[0].Feed; !got.SnapshotAt.Equal(at(time.Minute)) || got.EntitiesRevision != moved {
		w.Errorf("feed is of snapshot %v and revision %d, want %v and %d", got.SnapshotAt, got.EntitiesRevision, at(time.Minute), moved)
	}
	w.same("the entity, which was not written", w.entities(f), byID(unmoved))
}

func limitsChanges(w *testStore) {
	f := w.pushFeed(w.account())
	after := w.state().Revision
	const revisions, each = 6, 10
	for i := range revisions {
		c := w.pushed(f, start)
		for j := range each {
			c.Upserts = append(c.Upserts, entity(f, fmt.Sprint(i, "-", j), start))
		}
		w.apply(c)
	}
	for _, limit := range []int{1, each, 2 * each, 1000} {
		var revision []int64
		for at := after; at < after+revisions; {
			changes := w.changes(at, limit)
			total := 0
			for i := range changes {
				revision = append(revision, changes[i].Revision)
				total += len(changes[i].Entities)
				if len(changes[i].Entities) != each {
					w.Fatalf("limit %d: revision %d has %d entities, want all %d", limit, changes[i].Revision, len(changes[i].Entities), each)
				}
			}
			if len(changes) == 0 || total >= limit+each {
				w.Fatalf("limit %d: %d changes with %d entities", limit, len(changes), total)
			}
			at = changes[len(changes)-1].Revision
		}
		for i, r := range revision {
			if r != after+int64(i)+1 {
				w.Fatalf("limit %d: revisions %v, want %d to %d", limit, revision, after+1, after+revisions)
			}
		}
	}
}

func readsAttempts(w *testStore) {
	owner := w.account()
	f, other := w.pushFeed(owner), w.pushFeed(owner)
	var want []mapdata.Attempt
	for i := range 4 {
		c := w.pushed(f, at(time.Duration(i/2)*time.Second)) // two in each instant
		c.Attempt = mapdata.Attempt{
			At: c.At, Duration: time.Duration(i) * time.Microsecond, OK: i%2 == 0, Outcome: "too_large", Rows: i, Rejected: 2 * i, Bytes: 1 << 40,
		}
		want = append(want, c.Attempt)
		w.apply(c)
	}
	w.apply(w.pushed(other, at(time.Second)))
	for _, c := range []struct {
		after time.Time
		want  []mapdata.Attempt
	}{{time.Time{}, want}, {at(-time.Millisecond), want}, {start, want[2:]}, {at(time.Second), nil}} {
		got, err := attemptsOf(w, w.store, f.ID, c.after)
		w.must(err)
		w.same(fmt.Sprint("attempts after ", c.after), got, c.want)
	}
}

func keepsStateOverRestart(w *testStore) {
	owner := w.account()
	f := w.pullFeed(owner)
	s := w.open(w.T) // another process, which ends after its write
	c := w.polled(f, start, 1, entity(f, "a", start))
	w.must(s.Apply(w.ctx, c))
	state, err := s.State(w.ctx)
	w.must(err)
	w.must(s.Close())
	w.must(w.store.Close())
	w.store = w.another()
	w.same("state", w.state(), state)
	w.same("entities", w.entities(f), byID(c.Upserts...))
	w.same("snapshot", w.feed(f).SnapshotAt, start)
	w.apply(w.polled(f, at(time.Minute), 1, entity(f, "b", start)))
}

// attemptsOf reads a feed's attempts later than after, oldest first.
func attemptsOf(w *testStore, store Store, feed mapdata.FeedID, after time.Time) ([]mapdata.Attempt, error) {
	w.Helper()
	all, err := store.Timeline(w.ctx, feed, after, 10_000)
	slices.Reverse(all)
	return all, err
}
