package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

func voteTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"casting a vote counts it and returns the entity":     castsVotes,
		"a second vote replaces the first":                    replacesVotes,
		"a vote is taken back once":                           takesVotesBack,
		"the last dispute is the newest standing one":         findsLastDispute,
		"votes on a live incident":                            votesOnLive,
		"a vote on an unknown entity is refused":              refusesVotes,
		"a failed vote is rolled back":                        rollsBackVotes,
		"a confirm keeps an entity":                           keepsConfirmed,
		"a confirm applies to one life of its entity":         keepsOneLife,
		"an entity confirmed before Forget runs is kept":      forgetsNoConfirmed,
		"votes outlive their entity, and a new life has none": outlivesEntities,
		"suppression carries over to the pin's next life":     carriesSuppression,
		"followers see votes in order":                        readsVotes,
		"tallies since a time":                                talliesSince,
		"votes move no entities":                              movesNoEntities,
		"a vote is severed from its account after 30 days":    seversVotes,
		"votes of new accounts do not hide":                   weighsVotes,
		"votes of new accounts do not hide live incidents":    weighsVotesOnLive,
		"a severed vote counts as it did":                     seversWeighedVotes,
		"the first sign-in is the first session":              countsFirstSignIn,
		"deleting a feed deletes its votes":                   deletesVotes,
		"a restart keeps all votes":                           restartsWithVotes,
		"concurrent ballots of one account count once":        countsOnce,
		"concurrent ballots of many accounts all count":       countsAll,
		"votes during snapshots":                              votesDuringSnapshots,
		"tallies agree with a model under random ballots":     talliesModel,
	}
}

// ballot returns a vote on an entity of a feed.
func ballot(f *mapdata.Feed, externalID string, a *mapdata.Account, v mapdata.Vote, when time.Time) *mapdata.Ballot {
	return &mapdata.Ballot{Source: f.ID.SourceID(), ExternalID: externalID, Account: a.ID, Vote: v, At: when}
}

// liveBallot returns a vote on a live incident.
func liveBallot(externalID string, a *mapdata.Account, v mapdata.Vote, when time.Time) *mapdata.Ballot {
	return &mapdata.Ballot{
		Source: mapdata.Incidents, ExternalID: externalID, Account: a.ID, Vote: v, At: when,
		Live: &mapdata.Entity{
			ExternalID: externalID, Kind: kindOf("alert.police"), Point: geo.Point{Lat: 52.1, Lng: 4.9}, Properties: []byte(`{"by":"upstream"}`),
			FirstSeenAt: when, SeenAt: when, ChangedAt: when, Lifetime: 5 * time.Minute,
		},
	}
}

func (w *testStore) cast(b *mapdata.Ballot) mapdata.Voted {
	w.Helper()
	v, err := w.store.CastVote(w.ctx, b)
	w.must(err)
	return v
}

// drivers creates accounts.
func (w *testStore) drivers(n int) []*mapdata.Account {
	w.Helper()
	all := make([]*mapdata.Account, n)
	for i := range all {
		all[i] = w.account()
	}
	return all
}

// tallies reads all tallies, by source and external id.
func (w *testStore) tallies(since time.Time) map[string]mapdata.Tally {
	w.Helper()
	all := make(map[string]mapdata.Tally)
	w.must(w.store.AllTallies(w.ctx, since, func(t *mapdata.Tally) { all[mapdata.EntityID(t.Source, t.ExternalID)] = *t }))
	return all
}

func (w *testStore) wantVote(what string, source mapdata.SourceID, externalID string, a *mapdata.Account, want mapdata.Vote) {
	w.Helper()
	got, err := w.store.Vote(w.ctx, source, externalID, a.ID)
	if err != nil || got != want {
		w.Errorf("%s: standing vote = %d, %v; want %d", what, got, err, want)
	}
}

// shortLived returns an entity that lives for ten minutes and that a confirm keeps for thirty.
func shortLived(f *mapdata.Feed, externalID string, seen time.Time) mapdata.Entity {
	e := entity(f, externalID, seen)
	e.Kind, e.Lifetime = kindOf("alert.police"), 10*time.Minute
	return e
}

