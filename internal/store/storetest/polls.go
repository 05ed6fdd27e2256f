package storetest

import (
	"slices"
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
)

func pollTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"due feeds are claimed, oldest first":                claimsDueFeeds,
		"feeds that are not polled are not claimed":          claimsOnlyPolled,
		"a lease is valid until its expiry":                  expiresLeases,
		"a lease is released by its holder only":             releasesLeases,
		"of many claimers one gets each feed":                claimsOnce,
		"all fields of a failed poll are recorded":           recordsFailures,
		"a failed poll of a deleted feed is no error":        toleratesDeletedFeeds,
		"a failed poll activates nothing":                    activatesNothing,
		"a good snapshot moves the schedule, ends the lease": movesSchedule,
		"e-mails of a failed poll are stored with it":        failsWithEmails,
	}
}

func (w *testStore) claim(node string, now, until time.Time, limit int) []mapdata.FeedID {
	w.Helper()
	feeds, err := w.store.Claim(w.ctx, node, now, until, limit)
	w.must(err)
	return idsOf(feeds)
}

func idsOf(feeds []mapdata.Feed) []mapdata.FeedID {
	var all []mapdata.FeedID
	for i := range feeds {
		all = append(all, feeds[i].ID)
	}
	return all
}

// dueAt registers a pull feed that is due at the given time.
func (w *testStore) dueAt(owner *mapdata.Account, due time.Time) *mapdata.Feed {
	w.Helper()
	f := w.draft(owner)
	f.Direction, f.Polling.NextFetchAt, f.PullInterval = mapdata.Pull, due, time.Minute
	w.must(w.store.CreateFeed(w.ctx, f, unlimitedFeeds))
	return f
}

func claimsDueFeeds(w *testStore) {
	owner := w.account()
	third, first, second := w.dueAt(owner, start), w.dueAt(owner, at(-2*time.Second)), w.dueAt(owner, at(-time.Second))
	future := w.dueAt(owner, at(time.Second))
	feeds, err := w.store.Claim(w.ctx, "node", start, at(time.Minute), 2)
	w.must(err)
	w.same("feeds", feeds, []mapdata.Feed{*first, *second})
	w.same("the rest", w.claim("node", start, at(time.Minute), 10), []mapdata.FeedID{third.ID})
	w.same("a second later", w.claim("node", at(time.Second), at(time.Minute), 10), []mapdata.FeedID{future.ID})
}

func claimsOnlyPolled(w *testStore) {
	owner := w.account()
	w.pushFeed(owner)
	for _, spoil := range []func(*mapdata.Feed){
		func(f *mapdata.Feed) { f.Active = false },
		func(f *mapdata.Feed) { f.Polling.NextFetchAt = time.Time{} },
		func(f *mapdata.Feed) { f.Polling.NextFetchAt = at(time.Millisecond) },
		func(f *mapdata.Feed) { f.Direction = mapdata.Push },
	} {
		f := w.draft(owner)
		f.Direction, f.Polling.NextFetchAt = mapdata.Pull, start
		spoil(f)
		w.must(w.store.CreateFeed(w.ctx, f, unlimitedFeeds))
	}
	w.same("claimed", w.claim("node", start, at(time.Minute), 10), []mapdata.FeedID(nil))
	// A pending or rejected feed is polled too (D5.7).
	f := w.draft(owner)
	f.Direction, f.Polling.NextFetchAt, f.ReviewState, f.Visibility = mapdata.Pull, start, mapdata.Rejected, mapdata.Private
	w.must(w.store.CreateFeed(w.ctx, f, unlimitedFeeds))
	w.same("claimed", w.claim("node", start, at(time.Minute), 10), []mapdata.FeedID{f.ID})
}

func expiresLeases(w *testStore) {
	f := w.pullFeed(w.account())
	w.same("at first", w.claim("a", start, at(time.Minute), 1), []mapdata.FeedID{f.ID})
	w.same("while it holds", w.claim("b", at(time.Minute-time.Millisecond), at(time.Hour), 1), []mapdata.FeedID(nil))
	w.same("for its holder too", w.claim("a", at(time.Second), at(time.Hour), 1), []mapdata.FeedID(nil))
	w.same("at its end", w.claim("b", at(time.Minute), at(time.Hour), 1), []mapdata.FeedID{f.ID})
}

func releasesLeases(w *testStore) {
	f := w.pullFeed(w.account())
	w.claim("a", start, at(time.Minute), 1)
	w.must(w.store.Release(w.ctx, f.ID, mapdata.Lease{Node: "b"}))
	w.same("given back by another", w.claim("b", start, at(time.Minute), 1), []mapdata.FeedID(nil))
	w.must(w.store.Release(w.ctx, f.ID, mapdata.Lease{Node: "a"}))
	w.same("given back by its holder", w.claim("b", start, at(time.Minute), 1), []mapdata.FeedID{f.ID})
	w.must(w.store.Release(w.ctx, mapdata.FeedID{1}, mapdata.Lease{Node: "a"}))
}

