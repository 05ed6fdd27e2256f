package storetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
)

func lineTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"lines and ends are stored and read everywhere": readsLines,
		"lines count towards what a feed holds":         countsLines,
		"an entity expires at its end":                  endsEntities,
		"confirms keep no entity beyond its end":        keepsUntilTheEnd,
		"an end that comes nearer keeps no entity":      keepsUntilAnEarlierEnd,
		"unchanged rows of a bridge write no entity":    writesNoUnchangedRows,
	}
}

var testLine = []geo.Point{{Lat: 52.370216, Lng: 4.895168}, {Lat: -90, Lng: 179.99999999999997}, {Lat: 1e-7, Lng: -1e-7}}

func longLine() []geo.Point {
	line := make([]geo.Point, mapdata.MaxLine)
	for i := range line {
		line[i] = geo.Point{Lat: 52 + float64(i)/1e4, Lng: 4 + float64(i)/3e4}
	}
	return line
}

func readsLines(w *testStore) {
	f := w.pullFeed(w.account())
	both, line, end, neither := entity(f, "both", at(0)), entity(f, "line", at(0)), entity(f, "end", at(0)), entity(f, "neither", at(0))
	both.Line, both.EndsAt = testLine, at(time.Hour)
	line.Line = longLine()
	end.EndsAt, end.Lifetime = mapdata.LatestEnd(), 0
	revision := w.state().Revision
	w.apply(w.polled(f, at(0), 4, both, line, end, neither))
	all := byID(both, line, end, neither)
	w.same("entities", w.entities(f), all)

	changed := make(map[string]mapdata.Entity)
	for _, c := range w.changes(revision, unlimitedFeeds) {
		maps.Copy(changed, byID(c.Entities...))
	}
	w.same("entities of the log of changes", changed, all)
	of := make(map[string]mapdata.Entity)
	w.must(w.store.FeedEntities(w.ctx, f.ID, at(0), unlimitedFeeds, func(e *mapdata.Entity) { of[e.ExternalID] = *e }))
	w.same("entities of the feed", of, all)
	for id, want := range all {
		v, err := w.store.Voted(w.ctx, f.ID, id, at(0))
		w.must(err)
		w.same("the entity with its votes", v.Entity, want)
		w.same("what a comparison is told of its end", w.stored(f, []string{id})[id].EndsAt, want.EndsAt)
	}

	c := w.polled(f, at(time.Minute), 3)
	c.Touched, c.Absent = []string{"line"}, []string{"end"}
	both.Line, both.EndsAt = nil, time.Time{}
	neither.Line, neither.EndsAt = testLine[:2], at(2*time.Hour)
	c.Upserts = []mapdata.Entity{both, neither}
	w.apply(c)
	line.SeenAt, end.AbsentSince = at(time.Minute), 2
	w.same("entities that changed, were touched or missing", w.entities(f), byID(both, line, end, neither))
}

func countsLines(w *testStore) {
	f := w.pushFeed(w.account())
	e := entity(f, "a", at(0))
	e.Line = testLine
	w.apply(w.pushed(f, at(0), e))
	want := int64(len("a") + len(e.Properties) + 9 + 16*len(testLine))
	w.same("bytes", w.stored(f, nil)["a"].Bytes, want)
	e.Line = nil
	w.apply(w.pushed(f, at(time.Minute), e))
	w.same("bytes without the line", w.stored(f, nil)["a"].Bytes, want-9-16*int64(len(testLine)))
	e.Line, e.EndsAt = longLine(), at(time.Hour)
	w.apply(w.pushed(f, at(2*time.Minute), e))
	w.must(w.store.Forget(w.ctx, f.ID, []string{"a"}, at(time.Hour)))
	mark, err := w.store.Mark(w.ctx, f.ID)
	w.must(err)
	w.same("what the feed holds once it is forgotten", mark.Holds, mapdata.Usage{})
}

// reads checks which of the ids every way of reading returns at a time.
func (w *testStore) reads(f *mapdata.Feed, now time.Time, ids []string, want ...string) {
	w.Helper()
	var listed, voted []string
	w.must(w.store.FeedEntities(w.ctx, f.ID, now, unlimitedFeeds, func(e *mapdata.Entity) { listed = append(listed, e.ExternalID) }))
	w.same("entities of the feed at "+now.String(), listed, want)
	for _, id := range ids {
		if _, err := w.store.Voted(w.ctx, f.ID, id, now); err == nil {
			voted = append(voted, id)
		}
	}
	w.same("entities with their votes at "+now.String(), voted, want)
	n, err := w.store.CountEntities(w.ctx, f.ID, now)
	w.must(err)
	w.same("number of entities at "+now.String(), n, len(want))
}

func endsEntities(w *testStore) {
	f := w.pullFeed(w.account())
	ids := []string{"ends", "expires first", "persists until its end", "with its snapshot"}
	ends, first, persists, snapshot := entity(f, ids[0], at(0)), entity(f, ids[1], at(0)), entity(f, ids[2], at(0)), entity(f, ids[3], at(0))
	ends.EndsAt, first.EndsAt, persists.EndsAt, snapshot.EndsAt = at(time.Hour), at(time.Hour), at(2*time.Hour), at(3*time.Hour)
	first.Lifetime, persists.Lifetime, snapshot.SeenAt = time.Minute, 0, time.Time{}
	w.apply(w.polled(f, at(0), 4, ends, first, persists, snapshot))
	for _, step := range []struct {
		at   time.Duration
		want []string
	}{
		{time.Minute - time.Millisecond, ids},
		{time.Minute, []string{ids[0], ids[2], ids[3]}},
		{time.Hour - time.Millisecond, []string{ids[0], ids[2], ids[3]}},
		{time.Hour, ids[2:]},
		{2*time.Hour - time.Millisecond, ids[2:]},
		{2 * time.Hour, ids[3:]},
		{3 * time.Hour, nil},
	} {
		w.reads(f, at(step.at), ids, step.want...)
		w.must(w.store.Forget(w.ctx, f.ID, ids, at(step.at)))
		w.same("entities that are left", slices.Sorted(maps.Keys(w.entities(f))), step.want)
	}
}

