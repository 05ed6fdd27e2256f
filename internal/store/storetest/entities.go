package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

func entityTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"all fields of a pushed entity are stored":        storesEverything,
		"a mark is the state to compare against":          readsMarks,
		"what feeds and accounts hold is counted":         countsHoldings,
		"feeds of an account share its bytes":             sharesAccountBytes,
		"an approval is remembered":                       remembersApproval,
		"bounds hold in any order of changes":             keepsBounds,
		"stored entities are read by ids, and all":        storedByIDs,
		"touching a row changes its seen time only":       touches,
		"absent rows keep the last snapshot's time":       marksAbsent,
		"retired rows are removed":                        retires,
		"an upsert replaces the whole row":                replaces,
		"a change from an old mark is refused":            refusesOldMarks,
		"a snapshot that is not newer is refused":         refusesOldSnapshots,
		"a change of a deleted feed is refused":           refusesDeletedFeeds,
		"an invalid change is refused":                    refusesInvalidChanges,
		"a cancelled change is rolled back":               rollsBackOnCancel,
		"a change is rolled back when its end fails":      rollsBackOnFailure,
		"a refused push leaves the time of the last push": refusedPush,
		"only expired entities are forgotten":             forgetsExpired,
		"expired entities are not counted":                countsAlive,
		"every feed is in exactly one part":               partitionsEntities,
		"external ids with special characters":            storesSpecialIDs,
		"batches of any size are stored completely":       storesBatches,
	}
}

func storesEverything(w *testStore) {
	f := w.pullFeed(w.account())
	full := entity(f, "full", at(time.Second))
	full.Kind, full.Network, full.Lifetime = kindOf("charger.supercharger"), "ionity", 0
	full.FirstSeenAt, full.SeenAt, full.ChangedAt = at(-time.Hour), at(time.Millisecond), at(-time.Minute)
	full.Point = geo.Point{Lat: -90, Lng: 179.99999999999997}
	full.Properties = []byte(`{"name":"Ö \"quoted\" \\ ☕ ` + "\u2028" + `","n":1e300,"deep":{"a":[1,null,true]}}`)
	full.AbsentSince = 7
	bare := entity(f, "bare", at(time.Second))
	bare.SeenAt, bare.Digest, bare.Properties, bare.Point = time.Time{}, 1, []byte(`{}`), geo.Point{}
	w.apply(w.polled(f, at(time.Second), 2, full, bare))
	w.same("entities", w.entities(f), byID(full, bare))
}

func readsMarks(w *testStore) {
	f := w.pullFeed(w.account())
	mark, err := w.store.Mark(w.ctx, f.ID)
	w.must(err)
	w.same("mark of a new feed", mark, mapdata.Mark{ApprovedOnce: true})

	c := w.polled(f, at(time.Second), 17, entity(f, "a", at(time.Second)))
	w.apply(c)
	moved := w.state().Revision
	mark, err = w.store.Mark(w.ctx, f.ID)
	w.must(err)
	w.same("mark after a snapshot", mark, mapdata.Mark{
		EntitiesRevision: moved, SnapshotAt: at(time.Second), Snapshot: 1, LastRows: 17, BodyHash: c.Snapshot.Polling.BodyHash,
		Holds: mapdata.Usage{Entities: 1, Bytes: 20}, AccountBytes: 20, ApprovedOnce: true,
	})

	w.apply(w.polled(f, at(time.Minute), 18))
	failed := &mapdata.PollFailed{Feed: f.ID, Active: true, Attempt: mapdata.Attempt{At: at(2 * time.Minute)}}
	w.must(w.store.PollFailed(w.ctx, failed))
	mark, err = w.store.Mark(w.ctx, f.ID)
	w.must(err)
	if mark.EntitiesRevision != moved || mark.Snapshot != 2 || mark.LastRows != 18 || len(mark.BodyHash) == 0 {
		w.Errorf("after a snapshot without a change and a failed poll, mark = %+v; want revision %d, snapshot 2 of 18 rows", mark, moved)
	}

	_, err = w.store.Mark(w.ctx, mapdata.FeedID{1})
	w.fails("mark of an unknown feed", err, mapdata.ErrNotFound)
}

