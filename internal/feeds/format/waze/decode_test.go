package waze

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

var testNow = time.Date(2026, 11, 21, 8, 2, 0, 0, time.UTC)

// mapped decodes an answer that must be acceptable, and returns the items and the labels of dropped ones.
func mapped(t testing.TB, body string) (items []Item, labels []string) {
	t.Helper()
	items, _, err := Decode([]byte(body), func(label string) { labels = append(labels, label) })
	if err != nil {
		t.Fatalf("%v for %.300s", err, body)
	}
	return items, labels
}

// judged returns the rows that the row decoder accepts, and the codes of those that it rejects.
func judged(t testing.TB, items []Item) (rows []ingest.Row, codes []string) {
	t.Helper()
	parts := make([][]byte, len(items))
	for i := range items {
		parts[i] = items[i].Row
	}
	body := append(append([]byte{'['}, bytes.Join(parts, []byte{','})...), ']')
	batch, err := ingest.DecodeBatch(body, testNow)
	if err != nil {
		t.Fatalf("the rows are no batch: %v: %.300s", err, body)
	}
	if batch.Rows() != len(items) {
		t.Fatalf("%d items made %d rows: %.300s", len(items), batch.Rows(), body)
	}
	for _, row := range batch.All() {
		rows = append(rows, *row)
	}
	for _, e := range batch.Report().Errors {
		codes = append(codes, e.Code)
	}
	return rows, codes
}

// one decodes one item that must become a good row.
func one(t testing.TB, list, item string) (ingest.Row, Item) {
	t.Helper()
	items, labels := mapped(t, `{"`+list+`":[`+item+`]}`)
	rows, codes := judged(t, items)
	if len(rows) != 1 {
		t.Fatalf("%s became %d rows; dropped %q, rejected %q", item, len(rows), labels, codes)
	}
	return rows[0], items[0]
}

func alert(typ, subtype string) string {
	return fmt.Sprintf(`{"uuid":"u","type":%q,"subtype":%q,"location":{"x":4.9,"y":52.3}}`, typ, subtype)
}

// shown is a row and its item in a readable form.
type shown struct {
	ID, Kind, Properties string
	Lat, Lng             float64
	Observed             string
	Points               int
	Prior                float64
}

func mappedFile(t *testing.T, name string) (got []shown, labels []string, fetchedAt time.Time) {
	t.Helper()
	body, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	items, fetchedAt, err := Decode(body, func(label string) { labels = append(labels, label) })
	if err != nil {
		t.Fatal(err)
	}
	rows, codes := judged(t, items)
	if len(codes) > 0 {
		t.Errorf("rejected: %q", codes)
	}
	for i, row := range rows {
		observed := ""
		if !row.ObservedAt.IsZero() {
			observed = row.ObservedAt.Format(time.RFC3339Nano)
		}
		got = append(got, shown{
			row.ExternalID, row.Kind.ID(), string(row.Properties), row.Point.Lat, row.Point.Lng, observed, len(items[i].Line), items[i].Prior,
		})
	}
	return got, labels, fetchedAt
}

// TestReports checks the samples, which are made up in the structure that the publishers of the two vocabularies
// document.
func TestReports(t *testing.T) {
	got, labels, fetchedAt := mappedFile(t, "reports.json")
	want := []shown{
		{
			"00000000-aaaa-4000-8000-000000000001", "alert.hazard.object_on_road",
			`{"subtype":"HAZARD_ON_ROAD_OBJECT","street":"Invented Quay","city":"Nowhere","description":"A ladder, left lane","bearing":271}`,
			52.3702, 4.8901, "2026-11-21T08:00:00Z", 0, 0.8,
		},
		{"00000000-aaaa-4000-8000-000000000002", "alert.hazard.fog", `{"subtype":"HAZARD_WEATHER_FOG"}`, 52.36, 4.91, "2026-11-21T08:01:00.123Z", 0, 1},
		{"00000000-aaaa-4000-8000-000000000003", "alert.police", `{"subtype":"POLICE_HIDING"}`, 52.35, 4.92, "2026-11-21T08:01:00Z", 0, mapdata.DefaultPrior},
		{
			"103", "traffic.jam",
			`{"street":"Invented Road","city":"Nowhere","end_node":"Last Lane","level":3,"speed_kmh":9.04,"delay_seconds":105,"length_metres":382}`,
			52.32, 4.9, "2026-11-21T08:00:00Z", 3, mapdata.DefaultPrior,
		},
		{"104", "traffic.jam", `{"street":"Closed Close","level":5,"length_metres":90}`, 52.2, 4.81, "", 2, mapdata.DefaultPrior},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"alert:CHIT_CHAT"}, labels); diff != "" {
		t.Error(diff)
	}
	if want := time.Date(2026, 11, 21, 8, 1, 30, 250e6, time.UTC); fetchedAt != want {
		t.Errorf("fetched at %v, want %v", fetchedAt, want)
	}
}