// keepsUntilTheEnd uses the real clock, like keepsConfirmed.
func keepsUntilTheEnd(w *testStore) {
	a := w.account()
	f := w.pushFeed(a)
	now := time.Now().UTC().Truncate(time.Second)
	end := now.Add(20 * time.Minute)
	e := shortLived(f, "a", now)
	e.EndsAt = end
	w.apply(w.pushed(f, now, e))
	voted := w.cast(ballot(f, "a", a, mapdata.Confirm, now))
	w.same("kept until", voted.Tally.KeptUntil, end)
	w.same("kept until, for a comparison", w.stored(f, nil)["a"].KeptUntil, end)
	w.reads(f, end.Add(-time.Millisecond), []string{"a"}, "a")
	w.must(w.store.Forget(w.ctx, f.ID, []string{"a"}, end.Add(-time.Millisecond)))
	w.same("entities before the end", len(w.entities(f)), 1)
	w.reads(f, end, []string{"a"})
	w.must(w.store.Forget(w.ctx, f.ID, []string{"a"}, end))
	w.same("entities at the end", len(w.entities(f)), 0)
}

// keepsUntilAnEarlierEnd checks an end that moved after the confirm.
func keepsUntilAnEarlierEnd(w *testStore) {
	a := w.account()
	f := w.pushFeed(a)
	now := time.Now().UTC().Truncate(time.Second)
	e := shortLived(f, "a", now)
	w.apply(w.pushed(f, now, e))
	w.cast(ballot(f, "a", a, mapdata.Confirm, now))
	e.EndsAt = now.Add(15 * time.Minute)
	w.apply(w.pushed(f, now, e))
	w.same("kept until, for a comparison", w.stored(f, nil)["a"].KeptUntil, e.EndsAt)
	w.reads(f, e.EndsAt.Add(-time.Millisecond), []string{"a"}, "a")
	v, err := w.store.Voted(w.ctx, f.ID, "a", now)
	w.must(err)
	expires, _ := v.ExpiresAt(now)
	w.same("expires at", expires, e.EndsAt)
	w.reads(f, e.EndsAt, []string{"a"})
	w.must(w.store.Forget(w.ctx, f.ID, []string{"a"}, e.EndsAt))
	w.same("entities at the end", len(w.entities(f)), 0)
}

// countingWrites is a store that counts the entities that changes write.
type countingWrites struct {
	ingest.Store
	entities int
}

func (s *countingWrites) Apply(ctx context.Context, c *mapdata.Change) error {
	s.entities += len(c.Upserts) + len(c.Touched) + len(c.Absent) + len(c.Retired)
	return s.Store.Apply(ctx, c)
}

// writesNoUnchangedRows checks that a poll whose document has the same content for each row writes no entity, although
// it is read and its ends come nearer, because the stored entities compare as equal (D6.10, D17.3).
func writesNoUnchangedRows(w *testStore) {
	f := w.pullFeed(w.account())
	counted := &countingWrites{Store: w.store}
	now := start
	ingester := ingest.New(counted, func() time.Time { return now }, signal.NewSet().StoreChanged)
	const rows = 100
	end := at(20 * time.Hour)
	poll := func() {
		w.Helper()
		_, err := ingester.Snapshot(w.ctx, f.ID, ingest.Snapshot{
			Hash: fmt.Append(nil, "another body at ", now), At: now,
			Source: func(_ context.Context, yield func([]byte, ingest.Beside) error) (again time.Time, err error) {
				for i := range rows {
					row := fmt.Sprintf(`{"external_id":"%d","kind":"alert.road_closed","lat":52,"lng":4,"properties":{}}`, i)
					beside := ingest.Beside{Line: longLine()[:2+i], EndsAt: end}
					if i%2 == 0 {
						beside = ingest.Beside{EndsAt: end.Add(time.Duration(i) * time.Second)}
					}
					if err := yield([]byte(row), beside); err != nil {
						return again, err
					}
				}
				return end, nil
			},
			Finish: func(r ingest.Result) (ingest.Record, error) {
				return ingest.Record{
					Polling: mapdata.Polling{NextFetchAt: now, LastFetchedAt: now, LastRows: r.Rows, BodyHash: r.BodyHash},
					Attempt: mapdata.Attempt{At: now, OK: true},
				}, nil
			},
		})
		w.must(err)
	}
	poll()
	w.same("entities that the first poll writes", counted.entities, rows)
	mark, err := w.store.Mark(w.ctx, f.ID)
	w.must(err)
	for range 10 {
		now = now.Add(time.Hour)
		poll()
	}
	w.same("entities that ten more write", counted.entities, rows)
	after, err := w.store.Mark(w.ctx, f.ID)
	w.must(err)
	w.same("revision of the feed's entities", after.EntitiesRevision, mark.EntitiesRevision)
	n, err := w.store.CountEntities(w.ctx, f.ID, now)
	w.must(err)
	w.same("entities, seen by each poll", n, rows)
}