// fails checks the kind of an error.
func (w *testStore) fails(what string, err, kind error) {
	w.Helper()
	if !errors.Is(err, kind) {
		w.Errorf("%s: error = %v, want %v", what, err, kind)
	}
}

// stored collects what Stored yields.
func (w *testStore) stored(f *mapdata.Feed, ids []string) map[string]mapdata.Stored {
	w.Helper()
	all := make(map[string]mapdata.Stored)
	w.must(w.store.Stored(w.ctx, f.ID, ids, func(s mapdata.Stored) {
		if _, twice := all[s.ExternalID]; twice {
			w.Errorf("%s is yielded twice", s.ExternalID)
		}
		all[s.ExternalID] = s
	}))
	return all
}

func storedByIDs(w *testStore) {
	owner := w.account()
	f, other := w.pullFeed(owner), w.pullFeed(owner)
	seen := entity(f, "seen", at(0))
	seen.FirstSeenAt, seen.ChangedAt = at(-time.Hour), at(-time.Minute)
	absent := entity(f, "absent", at(0))
	absent.SeenAt, absent.Lifetime, absent.AbsentSince, absent.Digest = time.Time{}, 0, 3, 5
	w.apply(w.polled(f, at(time.Second), 2, seen, absent))
	w.apply(w.polled(other, at(time.Second), 1, entity(other, "seen", at(0)), entity(other, "theirs", at(0))))

	all := map[string]mapdata.Stored{
		"seen": {
			ExternalID: "seen", Digest: seen.Digest, FirstSeenAt: at(-time.Hour), ChangedAt: at(-time.Minute), SeenAt: at(0), Lifetime: seen.Lifetime,
			Bytes: 23,
		},
		"absent": {ExternalID: "absent", Digest: 5, FirstSeenAt: at(0), ChangedAt: at(0), AbsentSince: 3, Bytes: 25},
	}
	w.same("all", w.stored(f, nil), all)
	w.same("some", w.stored(f, []string{"absent", "theirs", "unknown"}), map[string]mapdata.Stored{"absent": all["absent"]})
	w.same("none", w.stored(f, []string{}), map[string]mapdata.Stored{})
	w.same("of an unknown feed", w.stored(&mapdata.Feed{}, nil), map[string]mapdata.Stored{})
}

func touches(w *testStore) {
	f := w.pushFeed(w.account())
	a, b := entity(f, "a", at(0)), entity(f, "b", at(0))
	a.AbsentSince = 2
	w.apply(w.pushed(f, at(0), a, b))
	c := w.pushed(f, at(time.Minute))
	c.Touched = []string{"a", "unknown"}
	w.apply(c)
	a.SeenAt, a.AbsentSince = at(time.Minute), 0
	w.same("entities", w.entities(f), byID(a, b))
}

func marksAbsent(w *testStore) {
	f := w.pullFeed(w.account())
	a, b, own := entity(f, "a", at(0)), entity(f, "b", at(0)), entity(f, "own", at(-time.Hour))
	a.SeenAt, b.SeenAt = time.Time{}, time.Time{}
	w.apply(w.polled(f, at(0), 3, a, b, own))
	c := w.polled(f, at(time.Minute), 1)
	c.Absent = []string{"a", "own"}
	w.apply(c)
	a.SeenAt, a.AbsentSince = at(0), 2
	own.AbsentSince = 2
	w.same("entities", w.entities(f), byID(a, b, own))
}

func retires(w *testStore) {
	f := w.pushFeed(w.account())
	a, b := entity(f, "a", at(0)), entity(f, "b", at(0))
	w.apply(w.pushed(f, at(0), a, b))
	c := w.pushed(f, at(time.Minute))
	c.Retired = []string{"a", "unknown"}
	w.apply(c)
	w.same("entities", w.entities(f), byID(b))
}

