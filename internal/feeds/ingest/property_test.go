package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
)

// TestWarnings checks for values of well-known properties which warning they get. The rows are accepted in every case.
func TestWarnings(t *testing.T) {
	const wrongType, outOfRange = mapdata.WarnPropertyType, mapdata.WarnPropertyRange
	for _, c := range []struct{ kind, properties, want string }{
		{"camera.speed", `"maxspeed_kmh":80,"bearing":0,"street":"A 1","both_directions":true`, ""},
		{"camera.speed", `"maxspeed_kmh":"80"`, wrongType},
		{"camera.speed", `"maxspeed_kmh":[80]`, wrongType},
		{"camera.speed", `"maxspeed_kmh":4`, outOfRange},
		{"camera.speed", `"maxspeed_kmh":200`, ""},
		{"camera.speed", `"maxspeed_kmh":200.5`, outOfRange},
		{"camera.speed", `"maxspeed_kmh":2e2`, ""},
		{"camera.speed", `"maxspeed_kmh":1e9`, outOfRange},
		{"camera.speed", `"maxspeed_kmh":1000000`, outOfRange},
		{"camera.speed", `"maxspeed_kmh":-50`, outOfRange},
		{"camera.speed", `"maxspeed_kmh":null`, ""},
		{"camera.speed", `"maxspeed_kmh" : "x" `, wrongType},
		{"camera.speed", `"\u006daxspeed_kmh":"x"`, wrongType},
		{"camera.speed", `"nested":{"maxspeed_kmh":"x"}`, ""},
		{"camera.speed", `"Maxspeed_kmh":"x","level":"high","anything":[{}]`, ""},
		{"traffic.jam", `"maxspeed_kmh":"of no meaning here","level":5`, ""},
		{"traffic.jam", `"level":6`, outOfRange},
		{"traffic.jam", `"level":true`, wrongType},
		{"alert.accident", `"both_directions":"yes"`, wrongType},
		{"alert.accident", `"severity":"high"`, ""},
		{"alert.accident", `"severity":"dire"`, outOfRange},
		{"alert.accident", `"severity":3`, wrongType},
		{"alert.accident", `"ends_at":"2026-11-22T10:00:00Z"`, ""},
		{"alert.accident", `"ends_at":"tomorrow"`, outOfRange},
		{"alert.accident", `"ends_at":1766397600`, wrongType},
		{"alert.accident", `"description":{"en":"x"}`, wrongType},
		{"charger.supercharger", `"plugs":["ccs"],"network":"ionity"`, ""},
		{"charger.supercharger", `"plugs":"ccs"`, wrongType},
	} {
		t.Run(c.kind+" "+c.properties, func(t *testing.T) {
			report := check(t, row("a", c.kind, c.properties)).Report
			if report.Accepted != 1 || report.Rejected != 0 {
				t.Errorf("%+v", report)
			}
			codes := make([]string, 0, 1)
			for _, w := range report.Warnings {
				codes = append(codes, w.Code)
			}
			if got := strings.Join(codes, " "); got != c.want {
				t.Errorf("warned of %q, want %q", got, c.want)
			}
		})
	}
}

func TestWarningsNameTheFirstRow(t *testing.T) {
	c := check(t,
		row("a", "camera.speed", `"maxspeed_kmh":50`), row("b", "camera.speed", `"maxspeed_kmh":"50 mph"`), row("c", "camera.speed", `"maxspeed_kmh":"60"`),
		with(row("d", "camera.speed", `"maxspeed_kmh":"gone"`), `"ttl_seconds":1`), row("e", "nothing", `"maxspeed_kmh":"x"`))
	const message = "properties.maxspeed_kmh must be a number from 5 to 200 km/h to be shown."
	want := []ingest.Warning{{Property: "maxspeed_kmh", Code: mapdata.WarnPropertyType, Rows: 2, Index: 1, ExternalID: "b", Message: message}}
	if diff := cmp.Diff(want, c.Report.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	field := "properties.maxspeed_kmh"
	examples := []mapdata.Rejection{{Code: mapdata.WarnPropertyType, Rows: 2, Examples: []mapdata.RejectedRow{
		{Index: 1, ExternalID: "b", Field: field, Message: message, Value: `"50 mph"`},
		{Index: 2, ExternalID: "c", Field: field, Message: message, Value: `"60"`},
	}}}
	if diff := cmp.Diff(examples, c.Warnings); diff != "" {
		t.Errorf("examples (-want +got):\n%s", diff)
	}
}

// TestRowsWithSeveralWarnings checks that a row is counted once for each code, however many of its properties have that
// warning.
func TestRowsWithSeveralWarnings(t *testing.T) {
	c := check(t,
		row("a", "camera.speed", `"maxspeed_kmh":"50","bearing":"N"`), row("b", "camera.speed", `"bearing":"E","maxspeed_kmh":900`), row("c", "camera.speed", `"maxspeed_kmh":50`))
	rows := map[string]int{}
	for _, r := range c.Warnings {
		rows[r.Code] = r.Rows
	}
	if diff := cmp.Diff(map[string]int{mapdata.WarnPropertyType: 2, mapdata.WarnPropertyRange: 1}, rows); diff != "" {
		t.Errorf("rows by code (-want +got):\n%s", diff)
	}
	rows = map[string]int{}
	for _, w := range c.Report.Warnings {
		rows[w.Property+" "+w.Code] = w.Rows
	}
	if diff := cmp.Diff(map[string]int{"maxspeed_kmh property_wrong_type": 1, "maxspeed_kmh property_out_of_range": 1, "bearing property_wrong_type": 2}, rows); diff != "" {
		t.Errorf("rows by property (-want +got):\n%s", diff)
	}
}

// TestWarningsAreBounded checks rows in which every property is wrong.
func TestWarningsAreBounded(t *testing.T) {
	var wrong []string
	for _, p := range mapdata.Properties() {
		wrong = append(wrong, fmt.Sprintf("%q:{}", p.Name))
	}
	var rows []string
	for i := range 3000 {
		rows = append(rows, row(fmt.Sprint(i), mapdata.Kinds()[i%mapdata.KindCount].ID, strings.Join(wrong, ",")))
	}
	c := check(t, rows...)
	if got := len(c.Report.Warnings); got != mapdata.PropertyCount {
		t.Errorf("%d warnings of %d properties", got, mapdata.PropertyCount)
	}
	if len(c.Warnings) != 1 || len(c.Warnings[0].Examples) != mapdata.MaxExamples {
		t.Errorf("%d codes", len(c.Warnings))
	}
}
