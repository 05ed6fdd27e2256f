package storetest

import (
	"time"

	"wayside/internal/ground/mapdata"
)

func fencingTests() map[string]func(*testStore) {
	tests := map[string]func(*testStore){
		"an edit that changes no poll keeps lease and generation":         keepsLeases,
		"an expired lease that no node took over still matches":           recordsAfterExpiry,
		"the leases of a process that was killed are given back":          releasesNode,
		"a lease of an earlier generation does not release the later one": releasesOwnGeneration,
	}
	for event, supersede := range supersedingEvents() {
		for name, record := range pollOutcomes() {
			tests[name+" after "+event] = func(w *testStore) { fencesOutcome(w, supersede, record) }
		}
	}
	return tests
}

// pollOutcomes returns the functions that record the outcome of a poll.
func pollOutcomes() map[string]func(w *testStore, f *mapdata.Feed, lease mapdata.Lease) error {
	snapshot := func(w *testStore, c *mapdata.Change, lease mapdata.Lease) error {
		c.Snapshot.Lease = lease
		c.Emails = []mapdata.Email{{Account: w.feedOwner, Kind: mapdata.EmailShrank, At: start}}
		return w.store.Apply(w.ctx, c)
	}
	return map[string]func(w *testStore, f *mapdata.Feed, lease mapdata.Lease) error{
		"a failure": func(w *testStore, f *mapdata.Feed, lease mapdata.Lease) error {
			failed := failedPoll(f, at(time.Second))
			failed.Active, failed.Lease = false, lease
			failed.Emails = []mapdata.Email{{Account: w.feedOwner, Kind: mapdata.EmailDeactivated, At: start}}
			failed.Audit = []mapdata.AuditEntry{{At: start, Action: mapdata.AuditFeedDeactivate, Subject: f.ID.String()}}
			return w.store.PollFailed(w.ctx, failed)
		},
		"a snapshot": func(w *testStore, f *mapdata.Feed, lease mapdata.Lease) error {
			return snapshot(w, w.polled(f, at(time.Second), 1, entity(f, "a", at(time.Second))), lease)
		},
		"an unchanged snapshot": func(w *testStore, f *mapdata.Feed, lease mapdata.Lease) error {
			return snapshot(w, w.polled(f, at(time.Second), 1), lease)
		},
	}
}

// supersedingEvents returns the events during a poll that make its outcome obsolete. Each returns the node that holds the
// feed's lease afterwards; empty means none.
func supersedingEvents() map[string]func(w *testStore, f *mapdata.Feed) (holder string) {
	edit := func(change func(*mapdata.Feed)) func(*testStore, *mapdata.Feed) string {
		return func(w *testStore, f *mapdata.Feed) string {
			w.edit(f, change)
			return ""
		}
	}
	return map[string]func(w *testStore, f *mapdata.Feed) string{
		"an edit of the URL":         edit(func(f *mapdata.Feed) { f.PullURL = "https://new.example.org/" }),
		"an edit of the auth header": edit(func(f *mapdata.Feed) { f.PullAuthSealed = []byte("another") }),
		"an edit of the interval":    edit(func(f *mapdata.Feed) { f.PullInterval *= 2 }),
		"a deactivation":             edit(func(f *mapdata.Feed) { f.Active = false }),
		"a deactivation and a reactivation": func(w *testStore, f *mapdata.Feed) string {
			w.edit(f, func(f *mapdata.Feed) { f.Active = false })
			w.edit(f, func(f *mapdata.Feed) { f.Active = true })
			return ""
		},
		"an edit and a second claim by the same node": func(w *testStore, f *mapdata.Feed) string {
			w.edit(f, func(f *mapdata.Feed) { f.PullURL = "https://new.example.org/" })
			w.same("claimed again", w.claim("first", at(time.Second), at(time.Minute), 1), []mapdata.FeedID{f.ID})
			return "first"
		},
		"another node has claimed the feed": func(w *testStore, f *mapdata.Feed) string {
			w.same("claimed by another", w.claim("second", at(time.Minute), at(time.Hour), 1), []mapdata.FeedID{f.ID})
			return "second"
		},
		"another node has claimed and released the feed": func(w *testStore, f *mapdata.Feed) string {
			w.same("claimed by another", w.claim("second", at(time.Minute), at(time.Hour), 1), []mapdata.FeedID{f.ID})
			w.must(w.store.Release(w.ctx, f.ID, mapdata.Lease{Node: "second"}))
			return ""
		},
	}
}