func replaces(w *testStore) {
	f := w.pushFeed(w.account())
	old := entity(f, "a", at(0))
	old.Network, old.AbsentSince = "ionity", 4
	w.apply(w.pushed(f, at(0), old))
	replaced := entity(f, "a", at(time.Hour))
	replaced.Kind, replaced.Point, replaced.Properties = kindOf("camera.speed"), geo.Point{Lat: 1, Lng: 2}, []byte(`{"b":2}`)
	replaced.Digest, replaced.Lifetime, replaced.SeenAt = 2, 0, time.Time{}
	w.apply(w.pushed(f, at(time.Hour), replaced))
	w.same("entities", w.entities(f), byID(replaced))
}

func refusesOldMarks(w *testStore) {
	owner := w.account()
	f, other := w.pushFeed(owner), w.pushFeed(owner)
	first, second := w.pushed(f, at(0), entity(f, "a", at(0))), w.pushed(f, at(0), entity(f, "b", at(0)))
	elsewhere := w.pushed(other, at(0), entity(other, "c", at(0)))
	w.apply(first)
	before := w.state()
	w.fails("second change from one mark", w.store.Apply(w.ctx, second), mapdata.ErrConflict)
	w.same("entities", w.entities(f), byID(first.Upserts...))
	w.same("state", w.state(), before)
	w.apply(elsewhere) // does not move the other feed's mark

	// A change without entities leaves the mark unchanged.
	next := w.pushed(f, at(time.Minute), entity(f, "d", at(0)))
	w.apply(w.pushed(f, at(time.Second)))
	w.apply(next)
}

func refusesOldSnapshots(w *testStore) {
	f := w.pullFeed(w.account())
	first, again := w.polled(f, at(0), 1), w.polled(f, at(time.Second), 1)
	w.apply(first)
	w.fails("the same snapshot again", w.store.Apply(w.ctx, again), mapdata.ErrConflict)
}

func refusesDeletedFeeds(w *testStore) {
	f := w.pushFeed(w.account())
	c := w.pushed(f, at(0), entity(f, "a", at(0)))
	w.must(w.store.DeleteFeed(w.ctx, f.ID, mapdata.AuditEntry{At: at(0), Action: "feed.delete"}))
	w.fails("change of a deleted feed", w.store.Apply(w.ctx, c), mapdata.ErrNotFound)
	c.Feed = mapdata.FeedID{9}
	c.Upserts[0].Feed = c.Feed
	w.fails("change of an unknown feed", w.store.Apply(w.ctx, c), mapdata.ErrNotFound)
}

func refusesInvalidChanges(w *testStore) {
	f := w.pushFeed(w.account())
	before := w.state()
	for name, spoil := range map[string]func(*mapdata.Change){
		"absent without a snapshot": func(c *mapdata.Change) { c.Absent = []string{"b"} },
		"kind beyond the catalogue": func(c *mapdata.Change) { c.Upserts[0].Kind = mapdata.Kind(mapdata.KindCount) },
		"entity of another feed":    func(c *mapdata.Change) { c.Upserts[0].Feed = mapdata.FeedID{1} },
	} {
		c := w.pushed(f, at(0), entity(f, "a", at(0)))
		spoil(c)
		if err := w.store.Apply(w.ctx, c); err == nil {
			w.Errorf("%s: Apply = nil, want an error", name)
		}
	}
	w.same("entities", w.entities(f), byID())
	w.same("state", w.state(), before)
}

