package ingest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// test is a *testing.T or a *rapid.T.
type test interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Cleanup(func())
}

// testIngester is an ingester over a real store, with the last change that it wrote.
type testIngester struct {
	t    test
	db   *sqlite.DB
	in   *ingest.Ingester
	feed mapdata.FeedID
	now  time.Time
	last *mapdata.Change
	got  ingest.Result // of the last snapshot
}

// Apply records the change and passes it to the store.
func (d *testIngester) Apply(ctx context.Context, c *mapdata.Change) error {
	d.last = c
	return d.db.Apply(ctx, c)
}

func (d *testIngester) Mark(ctx context.Context, feed mapdata.FeedID) (mapdata.Mark, error) {
	return d.db.Mark(ctx, feed)
}

func (d *testIngester) Stored(ctx context.Context, feed mapdata.FeedID, ids []string, yield func(mapdata.Stored)) error {
	return d.db.Stored(ctx, feed, ids, yield)
}

func newTestIngester(t *testing.T, direction mapdata.Direction) *testIngester {
	t.Helper()
	return newTestIngesterAt(t, sqlitetest.Path(t), direction)
}

// newTestIngesterAt uses the database at path; t's end closes it.
func newTestIngesterAt(t test, path string, direction mapdata.Direction) *testIngester {
	t.Helper()
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	d := &testIngester{t: t, db: db, now: start}
	d.in = ingest.New(d, func() time.Time { return d.now }, signal.StoreChanged{})
	owner, err := mapdata.NewAccountID()
	if err != nil {
		t.Fatal(err)
	}
	if err := db.CreateAccount(context.Background(), &mapdata.Account{ID: owner, Email: "a@example.org", Role: mapdata.Driver, Tier: mapdata.TierAccount, CreatedAt: start}); err != nil {
		t.Fatal(err)
	}
	d.newFeed(owner, direction)
	return d
}

func (d *testIngester) newFeed(owner mapdata.AccountID, direction mapdata.Direction) {
	var err error
	if d.feed, err = mapdata.NewFeedID(); err != nil {
		d.t.Fatal(err)
	}
	f := &mapdata.Feed{
		ID: d.feed, Owner: owner, Name: "f", Direction: direction, Visibility: mapdata.Public, ReviewState: mapdata.Pending, Active: true,
		Layer: mapdata.Layer{ID: d.feed.String(), Slug: "f", Name: "f"}, PullInterval: time.Hour, CreatedAt: d.now, UpdatedAt: d.now,
	}
	if direction == mapdata.Push {
		f.PushTokenHash = d.feed[:]
	}
	if err := d.db.CreateFeed(context.Background(), f, 1000); err != nil {
		d.t.Fatal(err)
	}
}

func (d *testIngester) push(rows ...string) ingest.Report {
	d.t.Helper()
	batch, err := ingest.DecodeBatch([]byte("["+strings.Join(rows, ",")+"]"), d.now)
	if err != nil {
		d.t.Fatal(err)
	}
	report, err := d.in.Push(context.Background(), d.feed, batch)
	if err != nil {
		d.t.Fatal(err)
	}
	return report
}