func TestIcons(t *testing.T) {
	got, labels, fetchedAt := mappedFile(t, "icons.json")
	const half = mapdata.DefaultPrior
	want := []shown{
		{"icon-a", "alert.hazard.car_stopped", `{"street":"Test Street"}`, 52.5, 13.4, "2026-11-21T08:00:00Z", 0, half},
		{"icon-b", "alert.road_closed", `{}`, 52.51, 13.41, "", 0, half},
		{"icon-c", "alert.hazard.flooding", `{}`, 52.52, 13.42, "", 0, half},
		{"icon-d", "alert.hazard.ice", `{}`, 52.53, 13.43, "", 0, half},
		{"icon-g", "traffic.jam", `{"delay_seconds":240,"length_metres":1200.5}`, 52.56, 13.46, "", 0, half},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"icon:4", "icon:42"}, labels); diff != "" {
		t.Error(diff)
	}
	if want := time.Date(2026, 11, 21, 8, 1, 30, 0, time.UTC); fetchedAt != want {
		t.Errorf("fetched at %v, want %v", fetchedAt, want)
	}
}

// TestNobodyIsNamed checks that the mapping keeps neither the author of a report nor any other driver (D13).
func TestNobodyIsNamed(t *testing.T) {
	body, err := os.ReadFile("testdata/reports.json")
	if err != nil {
		t.Fatal(err)
	}
	items, labels := mapped(t, string(body))
	for _, name := range []string{"a-person", "driver-7", "somebody", "reportBy", "fromNode"} {
		if !bytes.Contains(body, []byte(name)) {
			t.Errorf("the sample lacks %s", name)
		}
		for i := range items {
			if bytes.Contains(items[i].Row, []byte(name)) {
				t.Errorf("%s is in %s", name, items[i].Row)
			}
		}
		if strings.Contains(strings.Join(labels, " "), name) {
			t.Errorf("%s is in %q", name, labels)
		}
	}
}

