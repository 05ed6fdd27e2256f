package refprovider

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
)

// TestShapes checks both answers word for word, but for white space and the order of members. The rows are made up.
func TestShapes(t *testing.T) {
	b := newBench(secret)
	b.know(t, `[
		{"external_id":"a","kind":"alert.police","lat":52.37,"lng":4.9,"properties":{"street":"Damrak <1>","n":1.50},"observed_at":"2026-11-21T10:00:00.5+01:00","note":"nobody reads this"},
		{"external_id":"b","kind":"alert.hazard.ice","lat":52.371,"lng":4.901,"properties":{"type":"mine","UUID":"mine","disputed_until":"x"},"ttl_seconds":600},
		{"external_id":"c","kind":"traffic.jam","lat":52.372,"lng":4.902,"properties":{"level":3}},
		{"external_id":"d","kind":"camera.speed","lat":52.37,"lng":4.9,"properties":{}},
		{"external_id":"e","kind":"alert.accident","lat":52.37,"lng":4.9,"properties":{},"ttl_seconds":1},
		{"external_id":"f","kind":"alert.moose","lat":52.37,"lng":4.9,"properties":{}},
		{"external_id":"g","kind":"alert.police","lat":53.37,"lng":4.9,"properties":{}}]`)
	const (
		entities = `{"entities":[
			{"external_id":"a","kind":"alert.police","lat":52.37,"lng":4.9,"properties":{"street":"Damrak <1>","n":1.50},"observed_at":"2026-11-21T09:00:00.500Z"},
			{"external_id":"b","kind":"alert.hazard.ice","lat":52.371,"lng":4.901,"properties":{"type":"mine","UUID":"mine"},"ttl_seconds":600},
			{"external_id":"c","kind":"traffic.jam","lat":52.372,"lng":4.902,"properties":{"level":3}},
			{"external_id":"d","kind":"camera.speed","lat":52.37,"lng":4.9,"properties":{}},
			{"external_id":"e","kind":"alert.accident","lat":52.37,"lng":4.9,"properties":{},"ttl_seconds":1}],
			"fetched_at_utc":"2026-11-21T12:00:00.000Z"}`
		raw = `{"alerts":[
			{"uuid":"a","type":"POLICE","subtype":"","location":{"x":4.9,"y":52.37},"pubMillis":1795251600500,"street":"Damrak <1>","n":1.50},
			{"uuid":"b","type":"HAZARD","subtype":"HAZARD_ON_ROAD_ICE","location":{"x":4.901,"y":52.371},"pubMillis":1795262400000}],
			"jams":[{"uuid":"c","type":"JAM","subtype":"","location":{"x":4.902,"y":52.372},"pubMillis":1795262400000,"level":3}],
			"users":[],"fetched_at_utc":"2026-11-21T12:00:00.000Z"}`
	)
	for path, want := range map[string]string{PathIncidents: entities, PathIncidentsRaw: raw} {
		var wanted, got any
		if err := errors.Join(
			json.Unmarshal([]byte(want), &wanted),
			json.Unmarshal(b.ask("GET", path+"?"+good, secret).Body.Bytes(), &got),
		); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// TestNothingNear checks that lists are empty and not null.
func TestNothingNear(t *testing.T) {
	b := newBench(secret)
	b.know(t, `[]`)
	for path, want := range map[string]string{
		PathIncidents:    `{"entities":[],"fetched_at_utc":"2026-11-21T12:00:00.000Z"}` + "\n",
		PathIncidentsRaw: `{"alerts":[],"jams":[],"users":[],"fetched_at_utc":"2026-11-21T12:00:00.000Z"}` + "\n",
	} {
		if got := b.ask("GET", path+"?"+good, secret).Body.String(); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestRawFormOfEveryKind checks that the raw form has a separate name for every kind of incident, and none for things beside the
// road.
func TestRawFormOfEveryKind(t *testing.T) {
	taken := make(map[rawForm]string)
	for _, info := range mapdata.Kinds() {
		form, ok := rawFormOf(info.ID)
		if incident := info.MergeDistance > 0; ok != incident {
			t.Errorf("%s: in the raw form %v, an incident %v", info.ID, ok, incident)
		}
		if other, twice := taken[form]; ok && twice {
			t.Errorf("%s and %s are both %+v", info.ID, other, form)
		}
		taken[form] = info.ID
	}
}

// TestFirstRead checks that an item of a row without observed_at keeps its pubMillis as long as the row is there.
func TestFirstRead(t *testing.T) {
	b := newBench(secret)
	published := func(rows string) int64 {
		t.Helper()
		b.know(t, rows)
		var raw struct{ Alerts []struct{ PubMillis int64 } }
		if err := json.Unmarshal(b.ask("GET", PathIncidentsRaw+"?"+good, secret).Body.Bytes(), &raw); err != nil {
			t.Fatal(err)
		}
		if len(raw.Alerts) == 0 {
			return 0
		}
		return raw.Alerts[0].PubMillis
	}
	const row = `[{"external_id":"a","kind":"alert.police","lat":52.37,"lng":4.9,"properties":{}}]`
	first := published(row)
	b.clock = noon.Add(time.Hour)
	if again := published(row); first != noon.UnixMilli() || again != first {
		t.Errorf("published at %d, then at %d", first, again)
	}
	published(`[]`)
	if back := published(row); back != b.clock.UnixMilli() {
		t.Errorf("a row that is new says %d", back)
	}
}

// TestRejections checks that invalid rows are left out, and logged once by code and count, without their contents, and that a
// malformed text changes nothing.
func TestRejections(t *testing.T) {
	b := newBench(secret)
	logged := func() string {
		defer b.log.Reset()
		return b.log.String()
	}
	const two = `[{"external_id":"hush","kind":"alert.moose","lat":1.2345,"lng":2,"properties":{}},
		{"external_id":"hush","kind":"alert.police","lat":91.2345,"lng":2,"properties":{}},
		{"external_id":"a","kind":"alert.police","lat":1,"lng":2,"properties":{}},
		{"external_id":"b","kind":"alert.moose","lat":1,"lng":2,"properties":{}}]`
	rows, err := b.Decode([]byte(two))
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	got := logged()
	if !strings.Contains(got, "accepted=1 rejected=3 codes.invalid_lat=1 codes.unknown_kind=2") || strings.Count(got, "\n") != 1 {
		t.Errorf("logged %q", got)
	}
	for _, private := range []string{"hush", "1.2345", "moose"} {
		if strings.Contains(got, private) {
			t.Errorf("the log tells %q: %s", private, got)
		}
	}
	if _, err := b.Decode([]byte(two)); err != nil || b.log.Len() > 0 {
		t.Errorf("the same again: %v, logged %q", err, logged())
	}
	if _, err := b.Decode([]byte(`[{]`)); !errors.Is(err, ingest.ErrMalformed) {
		t.Errorf("broken: %v", err)
	}
	if _, err := b.Decode([]byte(`[]`)); err != nil || strings.Count(logged(), "\n") != 1 {
		t.Errorf("mended: %v", err)
	}
	many := make([]string, 150)
	for i := range many {
		many[i] = `{"external_id":7}`
	}
	if _, err := b.Decode([]byte("[" + strings.Join(many, ",") + "]")); err != nil {
		t.Fatal(err)
	}
	if got := logged(); !strings.Contains(got, "rejected=150 codes.invalid_external_id=100 codes.others=50") {
		t.Errorf("logged %q", got)
	}
}

// FuzzDecode checks that the provider's answer contains the rows that the service would read from the same text, and that the raw
// form is JSON too.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`[{"external_id":"a","kind":"alert.police","lat":1,"lng":2,"properties":{"a":[1e300,"\u2028<&>\ud83d\ude00"]},"ttl_seconds":1.5,"observed_at":"2026-11-21T12:00:00Z"}]`))
	f.Add([]byte(`[{"external_id":"a\"\\","kind":"traffic.jam","lat":-0,"lng":1e-7,"properties":{"Type":1,"":null},"ttl_seconds":1}]`))
	f.Add([]byte(`[{"external_id":"x","kind":"camera.speed","lat":1,"lng":2,"properties":{},"ttl_seconds":1e300},1,null]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		batch, err := ingest.DecodeBatch(text, noon)
		b := newBench(secret)
		rows, failure := b.Decode(text)
		if (err == nil) != (failure == nil) {
			t.Fatalf("ingest says %v, upstream %v", err, failure)
		}
		if err != nil {
			return
		}
		want := read(batch)
		entities, items := make([]string, len(rows)), 0
		for i, row := range rows {
			entities[i] = string(row.entity)
			if row.raw == nil {
				continue
			}
			items++
			var item struct {
				UUID, Type string
				Location   struct{ X, Y *float64 }
				PubMillis  *int64
			}
			if err := json.Unmarshal(row.raw, &item); err != nil || item.UUID == "" || item.Type == "" || item.Location.X == nil || item.Location.Y == nil || item.PubMillis == nil {
				t.Errorf("raw %s: %v", row.raw, err)
			}
		}
		again, err := ingest.DecodeBatch([]byte("["+strings.Join(entities, ",")+"]"), noon)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(again); !slices.Equal(got, want) || again.Report().Rejected > 0 {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// read describes every row as the service keeps it.
func read(b *ingest.Batch) []string {
	var all []string
	for _, r := range b.All() {
		all = append(all, fmt.Sprintf("%+v %s", *r, r.Properties))
	}
	return all
}
