package wzdx_test

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/wzdx"
)

// convert converts a document as of noon.
func convert(text string) (items []format.Item, summary format.Summary, err error) {
	d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	o := format.Options{Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	summary, err = wzdx.Convert(d, &o, func(item format.Item) error {
		item.Row = append([]byte(nil), item.Row...)
		items = append(items, item)
		return nil
	})
	return items, summary, err
}

// TestWords checks the table of words one by one.
func TestWords(t *testing.T) {
	words := format.Vocabulary().WZDx
	if len(words.EventType) == 0 || len(words.Closed) == 0 {
		t.Fatal("no words")
	}
	of := func(event, impact string) format.Item {
		items, _, err := convert(`{"features":[{"id":"a","properties":{"core_details":{"event_type":"` + event + `"},"vehicle_impact":"` + impact + `"},"geometry":{"type":"Point","coordinates":[5,52]}}]}`)
		if err != nil || len(items) != 1 {
			t.Fatal(items, err)
		}
		return items[0]
	}
	for word, kind := range words.EventType {
		if item := of(word, "some-lanes-closed"); !strings.Contains(string(item.Row), `"kind":"`+kind+`"`) || !strings.Contains(string(item.Row), `"source_type":"`+word+`"`) {
			t.Errorf("%s: %s", word, item.Row)
		}
		for impact, closed := range words.Closed {
			if item := of(word, impact); !strings.Contains(string(item.Row), `"kind":"`+closed+`"`) {
				t.Errorf("%s, %s: %s", word, impact, item.Row)
			}
		}
	}
	for _, word := range []string{"detour", "WORK-ZONE", ""} {
		if item := of(word, "all-lanes-closed"); item.Skip != format.NoKind || item.Word != word {
			t.Errorf("%q: %+v: what closes is no kind by itself", word, item)
		}
	}
}

func TestDocuments(t *testing.T) {
	for text, want := range map[string]int{`{"features":[]}`: 0, `{"type":"FeatureCollection","features":[],"feed_info":{}}`: 0} {
		if items, _, err := convert(text); err != nil || len(items) != want {
			t.Errorf("%s: %v %v", text, items, err)
		}
	}
	for _, text := range []string{`{"feed_info":{}}`, `{"features":{}}`, `[]`, `{"features":[{]}`, `{"features":[]} x`} {
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
	f.Add(`{"features":[{"id":"a","properties":{"core_details":{"event_type":"work-zone"}},"geometry":{"type":"LineString","coordinates":[[1,2],[1,2]]}}]}`)
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