func TestWholeAnswers(t *testing.T) {
	const deep = 998 // of 1000 levels: within alerts, within the answer
	good := []string{
		`{"alerts":[]}`, `{"jams":[]}`, `{"alerts":null}`, `{"jams":null,"alerts":null}`, `{"users":[],"jams":[],"alerts":[]}`, " {\"jams\":\n[]}\r\n\t",
		"\xef\xbb\xbf" + `{"jams":[]}`, `{"alerts":[],"users":"anything","x":{"alerts":[1]},"x":1}`, `{"alerts":[],"fetched_at_utc":7}`, `{"\u0061lerts":[]}`,
		`{"alerts":[` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + `]}`, `{"alerts":[],"x":"` + strings.Repeat("[", 2*deep) + `"}`,
		`{"alerts":[],"x":"\"` + strings.Repeat("[", 2*deep) + `"}`,
	}
	for _, body := range good {
		if _, _, err := Decode([]byte(body), func(string) {}); err != nil {
			t.Errorf("%v for %.100s", err, body)
		}
	}
	bad := []string{
		``, ` `, `null`, `[]`, `[{"alerts":[]}]`, `"alerts"`, `1`, `{}`, `{"users":[]}`, `{"Alerts":[]}`, `{"alerts":{}}`, `{"alerts":"[]"}`, `{"alerts":0}`,
		`{"alerts":true}`, `{"alerts":[],"jams":{}}`, `{"alerts":[],"alerts":[]}`, `{"alerts":null,"alerts":[]}`, `{"alerts":[],"\u0061lerts":[]}`,
		`{"alerts":[]`, `{"alerts":[`, `{"alerts":`, `{"alerts"`, `{"alerts":[]} {}`, `{"alerts":[]}x`, `{"alerts":[]},`, `{"alerts":[],}`, `{"alerts":[{]}`,
		`{"alerts":[{"uuid"}]}`, `{"alerts":[{"location":{"x":}}]}`, `{"jams":[{"line":[{"x":1},]}]}`, `{"jams":[{"line":[`, `{"alerts":[{"uuid":"a`, `{"alerts":[1 2]}`,
		"{\"alerts\":[{\"uuid\":\"a\nb\"}]}", "{\"alerts\":[{\"uuid\":\"a\x00\"}]}", "{\"alerts\":[{\"uuid\":\"\xff\"}]}", "{\"alerts\":[],\"x\":\"\xed\xa0\x80\"}",
		"{\"alerts\":[{\"uuid\":\"\xff", `{"alerts":[{"pubMillis":01}]}`, `{"alerts":[NaN]}`, "\xef\xbb\xbf\xef\xbb\xbf" + `{"alerts":[]}`, `{alerts:[]}`,
		`{"alerts":[` + strings.Repeat("[", deep+1) + strings.Repeat("]", deep+1) + `]}`, strings.Repeat(`{"alerts":[`, 5000), strings.Repeat("[", 1_000_000),
		`{"alerts":[],"x":"\\"` + strings.Repeat("[", 2*deep) + `"}`,
	}
	for _, body := range bad {
		items, at, err := Decode([]byte(body), func(string) {})
		if !errors.Is(err, mapdata.ErrMalformed) || items != nil || !at.IsZero() {
			t.Errorf("%d items, %v for %.100q", len(items), err, body)
		}
	}
}

// TestErrorsQuoteNothing checks that an error never contains text of an upstream.
func TestErrorsQuoteNothing(t *testing.T) {
	for _, body := range []string{`{"alerts":[{"SECRET":SECRET}]}`, `{"SECRET":SECRET`, `SECRET`, `{"alerts":{"SECRET":1}}`, `{"alerts":"SECRET"}`} {
		_, _, err := Decode([]byte(body), func(string) {})
		if err == nil || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "'S'") {
			t.Errorf("%v for %s", err, body)
		}
	}
}

