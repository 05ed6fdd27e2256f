package ingest_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// bridged is a foreign document: rows with their lines and ends. It skips a row whose end has passed, as a bridge does.
type bridged struct {
	t    test
	rows []bridgedRow
	read int // number of readings
	now  *time.Time
}

type bridgedRow struct {
	text   string
	starts time.Time // zero: it has started
	beside ingest.Beside
}

var tunnel = []geo.Point{{Lat: 52, Lng: 4}, {Lat: 52.001, Lng: 4.002}, {Lat: 52.002, Lng: 4.0035}}

func (b *bridged) source(_ context.Context, yield func([]byte, ingest.Beside) error) (again time.Time, err error) {
	b.read++
	meet := func(at time.Time) {
		if at.After(*b.now) && (again.IsZero() || at.Before(again)) {
			again = at
		}
	}
	var text []byte
	var line []geo.Point // reused, so that ingest must not retain it
	for i := range b.rows {
		r := &b.rows[i]
		meet(r.starts)
		meet(r.beside.EndsAt)
		if r.starts.After(*b.now) || !r.beside.EndsAt.IsZero() && !r.beside.EndsAt.After(*b.now) {
			continue
		}
		text = append(text[:0], r.text...)
		line = append(line[:0], r.beside.Line...)
		beside := ingest.Beside{EndsAt: r.beside.EndsAt}
		if r.beside.Line != nil {
			beside.Line = line
		}
		if err := yield(text, beside); err != nil {
			return again, err
		}
	}
	clear(text[:cap(text)])
	clear(line[:cap(line)])
	return again, nil
}

// poll ingests the document as a snapshot, with a hash of its rows, whatever the time.
func (b *bridged) poll(d *testIngester) (ingest.Report, error) {
	hash := sha256.Sum256(fmt.Append(nil, b.rows))
	return d.in.Snapshot(context.Background(), d.feed, ingest.Snapshot{
		Open: func() (io.ReadCloser, error) { return nil, errors.New("the body of a foreign document holds no rows") },
		Hash: hash[:], At: d.now, Source: b.source, Finish: d.finish,
	})
}

func (b *bridged) mustPoll(d *testIngester) ingest.Report {
	b.t.Helper()
	report, err := b.poll(d)
	if err != nil {
		b.t.Fatal(err)
	}
	return report
}

func newBridged(t *testing.T, rows ...bridgedRow) (*testIngester, *bridged) {
	t.Helper()
	d := newTestIngester(t, mapdata.Pull)
	return d, &bridged{t: t, rows: rows, now: &d.now}
}

func TestSourceGivesLineAndEnd(t *testing.T) {
	end := start.Add(20 * time.Minute)
	d, doc := newBridged(t,
		bridgedRow{text: row("closed", "alert.road_closed", ""), beside: ingest.Beside{Line: tunnel, EndsAt: end.Add(999 * time.Millisecond)}},
		bridgedRow{text: row("camera", "camera.speed", ""), beside: ingest.Beside{EndsAt: end}},
		bridgedRow{text: row("plain", "alert.police", "")},
		bridgedRow{text: row("wrong", "alert.unheard_of", ""), beside: ingest.Beside{Line: tunnel}})
	if report := doc.mustPoll(d); report.Accepted != 3 || report.Rejected != 1 || report.Errors[0].Code != "unknown_kind" || report.Errors[0].Index != 3 {
		t.Errorf("the judge of v1 rows says %+v", report)
	}
	all := d.entities()
	for id, want := range map[string]struct {
		line []geo.Point
		ends time.Time
	}{"closed": {tunnel, end}, "camera": {nil, end}, "plain": {}} {
		e := all[id]
		if diff := cmp.Diff(want.line, e.Line); diff != "" || !e.EndsAt.Equal(want.ends) {
			t.Errorf("%s ends at %v, want %v; line (-want +got):\n%s", id, e.EndsAt, want.ends, diff)
		}
	}
	for id, want := range map[string]time.Time{"closed": end, "camera": end, "plain": start.Add(time.Hour)} {
		e := all[id]
		if at, ok := e.ExpiresAt(time.Time{}); !ok || !at.Equal(want) {
			t.Errorf("%s expires at %v, want %v: the earlier of its lifetime and its end (D17.3)", id, at, want)
		}
	}
}