// confirmedFor is how long a confirm keeps a shortLived entity (D9.6).
const confirmedFor = 30 * time.Minute

func castsVotes(w *testStore) {
	owner, other := w.account(), w.account()
	f := w.pullFeed(owner)
	e := entity(f, "a", start)
	e.SeenAt = time.Time{}
	w.apply(w.polled(f, start, 1, e))
	unvoted, err := w.store.Voted(w.ctx, f.ID, "a", at(time.Minute))
	w.must(err)
	w.same("before the first vote", unvoted, mapdata.Voted{
		Entity: e, SnapshotAt: start, Tally: mapdata.Tally{Source: f.ID.SourceID(), ExternalID: "a"},
	})

	when := at(time.Minute + 1500*time.Microsecond)
	want := mapdata.Tally{
		Source: f.ID.SourceID(), ExternalID: "a", Confirms: 1, ChangedAt: when.Truncate(time.Millisecond), LifeAt: start,
		KeptUntil: when.Truncate(time.Millisecond).Add(84 * time.Hour),
	}
	w.same("what the vote gives", w.cast(ballot(f, "a", other, mapdata.Confirm, when)), mapdata.Voted{Entity: e, SnapshotAt: start, Tally: want})
	got, err := w.store.Voted(w.ctx, f.ID, "a", when)
	w.must(err)
	w.same("what is read", got, mapdata.Voted{Entity: e, SnapshotAt: start, Tally: want})
	w.same("all tallies", w.tallies(time.Time{}), map[string]mapdata.Tally{mapdata.EntityID(f.ID.SourceID(), "a"): want})
	w.wantVote("the voter", f.ID.SourceID(), "a", other, mapdata.Confirm)
	w.wantVote("another", f.ID.SourceID(), "a", owner, mapdata.NoVote)
	w.wantVote("on another entity", f.ID.SourceID(), "b", other, mapdata.NoVote)
	w.same("the entity, which was not written", w.entities(f), byID(e))
}

func replacesVotes(w *testStore) {
	a, b := w.account(), w.account()
	f := w.pushFeed(a)
	w.apply(w.pushed(f, start, entity(f, "a", start)))
	for i, c := range []struct {
		by                 *mapdata.Account
		vote               mapdata.Vote
		confirms, disputes int
	}{
		{a, mapdata.Confirm, 1, 0},
		{b, mapdata.Confirm, 2, 0},
		{a, mapdata.Dispute, 1, 1},
		{a, mapdata.Dispute, 1, 1}, // repeated
		{b, mapdata.NoVote, 0, 1},
		{b, mapdata.Dispute, 0, 2},
		{a, mapdata.Confirm, 1, 1},
	} {
		when := at(time.Duration(i) * time.Second)
		before := w.state().Revision
		got := w.cast(ballot(f, "a", c.by, c.vote, when)).Tally
		if got.Confirms != c.confirms || got.Disputes != c.disputes || !got.ChangedAt.Equal(when) {
			w.Fatalf("vote %d: tally = %+v, want %d confirms and %d disputes, changed at %v", i, got, c.confirms, c.disputes, when)
		}
		if c.vote == mapdata.Dispute && !got.LastDisputeAt.Equal(when) {
			w.Errorf("vote %d: last dispute at %v, want %v: repeating a dispute renews its time", i, got.LastDisputeAt, when)
		}
		w.same("stored tallies", w.tallies(time.Time{}), map[string]mapdata.Tally{mapdata.EntityID(f.ID.SourceID(), "a"): got})
		w.wantVote(fmt.Sprint("vote ", i), f.ID.SourceID(), "a", c.by, c.vote)
		w.same("revision", w.state().Revision, before+1)
	}
}