// TestOneBadItem checks that an error in one item concerns that item alone.
func TestOneBadItem(t *testing.T) {
	tests := []struct{ name, item, code string }{
		{"no id", `{"type":"POLICE","location":{"x":1,"y":2}}`, "missing_external_id"},
		{"a null id", `{"uuid":null,"type":"POLICE","location":{"x":1,"y":2}}`, "missing_external_id"},
		{"an id that is an object", `{"uuid":{"a":1},"type":"POLICE","location":{"x":1,"y":2}}`, "missing_external_id"},
		{"an empty id", `{"uuid":"","type":"POLICE","location":{"x":1,"y":2}}`, "invalid_external_id"},
		{"a long id", `{"uuid":"` + strings.Repeat("a", 257) + `","type":"POLICE","location":{"x":1,"y":2}}`, "invalid_external_id"},
		{"a long number as id", `{"uuid":` + strings.Repeat("1", 257) + `,"type":"POLICE","location":{"x":1,"y":2}}`, "invalid_external_id"},
		{"an id with NUL", `{"uuid":"\u0000","type":"POLICE","location":{"x":1,"y":2}}`, "invalid_external_id"},
		{"half an id", `{"uuid":"\ud800","type":"POLICE","location":{"x":1,"y":2}}`, "invalid_external_id"},
		{"no location", `{"uuid":"u","type":"POLICE"}`, "missing_lat"},
		{"a location that is text", `{"uuid":"u","type":"POLICE","location":"here"}`, "missing_lat"},
		{"no longitude", `{"uuid":"u","type":"POLICE","location":{"y":2}}`, "missing_lng"},
		{"a null latitude", `{"uuid":"u","type":"POLICE","location":{"x":1,"y":null}}`, "missing_lat"},
		{"a latitude that is text", `{"uuid":"u","type":"POLICE","location":{"x":1,"y":"2"}}`, "invalid_lat"},
		{"a latitude beyond the pole", `{"uuid":"u","type":"POLICE","location":{"x":1,"y":90.01}}`, "invalid_lat"},
		{"a latitude beyond numbers", `{"uuid":"u","type":"POLICE","location":{"x":1,"y":1e400}}`, "invalid_lat"},
		{"a longitude that is an object", `{"uuid":"u","type":"POLICE","location":{"x":{"x":1},"y":2}}`, "invalid_lng"},
		{"an alert takes no line's place", `{"uuid":"u","type":"POLICE","line":[{"x":1,"y":2},{"x":1,"y":3}]}`, "missing_lat"},
		{"two ids", `{"uuid":"u","uuid":"u","type":"POLICE","location":{"x":1,"y":2}}`, "duplicate_member"},
		{"two names for one id", `{"uuid":"u","\u0075uid":"u","type":"POLICE","location":{"x":1,"y":2}}`, "duplicate_member"},
		{"two locations", `{"uuid":"u","type":"POLICE","location":null,"location":{"x":1,"y":2}}`, "duplicate_member"},
		{"two latitudes", `{"uuid":"u","type":"POLICE","location":{"x":1,"y":2,"y":3}}`, "duplicate_member"},
		{"two types", `{"uuid":"u","type":"POLICE","type":"POLICE","location":{"x":1,"y":2}}`, "duplicate_member"},
		{"a street with NUL", `{"uuid":"u","type":"POLICE","street":"\u0000","location":{"x":1,"y":2}}`, "invalid_properties"},
		{"a level beyond numbers", `{"uuid":"u","type":"POLICE","level":1e400,"location":{"x":1,"y":2}}`, "invalid_properties"},
		{"a long street", `{"uuid":"u","type":"POLICE","street":"` + strings.Repeat("a", 17_000) + `","location":{"x":1,"y":2}}`, "properties_too_large"},
		{"far in the future", `{"uuid":"u","type":"POLICE","pubMillis":4102444800000,"location":{"x":1,"y":2}}`, "invalid_observed_at"},
	}
	const before, after = `{"uuid":"before","type":"ACCIDENT","location":{"x":1,"y":2}}`, `{"uuid":"after","location":{"x":3,"y":4}}`
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			items, labels := mapped(t, `{"alerts":[`+before+`,`+tt.item+`],"jams":[`+after+`]}`)
			rows, codes := judged(t, items)
			if len(labels) > 0 || !slices.Equal(codes, []string{tt.code}) {
				t.Errorf("dropped %q, rejected %q, want %s", labels, codes, tt.code)
			}
			if len(rows) != 2 || rows[0].ExternalID != "before" || rows[1].ExternalID != "after" {
				t.Errorf("the others did not survive: %+v", rows)
			}
		})
	}
}

func TestExternalID(t *testing.T) {
	for item, want := range map[string]string{
		`"uuid":"a","id":"b"`: "a", `"id":"b","uuid":"a"`: "a", `"id":"b"`: "b", `"uuid":null,"id":7`: "7", `"uuid":1637200596`: "1637200596", `"uuid":-0`: "-0",
		`"uuid":1.50e3`: "1.50e3", `"uuid":123456789012345678901234567890`: "123456789012345678901234567890", `"uuid":"\u00e9\/\""`: `é/"`, `"uuid":true,"id":"b"`: "b",
	} {
		if row, _ := one(t, "alerts", `{`+item+`,"type":"JAM","location":{"x":1,"y":2}}`); row.ExternalID != want {
			t.Errorf("%s became %q, want %q", item, row.ExternalID, want)
		}
	}
}

