package storetest

import (
	"fmt"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wayside/internal/ground/mapdata"
)

func readsVotes(w *testStore) {
	a, b := w.account(), w.account()
	f, gone := w.pushFeed(a), w.pushFeed(a)
	w.apply(w.pushed(f, start, entity(f, "a", start), entity(f, `b"\`, start)))
	w.apply(w.pushed(gone, start, entity(gone, "x", start)))
	after := w.state().Revision
	w.cast(ballot(f, "a", a, mapdata.Confirm, at(time.Second)))
	w.cast(ballot(gone, "x", a, mapdata.Confirm, at(time.Second)))
	live := w.cast(liveBallot("a", a, mapdata.Dispute, at(2*time.Second))).Tally
	w.apply(w.pushed(f, at(3*time.Second), entity(f, "c", at(3*time.Second))))
	odd := w.cast(ballot(f, `b"\`, b, mapdata.Dispute, at(4*time.Second))).Tally
	now := w.cast(ballot(f, "a", b, mapdata.Confirm, at(5*time.Second))).Tally
	w.must(w.store.DeleteFeed(w.ctx, gone.ID, mapdata.AuditEntry{At: start}))
	feed := w.feed(f)
	want := []mapdata.FeedChange{
		{Revision: after + 1, FeedID: f.ID, Feed: feed, Tallies: []mapdata.Tally{now}}, // the current one
		{Revision: after + 2, FeedID: gone.ID},
		{Revision: after + 3, Tallies: []mapdata.Tally{live}},
		{Revision: after + 4, FeedID: f.ID, Feed: feed, Entities: []mapdata.Entity{entity(f, "c", at(3*time.Second))}},
		{Revision: after + 5, FeedID: f.ID, Feed: feed, Tallies: []mapdata.Tally{odd}},
		{Revision: after + 6, FeedID: f.ID, Feed: feed, Tallies: []mapdata.Tally{now}},
		{Revision: after + 7, FeedID: gone.ID},
	}
	w.same("changes", w.changes(after, 100), want)
	w.same("changes in bounds", w.changes(after, 4), want[:2])
	w.same("changes of another process", len(w.changes(after+6, 100)), 1)
}

func talliesSince(w *testStore) {
	a := w.account()
	f := w.pushFeed(a)
	w.apply(w.pushed(f, start, entity(f, "a", start), entity(f, "b", start)))
	w.cast(ballot(f, "a", a, mapdata.Confirm, at(time.Second)))
	w.cast(ballot(f, "b", a, mapdata.Confirm, at(2*time.Second)))
	w.cast(liveBallot("a", a, mapdata.Confirm, at(3*time.Second)))
	w.cast(ballot(f, "a", a, mapdata.NoVote, at(4*time.Second)))
	for d, want := range map[time.Duration]int{0: 3, time.Second: 3, 2 * time.Second: 3, 2*time.Second + 1: 3, 2001 * time.Millisecond: 2, 4 * time.Second: 1, 5 * time.Second: 0} {
		w.same(fmt.Sprint("tallies since ", d), len(w.tallies(at(d))), want)
	}
	w.same("all tallies", len(w.tallies(time.Time{})), 3)
}

func movesNoEntities(w *testStore) {
	a := w.account()
	f := w.pullFeed(a)
	w.apply(w.polled(f, start, 1, entity(f, "a", start)))
	mark, err := w.store.Mark(w.ctx, f.ID)
	w.must(err)
	feed, pending := w.feed(f), w.polled(f, at(time.Minute), 1)
	pending.Touched = []string{"a"}
	w.cast(ballot(f, "a", a, mapdata.Confirm, at(time.Second)))
	now, err := w.store.Mark(w.ctx, f.ID)
	w.must(err)
	w.same("mark", now, mark)
	w.same("feed", w.feed(f), feed)
	w.apply(pending) // based on the mark before the vote
}

func seversVotes(w *testStore) {
	const old = 30 * 24 * time.Hour
	a, b := w.account(), w.account()
	f := w.pushFeed(a)
	e := entity(f, "a", start)
	e.Kind, e.Lifetime = kindOf("camera.speed"), 0
	w.apply(w.pushed(f, start, e))
	w.cast(ballot(f, "a", a, mapdata.Dispute, start))
	w.cast(ballot(f, "a", b, mapdata.Dispute, at(time.Hour)))
	source, before, tallies := f.ID.SourceID(), w.state().Revision, w.tallies(time.Time{})

	w.must(w.store.Prune(w.ctx, at(old-time.Millisecond)))
	w.wantVote("before its time", source, "a", a, mapdata.Dispute)
	w.must(w.store.Prune(w.ctx, at(old)))
	w.wantVote("after 30 days", source, "a", a, mapdata.NoVote)
	w.wantVote("the younger one", source, "a", b, mapdata.Dispute)
	w.same("tallies, which stay", w.tallies(time.Time{}), tallies)
	w.same("revision", w.state().Revision, before)

	// No stored row connects the vote with the account any more.
	got := w.cast(ballot(f, "a", a, mapdata.NoVote, at(old))).Tally
	w.same("tally after taking back what was severed", got, tallies[mapdata.EntityID(source, "a")])
	got = w.cast(ballot(f, "a", a, mapdata.Confirm, at(old))).Tally
	w.same("counts after a new vote", [2]int{got.Confirms, got.Disputes}, [2]int{1, 2})
	// The severed dispute is still the last one.
	got = w.cast(ballot(f, "a", b, mapdata.NoVote, at(old))).Tally
	w.same("last dispute", got.LastDisputeAt, start)
}

func deletesVotes(w *testStore) {
	a := w.account()
	f, other := w.pushFeed(a), w.pushFeed(a)
	for _, feed := range []*mapdata.Feed{f, other} {
		w.apply(w.pushed(feed, start, entity(feed, "a", start)))
		w.cast(ballot(feed, "a", a, mapdata.Confirm, start))
	}
	live := w.cast(liveBallot("a", a, mapdata.Confirm, start)).Tally
	w.must(w.store.DeleteFeed(w.ctx, f.ID, mapdata.AuditEntry{At: start}))
	_, err := w.store.Voted(w.ctx, f.ID, "a", start)
	w.fails("reading of a feed that is gone", err, mapdata.ErrNotFound)
	_, err = w.store.CastVote(w.ctx, ballot(f, "a", a, mapdata.Confirm, start))
	w.fails("voting on a feed that is gone", err, mapdata.ErrNotFound)
	w.same("stored", len(w.stored(f, nil)), 0)
	w.must(w.store.Prune(w.ctx, start))
	tallies := w.tallies(time.Time{})
	w.same("tallies that are left", len(tallies), 2)
	w.same("live tally", tallies[mapdata.EntityID(mapdata.Incidents, "a")], live)
	w.wantVote("on what is gone", f.ID.SourceID(), "a", a, mapdata.NoVote)
	w.wantVote("on the other feed", other.ID.SourceID(), "a", a, mapdata.Confirm)
}

func restartsWithVotes(w *testStore) {
	a := w.account()
	f := w.pushFeed(a)
	w.apply(w.pushed(f, start, entity(f, "a", start)))
	v := w.cast(ballot(f, "a", a, mapdata.Dispute, start))
	w.cast(liveBallot("b", a, mapdata.Confirm, start))
	tallies, state := w.tallies(time.Time{}), w.state()
	w.must(w.store.Close())
	w.store = w.another()
	w.same("tallies", w.tallies(time.Time{}), tallies)
	w.same("state", w.state(), state)
	got, err := w.store.Voted(w.ctx, f.ID, "a", start)
	w.must(err)
	w.same("entity with its votes", got, v)
	w.wantVote("on the feed's", f.ID.SourceID(), "a", a, mapdata.Dispute)
	w.wantVote("on the live one", mapdata.Incidents, "b", a, mapdata.Confirm)
}

const concurrently = 50

func countsOnce(w *testStore) {
	a := w.account()
	f := w.pushFeed(a)
	w.apply(w.pushed(f, start, entity(f, "a", start)))
	stores := [2]Store{w.store, w.another()}
	before := w.state().Revision
	w.inParallel(concurrently, func(i int) error {
		vote := mapdata.Confirm
		if i%3 == 0 {
			vote = mapdata.Dispute
		}
		_, err := stores[i%2].CastVote(w.ctx, ballot(f, "a", a, vote, at(time.Second)))
		return err
	})
	standing, err := w.store.Vote(w.ctx, f.ID.SourceID(), "a", a.ID)
	w.must(err)
	t := w.tallies(time.Time{})[mapdata.EntityID(f.ID.SourceID(), "a")]
	if t.Confirms+t.Disputes != 1 || (t.Disputes == 1) != (standing == mapdata.Dispute) || (t.Disputes == 1) == t.LastDisputeAt.IsZero() {
		w.Errorf("tally = %+v with the standing vote %d, want that one vote", t, standing)
	}
	w.same("revision", w.state().Revision, before+concurrently)
}

func countsAll(w *testStore) {
	all := w.drivers(concurrently)
	stores := [2]Store{w.store, w.another()}
	w.inParallel(concurrently, func(i int) error {
		vote := mapdata.Confirm
		if i%5 == 0 {
			vote = mapdata.Dispute
		}
		_, err := stores[i%2].CastVote(w.ctx, liveBallot("a", all[i], vote, start))
		return err
	})
	w.same("tallies", w.tallies(time.Time{}), map[string]mapdata.Tally{mapdata.EntityID(mapdata.Incidents, "a"): {
		Source: mapdata.Incidents, ExternalID: "a", Confirms: 40, Disputes: 10, ChangedAt: start, LastDisputeAt: start,
	}})
}

// votesDuringSnapshots checks that no poll and no vote is refused or lost while one writer polls and drivers vote.
func votesDuringSnapshots(w *testStore) {
	const snapshots = 25
	all := w.drivers(concurrently)
	f := w.pullFeed(all[0])
	w.apply(w.polled(f, start, 1, entity(f, "a", start)))
	stores := [2]Store{w.store, w.another()}
	w.inParallel(concurrently+1, func(i int) error {
		if i < concurrently {
			_, err := stores[i%2].CastVote(w.ctx, ballot(f, "a", all[i], mapdata.Confirm, at(time.Second)))
			return err
		}
		for n := range snapshots {
			when := at(time.Duration(n+1) * time.Second)
			mark, err := stores[1].Mark(w.ctx, f.ID)
			if err != nil {
				return err
			}
			err = stores[1].Apply(w.ctx, &mapdata.Change{
				Feed: f.ID, Base: mark.EntitiesRevision, Holds: mark.Holds, At: when, Touched: []string{"a"}, Upserts: []mapdata.Entity{entity(f, fmt.Sprint(n), when)},
				Snapshot: &mapdata.SnapshotTaken{Snapshot: mark.Snapshot + 1}, Attempt: mapdata.Attempt{At: when, OK: true},
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	t := w.tallies(time.Time{})[mapdata.EntityID(f.ID.SourceID(), "a")]
	w.same("votes that count", [2]int{t.Confirms, t.Disputes}, [2]int{concurrently, 0})
	w.same("entities", len(w.entities(f)), snapshots+1)
}

// standing is talliesModel's model of one entity: the vote of each account on its current life.
type standing struct {
	votes  map[mapdata.AccountID]mapdata.Vote
	at     map[mapdata.AccountID]time.Time
	lifeAt time.Time
}

func (s *standing) reset(lifeAt time.Time) {
	s.votes, s.at, s.lifeAt = make(map[mapdata.AccountID]mapdata.Vote), make(map[mapdata.AccountID]time.Time), lifeAt
}

// tally counts every vote.
func (s *standing) tally() (confirms, disputes int, last time.Time) {
	for a, v := range s.votes {
		switch v {
		case mapdata.Confirm:
			confirms++
		case mapdata.Dispute:
			disputes++
			if s.at[a].After(last) {
				last = s.at[a]
			}
		}
	}
	return confirms, disputes, last
}

// talliesModel casts random ballots on an entity that is sometimes retired and sent again. It is never suppressed: three
// drivers cannot reach the threshold of its kind.
func talliesModel(w *testStore) {
	all := w.drivers(3)
	f := w.pushFeed(all[0])
	made := 0
	rapid.Check(w.T, func(r *rapid.T) {
		made++
		id, now := fmt.Sprint("entity ", made), start
		bear := func(again bool) {
			c := w.pushed(f, now)
			if again {
				c.Retired = []string{id}
				w.apply(c)
				c = w.pushed(f, now)
			}
			e := entity(f, id, now)
			e.Kind, e.Lifetime = kindOf("camera.speed"), 0
			c.Upserts = []mapdata.Entity{e}
			w.apply(c)
		}
		bear(false)
		s, born, voted := &standing{}, now, false
		s.reset(now)
		for range rapid.IntRange(1, 15).Draw(r, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 90).Draw(r, "seconds")) * time.Second)
			if rapid.IntRange(0, 9).Draw(r, "reborn") == 0 {
				born = now
				bear(true)
				continue
			}
			a := rapid.SampledFrom(all).Draw(r, "by")
			vote := mapdata.Vote(rapid.IntRange(-1, 1).Draw(r, "vote"))
			if s.lifeAt.Before(born) && vote != mapdata.NoVote {
				s.reset(born)
			}
			got, err := w.store.CastVote(w.ctx, ballot(f, id, a, vote, now))
			if err != nil {
				r.Fatal(err)
			}
			if s.lifeAt.Before(born) {
				if got.Tally.Confirms+got.Tally.Disputes != 0 {
					r.Fatalf("the new life has votes: %+v", got.Tally)
				}
				continue
			}
			voted = voted || vote != mapdata.NoVote
			s.votes[a.ID], s.at[a.ID] = vote, now
			confirms, disputes, last := s.tally()
			t := got.Tally
			if t.Confirms != confirms || t.Disputes != disputes || !t.LastDisputeAt.Equal(last) {
				r.Fatalf("tally = %+v, want %d, %d, last %v", t, confirms, disputes, last)
			}
			if stored, ok := w.tallies(time.Time{})[mapdata.EntityID(f.ID.SourceID(), id)]; ok != voted || ok && !cmp.Equal(stored, t) {
				r.Fatalf("stored %+v, given %+v", stored, t)
			}
		}
	})
}