// TestLinesAndEndsOutOfBounds checks that lines and ends that an entity cannot have are dropped, and that the row stays (D17.4).
func TestLinesAndEndsOutOfBounds(t *testing.T) {
	long := make([]geo.Point, mapdata.MaxLine+1)
	for i := range long {
		long[i] = geo.Point{Lat: 52, Lng: float64(i) / 1000}
	}
	for name, c := range map[string]struct {
		beside ingest.Beside
		line   int
		ends   bool
	}{
		"one position":   {ingest.Beside{Line: tunnel[:1]}, 0, false},
		"two positions":  {ingest.Beside{Line: tunnel[:2]}, 2, false},
		"500 positions":  {ingest.Beside{Line: long[:mapdata.MaxLine]}, mapdata.MaxLine, false},
		"501 positions":  {ingest.Beside{Line: long}, 0, false},
		"off the globe":  {ingest.Beside{Line: []geo.Point{{Lat: 52}, {Lat: 90.001}}}, 0, false},
		"the last end":   {ingest.Beside{EndsAt: mapdata.LatestEnd()}, 0, true},
		"a later end":    {ingest.Beside{EndsAt: mapdata.LatestEnd().Add(time.Second)}, 0, false},
		"the year 9999":  {ingest.Beside{EndsAt: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)}, 0, false},
		"another offset": {ingest.Beside{EndsAt: start.Add(time.Hour).In(time.FixedZone("", 3600))}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			d, doc := newBridged(t, bridgedRow{text: row("a", "camera.speed", ""), beside: c.beside})
			if report := doc.mustPoll(d); report.Accepted != 1 {
				t.Fatalf("%+v", report)
			}
			e := d.entities()["a"]
			if len(e.Line) != c.line || e.EndsAt.IsZero() == c.ends {
				t.Errorf("a line of %d positions, want %d; it ends at %v", len(e.Line), c.line, e.EndsAt)
			}
		})
	}
}

// TestUnchangedRowsOfABridgeWriteNothing checks that unchanged rows write nothing at any poll, although their ends come nearer, and
// although the document is read (D6.10, D17.3).
func TestUnchangedRowsOfABridgeWriteNothing(t *testing.T) {
	var rows []bridgedRow
	for i := range 100 {
		rows = append(rows, bridgedRow{
			text: row(fmt.Sprint("e", i), "alert.construction", ""), beside: ingest.Beside{Line: tunnel, EndsAt: start.Add(50 * time.Hour)},
		})
	}
	d, doc := newBridged(t, rows...)
	for poll := range 50 {
		doc.rows[poll%100].starts = time.Unix(int64(poll), 0) // another hash
		doc.mustPoll(d)
		if moves := d.last.Moves(); moves != (poll == 0) || doc.read != poll+1 {
			t.Fatalf("poll %d writes: %v; the document was read %d times", poll, moves, doc.read)
		}
		d.now = d.now.Add(time.Hour)
	}
	if doc.mustPoll(d); len(d.entities()) != 0 {
		t.Errorf("left after their end: %v", d.entities())
	}
}

// TestEqualDocumentIsReadAgainWhenAStartOrEndHasPassed checks D17.6.
func TestEqualDocumentIsReadAgainWhenAStartOrEndHasPassed(t *testing.T) {
	d, doc := newBridged(t,
		bridgedRow{text: row("runs", "camera.speed", "")},
		bridgedRow{text: row("ends", "camera.speed", ""), beside: ingest.Beside{EndsAt: start.Add(10 * time.Minute)}},
		bridgedRow{text: row("begins", "camera.speed", ""), starts: start.Add(20*time.Minute + 500*time.Microsecond)})
	for _, step := range []struct {
		at   time.Duration
		read int
		want []string
	}{
		{0, 1, []string{"ends", "runs"}},
		{10*time.Minute - time.Millisecond, 1, []string{"ends", "runs"}},
		{10 * time.Minute, 2, []string{"runs"}},
		{15 * time.Minute, 2, []string{"runs"}},
		{20 * time.Minute, 2, []string{"runs"}},
		{20*time.Minute + time.Millisecond, 3, []string{"begins", "runs"}},
		{1000 * time.Hour, 3, []string{"begins", "runs"}},
	} {
		d.now = start.Add(step.at)
		f, err := d.db.Feed(t.Context(), d.feed)
		if err != nil {
			t.Fatal(err)
		}
		hash, stands := ingest.Standing(f.Polling.BodyHash, f.SnapshotAt, d.now)
		before := doc.read
		doc.mustPoll(d)
		if stands != (doc.read == before) || stands == (hash == nil) {
			t.Errorf("after %v the body stands: %v; it was read: %v", step.at, stands, doc.read > before)
		}
		var got []string
		for id := range d.entities() {
			got = append(got, id)
		}
		slices.Sort(got)
		if diff := cmp.Diff(step.want, got); diff != "" || doc.read != step.read {
			t.Errorf("after %v the document was read %d times, want %d (-want +got):\n%s", step.at, doc.read, step.read, diff)
		}
	}
}

func TestStandingRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, kept := range [][]byte{nil, {}, make([]byte, 32), make([]byte, 57), make([]byte, 65)} {
		if hash, ok := ingest.Standing(kept, start, start); ok || hash != nil {
			t.Errorf("%d bytes stand for a body", len(kept))
		}
	}
}

// TestRowThatHasEndedGoes checks that an entity whose row has ended is removed: a bridge skips such a row, unless its end passed between
// two looks at the clock.
func TestRowThatHasEndedGoes(t *testing.T) {
	d, doc := newBridged(t, bridgedRow{text: row("a", "camera.speed", "")})
	doc.mustPoll(d)
	late := start.Add(-time.Hour) // the bridge's clock
	doc.now, doc.rows[0].beside.EndsAt = &late, start
	report := doc.mustPoll(d)
	if report.Accepted != 1 || len(d.entities()) != 0 || len(d.last.Upserts) != 0 {
		t.Errorf("%+v; left: %v", report, d.entities())
	}
	doc.rows[0].starts = time.Unix(1, 0)
	if doc.mustPoll(d); d.last.Moves() {
		t.Error("what has ended is written again")
	}
}

func TestSourceIsBounded(t *testing.T) {
	d, doc := newBridged(t,
		bridgedRow{text: row("long", "camera.speed", `"a":"`+strings.Repeat("x", 64<<10)+`"`)},
		bridgedRow{text: `{"external_id":`},
		bridgedRow{text: row("two", "camera.speed", "") + "{}"},
		bridgedRow{text: "{\"external_id\":\"\xff\"}"},
		bridgedRow{text: row("good", "camera.speed", "")})
	report := doc.mustPoll(d)
	var codes []string
	for _, e := range report.Errors {
		codes = append(codes, e.Code)
	}
	if diff := cmp.Diff([]string{"row_too_large", "not_an_object", "not_an_object", "not_an_object"}, codes); diff != "" || report.Accepted != 1 {
		t.Errorf("accepted %d; (-want +got):\n%s", report.Accepted, diff)
	}

	text, rows := []byte(row("a", "camera.speed", "")), 0
	endless := func(_ context.Context, yield func([]byte, ingest.Beside) error) (time.Time, error) {
		for {
			if err := yield(text, ingest.Beside{}); err != nil {
				return time.Time{}, err
			}
			rows++
		}
	}
	if _, err := ingest.CheckSource(t.Context(), endless, start); !errors.Is(err, ingest.ErrTooManyRows) || rows != 200_000 { // D6.6
		t.Errorf("after %d rows: %v", rows, err)
	}
	broken := func(_ context.Context, yield func([]byte, ingest.Beside) error) (time.Time, error) {
		return time.Time{}, errors.Join(yield(text, ingest.Beside{}), io.ErrUnexpectedEOF)
	}
	if _, err := d.in.Snapshot(t.Context(), d.feed, ingest.Snapshot{
		Source: broken, Hash: []byte("another"), At: d.now, Finish: d.finish,
	}); !errors.Is(err, io.ErrUnexpectedEOF) || len(d.entities()) != 1 {
		t.Errorf("a document that breaks off: %v; left: %v", err, d.entities())
	}
}