func TestObservedAt(t *testing.T) {
	for millis, want := range map[string]time.Time{
		`1795248000000`: testNow.Add(-2 * time.Minute), `1795248000123.9`: testNow.Add(-2*time.Minute + 123*time.Millisecond), `1.795248e12`: testNow.Add(-2 * time.Minute),
		`1`: time.UnixMilli(1).UTC(), `0`: {}, `-1`: {}, `4102444800001`: {}, `1e400`: {}, `"1795248000000"`: {}, `null`: {}, `[]`: {}, `1795248000000000`: {},
	} {
		row, _ := one(t, "alerts", `{"uuid":"u","type":"JAM","pubMillis":`+millis+`,"location":{"x":1,"y":2}}`)
		if row.ObservedAt != want {
			t.Errorf("%s became %v, want %v", millis, row.ObservedAt, want)
		}
	}
	for text, want := range map[string]time.Time{
		`"2026-11-21T08:00:00Z"`: testNow.Add(-2 * time.Minute), `"2026-11-21T10:00:00.1239+02:00"`: testNow.Add(-2*time.Minute + 123*time.Millisecond),
		`"21 November"`: {}, `1795248000`: {}, `null`: {}, `""`: {}, `{}`: {},
	} {
		_, at, err := Decode([]byte(`{"alerts":[],"fetched_at_utc":`+text+`}`), func(string) {})
		if err != nil || at != want {
			t.Errorf("fetched at %s became %v, %v, want %v", text, at, err, want)
		}
	}
}

func TestPrior(t *testing.T) {
	for reliability, want := range map[string]float64{
		`8`: 0.8, `0`: 0, `-0`: 0, `10`: 1, `11`: 1, `-3`: 0, `6.5`: 0.65, `null`: mapdata.DefaultPrior, `"8"`: mapdata.DefaultPrior, `1e400`: mapdata.DefaultPrior, `[]`: mapdata.DefaultPrior,
	} {
		_, item := one(t, "alerts", `{"uuid":"u","type":"JAM","reliability":`+reliability+`,"location":{"x":1,"y":2}}`)
		if item.Prior != want || math.Signbit(item.Prior) {
			t.Errorf("reliability %s became %v, want %v", reliability, item.Prior, want)
		}
	}
	if _, item := one(t, "jams", `{"uuid":"u","location":{"x":1,"y":2}}`); item.Prior != mapdata.DefaultPrior {
		t.Errorf("without a reliability: %v", item.Prior)
	}
}

// TestCoordinatesAreJudgedOnce checks that a location reaches the row decoder as it was written.
func TestCoordinatesAreJudgedOnce(t *testing.T) {
	items, _ := mapped(t, `{"alerts":[{"uuid":"u","type":"JAM","location":{"y":52.30000000000000000001,"x":-4.9E+0,"z":9}}]}`)
	for _, want := range []string{`"lat":52.30000000000000000001`, `"lng":-4.9E+0`} {
		if !bytes.Contains(items[0].Row, []byte(want)) {
			t.Errorf("%s lacks %s", items[0].Row, want)
		}
	}
}

func TestPropertiesAreTextsAndNumbers(t *testing.T) {
	row, _ := one(t, "jams", `{"uuid":"u","location":{"x":1,"y":2},"street":5,"city":["a"],"endNode":null,"subtype":{},"reportDescription":"",
		"level":"3","speedKMH":1.50e1,"delay":-1,"length":true,"magvar":-0,"country":"NL","disputed_until":"x"}`)
	if want := `{"speed_kmh":1.50e1}`; string(row.Properties) != want {
		t.Errorf("properties %s, want %s", row.Properties, want)
	}
}

