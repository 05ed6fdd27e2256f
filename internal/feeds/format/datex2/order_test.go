package datex2_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/feeds/format"
)

// drawRecords draws records of one situation: of several kinds, at three points and at none, some of which have ended.
func drawRecords(t *rapid.T) (drawn []string) {
	for i := range rapid.IntRange(0, 6).Draw(t, "records") {
		kind := rapid.SampledFrom([]string{
			"Accident", "MaintenanceWorks", "AbnormalTraffic", "SpeedManagement", "ReroutingManagement", "RoadOrCarriagewayOrLaneManagement",
		}).Draw(t, "kind")
		body := rapid.SampledFrom([]string{
			"", "<roadOrCarriagewayOrLaneManagementType>narrowLanes</roadOrCarriagewayOrLaneManagementType>",
			"<roadOrCarriagewayOrLaneManagementType>roadClosed</roadOrCarriagewayOrLaneManagementType>",
			"<validity><validityTimeSpecification><overallEndTime>2026-02-01T00:00:00Z</overallEndTime></validityTimeSpecification></validity>",
			"<validity><validityTimeSpecification><overallStartTime>2026-04-01T00:00:00Z</overallStartTime></validityTimeSpecification></validity>",
		}).Draw(t, "body")
		place := rapid.SampledFrom([]string{
			point, `<pointCoordinates><latitude>52.000001</latitude><longitude>5</longitude></pointCoordinates>`,
			`<pointCoordinates><latitude>53</latitude><longitude>5</longitude></pointCoordinates>`, `<alertCArea/>`, ``,
		}).Draw(t, "place")
		drawn = append(drawn, record(kind, fmt.Sprint("r", i), body, place))
	}
	return drawn
}

// TestOrderOfRecords checks that the rows of a situation and the skipped records do not depend on the order of its
// records. The order decides only on the id of a row, which is that of the first record with a kind there (D17.24), and
// on which value of a property counts that several records state.
func TestOrderOfRecords(t *testing.T) {
	shown := func(t *rapid.T, drawn []string) string {
		items, err := convert(records(drawn...))
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, item := range items {
			var row struct {
				Kind     string
				Lat, Lng float64
			}
			if item.Skip == "" {
				if err := json.Unmarshal(item.Row, &row); err != nil {
					t.Fatal(err)
				}
			}
			word := item.Word
			if item.Skip == format.Joined {
				word = "" // the word of the record that comes second
			}
			all = append(all, fmt.Sprintf("%s %.5f %.5f %s %s", row.Kind, row.Lat, row.Lng, item.Skip, word))
		}
		slices.Sort(all)
		return strings.Join(all, "\n")
	}
	rapid.Check(t, func(t *rapid.T) {
		drawn := drawRecords(t)
		want := shown(t, drawn)
		if got := shown(t, rapid.Permutation(drawn).Draw(t, "order")); got != want {
			t.Fatalf("in another order:\n%s\nis not\n%s", got, want)
		}
	})
}
