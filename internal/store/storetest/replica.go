package storetest

import (
	"cmp"
	"slices"
	"time"

	"wayside/internal/ground/mapdata"
)

func replicaTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"attempts by the revisions that recorded them": readsRecordedAttempts,
		"the recent attempts of all feeds":             readsRecentAttempts,
		"old tallies are those of stored entities":     readsOldTallies,
		"live tallies of a kind, by age":               readsLiveTallies,
		"an attempt of a node whose clock is behind":   ordersAttemptsByRevision,
		"deleting a feed deletes its attempts":         deletesRecordedAttempts,
	}
}

func (w *testStore) recorded(after, upTo int64) []mapdata.FeedAttempt {
	w.Helper()
	all, err := w.store.RecordedAttempts(w.ctx, after, upTo)
	w.must(err)
	return all
}

func (w *testStore) recent(since time.Time) []mapdata.FeedAttempt {
	w.Helper()
	var all []mapdata.FeedAttempt
	w.must(w.store.RecentAttempts(w.ctx, since, func(a *mapdata.FeedAttempt) { all = append(all, *a) }))
	return all
}

func readsRecordedAttempts(w *testStore) {
	a := w.account()
	pushed, polled := w.pushFeed(a), w.pullFeed(a)
	before := w.state().Revision
	var want []mapdata.FeedAttempt
	expect := func(f *mapdata.Feed, attempt mapdata.Attempt) {
		want = append(want, mapdata.FeedAttempt{Feed: f.ID, Revision: w.state().Revision, Attempt: attempt})
	}
	c := w.pushed(pushed, start, entity(pushed, "a", start))
	w.apply(c)
	expect(pushed, c.Attempt)
	refused := mapdata.Attempt{At: start, Outcome: "too_large", Bytes: 1 << 40} // in the same millisecond
	w.must(w.store.RecordAttempt(w.ctx, pushed.ID, refused))
	expect(pushed, refused)
	w.cast(ballot(pushed, "a", a, mapdata.Confirm, start)) // a revision without an attempt
	failed := failedPoll(polled, at(time.Second))
	w.must(w.store.PollFailed(w.ctx, failed))
	expect(polled, failed.Attempt)
	w.same("all", w.recorded(before, w.state().Revision), want)
	w.same("after the first", w.recorded(want[0].Revision, w.state().Revision), want[1:])
	w.same("up to the second", w.recorded(before, want[1].Revision), want[:2])
	w.same("after the last", len(w.recorded(want[2].Revision, w.state().Revision)), 0)
}

// ordersAttemptsByRevision checks that an attempt that is recorded later comes later, even when its time is earlier.
func ordersAttemptsByRevision(w *testStore) {
	f := w.pushFeed(w.account())
	before := w.state().Revision
	for _, when := range []time.Duration{time.Minute, 0, -time.Hour, time.Minute} {
		w.apply(w.pushed(f, at(when)))
	}
	all := w.recorded(before, w.state().Revision)
	var times []time.Duration
	for _, a := range all {
		times = append(times, a.At.Sub(start))
	}
	w.same("times", times, []time.Duration{time.Minute, 0, -time.Hour, time.Minute})
	w.same("recent ones", w.recent(at(-2*time.Hour)), all)
}

func readsRecentAttempts(w *testStore) {
	owner := w.account()
	busy, slow, idle := w.pushFeed(owner), w.pushFeed(owner), w.pushFeed(owner)
	for i := range mapdata.RecentPolls + 10 {
		w.apply(w.pushed(busy, at(time.Duration(i)*time.Minute)))
		w.apply(w.pushed(slow, at(time.Duration(i)*time.Millisecond)))
	}
	newest := w.state().Revision
	of := func(f *mapdata.Feed, since time.Time) (n int) {
		var last int64
		for _, a := range w.recent(since) {
			if a.Revision <= last {
				w.Errorf("revision %d after %d", a.Revision, last)
			}
			last = a.Revision
			if a.Feed == f.ID {
				n++
			}
		}
		if last != newest {
			w.Errorf("the last is of revision %d, want %d", last, newest)
		}
		return n
	}
	w.same("later than a time", of(busy, at(4*time.Minute)), mapdata.RecentPolls+5)
	w.same("the last twenty at least", of(busy, at(time.Hour)), mapdata.RecentPolls)
	w.same("of another feed, the last twenty", of(slow, at(time.Minute)), mapdata.RecentPolls)
	w.same("of one without any", of(idle, start), 0)
}

