package feed_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
)

// testFormats returns formats with each combination of settings that matters.
func testFormats() []feed.Format {
	return []feed.Format{
		{Name: "wzdx", Zone: true},
		{Name: "csv", Mapping: true, Zone: true},
		{Name: "datex2-energy", Status: true, Zone: true, Chargers: true},
	}
}

func checkTestMapping(_ string, mapping []byte) []mapdata.FieldError {
	if string(mapping) == `{"bad": 1}` || string(mapping) == `{"bad":1}` {
		return []mapdata.FieldError{{Field: "bad", Message: "is no member of a mapping"}}
	}
	return nil
}

// TestBridgeSettings checks that each setting of a bridge belongs to the formats that have it, and that an error names
// the alternatives (D17.17).
func TestBridgeSettings(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	for _, test := range []struct {
		name      string
		s         feed.Settings
		want      mapdata.Bridge
		wantCodes []string
	}{
		{"none is v1", feed.Settings{}, mapdata.Bridge{}, nil},
		{"v1 by name", feed.Settings{Format: ptr("v1")}, mapdata.Bridge{}, nil},
		{"empty is v1", feed.Settings{Format: ptr("")}, mapdata.Bridge{}, nil},
		{"a format", feed.Settings{Format: ptr("wzdx")}, mapdata.Bridge{Format: "wzdx"}, nil},
		{"an unknown format", feed.Settings{Format: ptr("WZDX")}, mapdata.Bridge{}, []string{"format unknown_format"}},
		{"a zone", feed.Settings{Format: ptr("wzdx"), TimeZone: ptr("Europe/Paris")}, mapdata.Bridge{Format: "wzdx", TimeZone: "Europe/Paris"}, nil},
		{"an unknown zone", feed.Settings{Format: ptr("wzdx"), TimeZone: ptr("Paris")}, mapdata.Bridge{}, []string{"time_zone invalid_time_zone"}},
		{"the machine's own zone", feed.Settings{Format: ptr("wzdx"), TimeZone: ptr("Local")}, mapdata.Bridge{}, []string{"time_zone invalid_time_zone"}},
		{
			"everything without a format",
			feed.Settings{Mapping: ptr("{}"), StatusURL: ptr("https://a.example/"), TimeZone: ptr("UTC"), ChargerNetwork: ptr("none")},
			mapdata.Bridge{},
			[]string{"mapping not_for_format", "status_url not_for_format", "time_zone not_for_format", "charger_network not_for_format"},
		},
		{"nothing, in empty words", feed.Settings{Mapping: ptr(""), StatusURL: ptr(""), TimeZone: ptr(""), ChargerNetwork: ptr("")}, mapdata.Bridge{}, nil},
		{"no mapping", feed.Settings{Format: ptr("csv")}, mapdata.Bridge{}, []string{"mapping missing"}},
		{"a mapping", feed.Settings{Format: ptr("csv"), Mapping: ptr("{ \"id\": \"nr\" }\n")}, mapdata.Bridge{Format: "csv", Mapping: `{"id":"nr"}`}, nil},
		{"a wrong mapping", feed.Settings{Format: ptr("csv"), Mapping: ptr(`{"bad": 1}`)}, mapdata.Bridge{}, []string{"mapping invalid_mapping"}},
		{"a mapping that is no object", feed.Settings{Format: ptr("csv"), Mapping: ptr(`[1]`)}, mapdata.Bridge{}, []string{"mapping invalid_mapping"}},
		{"a mapping that is no JSON", feed.Settings{Format: ptr("csv"), Mapping: ptr(`{`)}, mapdata.Bridge{}, []string{"mapping invalid_mapping"}},
		{
			"chargers",
			feed.Settings{Format: ptr("datex2-energy"), StatusURL: ptr("https://A.example/s"), ChargerNetwork: ptr("none")},
			mapdata.Bridge{Format: "datex2-energy", StatusURL: "https://a.example/s", ChargerNetwork: "none"},
			nil,
		},
		{"a plain status URL", feed.Settings{Format: ptr("datex2-energy"), StatusURL: ptr("http://a.example/s")}, mapdata.Bridge{}, []string{"status_url invalid_url"}},
		{"a long mapping", feed.Settings{Format: ptr("csv"), Mapping: ptr(`{"id":"nr"}` + strings.Repeat(" ", 16<<10-11))}, mapdata.Bridge{Format: "csv", Mapping: `{"id":"nr"}`}, nil},
		{"a longer mapping", feed.Settings{Format: ptr("csv"), Mapping: ptr(`{"id":"nr"}` + strings.Repeat(" ", 16<<10-10))}, mapdata.Bridge{}, []string{"mapping too_long"}},
		{"a long network", feed.Settings{Format: ptr("datex2-energy"), ChargerNetwork: ptr(strings.Repeat("n", 64))}, mapdata.Bridge{Format: "datex2-energy", ChargerNetwork: strings.Repeat("n", 64)}, nil},
		{"a longer network", feed.Settings{Format: ptr("datex2-energy"), ChargerNetwork: ptr(strings.Repeat("n", 65))}, mapdata.Bridge{}, []string{"charger_network invalid_network"}},
		{"a network that is no id", feed.Settings{Format: ptr("datex2-energy"), ChargerNetwork: ptr("My Net")}, mapdata.Bridge{}, []string{"charger_network invalid_network"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := pullOf("https://data.example/")
			given := r.Settings
			r.Settings = test.s
			r.Name, r.PullURL = given.Name, given.PullURL
			v, _, err := ts.Register(t.Context(), by, r)
			if got := codesOf(err); !slices.Equal(got, test.wantCodes) {
				t.Fatalf("Register: %v, want %v", got, test.wantCodes)
			}
			if err == nil && v.Bridge != test.want {
				t.Errorf("bridge = %+v, want %+v", v.Bridge, test.want)
			}
		})
	}
	push := pushOf("Chargers")
	push.Format, push.TimeZone = ptr("wzdx"), ptr("UTC")
	if got := codesOf(ts.CheckRegistration(push)); !slices.Equal(got, []string{"format not_for_push", "time_zone not_for_push"}) {
		t.Errorf("a push feed: %v", got)
	}
}