func (d *testIngester) snapshot(rows ...string) ingest.Report {
	d.t.Helper()
	body := []byte("[" + strings.Join(rows, ",") + "]")
	hash := sha256.Sum256(body)
	report, err := d.in.Snapshot(context.Background(), d.feed, ingest.Snapshot{
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
		Hash: hash[:], At: d.now, Finish: d.finish,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return report
}

// finish records the result of a snapshot.
func (d *testIngester) finish(r ingest.Result) (ingest.Record, error) {
	d.got = r
	return ingest.Record{
		Polling: mapdata.Polling{LastFetchedAt: d.now, LastOutcome: mapdata.OutcomeOK, NextFetchAt: d.now.Add(time.Hour), LastRows: r.Rows, LastRejected: r.Report.Rejected, BodyHash: r.BodyHash, Shrank: r.Shrank},
		Attempt: mapdata.Attempt{At: d.now, OK: true, Outcome: mapdata.OutcomeOK},
	}, nil
}

// entities returns the entities of the feed that a reader would see now, by external id.
func (d *testIngester) entities() map[string]mapdata.Entity {
	d.t.Helper()
	all := map[string]mapdata.Entity{}
	f, err := d.db.Feed(context.Background(), d.feed)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.db.AllEntities(context.Background(), 0, 1, func(e *mapdata.Entity) {
		if at, ok := e.ExpiresAt(f.SnapshotAt); e.Feed != d.feed || ok && !d.now.Before(at) {
			return
		}
		own := *e
		own.SeenAt = e.LastSeenAt(f.SnapshotAt)
		own.Properties = slices.Clone(e.Properties)
		all[e.ExternalID] = own
	}); err != nil {
		d.t.Fatal(err)
	}
	return all
}

func row(id, kind, more string) string {
	return fmt.Sprintf(`{"external_id":%q,"kind":%q,"lat":52,"lng":4,"properties":{%s}}`, id, kind, more)
}

func with(row, member string) string { return strings.TrimSuffix(row, "}") + "," + member + "}" }

func TestPushKeepsTimes(t *testing.T) {
	d := newTestIngester(t, mapdata.Push)
	police := row("p", "alert.police", "")
	step := func(after time.Duration) { d.now = d.now.Add(after) }
	check := func(first, seen, changed time.Time) {
		t.Helper()
		e := d.entities()["p"]
		if !e.FirstSeenAt.Equal(first) || !e.SeenAt.Equal(seen) || !e.ChangedAt.Equal(changed) {
			t.Errorf("first seen %v, seen %v, changed %v; want %v, %v, %v", e.FirstSeenAt, e.SeenAt, e.ChangedAt, first, seen, changed)
		}
		if at, _ := e.ExpiresAt(time.Time{}); !at.Equal(seen.Add(time.Hour)) {
			t.Errorf("expires at %v, want an hour after it was seen (D3.6)", at)
		}
	}
	d.push(police)
	check(start, start, start)
	step(time.Minute)
	d.push(police) // the same again: only last seen changes
	check(start, d.now, start)
	if len(d.last.Touched) != 1 || len(d.last.Upserts) != 0 {
		t.Errorf("a repeated batch writes %+v (D7.2)", d.last)
	}
	step(time.Minute)
	changed := d.now
	d.push(row("p", "alert.police", `"street":"A1"`))
	check(start, changed, changed)
	step(time.Minute)
	d.push(with(row("p", "alert.police", `"street":"A1"`), `"observed_at":"2020-01-01T00:00:00Z"`)) // known already: first seen stays
	check(start, d.now, changed)
	step(time.Hour) // expired at this very instant: an entity that comes back is new
	d.push(row("p", "alert.police", `"street":"A1"`))
	check(d.now, d.now, d.now)
	d.push(with(police, `"ttl_seconds":1`))
	if got := d.entities(); len(got) != 0 {
		t.Errorf("after ttl 1: %v", got)
	}
	step(time.Second)
	d.push(with(police, `"observed_at":"2026-11-21T07:00:00Z"`))
	check(time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC), d.now, d.now) // D3.5
	d.push(with(police, `"ttl_seconds":1`))
	d.push(with(police, fmt.Sprintf(`"observed_at":%q`, d.now.Add(4*time.Minute).Format(time.RFC3339)))) // by a clock that is fast
	check(d.now, d.now, d.now)
}

func TestPushLifetimes(t *testing.T) {
	d := newTestIngester(t, mapdata.Push)
	d.push(
		with(row("cut", "alert.police", ""), `"ttl_seconds":999999`),
		with(row("asked", "alert.police", ""), `"ttl_seconds":90.2`),
		row("stays", "camera.speed", ""),
		with(row("expires", "camera.speed", ""), `"ttl_seconds":60`),
		with(row("expires late", "camera.speed", ""), `"ttl_seconds":1e300`))
	want := map[string]time.Duration{"cut": 4 * time.Hour, "asked": 91 * time.Second, "stays": 0, "expires": time.Minute, "expires late": 100 * 365 * 24 * time.Hour}
	got := map[string]time.Duration{}
	for id, e := range d.entities() {
		got[id] = e.Lifetime
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPushRetires(t *testing.T) {
	d := newTestIngester(t, mapdata.Push)
	d.push(row("camera", "camera.speed", ""), row("police", "alert.police", ""), row("stays", "camera.speed", ""))
	report := d.push(with(row("camera", "camera.speed", ""), `"ttl_seconds":1`), with(row("police", "alert.police", ""), `"ttl_seconds":1.0`), with(row("never seen", "camera.speed", ""), `"ttl_seconds":1`))
	if report.Accepted != 3 || report.Rejected != 0 {
		t.Errorf("%+v (D3.4)", report)
	}
	if got := d.entities(); len(got) != 1 || got["stays"].ExternalID == "" {
		t.Errorf("left: %v", got)
	}
}

func TestPushReports(t *testing.T) {
	d := newTestIngester(t, mapdata.Push)
	d.push(row("a", "camera.speed", `"v":1`))
	// D3.8: the later of two good rows wins. D3.9: a rejected row changes nothing that is stored.
	report := d.push(row("b", "camera.speed", `"v":1`), row("a", "moose", `"v":2`), row("b", "camera.speed", `"v":2`), `7`)
	b, a := "b", "a"
	want := ingest.Report{Accepted: 1, Rejected: 3, Errors: []ingest.RowError{
		{Index: 0, ExternalID: &b, Code: "duplicate_external_id", Field: "external_id"},
		{Index: 1, ExternalID: &a, Code: "unknown_kind", Field: "kind"},
		{Index: 3, Code: "not_an_object"},
	}}
	for i := range report.Errors {
		if report.Errors[i].Message == "" {
			t.Errorf("%s has no message", report.Errors[i].Code)
		}
		report.Errors[i].Message = ""
	}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Error(diff)
	}
	got := d.entities()
	if string(got["a"].Properties) != `{"v":1}` || string(got["b"].Properties) != `{"v":2}` {
		t.Errorf("stored %s and %s", got["a"].Properties, got["b"].Properties)
	}
}

func TestReportsNameTheFirstHundredErrors(t *testing.T) {
	d := newTestIngester(t, mapdata.Push)
	var rows []string
	for i := range 150 {
		rows = append(rows, row(fmt.Sprint("twice", i), "camera.speed", ""), "7")
	}
	for i := range 150 { // found last, and yet the first by index
		rows = append(rows, row(fmt.Sprint("twice", i), "camera.speed", ""))
	}
	report := d.push(rows...)
	if report.Rejected != 300 || report.Accepted != 150 || !report.ErrorsTruncated || len(report.Errors) != 100 {
		t.Fatalf("%d accepted, %d rejected, %d errors, truncated %v", report.Accepted, report.Rejected, len(report.Errors), report.ErrorsTruncated)
	}
	for i, e := range report.Errors {
		if e.Index != i {
			t.Fatalf("error %d is of row %d", i, e.Index)
		}
	}
	if report := d.push("7"); report.ErrorsTruncated {
		t.Error("one error is truncated")
	}
}

func TestSnapshotWritesWhatChanged(t *testing.T) {
	d := newTestIngester(t, mapdata.Pull)
	var rows []string
	for i := range 1000 {
		rows = append(rows, row(fmt.Sprint("e", i), "camera.speed", `"v":1`))
	}
	d.snapshot(rows...)
	if len(d.last.Upserts) != 1000 {
		t.Fatalf("the first snapshot writes %d rows", len(d.last.Upserts))
	}
	d.now = d.now.Add(time.Minute)
	d.snapshot(rows...)
	if d.last.Moves() {
		t.Errorf("an equal body writes entities")
	}
	d.now = d.now.Add(time.Minute)
	rows[7] = row("e7", "camera.speed", `"v":2`)
	slices.Reverse(rows)
	report := d.snapshot(rows...)
	if len(d.last.Upserts) != 1 || len(d.last.Touched)+len(d.last.Absent)+len(d.last.Retired) != 0 || report.Accepted != 1000 {
		t.Errorf("one changed row writes %d, touches %d, misses %d", len(d.last.Upserts), len(d.last.Touched), len(d.last.Absent))
	}
	for id, e := range d.entities() {
		if !e.SeenAt.Equal(d.now) || !e.FirstSeenAt.Equal(start) || e.ChangedAt.Equal(start) == (id == "e7") {
			t.Fatalf("%s: first seen %v, seen %v, changed %v", id, e.FirstSeenAt, e.SeenAt, e.ChangedAt)
		}
	}
}

// TestMissingRowsExpireOrRetire checks D6.9.
func TestMissingRowsExpireOrRetire(t *testing.T) {
	d := newTestIngester(t, mapdata.Pull)
	camera, police, stays := row("camera", "camera.speed", ""), row("police", "alert.police", ""), row("stays", "camera.red_light", "")
	next := func(rows ...string) []string {
		t.Helper()
		d.now = d.now.Add(10 * time.Minute)
		d.snapshot(rows...)
		return slices.Sorted(func(yield func(string) bool) {
			for id := range d.entities() {
				if !yield(id) {
					return
				}
			}
		})
	}
	all := []string{"camera", "police", "stays"}
	for i, step := range []struct {
		rows, want []string
	}{
		{[]string{camera, police, stays}, all},
		{[]string{stays}, all}, // missing once; police was last seen at 10 minutes
		{[]string{stays}, all}, // twice
		{[]string{camera, stays}, all},
		{[]string{stays}, all}, // the count starts anew
		{[]string{stays}, all},
		{[]string{stays}, []string{"stays"}}, // three in a row; police has expired after its hour
		{[]string{}, []string{"stays"}},      // an empty array is a good snapshot
		{[]string{}, []string{"stays"}},      // the same body again, which counts as well
		{[]string{}, nil},
		{[]string{}, nil},
	} {
		if diff := cmp.Diff(step.want, next(step.rows...)); diff != "" {
			t.Fatalf("step %d: %s", i, diff)
		}
	}
}

func TestReturningRowKeepsItsTimes(t *testing.T) {
	d := newTestIngester(t, mapdata.Pull)
	police, other := row("police", "alert.police", ""), row("other", "camera.speed", "")
	d.snapshot(police, other)
	d.now = d.now.Add(10 * time.Minute)
	d.snapshot(other)
	if e := d.entities()["police"]; !e.SeenAt.Equal(start) {
		t.Errorf("a missing row was last seen at %v, want %v", e.SeenAt, start)
	}
	d.now = d.now.Add(10 * time.Minute)
	d.snapshot(police, other)
	e := d.entities()["police"]
	if !e.SeenAt.Equal(d.now) || !e.FirstSeenAt.Equal(start) || !e.ChangedAt.Equal(start) {
		t.Errorf("back: first seen %v, seen %v, changed %v", e.FirstSeenAt, e.SeenAt, e.ChangedAt)
	}
	d.now = d.now.Add(2 * time.Hour) // expired before this poll, and its body is the same
	d.snapshot(police, other)
	if e := d.entities()["police"]; !e.FirstSeenAt.Equal(d.now) {
		t.Errorf("what comes back after it expired is new: first seen %v, want %v", e.FirstSeenAt, d.now)
	}
}

func TestEqualBodyIsReadAgainWhenTimeMatters(t *testing.T) {
	d := newTestIngester(t, mapdata.Pull)
	early := with(row("early", "alert.police", ""), `"observed_at":"2026-11-21T08:06:00Z"`)
	if report := d.snapshot(early, "7"); report.Rejected != 2 {
		t.Fatalf("%+v", report)
	}
	d.now = d.now.Add(2 * time.Minute)
	if report := d.snapshot(early, "7"); report.Rejected != 1 || report.Accepted != 1 {
		t.Errorf("what lay in the future is still refused: %+v", report)
	}
	d.now = d.now.Add(2 * time.Minute)
	if report := d.snapshot(early, "7"); report.Rejected != 1 || report.Accepted != 1 || d.last.Moves() {
		t.Errorf("an equal body: %+v, moves %v", report, d.last.Moves())
	}
}

// TestEqualBodyIsReadAgainWhenTheFeedWasFull checks that rows that had no room are stored once there is room, without a
// new body.
func TestEqualBodyIsReadAgainWhenTheFeedWasFull(t *testing.T) {
	d := newTestIngester(t, mapdata.Pull)
	d.in.SetLimits(mapdata.StorageLimits{EntitiesPerFeed: 1})
	rows := []string{row("a", "camera.speed", ""), row("b", "camera.speed", "")}
	if report := d.snapshot(rows...); report.Accepted != 1 || report.Rejected != 1 {
		t.Fatalf("a feed that may hold one: %+v", report)
	}
	d.now = d.now.Add(time.Minute)
	if report := d.snapshot(rows...); report.Rejected != 1 {
		t.Errorf("again: %+v", report)
	}
	d.in.SetLimits(mapdata.StorageLimits{EntitiesPerFeed: 2})
	d.now = d.now.Add(time.Minute)
	if report := d.snapshot(rows...); report.Accepted != 2 || len(d.entities()) != 2 {
		t.Errorf("a feed that may hold two: %+v", report)
	}
	d.now = d.now.Add(time.Minute)
	if d.snapshot(rows...); d.last.Moves() {
		t.Error("an equal body writes entities")
	}
}

func TestSnapshotShrinks(t *testing.T) {
	d := newTestIngester(t, mapdata.Pull)
	rows := func(n int) (all []string) {
		for i := range n {
			all = append(all, row(fmt.Sprint(i), "camera.speed", ""))
		}
		return all
	}
	for _, step := range []struct {
		rows   int
		shrank bool
	}{{10, false}, {5, false}, {2, true}, {1, false}, {0, true}, {0, false}} {
		d.snapshot(rows(step.rows)...)
		if d.got.Shrank != step.shrank {
			t.Errorf("%d rows: shrank %v", step.rows, d.got.Shrank)
		}
	}
}

// thing is the model's state of an entity.
type thing struct {
	First, Seen, Changed time.Time
	Version              int
	life                 time.Duration
	missed               int // consecutive snapshots
}

// model implements D3 and D6.9 in the simplest form: apply takes rows one by one.
type model map[string]*thing

func (m model) expire(now time.Time) {
	for id, e := range m {
		if e.life > 0 && !now.Before(e.Seen.Add(e.life)) {
			delete(m, id)
		}
	}
}

// modelRow is a row of the model; version -1 retires.
type modelRow struct {
	id      string
	version int
	life    time.Duration
}

func (m model) apply(rows []modelRow, now time.Time, snapshot bool) {
	m.expire(now)
	final := map[string]modelRow{}
	for _, r := range rows {
		final[r.id] = r
	}
	for id, r := range final {
		old := m[id]
		switch {
		case r.version < 0:
			delete(m, id)
		case old == nil:
			m[id] = &thing{First: now, Seen: now, Changed: now, Version: r.version, life: r.life}
		default:
			old.Seen, old.missed = now, 0
			if old.Version != r.version {
				old.Version, old.Changed = r.version, now
			}
		}
	}
	for id, e := range m {
		if _, named := final[id]; snapshot && !named {
			if e.missed++; e.missed == 3 && e.life == 0 {
				delete(m, id)
			}
		}
	}
}

// TestAgainstModel compares random pushes and polls with the model.
func TestAgainstModel(t *testing.T) {
	whole := t
	rapid.Check(t, func(t *rapid.T) {
		snapshot := rapid.Bool().Draw(t, "snapshots")
		d := newTestIngesterAt(t, sqlitetest.Path(whole), map[bool]mapdata.Direction{true: mapdata.Pull, false: mapdata.Push}[snapshot])
		want := model{}
		var texts []string
		var rows []modelRow
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			d.now = d.now.Add(time.Duration(rapid.IntRange(1, 50).Draw(t, "minutes")) * time.Minute)
			if len(rows) == 0 || rapid.IntRange(0, 2).Draw(t, "same") > 0 { // otherwise the same body again
				texts, rows = nil, nil
				for range rapid.IntRange(0, 6).Draw(t, "rows") {
					n := rapid.IntRange(0, 7).Draw(t, "id")
					r := modelRow{fmt.Sprint("e", n), rapid.IntRange(-1, 1).Draw(t, "version"), 0}
					kind := "camera.speed"
					if n%2 == 1 {
						kind, r.life = "alert.police", time.Hour
					}
					text := row(r.id, kind, fmt.Sprintf(`"v":%d`, r.version))
					if r.version < 0 {
						text = with(text, `"ttl_seconds":1`)
					}
					texts, rows = append(texts, text), append(rows, r)
				}
			}
			want.apply(rows, d.now, snapshot)
			if snapshot {
				d.snapshot(texts...)
			} else {
				d.push(texts...)
			}
			got := model{}
			for id, e := range d.entities() {
				version := -1
				if _, err := fmt.Sscanf(string(e.Properties), `{"v":%d}`, &version); err != nil {
					t.Fatal(err)
				}
				got[id] = &thing{First: e.FirstSeenAt, Seen: e.SeenAt, Changed: e.ChangedAt, Version: version}
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(thing{})); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("[" + row("a", "alert.police", `"n":[1e400,"\\u0000",{"a":1,"a":2}]`) + "]"))
	f.Add([]byte("\xef\xbb\xbf[" + with(row("\\ud800", "camera.speed", `"wayside_x": 1 , "b" : [ ]`), `"ttl_seconds":1.5,"observed_at":"2026-11-21T08:00:00+01:00"`) + ",null]"))
	f.Add([]byte(`[{"external_id":"x","kind":"charger.destination","lat":-0,"lng":1e-7,"properties":{"network":"\u0061"},"lat":null}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		batch, err := ingest.DecodeBatch(body, start)
		checked, checkErr := ingest.Check(bytes.NewReader(body), start)
		if (err == nil) != (checkErr == nil) && !errors.Is(err, ingest.ErrTooManyRows) {
			t.Fatalf("a push says %v, a check %v", err, checkErr)
		}
		if err != nil {
			return
		}
		report, sum := checked.Report, 0
		if report.Accepted+report.Rejected != batch.Rows() || checked.Rows != batch.Rows() || len(report.Errors) > 100 {
			t.Errorf("%d rows: %+v", batch.Rows(), report)
		}
		for _, r := range checked.Rejections {
			sum += r.Rows
			if len(r.Examples) == 0 || len(r.Examples) > mapdata.MaxExamples {
				t.Errorf("%d examples of %s", len(r.Examples), r.Code)
			}
		}
		if sum != report.Rejected {
			t.Errorf("%d rejected, by codes %d", report.Rejected, sum)
		}
		sum = 0
		for _, n := range checked.Kinds {
			sum += n
		}
		if sum != report.Accepted {
			t.Errorf("%d accepted, by kinds %d", report.Accepted, sum)
		}
	})
}