func takesVotesBack(w *testStore) {
	a, b := w.account(), w.account()
	f := w.pushFeed(a)
	w.apply(w.pushed(f, start, entity(f, "a", start)))
	before := w.state()
	v := w.cast(ballot(f, "a", a, mapdata.NoVote, at(time.Second)))
	w.same("tally before any vote", v.Tally, mapdata.Tally{Source: f.ID.SourceID(), ExternalID: "a"})
	w.same("tallies", len(w.tallies(time.Time{})), 0)
	w.same("state", w.state(), before)

	standing := w.cast(ballot(f, "a", a, mapdata.Dispute, at(time.Minute)))
	before = w.state()
	w.same("another's, which does not stand", w.cast(ballot(f, "a", b, mapdata.NoVote, at(time.Hour))), standing)
	w.same("state", w.state(), before)

	got := w.cast(ballot(f, "a", a, mapdata.NoVote, at(2*time.Hour))).Tally
	want := mapdata.Tally{Source: f.ID.SourceID(), ExternalID: "a", ChangedAt: at(2 * time.Hour), LifeAt: start}
	w.same("tally without votes", got, want)
	before = w.state()
	w.same("taken back again", w.cast(ballot(f, "a", a, mapdata.NoVote, at(3*time.Hour))).Tally, want)
	w.same("state", w.state(), before)
	w.same("tallies", w.tallies(time.Time{}), map[string]mapdata.Tally{mapdata.EntityID(f.ID.SourceID(), "a"): want})
}

func findsLastDispute(w *testStore) {
	all := w.drivers(4)
	f := w.pushFeed(all[0])
	w.apply(w.pushed(f, start, entity(f, "a", start), entity(f, "b", start)))
	for i, a := range all {
		w.cast(ballot(f, "a", a, mapdata.Dispute, at(time.Duration(i+1)*time.Second)))
	}
	w.cast(ballot(f, "b", all[0], mapdata.Dispute, at(time.Hour)))
	for _, c := range []struct {
		by   int
		vote mapdata.Vote
		want time.Time
	}{
		{1, mapdata.NoVote, at(4 * time.Second)},
		{3, mapdata.NoVote, at(3 * time.Second)},
		{2, mapdata.Confirm, at(time.Second)},
		{3, mapdata.Confirm, at(time.Second)},
		{0, mapdata.NoVote, time.Time{}},
	} {
		got := w.cast(ballot(f, "a", all[c.by], c.vote, at(time.Hour))).Tally
		if !got.LastDisputeAt.Equal(c.want) {
			w.Errorf("after %d of driver %d, the last dispute is of %v, want %v", c.vote, c.by, got.LastDisputeAt, c.want)
		}
		w.same("as it is stored", w.tallies(time.Time{})[mapdata.EntityID(f.ID.SourceID(), "a")], got)
	}
}

func votesOnLive(w *testStore) {
	a, b := w.account(), w.account()
	first := liveBallot("a", a, mapdata.Confirm, start)
	v := w.cast(first)
	w.same("a live incident", v, mapdata.Voted{
		Entity: *first.Live,
		Tally:  mapdata.Tally{Source: mapdata.Incidents, ExternalID: "a", Confirms: 1, ChangedAt: start}, // a confirm keeps no live incident: D9.6
	})
	// It disappeared and returned: live incidents have no distinguishable lives.
	v = w.cast(liveBallot("a", b, mapdata.Dispute, at(48*time.Hour)))
	want := mapdata.Tally{
		Source: mapdata.Incidents, ExternalID: "a", Confirms: 1, Disputes: 1, ChangedAt: at(48 * time.Hour), LastDisputeAt: at(48 * time.Hour),
	}
	w.same("the second vote", v.Tally, want)
	w.wantVote("the first voter", mapdata.Incidents, "a", a, mapdata.Confirm)
	w.same("all tallies", w.tallies(time.Time{}), map[string]mapdata.Tally{mapdata.EntityID(mapdata.Incidents, "a"): want})
}