func (w *testStore) edit(f *mapdata.Feed, change func(*mapdata.Feed)) {
	w.Helper()
	_, err := w.store.UpdateFeed(w.ctx, f.ID, func(f *mapdata.Feed) (mapdata.Side, error) {
		change(f)
		return mapdata.Side{}, nil
	})
	w.must(err)
}

// fencesOutcome records an outcome after the event: it must change nothing of the feed, and the lease held by then must
// stay valid.
func fencesOutcome(w *testStore, supersede func(*testStore, *mapdata.Feed) string, record func(*testStore, *mapdata.Feed, mapdata.Lease) error) {
	owner := w.account()
	w.feedOwner = owner.ID
	f := w.pullFeed(owner)
	w.apply(w.polled(f, start, 1, entity(f, "before", start)))
	w.edit(f, func(f *mapdata.Feed) { f.Polling.NextFetchAt = start })
	claimed, err := w.store.Claim(w.ctx, "first", start, at(time.Minute), 1)
	w.must(err)
	lease := mapdata.Lease{Node: "first", Generation: claimed[0].Generation}
	holder := supersede(w, f)
	feed, state, entities := w.feed(f), w.state(), w.entities(f)

	w.fails("recording", record(w, f, lease), mapdata.ErrFenced)
	w.same("feed", w.feed(f), feed)
	w.same("state", w.state(), state)
	w.same("entities", w.entities(f), entities)
	attempts, err := attemptsOf(w, w.store, f.ID, time.Time{})
	w.must(err)
	w.same("number of attempts", len(attempts), 1)
	emails, err := w.store.DueEmails(w.ctx, at(time.Hour), at(2*time.Hour), 10)
	w.must(err)
	w.same("number of e-mails", len(emails), 0)
	audit, err := w.store.Audit(w.ctx, &mapdata.AuditQuery{Subject: f.ID.String(), Limit: 10})
	w.must(err)
	w.same("number of audit entries", len(audit), 0)

	var free []mapdata.FeedID
	if feed.Active && holder == "" {
		free = []mapdata.FeedID{f.ID}
	}
	w.same("free to be claimed", w.claim("third", at(30*time.Second), at(time.Hour), 1), free)
	if holder != "" { // its own outcome is accepted
		w.must(record(w, f, mapdata.Lease{Node: holder, Generation: feed.Generation}))
	}
}

func keepsLeases(w *testStore) {
	f := w.pullFeed(w.account())
	w.claim("node", start, at(time.Minute), 1)
	w.edit(f, func(f *mapdata.Feed) { f.Name, f.Description, f.Generation = "Another", "Another", 7 })
	w.same("generation", w.feed(f).Generation, int64(0))
	w.same("claimed meanwhile", w.claim("other", at(time.Second), at(time.Minute), 1), []mapdata.FeedID(nil))
	failed := failedPoll(f, at(time.Second))
	failed.Lease = mapdata.Lease{Node: "node"}
	w.must(w.store.PollFailed(w.ctx, failed))
	w.same("outcome", w.feed(f).Polling.LastOutcome, mapdata.OutcomeTimeout)
}

func recordsAfterExpiry(w *testStore) {
	f := w.pullFeed(w.account())
	w.claim("node", start, at(time.Minute), 1)
	c := w.polled(f, at(time.Hour), 1, entity(f, "a", at(time.Hour)))
	c.Snapshot.Lease = mapdata.Lease{Node: "node"}
	w.apply(c)
	w.same("outcome", w.feed(f).Polling.LastOutcome, mapdata.OutcomeOK)
}

func releasesOwnGeneration(w *testStore) {
	f := w.pullFeed(w.account())
	w.claim("node", start, at(time.Minute), 1)
	w.edit(f, func(f *mapdata.Feed) { f.PullURL = "https://new.example.org/" })
	w.same("claimed again", w.claim("node", start, at(time.Minute), 1), []mapdata.FeedID{f.ID})
	w.must(w.store.Release(w.ctx, f.ID, mapdata.Lease{Node: "node"}))
	w.same("after the earlier lease is released", w.claim("other", at(time.Second), at(time.Minute), 1), []mapdata.FeedID(nil))
	w.must(w.store.Release(w.ctx, f.ID, mapdata.Lease{Node: "node", Generation: 1}))
	w.same("after the lease is released", w.claim("other", at(time.Second), at(time.Minute), 1), []mapdata.FeedID{f.ID})
}