// TestLinesCountTowardsWhatAFeedHolds checks that rows beyond the bound are rejected while the document is read, and not kept in memory
// until its end.
func TestLinesCountTowardsWhatAFeedHolds(t *testing.T) {
	size := int64(len("e0") + len("{}") + 9 + 16*len(tunnel))
	var rows []bridgedRow
	for i := range 5 {
		rows = append(rows, bridgedRow{text: row(fmt.Sprint("e", i), "camera.speed", ""), beside: ingest.Beside{Line: tunnel}})
	}
	d, doc := newBridged(t, rows...)
	d.in.SetLimits(mapdata.StorageLimits{BytesPerFeed: 3*size + 1})
	report := doc.mustPoll(d)
	if report.Accepted != 3 || report.Rejected != 2 || report.Errors[0].Code != "feed_full" || len(d.entities()) != 3 {
		t.Errorf("%+v; stored: %d", report, len(d.entities()))
	}
	d.in.SetLimits(mapdata.StorageLimits{})
	if report := doc.mustPoll(d); report.Accepted != 5 || len(d.entities()) != 5 {
		t.Errorf("the same document without a bound: %+v", report)
	}
}

// TestDocumentIsNotHeldBeyondWhatAFeedMayHold checks the memory of a document that unpacks to far more than the feed's bound.
func TestDocumentIsNotHeldBeyondWhatAFeedMayHold(t *testing.T) {
	const rows, mayHold, mayUse = 5000, 1 << 20, 16 << 20 // all lines together are 40 MB
	d := newTestIngester(t, mapdata.Pull)
	d.in.SetLimits(mapdata.StorageLimits{BytesPerFeed: mayHold})
	line := make([]geo.Point, mapdata.MaxLine)
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, after := inUse(), uint64(0)
	report, err := d.in.Snapshot(t.Context(), d.feed, ingest.Snapshot{
		Hash: []byte("many lines"), At: d.now, Finish: d.finish,
		Source: func(_ context.Context, yield func([]byte, ingest.Beside) error) (again time.Time, err error) {
			for i := range rows {
				if err := yield([]byte(row(fmt.Sprint(i), "camera.speed", "")), ingest.Beside{Line: line}); err != nil {
					return again, err
				}
			}
			after = inUse()
			return again, nil
		},
	})
	if err != nil || report.Accepted == 0 || report.Rejected == 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	if after > before+mayUse {
		t.Errorf("%d bytes are held of a document whose feed may hold %d", after-before, mayHold)
	}
}

func TestCheckAndReadRowsGiveWhatStandsBesideRows(t *testing.T) {
	end := start.Add(time.Hour)
	now := start
	doc := &bridged{t: t, now: &now, rows: []bridgedRow{
		{text: row("a", "camera.speed", ""), beside: ingest.Beside{Line: tunnel, EndsAt: end}}, {text: row("b", "camera.speed", "")}, {text: "7"},
	}}
	checked, err := ingest.CheckSource(t.Context(), doc.source, start)
	if err != nil {
		t.Fatal(err)
	}
	if checked.Rows != 3 || checked.Report.Accepted != 2 || len(checked.Pins) != 2 || !checked.Pins[0].EndsAt.Equal(end) ||
		cmp.Diff(tunnel, checked.Pins[0].Line) != "" || checked.Pins[1].Line != nil {
		t.Errorf("%+v", checked)
	}
	var lines []int
	rows, again, err := ingest.ReadRows(t.Context(), doc.source, start, func(index int, row *ingest.Row, rejected *ingest.RowError) error {
		if index != len(lines) || (rejected != nil) != (index == 2) {
			t.Errorf("row %d: %+v", index, rejected)
		}
		lines = append(lines, len(row.Line))
		return nil
	})
	if err != nil || rows != 3 || !again.Equal(end) || cmp.Diff([]int{3, 0, 0}, lines) != "" {
		t.Errorf("%d rows, again at %v, %v; lines of %v positions", rows, again, err, lines)
	}
}

