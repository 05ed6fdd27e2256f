package storetest

import (
	"fmt"
	"slices"
	"time"

	"wayside/internal/ground/mapdata"
)

func timelineTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"a timeline is the newest attempts, complete":          readsTimeline,
		"the newest rejections are kept by code":               keepsRejections,
		"an unchanged body has the same rejections":            repeatsRejections,
		"an unchanged body has the same warnings":              repeatsWarnings,
		"deleting a feed deletes its timeline and rejections":  deletesTimeline,
		"timelines are pruned":                                 prunesTimelines,
		"the entities of one feed, in order and up to a limit": listsEntities,
	}
}

func (w *testStore) timeline(f *mapdata.Feed, after time.Time, limit int) []mapdata.Attempt {
	w.Helper()
	all, err := w.store.Timeline(w.ctx, f.ID, after, limit)
	w.must(err)
	return all
}

func (w *testStore) rejections(f *mapdata.Feed, after time.Time) []mapdata.Rejection {
	w.Helper()
	all, err := w.store.Rejections(w.ctx, f.ID, after)
	w.must(err)
	return all
}

func readsTimeline(w *testStore) {
	f, other := w.pullFeed(w.account()), w.pullFeed(w.account())
	w.apply(w.polled(other, at(time.Minute), 1))
	good := w.polled(f, at(time.Minute), 9)
	good.Attempt = mapdata.Attempt{
		At: at(time.Minute), Duration: 1500 * time.Microsecond, OK: true, Outcome: mapdata.OutcomeOK,
		Rows: 9, Rejected: 2, Bytes: 321, Unchanged: 4, Retired: 1, Skipped: 3,
	}
	w.apply(good)
	failed := failedPoll(f, at(2*time.Minute))
	failed.Attempt.Outcome, failed.Attempt.Status = mapdata.OutcomeHTTPStatus, 404
	failed.Attempt.Reason = "expired"
	w.must(w.store.PollFailed(w.ctx, failed))
	both := []mapdata.Attempt{failed.Attempt, good.Attempt}
	w.same("all", w.timeline(f, time.Time{}, 10), both)
	w.same("the newest", w.timeline(f, time.Time{}, 1), both[:1])
	w.same("after a time", w.timeline(f, at(time.Minute), 10), both[:1])
	w.same("of an unknown feed", len(w.timeline(&mapdata.Feed{ID: mapdata.FeedID{1}}, time.Time{}, 10)), 0)
}

func rejection(when time.Time, code string, rows int, ids ...string) mapdata.Rejection {
	r := mapdata.Rejection{At: when, Code: code, Rows: rows}
	for i, id := range ids {
		r.Examples = append(r.Examples, mapdata.RejectedRow{Index: i, ExternalID: id, Field: "kind", Message: "<b>kind</b> is \"none\".", Reason: "within", Value: "\"\u202e</b>…"})
	}
	return r
}

func keepsRejections(w *testStore) {
	f, other := w.pushFeed(w.account()), w.pushFeed(w.account())
	push := func(to *mapdata.Feed, when time.Time, all ...mapdata.Rejection) {
		c := w.pushed(to, when)
		c.Rejections = all
		w.apply(c)
	}
	push(other, at(0), rejection(at(0), "missing_lat", 1, "of another feed"))
	push(f, at(0), rejection(at(0), "unknown_kind", 7, "a", "b\u0000\u2028", "ü"), rejection(at(0), "missing_lat", 9))
	push(f, at(time.Second), rejection(at(time.Second), "unknown_kind", 2, "", "d"))
	push(f, at(time.Minute))
	want := []mapdata.Rejection{rejection(at(time.Second), "unknown_kind", 2, "", "d"), rejection(at(0), "missing_lat", 9)}
	w.same("rejections", w.rejections(f, at(-time.Second)), want)
	w.same("after a time", w.rejections(f, at(0)), want[:1])
}

func repeatsRejections(w *testStore) {
	f := w.pullFeed(w.account())
	poll := func(when time.Duration, rejected int, same bool, all ...mapdata.Rejection) {
		c := w.polled(f, at(when), 10)
		c.Attempt.Rejected, c.SameRejections, c.Rejections = rejected, same, all
		w.apply(c)
	}
	poll(0, 3, false, rejection(start, "missing_lng", 3, "old"))
	poll(time.Minute, 2, false, rejection(start, "unknown_kind", 1, "a"), rejection(start, "missing_lat", 1, "b"))
	poll(2*time.Minute, 2, true)
	want := []mapdata.Rejection{
		rejection(at(2*time.Minute), "missing_lat", 1, "b"), rejection(at(2*time.Minute), "unknown_kind", 1, "a"),
		rejection(start, "missing_lng", 3, "old"),
	}
	w.same("after the same body again", w.rejections(f, time.Time{}), want)
	poll(3*time.Minute, 0, false) // without rejected rows
	w.same("after a body without any", w.rejections(f, time.Time{}), want)
}