func refusesVotes(w *testStore) {
	a := w.account()
	f := w.pushFeed(a)
	w.apply(w.pushed(f, start, shortLived(f, "a", start)))
	before := w.state()
	gone := at(10 * time.Minute)
	unknown := &mapdata.Account{ID: mapdata.AccountID{1}}
	withoutRecord := liveBallot("a", a, mapdata.Confirm, start)
	withoutRecord.Live = nil
	for what, b := range map[string]*mapdata.Ballot{
		"an entity that is not stored":       ballot(f, "b", a, mapdata.Confirm, start),
		"an entity of an unknown feed":       ballot(&mapdata.Feed{ID: mapdata.FeedID{1}}, "a", a, mapdata.Confirm, start),
		"an entity at its very expiry":       ballot(f, "a", a, mapdata.Confirm, gone),
		"taking back after the expiry":       ballot(f, "a", a, mapdata.NoVote, gone.Add(time.Hour)),
		"an entity of an unknown source":     {Source: "weather", ExternalID: "a", Account: a.ID, Vote: mapdata.Confirm, At: start},
		"a live incident without its record": withoutRecord,
		"an unknown account":                 ballot(f, "a", unknown, mapdata.Confirm, start),
		"a guest":                            ballot(f, "a", &mapdata.Account{}, mapdata.Confirm, start),
	} {
		v, err := w.store.CastVote(w.ctx, b)
		w.fails(what, err, mapdata.ErrNotFound)
		w.same(what, v, mapdata.Voted{})
	}
	mixedUp := liveBallot("a", a, mapdata.Confirm, start)
	mixedUp.ExternalID = "b"
	if _, err := w.store.CastVote(w.ctx, mixedUp); err == nil {
		w.Error("a vote was stored with the record of another incident")
	}
	_, err := w.store.Voted(w.ctx, f.ID, "b", start)
	w.fails("reading what is not stored", err, mapdata.ErrNotFound)
	_, err = w.store.Voted(w.ctx, f.ID, "a", gone)
	w.fails("reading at the very expiry", err, mapdata.ErrNotFound)
	w.same("tallies", len(w.tallies(time.Time{})), 0)
	w.same("state", w.state(), before)
	w.cast(ballot(f, "a", a, mapdata.Confirm, gone.Add(-time.Millisecond)))
}

// rollsBackVotes checks that the record and the observation are stored together or not at all (Live incidents, 2).
func rollsBackVotes(w *testStore) {
	a := w.account()
	f := w.pushFeed(a)
	w.apply(w.pushed(f, start, entity(f, "a", start)))
	before := w.state()
	given, giveUp := context.WithCancel(w.ctx)
	giveUp()
	for _, b := range []*mapdata.Ballot{ballot(f, "a", a, mapdata.Dispute, start), liveBallot("a", a, mapdata.Dispute, start)} {
		if _, err := w.store.CastVote(given, b); !errors.Is(err, context.Canceled) {
			w.Errorf("cancelled CastVote = %v", err)
		}
		b.Account = mapdata.AccountID{1} // fails after the tally was found
		if _, err := w.store.CastVote(w.ctx, b); err == nil {
			w.Error("CastVote of an unknown account = nil")
		}
		b.Account, b.Vote = a.ID, 2 // no such vote
		if _, err := w.store.CastVote(w.ctx, b); err == nil {
			w.Error("CastVote of 2 = nil")
		}
		w.wantVote("after all that", b.Source, "a", a, mapdata.NoVote)
	}
	w.same("tallies", len(w.tallies(time.Time{})), 0)
	w.same("state", w.state(), before)
}