func deletesRecordedAttempts(w *testStore) {
	f := w.pushFeed(w.account())
	before := w.state().Revision
	w.apply(w.pushed(f, start))
	w.must(w.store.DeleteFeed(w.ctx, f.ID, mapdata.AuditEntry{At: start}))
	w.same("recorded", len(w.recorded(before, w.state().Revision)), 0)
	w.same("recent", len(w.recent(time.Time{})), 0)
}

func readsOldTallies(w *testStore) {
	a := w.account()
	f, other, gone := w.pushFeed(a), w.pushFeed(a), w.pushFeed(a)
	for _, feed := range []*mapdata.Feed{f, other, gone} {
		w.apply(w.pushed(feed, start, entity(feed, "a", start), entity(feed, "b", start)))
	}
	first := w.cast(ballot(f, "a", a, mapdata.Confirm, at(time.Second))).Tally
	second := w.cast(ballot(other, "a", a, mapdata.Dispute, at(2*time.Second))).Tally
	third := w.cast(ballot(f, "b", a, mapdata.Confirm, at(3*time.Second))).Tally
	w.cast(ballot(gone, "a", a, mapdata.Confirm, at(time.Second)))
	w.cast(liveBallot("a", a, mapdata.Confirm, at(time.Second)))
	old := func(before time.Time) (all []mapdata.Tally) {
		w.must(w.store.OldTallies(w.ctx, before, func(t *mapdata.Tally) { all = append(all, *t) }))
		slices.SortFunc(all, func(a, b mapdata.Tally) int {
			return cmp.Or(a.ChangedAt.Compare(b.ChangedAt), cmp.Compare(a.Source, b.Source))
		})
		return all
	}
	w.must(w.store.DeleteFeed(w.ctx, gone.ID, mapdata.AuditEntry{At: start}))
	w.same("all", old(at(time.Minute)), []mapdata.Tally{first, second, third})
	w.same("before a time", old(at(2*time.Second)), []mapdata.Tally{first})
	c := w.pushed(f, at(4*time.Second))
	c.Retired = []string{"a"}
	w.apply(c)
	w.same("once an entity is gone", old(at(time.Minute)), []mapdata.Tally{second, third})
}

func readsLiveTallies(w *testStore) {
	a := w.account()
	f := w.pushFeed(a)
	w.apply(w.pushed(f, start, entity(f, "a", start)))
	w.cast(ballot(f, "a", a, mapdata.Confirm, at(time.Second)))
	w.cast(liveBallot("a", a, mapdata.Confirm, at(time.Second)))
	second := w.cast(liveBallot("b", a, mapdata.Dispute, at(2*time.Second))).Tally
	works := liveBallot("c", a, mapdata.Confirm, at(2*time.Second))
	works.Live.Kind = kindOf("alert.construction")
	third := w.cast(works).Tally
	again := liveBallot("a", a, mapdata.NoVote, at(3*time.Second))
	again.Live.Kind = kindOf("alert.accident") // the record is of the first vote
	first := w.cast(again).Tally
	w.same("kind of a tally", []mapdata.Kind{first.Kind, third.Kind}, []mapdata.Kind{kindOf("alert.police"), kindOf("alert.construction")})
	live := func(kind string, since time.Time) (all []mapdata.Tally) {
		w.must(w.store.LiveTallies(w.ctx, kindOf(kind), since, func(t *mapdata.Tally) { all = append(all, *t) }))
		slices.SortFunc(all, func(a, b mapdata.Tally) int { return cmp.Compare(a.ExternalID, b.ExternalID) })
		return all
	}
	w.same("of a kind", live("alert.police", start), []mapdata.Tally{first, second})
	w.same("since a moment", live("alert.police", at(3*time.Second)), []mapdata.Tally{first})
	w.same("later ones", len(live("alert.police", at(4*time.Second))), 0)
	w.same("of another kind", live("alert.construction", start), []mapdata.Tally{third})
	w.same("of one without votes", len(live("alert.accident", start)), 0)
}