// repeatsWarnings checks that warnings of a body without rejected rows are repeated too.
func repeatsWarnings(w *testStore) {
	f := w.pullFeed(w.account())
	for i, same := range []bool{false, true} {
		c := w.polled(f, at(time.Duration(i)*time.Minute), 10)
		c.SameRejections = same
		if !same {
			c.Rejections = []mapdata.Rejection{rejection(start, mapdata.WarnPropertyType, 4, "a")}
		}
		w.apply(c)
	}
	w.same("after the same body again", w.rejections(f, time.Time{}), []mapdata.Rejection{rejection(at(time.Minute), mapdata.WarnPropertyType, 4, "a")})
}

func deletesTimeline(w *testStore) {
	f := w.pushFeed(w.account())
	c := w.pushed(f, at(0))
	c.Rejections = []mapdata.Rejection{rejection(at(0), "missing_lat", 1, "a")}
	w.apply(c)
	w.must(w.store.DeleteFeed(w.ctx, f.ID, mapdata.AuditEntry{At: at(0)}))
	w.same("timeline", len(w.timeline(f, time.Time{}, 10)), 0)
	w.same("rejections", len(w.rejections(f, time.Time{})), 0)
}

func prunesTimelines(w *testStore) {
	busy, slow := w.pushFeed(w.account()), w.pushFeed(w.account())
	const many = mapdata.TimelineLength + 50
	for i := range many {
		w.apply(w.pushed(busy, at(time.Duration(i)*time.Minute)))
	}
	for i := range mapdata.RecentPolls + 5 {
		c := w.pushed(slow, at(time.Duration(i)*12*time.Hour))
		c.Rejections = []mapdata.Rejection{rejection(c.At, fmt.Sprint("code_", i), 1)}
		w.apply(c)
	}
	newest := at(many * time.Minute)
	w.must(w.store.Prune(w.ctx, newest))
	w.same("attempts within the last hour, and a timeline's", len(w.timeline(busy, time.Time{}, 1000)), mapdata.TimelineLength)
	last := w.timeline(busy, time.Time{}, 1)
	w.same("the newest", last[0].At, at((many-1)*time.Minute))
	w.same("of a slow feed", len(w.timeline(slow, time.Time{}, 1000)), mapdata.RecentPolls+5)

	w.must(w.store.Prune(w.ctx, at((mapdata.RecentPolls+5)*12*time.Hour)))
	w.same("attempts older than the span, beside those that health counts", len(w.timeline(slow, time.Time{}, 1000)), mapdata.RecentPolls)
	for _, r := range w.rejections(slow, time.Time{}) {
		if age := at((mapdata.RecentPolls + 5) * 12 * time.Hour).Sub(r.At); age >= mapdata.TimelineSpan {
			w.Errorf("a rejection is not pruned after %v", age)
		}
	}
	if len(w.rejections(slow, time.Time{})) == 0 {
		w.Error("younger rejections are pruned too")
	}
}

func listsEntities(w *testStore) {
	f, other := w.pullFeed(w.account()), w.pushFeed(w.account())
	lasting, short, own := entity(f, "c", start), entity(f, "a", start), entity(f, "B é", start)
	lasting.Lifetime, short.Lifetime, own.Lifetime = 0, time.Minute, time.Minute
	own.SeenAt = time.Time{} // of the snapshot, a second after start
	w.apply(w.polled(f, at(time.Second), 3, lasting, short, own))
	w.apply(w.pushed(other, start, entity(other, "of another", start)))
	list := func(id mapdata.FeedID, when time.Duration, limit int) []mapdata.Entity {
		var all []mapdata.Entity
		w.must(w.store.FeedEntities(w.ctx, id, at(when), limit, func(e *mapdata.Entity) { all = append(all, *e) }))
		return all
	}
	w.same("all", list(f.ID, 0, 10), []mapdata.Entity{own, short, lasting})
	w.same("the first", list(f.ID, 0, 2), []mapdata.Entity{own, short})
	w.same("once one expired", list(f.ID, time.Minute, 10), []mapdata.Entity{own, lasting})
	w.same("once both did", list(f.ID, time.Minute+time.Second, 10), []mapdata.Entity{lasting})
	w.must(w.store.DeleteFeed(w.ctx, f.ID, mapdata.AuditEntry{At: start}))
	w.same("of a feed that is gone", list(f.ID, 0, 10), []mapdata.Entity(nil))
	w.same("of an unknown feed", slices.Clone(list(mapdata.FeedID{1}, 0, 10)), []mapdata.Entity(nil))
}