func codesOf(err error) (codes []string) {
	var invalid *mapdata.InvalidError
	if errors.As(err, &invalid) {
		for _, f := range invalid.Fields {
			codes = append(codes, f.Field+" "+f.Code)
		}
	}
	return codes
}

// TestUnknownFormatListsAll checks that an unknown format is refused with the names of all formats (D17.17).
func TestUnknownFormatListsAll(t *testing.T) {
	ts := newTestService(t)
	r := pullOf("https://data.example/")
	r.Format = ptr("xml")
	var invalid *mapdata.InvalidError
	if err := ts.CheckRegistration(r); !errors.As(err, &invalid) || invalid.Fields[0].Message != "must be one of v1, wzdx, csv, datex2-energy" {
		t.Errorf("CheckRegistration: %v %+v", err, invalid)
	}
}

// TestBridgeChangeIsReviewedAgain checks that a change of how an approved public feed's documents are read is reviewed
// again, but not one of its time zone and network (D17.17).
func TestBridgeChangeIsReviewedAgain(t *testing.T) {
	for _, test := range []struct {
		name  string
		s     feed.Settings
		again bool
		note  string // of the audit log
	}{
		{"format", feed.Settings{Format: ptr("v1")}, true, "format, mapping, time_zone"},
		{"mapping", feed.Settings{Mapping: ptr(`{"id":"other"}`)}, true, "mapping"},
		{"the same mapping in other words", feed.Settings{Mapping: ptr(` { "id" : "nr" } `)}, false, ""},
		{"time zone", feed.Settings{TimeZone: ptr("UTC")}, false, "time_zone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ts := newTestService(t)
			_, by := ts.newAccount("owner@example.com", mapdata.Driver)
			_, curator := ts.newAccount("curator@example.com", mapdata.Curator)
			r := pullOf("https://data.example/")
			r.Visibility, r.Format, r.Mapping, r.TimeZone = ptr("public"), ptr("csv"), ptr(`{"id":"nr"}`), ptr("Europe/Paris")
			v, _ := ts.register(by, r)
			if _, err := ts.Approve(t.Context(), curator, v.ID, ""); err != nil {
				t.Fatal(err)
			}
			before := ts.now
			got := ts.patch(by, v, feed.Patch{Settings: test.s})
			if again := got.ReviewState == mapdata.Pending; again != test.again || again && got.ReviewNote != feed.NoteFormat {
				t.Errorf("review = %s, %q; want again %v", got.ReviewState, got.ReviewNote, test.again)
			}
			if changed := got.Bridge != v.Bridge; changed != (got.Generation > v.Generation) || changed && !got.Polling.NextFetchAt.Equal(before) {
				t.Errorf("generation %d, due at %v", got.Generation, got.Polling.NextFetchAt)
			}
			var notes []string
			for _, e := range ts.audit() {
				if e.Action == mapdata.AuditFeedEdit {
					notes = append(notes, e.Note)
				}
			}
			want := []string{test.note}
			if test.note == "" {
				want = nil
			}
			if diff := cmp.Diff(want, notes); diff != "" {
				t.Errorf("audit (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFormatChosenLater checks that a format chosen later drops the settings that it does not have, and that one that
// needs a mapping needs it with the change.
func TestFormatChosenLater(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	v, _ := ts.register(by, pullOf("https://data.example/"))
	if _, err := ts.Patch(t.Context(), by, v.ID, &feed.Patch{Settings: feed.Settings{Format: ptr("csv")}}); !slices.Equal(codesOf(err), []string{"mapping missing"}) {
		t.Errorf("csv without a mapping: %v", err)
	}
	ts.patch(by, v, feed.Patch{Settings: feed.Settings{Format: ptr("csv"), Mapping: ptr(`{"id":"nr"}`), TimeZone: ptr("UTC")}})
	if got := ts.patch(by, v, feed.Patch{Settings: feed.Settings{Format: ptr("wzdx")}}); got.Bridge != (mapdata.Bridge{Format: "wzdx", TimeZone: "UTC"}) {
		t.Errorf("bridge = %+v", got.Bridge)
	}
	if got := ts.patch(by, v, feed.Patch{Settings: feed.Settings{Format: ptr("")}}); got.Bridge != (mapdata.Bridge{}) {
		t.Errorf("bridge = %+v", got.Bridge)
	}
}