// keepsConfirmed uses the real clock, because the result of Stored depends on the time of the call.
func keepsConfirmed(w *testStore) {
	a := w.account()
	f := w.pushFeed(a)
	now := time.Now().UTC().Truncate(time.Millisecond)
	lasting := shortLived(f, "lasting", now)
	lasting.Kind, lasting.Lifetime = kindOf("camera.speed"), 0
	w.apply(w.pushed(f, now, shortLived(f, "a", now), shortLived(f, "b", now), lasting))
	for _, id := range []string{"a", "lasting"} {
		w.cast(ballot(f, id, a, mapdata.Confirm, now))
	}
	kept := now.Add(confirmedFor)
	for what, stored := range map[string]map[string]mapdata.Stored{
		"all": w.stored(f, nil), "by ids": w.stored(f, []string{"a", "b", "lasting"}),
	} {
		if got := stored["a"].KeptUntil; !got.Equal(kept) {
			w.Errorf("%s: kept until %v, want %v", what, got, kept)
		}
		if !stored["b"].KeptUntil.IsZero() || !stored["lasting"].KeptUntil.IsZero() {
			w.Errorf("%s: %+v are kept, though b has no confirm, and a persistent entity does not expire", what, stored)
		}
	}
	ids := []string{"a", "b", "lasting"}
	for _, c := range []struct {
		at    time.Time
		count int
	}{{now, 3}, {now.Add(10 * time.Minute), 2}, {kept.Add(-time.Millisecond), 2}, {kept, 1}} {
		n, err := w.store.CountEntities(w.ctx, f.ID, c.at)
		if err != nil || n != c.count {
			w.Errorf("CountEntities at %v = %d, %v; want %d", c.at.Sub(now), n, err, c.count)
		}
		listed := 0
		w.must(w.store.FeedEntities(w.ctx, f.ID, c.at, unlimitedFeeds, func(*mapdata.Entity) { listed++ }))
		w.same("entities that are listed", listed, c.count)
		_, err = w.store.Voted(w.ctx, f.ID, "a", c.at)
		if alive := c.at.Before(kept); alive != (err == nil) {
			w.Errorf("Voted at %v = %v; alive is %v", c.at.Sub(now), err, alive)
		}
		w.must(w.store.Forget(w.ctx, f.ID, ids, c.at))
		w.same("entities that are left", len(w.entities(f)), c.count)
	}
}

// keepsOneLife checks that a confirm counts only for the life of the entity on which it was cast.
func keepsOneLife(w *testStore) {
	a := w.account()
	f := w.pushFeed(a)
	now := time.Now().UTC().Truncate(time.Millisecond)
	w.apply(w.pushed(f, now, shortLived(f, "a", now)))
	w.cast(ballot(f, "a", a, mapdata.Confirm, now))
	retired := w.pushed(f, now.Add(time.Minute))
	retired.Retired = []string{"a"}
	w.apply(retired)
	again := shortLived(f, "a", now.Add(2*time.Minute))
	w.apply(w.pushed(f, now.Add(2*time.Minute), again))

	w.same("kept until", w.stored(f, nil)["a"].KeptUntil, time.Time{})
	end := now.Add(12 * time.Minute)
	_, err := w.store.Voted(w.ctx, f.ID, "a", end)
	w.fails("reading the new life after its end", err, mapdata.ErrNotFound)
	n, err := w.store.CountEntities(w.ctx, f.ID, end)
	if err != nil || n != 0 {
		w.Errorf("CountEntities after the end = %d, %v; want 0", n, err)
	}
	w.must(w.store.Forget(w.ctx, f.ID, []string{"a"}, end))
	w.same("entities", len(w.entities(f)), 0)
}

// forgetsNoConfirmed checks that Forget keeps an entity that was confirmed since its caller read it.
func forgetsNoConfirmed(w *testStore) {
	a := w.account()
	f := w.pushFeed(a)
	w.apply(w.pushed(f, start, shortLived(f, "a", start), shortLived(f, "b", start)))
	w.cast(ballot(f, "a", a, mapdata.Confirm, at(9*time.Minute)))
	w.must(w.store.Forget(w.ctx, f.ID, []string{"a", "b"}, at(11*time.Minute)))
	w.same("entities", w.entities(f), byID(shortLived(f, "a", start)))
	w.must(w.store.Forget(w.ctx, f.ID, []string{"a", "b"}, at(39*time.Minute)))
	w.same("entities", len(w.entities(f)), 0)
}