// TestNoMemberOfARowDrawsALine checks that the line and the end of an entity come only from a bridge (D17.3).
func TestNoMemberOfARowDrawsALine(t *testing.T) {
	const line = `[[4,52],[4.1,52.1]]`
	members := map[string]string{}
	for _, name := range []string{"line", "Line", "geom_line", "geometry", "geom", "shape", "path", "beside", "Beside", "polyline", "coordinates"} {
		members[name] = line
		members[name+" of GeoJSON"] = `{"type":"LineString","coordinates":` + line + `}`
	}
	for _, name := range []string{"ends_at", "EndsAt", "end", "expires_at", "ends", "kept_until", "ExpiresAt"} {
		members[name] = `"2026-11-21T08:00:30Z"`
	}
	var rows []string
	for name, value := range members {
		name, _, _ = strings.Cut(name, " ")
		id := fmt.Sprint(len(rows))
		rows = append(rows,
			with(row("beside "+id, "alert.road_closed", ""), fmt.Sprintf("%q:%s", name, value)),
			row("within "+id, "alert.road_closed", fmt.Sprintf("%q:%s", name, value)))
	}
	for direction, send := range map[mapdata.Direction]func(*testIngester) ingest.Report{
		mapdata.Push: func(d *testIngester) ingest.Report { return d.push(rows...) },
		mapdata.Pull: func(d *testIngester) ingest.Report { return d.snapshot(rows...) },
	} {
		d := newTestIngester(t, direction)
		if report := send(d); report.Accepted != len(rows) {
			t.Fatalf("%s: %+v", direction, report)
		}
		kept := 0
		for id, e := range d.entities() {
			at, _ := e.ExpiresAt(time.Time{})
			if e.Line != nil || !e.EndsAt.IsZero() || !at.Equal(start.Add(e.Kind.Info().Default)) {
				t.Errorf("%s: %s has a line of %d positions and ends at %v", direction, id, len(e.Line), e.EndsAt)
			}
			if string(e.Properties) == `{"line":`+line+`}` {
				kept++
			}
		}
		if kept != 1 {
			t.Errorf("%s: properties.line is kept %d times as the property that it is", direction, kept)
		}
	}
	d := newTestIngester(t, mapdata.Pull)
	doc := &bridged{t: t, now: &d.now}
	for _, r := range rows {
		doc.rows = append(doc.rows, bridgedRow{text: r})
	}
	doc.mustPoll(d)
	for id, e := range d.entities() {
		if e.Line != nil || !e.EndsAt.IsZero() {
			t.Errorf("bridged: a member of %s draws", id)
		}
	}
}

// TestDigestsAreStable checks known digests, because another digest would make each stored row count as changed once. The numbers of rows
// without line and end are those from before lines and ends were added.
func TestDigestsAreStable(t *testing.T) {
	text := with(row("a", "alert.construction", `"street":"Damrak","line":[[4,52],[5,52]]`), `"ttl_seconds":3600`)
	digest := func(beside ingest.Beside) (digest uint64) {
		now := start
		doc := &bridged{t: t, now: &now, rows: []bridgedRow{{text: text, beside: beside}}}
		if _, _, err := ingest.ReadRows(t.Context(), doc.source, start, func(_ int, row *ingest.Row, _ *ingest.RowError) error {
			e := row.Entity(start)
			digest = e.Digest
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return digest
	}
	end := start.Add(time.Hour)
	turned := slices.Clone(tunnel)
	slices.Reverse(turned)
	seen := map[uint64]string{}
	for name, c := range map[string]struct {
		beside ingest.Beside
		want   uint64 // 0: any
	}{
		"neither":          {ingest.Beside{}, 0x75e06dfcbabf408a},
		"line":             {ingest.Beside{Line: tunnel}, 0x78c5e827c915f99b},
		"end":              {ingest.Beside{EndsAt: end}, 0x919cf4b2c2e111f3},
		"both":             {ingest.Beside{Line: tunnel, EndsAt: end}, 0xc3a79f763b3fe1ad},
		"turned round":     {ingest.Beside{Line: turned}, 0},
		"shorter":          {ingest.Beside{Line: tunnel[:2]}, 0},
		"ends earlier":     {ingest.Beside{EndsAt: end.Add(-time.Second)}, 0},
		"both, turned":     {ingest.Beside{Line: turned, EndsAt: end}, 0},
		"both, ends later": {ingest.Beside{Line: tunnel, EndsAt: end.Add(time.Second)}, 0},
	} {
		got := digest(c.beside)
		if c.want != 0 && got != c.want {
			t.Errorf("%s: digest %#x, want %#x", name, got, c.want)
		}
		if other, twice := seen[got]; twice {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[got] = name
	}
	if got := digest(ingest.Beside{EndsAt: end.Add(time.Millisecond)}); got != digest(ingest.Beside{EndsAt: end}) {
		t.Error("a fraction of a second changes the digest")
	}
}