func rollsBackOnCancel(w *testStore) {
	f := w.pushFeed(w.account())
	w.apply(w.pushed(f, at(0), entity(f, "kept", at(0))))
	before, stored := w.state(), w.entities(f)
	done, cancel := context.WithCancel(w.ctx)
	cancel()
	if err := w.store.Apply(done, w.pushed(f, at(time.Second), entity(f, "a", at(0)))); !errors.Is(err, context.Canceled) {
		w.Errorf("Apply after its context ended = %v, want %v", err, context.Canceled)
	}
	// Whenever it is cancelled, the change is stored completely or not at all.
	for delay := 100 * time.Microsecond; delay < 20*time.Millisecond; delay *= 2 {
		c := w.pushed(f, at(time.Minute))
		for i := range 2_000 {
			c.Upserts = append(c.Upserts, entity(f, fmt.Sprintf("%s-%d", delay, i), at(0)))
		}
		soon, cancel := context.WithTimeout(w.ctx, delay)
		err := w.store.Apply(soon, c)
		cancel()
		now := w.entities(f)
		switch {
		case err == nil:
			if len(now) != len(stored)+len(c.Upserts) {
				w.Errorf("cancelled after %v: stored, but %d of %d entities are there", delay, len(now)-len(stored), len(c.Upserts))
			}
		case len(now) != len(stored):
			w.Errorf("cancelled after %v with %v, but %d entities are there", delay, err, len(now)-len(stored))
		case w.state() != before:
			w.Errorf("cancelled after %v with %v, but the state moved from %+v to %+v", delay, err, before, w.state())
		}
		before, stored = w.state(), now
	}
	w.apply(w.pushed(f, at(time.Hour), entity(f, "afterwards", at(0))))
}

func rollsBackOnFailure(w *testStore) {
	f := w.pullFeed(w.account())
	before, stored := w.state(), w.feed(f)
	c := w.polled(f, at(0), 1, entity(f, "a", at(0)))
	// The e-mail is stored last, and its account is unknown.
	c.Emails = []mapdata.Email{{Account: mapdata.AccountID{7}, Kind: mapdata.EmailShrank, At: at(0)}}
	w.fails("e-mail to an unknown account", w.store.Apply(w.ctx, c), mapdata.ErrNotFound)
	w.same("entities", w.entities(f), byID())
	w.same("state", w.state(), before)
	w.same("feed", w.feed(f), stored)
	if all, err := attemptsOf(w, w.store, f.ID, time.Time{}); err != nil || len(all) > 0 {
		w.Errorf("Attempts = %v, %v; want none", all, err)
	}
}

// feed reads a feed again.
func (w *testStore) feed(f *mapdata.Feed) *mapdata.Feed {
	w.Helper()
	now, err := w.store.Feed(w.ctx, f.ID)
	w.must(err)
	return now
}

func refusedPush(w *testStore) {
	f := w.pushFeed(w.account())
	w.apply(w.pushed(f, at(time.Second), entity(f, "a", at(0))))
	refused := w.pushed(f, at(time.Hour))
	refused.Attempt.OK, refused.Attempt.Outcome = false, "malformed"
	before := w.state().Revision
	w.apply(refused)
	if got := w.feed(f).LastPushAt; !got.Equal(at(time.Second)) {
		w.Errorf("LastPushAt = %v, want that of the last accepted push, %v", got, at(time.Second))
	}
	if after := w.state().Revision; after <= before {
		w.Errorf("revision %d after a refused push, want more than %d: followers must see its attempt", after, before)
	}
}

func forgetsExpired(w *testStore) {
	f := w.pullFeed(w.account())
	snapshot := entity(f, "of the snapshot", at(0))
	snapshot.SeenAt, snapshot.Lifetime = time.Time{}, time.Minute
	own, lives, persists := entity(f, "own", at(-time.Hour)), entity(f, "lives", at(-time.Hour)), entity(f, "persists", at(-time.Hour))
	own.Lifetime, lives.Lifetime, persists.Lifetime = time.Hour, time.Hour+time.Millisecond, 0
	unnamed := own
	unnamed.ExternalID = "unnamed"
	w.apply(w.polled(f, at(0), 5, snapshot, own, lives, persists, unnamed))
	before := w.state()
	names := []string{"of the snapshot", "own", "lives", "persists", "unknown"}
	w.must(w.store.Forget(w.ctx, f.ID, names, at(0)))
	w.same("entities at the start", w.entities(f), byID(snapshot, lives, persists, unnamed))
	w.must(w.store.Forget(w.ctx, f.ID, names, at(time.Minute)))
	w.same("entities a minute later", w.entities(f), byID(persists, unnamed))
	w.same("state", w.state(), before)
	w.must(w.store.Forget(w.ctx, f.ID, nil, at(time.Minute)))
}

