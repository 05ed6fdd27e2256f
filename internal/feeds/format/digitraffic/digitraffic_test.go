package digitraffic_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/digitraffic"
)

// convert converts a document as of noon.
func convert(text string) (items []format.Item, summary format.Summary, err error) {
	d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	o := format.Options{Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	summary, err = digitraffic.Convert(d, &o, func(item format.Item) error {
		item.Row = append([]byte(nil), item.Row...)
		items = append(items, item)
		return nil
	})
	return items, summary, err
}

// one converts a document of one situation at a point.
func one(t *testing.T, properties string) (format.Item, format.Summary) {
	t.Helper()
	items, summary, err := convert(`{"features":[{"properties":{"situationId":"a",` + properties + `},"geometry":{"type":"Point","coordinates":[25,60]}}]}`)
	if err != nil || len(items) != 1 {
		t.Fatal(items, err)
	}
	return items[0], summary
}

// TestWords checks the tables of words one by one, in both of their forms.
func TestWords(t *testing.T) {
	words := format.Vocabulary().Digitraffic
	if len(words.SituationType) == 0 || len(words.AnnouncementType) == 0 || len(words.Closed) == 0 {
		t.Fatal("no words")
	}
	check := func(properties, word, kind string) {
		t.Helper()
		item, _ := one(t, properties)
		switch {
		case kind == "" && (item.Skip != format.NoKind || item.Word != word):
			t.Errorf("%s: %+v", properties, item)
		case kind != "" && (!strings.Contains(string(item.Row), `"kind":"`+kind+`"`) || !strings.Contains(string(item.Row), `"source_type":"`+word+`"`)):
			t.Errorf("%s: %s, want %s", properties, item.Row, kind)
		}
	}
	published := func(word string) string { return strings.ToUpper(strings.ReplaceAll(word, " ", "_")) }
	for word, kind := range words.SituationType {
		for _, form := range []string{word, published(word)} {
			check(fmt.Sprintf(`"situationType":%q,"trafficAnnouncementType":"GENERAL"`, form), word, kind)
		}
	}
	for word, kind := range words.AnnouncementType {
		for _, form := range []string{word, published(word)} {
			check(fmt.Sprintf(`"situationType":"TRAFFIC_ANNOUNCEMENT","trafficAnnouncementType":%q`, form), word, kind)
		}
	}
	for _, word := range words.Closed {
		phase := fmt.Sprintf(`,"announcements":[{"roadWorkPhases":[{"restrictions":[{"type":"DETOUR"},{"type":%q}]}]}]`, published(word))
		check(`"situationType":"ROAD_WORK"`+phase, word, "alert.road_closed")
		check(`"situationType":"WEIGHT_RESTRICTION"`+phase, "weight restriction", "")
	}
	check(`"situationType":"SNOWPLOUGH"`, "snowplough", "")
	check(`"situationType":"TRAFFIC_ANNOUNCEMENT"`, "traffic announcement", "")
	check(`"version":1`, "", "")
}

// TestPhases checks that only phases that run now close a road or limit speed, and that the document is read again when one begins or ends.
func TestPhases(t *testing.T) {
	for name, tt := range map[string]struct{ start, end, kind, again string }{
		"runs":         {"2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z", "alert.road_closed", "2026-03-01T13:00:00Z"},
		"begins later": {"2026-03-01T12:30:00Z", "2026-03-01T13:00:00Z", "alert.construction", "2026-03-01T12:30:00Z"},
		"is over":      {"2026-03-01T10:00:00Z", "2026-03-01T12:00:00Z", "alert.construction", ""},
	} {
		item, summary := one(t, fmt.Sprintf(`"situationType":"ROAD_WORK","announcements":[{"roadWorkPhases":[{"timeAndDuration":{"startTime":%q,"endTime":%q},`+
			`"restrictions":[{"type":"ROAD_CLOSED"},{"type":"SPEED_LIMIT","restriction":{"quantity":49.7}}]}]}]`, tt.start, tt.end))
		runs := tt.kind == "alert.road_closed"
		if !strings.Contains(string(item.Row), tt.kind) || strings.Contains(string(item.Row), `"speed_limit_kmh":50`) != runs || !item.EndsAt.IsZero() {
			t.Errorf("%s: %s ends %v", name, item.Row, item.EndsAt)
		}
		if again := summary.Again; tt.again == "" != again.IsZero() || tt.again != "" && again.Format(time.RFC3339) != tt.again {
			t.Errorf("%s: again %v, want %s", name, again, tt.again)
		}
	}
}

func TestDocuments(t *testing.T) {
	for text, want := range map[string]int{`{"features":[]}`: 0, `{"type":"FeatureCollection","features":[{}],"dataUpdatedTime":null}`: 1} {
		if items, _, err := convert(text); err != nil || len(items) != want {
			t.Errorf("%s: %v %v", text, items, err)
		}
	}
	for _, text := range []string{`{"type":"FeatureCollection"}`, `{"features":{}}`, `[]`, `{"features":[{]}`, `{"features":[]} x`} {
		if _, _, err := convert(text); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

func FuzzConvert(f *testing.F) {
	text, err := os.ReadFile("testdata/sample.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(`{"features":[{"properties":{"situationId":1,"situationType":"ROAD_WORK","announcements":[{"roadWorkPhases":[{"restrictions":[{"type":"ROAD_CLOSED"}]}]}]},"geometry":{"type":"Point","coordinates":[1,2]}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		items, _, err := convert(text)
		if err != nil {
			return
		}
		for _, item := range items {
			if (item.Skip == "") != (len(item.Row) > 0) || len(item.Line) == 1 || len(item.Line) > format.MaxLine {
				t.Errorf("%+v", item)
			}
		}
	})
}