func TestLine(t *testing.T) {
	tests := []struct {
		name, line string
		points     int
		at         geo.Point
	}{
		{"two points", `[{"x":1,"y":2},{"x":1,"y":4}]`, 2, geo.Point{Lat: 3, Lng: 1}},
		{"the middle is by length", `[{"x":0,"y":0},{"x":0,"y":0.001},{"x":0,"y":0.002},{"x":0,"y":1}]`, 4, geo.Point{Lat: 0.5, Lng: 0}},
		{"bad points are left out", `[{"x":1,"y":2},{"x":181,"y":2},{"x":1},{"x":1,"y":1e400},null,7,[1,2],{"x":"1","y":2},{"x":1,"y":3,"y":3},{"x":1,"y":-90.1},{"x":1,"y":4}]`, 2, geo.Point{Lat: 3, Lng: 1}},
		{"one point is no line, but a place", `[{"x":1,"y":2},{"y":2}]`, 0, geo.Point{Lat: 2, Lng: 1}},
		{"no length", `[{"x":1,"y":2},{"x":1,"y":2}]`, 2, geo.Point{Lat: 2, Lng: 1}},
		{"over the antimeridian", `[{"x":179.9,"y":0},{"x":-179.7,"y":0}]`, 2, geo.Point{Lat: 0, Lng: -179.9}},
		{"back over the antimeridian", `[{"x":-179.9,"y":0},{"x":179.7,"y":0}]`, 2, geo.Point{Lat: 0, Lng: 179.9}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			row, item := one(t, "jams", `{"uuid":"u","line":`+tt.line+`}`)
			if len(item.Line) != tt.points || tt.points == 0 && item.Line != nil {
				t.Errorf("%d points, want %d", len(item.Line), tt.points)
			}
			if geo.Distance(row.Point, tt.at) > 1 {
				t.Errorf("at %v, want %v", row.Point, tt.at)
			}
		})
	}
	row, _ := one(t, "jams", `{"uuid":"u","location":{"x":5,"y":6},"line":[{"x":1,"y":2},{"x":1,"y":4}]}`)
	if want := (geo.Point{Lat: 6, Lng: 5}); row.Point != want {
		t.Errorf("a location wins over the line: %v, want %v", row.Point, want)
	}
	if _, item := one(t, "alerts", `{"uuid":"u","type":"JAM","location":{"x":5,"y":6},"line":[{"x":1,"y":2},{"x":1,"y":4}]}`); item.Line != nil {
		t.Errorf("an alert has a line: %v", item.Line)
	}
}

func TestLongLine(t *testing.T) {
	for _, n := range []int{499, 500, 501, 999, 10_000} {
		var points []string
		for i := range n {
			points = append(points, fmt.Sprintf(`{"x":1,"y":%v}`, float64(i)/float64(n)))
		}
		_, item := one(t, "jams", `{"uuid":"u","line":[`+strings.Join(points, ",")+`]}`)
		if len(item.Line) != min(n, longestLine) {
			t.Errorf("%d points of %d", len(item.Line), n)
		}
		if item.Line[0].Lat != 0 || item.Line[len(item.Line)-1].Lat != float64(n-1)/float64(n) {
			t.Errorf("of %d points the ends are gone", n)
		}
		for i := 1; i < len(item.Line); i++ {
			if step := (item.Line[i].Lat - item.Line[i-1].Lat) * float64(n); step < 0.5 || step > float64(n)/longestLine+1.5 {
				t.Errorf("of %d points, %v steps lie between the %dth and the next", n, step, i)
				break
			}
		}
	}
}

// TestMiddleLiesOnTheLine checks for any line that its middle is a valid point, and no farther from its ends than the
// line is long.
func TestMiddleLiesOnTheLine(t *testing.T) {
	point := rapid.Custom(func(t *rapid.T) geo.Point {
		return geo.Point{Lat: rapid.Float64Range(-89, 89).Draw(t, "lat"), Lng: rapid.Float64Range(-180, 180).Draw(t, "lng")}
	})
	rapid.Check(t, func(t *rapid.T) {
		start := point.Draw(t, "start")
		line := []geo.Point{start}
		length := 0.0
		for _, step := range rapid.SliceOfN(rapid.Float64Range(-0.02, 0.02), 0, 40).Draw(t, "steps") {
			last := line[len(line)-1]
			next := geo.Point{Lat: min(max(last.Lat+step, -89), 89), Lng: math.Remainder(last.Lng+0.01, 360)}
			length += geo.Distance(last, next)
			line = append(line, next)
		}
		m := middle(line)
		if !m.Valid() {
			t.Fatalf("middle %v of %v", m, line)
		}
		for _, end := range []geo.Point{start, line[len(line)-1]} {
			if geo.Distance(m, end) > length/2*1.01+1 {
				t.Fatalf("%v m from an end of a line of %v m", geo.Distance(m, end), length)
			}
		}
	})
}
