package ingest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
)

func check(t *testing.T, rows ...string) *ingest.Checked {
	t.Helper()
	c, err := ingest.Check(strings.NewReader("["+strings.Join(rows, ",")+"]"), start)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCheckGivesPins(t *testing.T) {
	c := check(t,
		row("a", "alert.police", `"n":1`), row("b", "camera.speed", ``), row("a", "alert.accident", `"n":2`),
		with(row("c", "camera.speed", ``), `"ttl_seconds":1`), `7`)
	var pins []string
	for i := range c.Pins {
		pins = append(pins, fmt.Sprint(c.Pins[i].ExternalID, " ", c.Pins[i].Kind.ID(), " ", string(c.Pins[i].Properties)))
	}
	if diff := cmp.Diff([]string{"b camera.speed {}", `a alert.accident {"n":2}`}, pins); diff != "" {
		t.Errorf("pins (-want +got):\n%s", diff)
	}
	if c.Rows != 5 || c.Report.Accepted != 3 || c.Report.Rejected != 2 {
		t.Errorf("%d rows, %+v", c.Rows, c.Report)
	}
	want := []mapdata.Rejection{
		{Code: "duplicate_external_id", Rows: 1, Examples: []mapdata.RejectedRow{{
			ExternalID: "a", Field: "external_id", Message: "A later row has the same external_id, and counts.",
		}}},
		{Code: "not_an_object", Rows: 1, Examples: []mapdata.RejectedRow{{Index: 4, Message: "A row must be a JSON object."}}},
	}
	if diff := cmp.Diff(want, c.Rejections); diff != "" {
		t.Errorf("rejections (-want +got):\n%s", diff)
	}
}

// TestCheckIsBounded checks that a check shows 1000 pins, ten of them with properties, and three examples of each rejection.
func TestCheckIsBounded(t *testing.T) {
	var rows []string
	for i := range 1010 {
		rows = append(rows, row(fmt.Sprint(i), "camera.speed", `"n":1`))
	}
	for i := range 10 {
		rows = append(rows, fmt.Sprintf(`{"external_id":%q}`, strings.Repeat("é", 100+i)))
	}
	c := check(t, rows...)
	if len(c.Pins) != 1000 || c.Pins[9].Properties == nil || c.Pins[10].Properties != nil {
		t.Errorf("%d pins", len(c.Pins))
	}
	for _, r := range c.Rejections {
		if len(r.Examples) > 3 {
			t.Errorf("%d examples of %s", len(r.Examples), r.Code)
		}
	}
	// An id that is too long is shown up to the maximum length of an id.
	c = check(t, fmt.Sprintf(`{"external_id":%q}`, "x"+strings.Repeat("é", 1000)))
	if id := c.Rejections[0].Examples[0].ExternalID; len(id) > 256 || !strings.HasPrefix("x"+strings.Repeat("é", 1000), id) {
		t.Errorf("the example's id is %q", id)
	}
}

// TestAttemptsTellWhatChanged compares the counts of a timeline with the effect of the rows.
func TestAttemptsTellWhatChanged(t *testing.T) {
	d := newTestIngester(t, mapdata.Push)
	last := func() mapdata.Attempt {
		t.Helper()
		all, err := d.db.Timeline(t.Context(), d.feed, time.Time{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		return all[0]
	}
	d.push(row("a", "camera.speed", ``), row("b", "camera.speed", ``), row("c", "camera.speed", ``), `7`)
	if a := last(); a.Rows != 4 || a.Accepted() != 3 || a.Unchanged != 0 || a.Retired != 0 {
		t.Errorf("all new: %+v", a)
	}
	d.now = d.now.Add(time.Minute)
	d.push(row("a", "camera.speed", ``), row("b", "camera.speed", `"n":1`),
		with(row("c", "camera.speed", ``), `"ttl_seconds":1`), with(row("never seen", "camera.speed", ``), `"ttl_seconds":1`))
	if a := last(); a.Rows != 4 || a.Unchanged != 2 || a.Retired != 1 {
		t.Errorf("one the same, one changed, one retired, one retired that nobody knew: %+v", a)
	}
	rejected, err := d.db.Rejections(t.Context(), d.feed, time.Time{})
	if err != nil || len(rejected) != 1 || rejected[0].Code != "not_an_object" || rejected[0].Rows != 1 {
		t.Errorf("rejections = %+v, %v", rejected, err)
	}
}

func TestSnapshotsTellWhatChanged(t *testing.T) {
	d := newTestIngester(t, mapdata.Pull)
	hour := func(rows ...string) {
		t.Helper()
		d.snapshot(rows...)
		d.now = d.now.Add(time.Hour)
	}
	a, b, bad := row("a", "camera.speed", ``), row("b", "camera.speed", ``), `7`
	hour(a, b, bad)
	if c := d.last; c.Attempt.Unchanged != 0 || len(c.Rejections) != 1 || c.SameRejections {
		t.Errorf("all new: %+v, %+v", c.Attempt, c.Rejections)
	}
	hour(a, b, bad)
	if c := d.last; c.Attempt.Unchanged != 2 || c.Rejections != nil || !c.SameRejections {
		t.Errorf("the same body: %+v, %+v, same %v", c.Attempt, c.Rejections, c.SameRejections)
	}
	hour(a, with(b, `"ttl_seconds":1`))
	if c := d.last; c.Attempt.Unchanged != 1 || c.Attempt.Retired != 1 {
		t.Errorf("one retired: %+v", c.Attempt)
	}
	for range 3 {
		hour()
	}
	if c := d.last; c.Attempt.Unchanged != 0 || c.Attempt.Retired != 1 {
		t.Errorf("absent three times: %+v", c.Attempt)
	}
}

// TestExamplesTellValueAndReason checks that an example contains the value, cut, and its reason where one code has
// several; and that a push's answer contains neither.
func TestExamplesTellValueAndReason(t *testing.T) {
	whole := func(properties, more string) string {
		return fmt.Sprintf(`{"external_id":"a","kind":"camera.speed","lat":1,"lng":2,"properties":%s%s}`, properties, more)
	}
	found := map[mapdata.Reason]bool{}
	for _, c := range []struct {
		row, value string
		reason     mapdata.Reason
	}{
		{`{"external_id":[1,2]}`, `[1,2]`, ""},
		{`{"external_id":"a","kind":"camera.sped"}`, `"camera.sped"`, ""},
		{`{"external_id":"a","kind":"camera.speed","lat":"52"}`, `"52"`, ""},
		{`{"external_id":"a","kind":"camera.speed","lat":1,"lng":-180.5}`, `-180.5`, ""},
		{`{"external_id":"a","kind":"camera.speed"}`, ``, ""},
		{`{"external_id":"a","kind":"` + strings.Repeat("é", 100) + `"}`, `"` + strings.Repeat("é", 30) + "…", ""},
		{whole(`{}`, `,"ttl_seconds":0`), `0`, ""},
		{whole(`{"x":1,"x":2}`, ``), ``, "within"},
		{whole(`"x"`, ``), `"x"`, "no_object"},
		{whole(`{"x":"\ud800"}`, ``), ``, "bad_text"},
		{whole(`{"x":1e999}`, ``), ``, "bad_number"},
		{whole(strings.Repeat(`{"x":`, 9)+"1"+strings.Repeat("}", 9), ``), ``, "too_deep"},
		{whole(`{}`, `,"observed_at":7`), `7`, "no_text"},
		{whole(`{}`, `,"observed_at":"now"`), `"now"`, "no_time"},
		{whole(`{}`, `,"observed_at":"2999-01-01T00:00:00Z"`), `"2999-01-01T00:00:00Z"`, "future"},
	} {
		got := check(t, c.row)
		if len(got.Rejections) != 1 {
			t.Fatalf("%s: %+v", c.row, got.Rejections)
		}
		example := got.Rejections[0].Examples[0]
		if example.Value != c.value || example.Reason != c.reason || len(example.Value) > 64 {
			t.Errorf("%.80s: value %q, reason %q; want %q, %q", c.row, example.Value, example.Reason, c.value, c.reason)
		}
		if e := got.Report.Errors[0]; e.Value != nil || e.Reason != "" {
			t.Errorf("%s: the report keeps %q, %s", c.row, e.Value, e.Reason)
		}
		found[c.reason] = true
	}
	for code, reasons := range ingest.Reasons() {
		for _, reason := range reasons {
			if !found[reason] {
				t.Errorf("no row is %s for %s", code, reason)
			}
		}
	}
}