func claimsOnce(w *testStore) {
	owner := w.account()
	const many = 40
	for range many {
		w.pullFeed(owner)
	}
	stores := [2]Store{w.store, w.another()}
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		times = make(map[mapdata.FeedID]int)
	)
	for i := range 8 {
		all.Go(func() {
			for {
				feeds, err := stores[i%2].Claim(w.ctx, string(rune('a'+i)), start, at(time.Minute), 3)
				if err != nil {
					w.Errorf("Claim: %v", err)
				}
				if len(feeds) == 0 {
					return
				}
				mu.Lock()
				for _, id := range idsOf(feeds) {
					times[id]++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(times) != many {
		w.Errorf("%d of %d feeds are claimed", len(times), many)
	}
	for id, n := range times {
		if n != 1 {
			w.Errorf("feed %v is claimed %d times", id, n)
		}
	}
}

func failedPoll(f *mapdata.Feed, when time.Time) *mapdata.PollFailed {
	return &mapdata.PollFailed{
		Feed: f.ID, Active: true,
		Polling: mapdata.Polling{
			NextFetchAt: when.Add(time.Minute), LastFetchedAt: when, LastOutcome: mapdata.OutcomeTimeout, LastError: "It took too long.",
			ConsecutiveFailures: 3,
		},
		Attempt: mapdata.Attempt{At: when, Duration: 15 * time.Second, Outcome: mapdata.OutcomeTimeout, Bytes: 12},
	}
}

func recordsFailures(w *testStore) {
	f := w.pullFeed(w.account())
	good := w.polled(f, start, 5, entity(f, "a", start))
	good.Snapshot.Polling.Shrank = true
	w.apply(good)
	before := w.feed(f)
	w.claim("node", at(time.Minute), at(time.Hour), 1)
	failed := failedPoll(f, at(time.Minute))
	failed.Lease = mapdata.Lease{Node: "node"}
	w.must(w.store.PollFailed(w.ctx, failed))

	want := *before
	want.Polling = failed.Polling
	// These fields describe the last good snapshot.
	want.Polling.Shrank, want.Polling.BodyHash = true, good.Snapshot.Polling.BodyHash
	last := &good.Snapshot.Polling // its skips and validators stay too
	want.Polling.LastSkipped, want.Polling.Skips, want.Polling.Validators = last.LastSkipped, last.Skips, last.Validators
	w.same("feed", w.feed(f), &want)
	w.same("entities", w.entities(f), byID(good.Upserts...))
	attempts, err := attemptsOf(w, w.store, f.ID, start)
	w.must(err)
	w.same("attempts", attempts, []mapdata.Attempt{failed.Attempt})
	w.same("the lease ended", w.claim("other", at(2*time.Minute), at(time.Hour), 1), []mapdata.FeedID{f.ID})
}

func toleratesDeletedFeeds(w *testStore) {
	f := w.pullFeed(w.account())
	w.must(w.store.DeleteFeed(w.ctx, f.ID, mapdata.AuditEntry{At: start}))
	before := w.state()
	w.must(w.store.PollFailed(w.ctx, failedPoll(f, start)))
	w.same("state", w.state(), before)
}

func activatesNothing(w *testStore) {
	f := w.pullFeed(w.account())
	failed := failedPoll(f, start)
	failed.Active = false
	w.must(w.store.PollFailed(w.ctx, failed))
	if w.feed(f).Active {
		w.Error("the feed is active after a failure that deactivates it")
	}
	failed.Active = true // its poll began before the feed was deactivated
	failed.Attempt.At = at(time.Second)
	w.must(w.store.PollFailed(w.ctx, failed))
	if w.feed(f).Active {
		w.Error("a failed poll activated a feed")
	}
}

func movesSchedule(w *testStore) {
	f := w.pullFeed(w.account())
	w.claim("node", start, at(time.Hour), 1)
	c := w.polled(f, at(time.Second), 9, entity(f, "a", start))
	c.Snapshot.Lease = mapdata.Lease{Node: "node"}
	c.Snapshot.Polling = mapdata.Polling{
		NextFetchAt: at(time.Minute), LastFetchedAt: at(time.Second), LastOutcome: mapdata.OutcomeOK, LastRows: 9, LastRejected: 2,
		Shrank: true, BodyHash: []byte("body"),
	}
	w.apply(c)
	want := *f
	want.Polling, want.SnapshotAt, want.Snapshot, want.EntitiesRevision = c.Snapshot.Polling, at(time.Second), 1, w.state().Revision
	want.Holds = mapdata.Usage{Entities: 1, Bytes: 20}
	w.same("feed", w.feed(f), &want)
	w.same("before it is due", w.claim("other", at(time.Minute-time.Millisecond), at(time.Hour), 1), []mapdata.FeedID(nil))
	w.same("when it is due", w.claim("other", at(time.Minute), at(time.Hour), 1), []mapdata.FeedID{f.ID})
}

func failsWithEmails(w *testStore) {
	owner := w.account()
	f := w.pullFeed(owner)
	failed := failedPoll(f, start)
	failed.Emails = []mapdata.Email{{Account: owner.ID, Kind: mapdata.EmailDeactivated, At: start}}
	w.must(w.store.PollFailed(w.ctx, failed))
	emails, err := w.store.DueEmails(w.ctx, start, at(time.Minute), 10)
	w.must(err)
	kinds := slices.Collect(func(yield func(mapdata.EmailKind) bool) {
		for i := range emails {
			if !yield(emails[i].Kind) {
				return
			}
		}
	})
	w.same("e-mails", kinds, []mapdata.EmailKind{mapdata.EmailDeactivated})
}