func outlivesEntities(w *testStore) {
	a, b := w.account(), w.account()
	f := w.pushFeed(a)
	w.apply(w.pushed(f, start, shortLived(f, "a", start)))
	w.cast(ballot(f, "a", a, mapdata.Confirm, start))
	old := w.cast(ballot(f, "a", b, mapdata.Dispute, at(time.Minute))).Tally
	w.must(w.store.Forget(w.ctx, f.ID, []string{"a"}, at(time.Hour)))
	id := mapdata.EntityID(f.ID.SourceID(), "a")
	w.same("history of an entity that expired", w.tallies(time.Time{}), map[string]mapdata.Tally{id: old})
	w.wantVote("history", f.ID.SourceID(), "a", b, mapdata.Dispute)

	reborn := at(2 * time.Hour)
	w.apply(w.pushed(f, reborn, shortLived(f, "a", reborn)))
	v, err := w.store.Voted(w.ctx, f.ID, "a", reborn)
	w.must(err)
	w.same("tally of the new life", v.Tally, mapdata.Tally{Source: f.ID.SourceID(), ExternalID: "a"})
	before := w.state()
	w.same("taking back what is of the old life", w.cast(ballot(f, "a", b, mapdata.NoVote, reborn)).Tally, v.Tally)
	w.same("state", w.state(), before)
	w.same("history", w.tallies(time.Time{}), map[string]mapdata.Tally{id: old})

	first := w.cast(ballot(f, "a", b, mapdata.Confirm, reborn)).Tally
	w.same("the first vote of the new life", first, mapdata.Tally{
		Source: f.ID.SourceID(), ExternalID: "a", Confirms: 1, ChangedAt: reborn, LifeAt: reborn, KeptUntil: reborn.Add(confirmedFor),
	})
	w.wantVote("who voted in the old life only", f.ID.SourceID(), "a", a, mapdata.NoVote)

	retired := w.pushed(f, reborn.Add(time.Minute))
	retired.Retired = []string{"a"}
	w.apply(retired)
	w.same("history of an entity that was retired", w.tallies(time.Time{}), map[string]mapdata.Tally{id: first})
}

// carriesSuppression checks that retiring a pin and sending it again does not end its suppression.
func carriesSuppression(w *testStore) {
	all := w.drivers(4)
	f := w.pushFeed(all[0])
	w.apply(w.pushed(f, start, shortLived(f, "a", start)))
	for _, a := range all[:3] {
		w.cast(ballot(f, "a", a, mapdata.Dispute, start))
	}
	again := w.pushed(f, at(time.Minute))
	again.Retired = []string{"a"}
	w.apply(again)
	w.apply(w.pushed(f, at(2*time.Minute), shortLived(f, "a", at(2*time.Minute))))
	v, err := w.store.Voted(w.ctx, f.ID, "a", at(3*time.Minute))
	w.must(err)
	if v.Tally.Disputes != 3 {
		w.Errorf("tally = %+v, want the three disputes that suppress it", v.Tally)
	}
	got := w.cast(ballot(f, "a", all[3], mapdata.Dispute, at(4*time.Minute))).Tally
	if got.Disputes != 4 || !got.LifeAt.Equal(start) {
		w.Errorf("tally = %+v, want 4 disputes, of the life before", got)
	}
	for _, a := range all[:2] {
		w.cast(ballot(f, "a", a, mapdata.NoVote, at(4*time.Minute)))
	}
	// That ended the suppression and the old life.
	got = w.cast(ballot(f, "a", all[3], mapdata.Dispute, at(5*time.Minute))).Tally
	if got.Disputes != 1 || got.Confirms != 0 || !got.LifeAt.Equal(at(2*time.Minute)) {
		w.Errorf("tally = %+v, want 1 dispute of the new life", got)
	}
}

// inParallel runs n jobs at the same time and reports their errors.
func (w *testStore) inParallel(n int, job func(i int) error) {
	w.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := job(i); err != nil {
				w.Errorf("job %d: %v", i, err)
			}
		})
	}
	all.Wait()
}