func countsAlive(w *testStore) {
	f := w.pullFeed(w.account())
	snapshot, own, persists := entity(f, "a", at(0)), entity(f, "b", at(-time.Hour)), entity(f, "c", at(-time.Hour))
	snapshot.SeenAt, snapshot.Lifetime, own.Lifetime, persists.Lifetime = time.Time{}, time.Minute, 2*time.Hour, 0
	w.apply(w.polled(f, at(0), 3, snapshot, own, persists))
	for _, c := range []struct {
		at   time.Duration
		want int
	}{
		{0, 3}, {time.Minute - time.Millisecond, 3}, {time.Minute, 2}, {time.Hour - time.Millisecond, 2}, {time.Hour, 1}, {1e6 * time.Hour, 1},
	} {
		if got, err := w.store.CountEntities(w.ctx, f.ID, at(c.at)); err != nil || got != c.want {
			w.Errorf("CountEntities after %v = %d, %v; want %d", c.at, got, err, c.want)
		}
	}
}

func partitionsEntities(w *testStore) {
	owner := w.account()
	want := make(map[string]int)
	for i := range 7 {
		f := w.pushFeed(owner)
		id := fmt.Sprint("of feed ", i)
		w.apply(w.pushed(f, at(0), entity(f, id, at(0))))
		want[id] = 1
	}
	for parts := 1; parts <= 3; parts++ {
		got := make(map[string]int)
		for part := range parts {
			w.must(w.store.AllEntities(w.ctx, part, parts, func(e *mapdata.Entity) { got[strings.Clone(e.ExternalID)]++ }))
		}
		w.same(fmt.Sprint("entities by ", parts, " parts"), got, want)
	}
}

func storesSpecialIDs(w *testStore) {
	f := w.pushFeed(w.account())
	ids := []string{
		`"`, `\`, `\"`, `'`, `a"b\c`, "é", "\u2028", "\U0001F980", "\u00a0", "\u0085", `\u0041`, "[]", "{}", "null", "1", "%", " ", "/",
		strings.Repeat("x", 256), "A", "a",
	}
	c := w.pushed(f, at(0))
	for _, id := range ids {
		c.Upserts = append(c.Upserts, entity(f, id, at(0)))
	}
	w.apply(c)
	if got := w.stored(f, ids); len(got) != len(ids) {
		w.Errorf("%d of %d ids are found", len(got), len(ids))
	}
	changes, err := w.store.Changes(w.ctx, w.state().Revision-1, 1000)
	w.must(err)
	if len(changes) != 1 || len(changes[0].Entities) != len(ids) {
		w.Fatalf("Changes = %+v, want one of %d entities", changes, len(ids))
	}
	retire := w.pushed(f, at(time.Second))
	retire.Retired = ids
	w.apply(retire)
	w.same("entities", w.entities(f), byID())
	changes, err = w.store.Changes(w.ctx, w.state().Revision-1, 1000)
	w.must(err)
	gone := slices.Clone(changes[0].Gone)
	slices.Sort(gone)
	slices.Sort(ids)
	w.same("gone", gone, ids)
}

func storesBatches(w *testStore) {
	f := w.pushFeed(w.account())
	for _, n := range []int{1, 49, 50, 51, 99, 100, 101, 2_345} {
		c := w.pushed(f, at(0))
		want := w.entities(f)
		for i := range n {
			e := entity(f, fmt.Sprintf("%d of %d", i*7919%n, n), at(0))
			e.Digest = uint64(i)
			c.Upserts = append(c.Upserts, e)
			want[e.ExternalID] = e
		}
		w.apply(c)
		if diff := cmp.Diff(want, w.entities(f)); diff != "" {
			w.Fatalf("batch of %d (-want +got):\n%s", n, diff)
		}
	}
}
