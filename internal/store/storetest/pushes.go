package storetest

import (
	"time"

	"wayside/internal/ground/mapdata"
)

func pushTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"a refused push only records an attempt, which followers see": recordsAttempts,
		"a refused push to a deleted feed records nothing":            recordsNothing,
	}
}

func refusal(when time.Time) mapdata.Attempt {
	return mapdata.Attempt{At: when, Duration: time.Millisecond, Outcome: mapdata.OutcomeParseError, Bytes: 12}
}

func recordsAttempts(w *testStore) {
	f := w.pushFeed(w.account())
	w.apply(w.pushed(f, at(0), entity(f, "a", at(0))))
	feed, entities, before := w.feed(f), w.entities(f), w.state().Revision
	attempt := refusal(at(time.Second))
	w.must(w.store.RecordAttempt(w.ctx, f.ID, attempt))
	attempts, err := attemptsOf(w, w.store, f.ID, at(0))
	w.must(err)
	w.same("attempts", attempts, []mapdata.Attempt{attempt})
	w.same("feed", w.feed(f), feed)
	w.same("entities", w.entities(f), entities)
	changes, err := w.store.Changes(w.ctx, before, 10)
	w.must(err)
	if len(changes) != 1 || changes[0].FeedID != f.ID || len(changes[0].Entities)+len(changes[0].Gone) > 0 {
		w.Errorf("followers see %+v, want the feed once and no entity", changes)
	}
}

func recordsNothing(w *testStore) {
	f := w.pushFeed(w.account())
	w.must(w.store.DeleteFeed(w.ctx, f.ID, mapdata.AuditEntry{At: at(0), Action: "feed.delete"}))
	before := w.state()
	w.must(w.store.RecordAttempt(w.ctx, f.ID, refusal(at(time.Second))))
	w.same("state", w.state(), before)
}
