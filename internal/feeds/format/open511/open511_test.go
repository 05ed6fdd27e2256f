package open511_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/open511"
)

// convert converts a document as of noon, in UTC.
func convert(text string) (items []format.Item, err error) {
	d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	o := format.Options{Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Zone: time.UTC}
	_, err = open511.Convert(d, &o, func(item format.Item) error {
		item.Row = append([]byte(nil), item.Row...)
		items = append(items, item)
		return nil
	})
	return items, err
}

// one converts a document of one item.
func one(t *testing.T, text string) format.Item {
	t.Helper()
	items, err := convert(text)
	if err != nil || len(items) != 1 {
		t.Fatalf("%s: %v %v", text, items, err)
	}
	return items[0]
}

// isOf reports whether an item became a row of the kind; with an empty kind, whether it was skipped for having none.
func isOf(item format.Item, kind string) bool {
	if kind == "" {
		return item.Skip == format.NoKind
	}
	return strings.Contains(string(item.Row), `"kind":"`+kind+`"`)
}

func TestBadDocuments(t *testing.T) {
	for text, want := range map[string]format.Fault{`<a/>`: format.NotFormat, `<a>`: format.BadXML, `{}`: format.NotFormat, `{"events":{}}`: format.NotFormat, `{"events":[`: format.BadJSON} {
		var bad *format.Error
		if _, err := convert(text); !errors.As(err, &bad) || bad.Fault != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{`{"events":[]}`, `<open511><events/></open511>`} {
		if items, err := convert(text); err != nil || len(items) != 0 {
			t.Errorf("%s: %v %v", text, items, err)
		}
	}
}

// TestWords checks the tables of words one by one.
func TestWords(t *testing.T) {
	words := format.Vocabulary().Open511
	if len(words.EventType) == 0 || len(words.Subtypes) == 0 {
		t.Fatal("no words")
	}
	event := func(typ, subtypes, state string) string {
		return `{"events":[{"id":"a","status":"ACTIVE","event_type":"` + typ + `","event_subtypes":[` + subtypes + `],"roads":[{"state":"` + state + `"}],"geography":{"type":"Point","coordinates":[5,52]}}]}`
	}
	for typ, kind := range words.EventType {
		if got := one(t, event(typ, `"SOMETHING_NEW"`, "ALL_LANES_OPEN")); !isOf(got, kind) {
			t.Errorf("%s: %+v", typ, got)
		}
		for subtype, exact := range words.Subtypes {
			want := exact
			if typ == "CONSTRUCTION" {
				want = kind
			}
			if got := one(t, event(typ, `"SOMETHING_NEW","`+subtype+`"`, "")); !isOf(got, want) {
				t.Errorf("%s %s: %+v", typ, subtype, got)
			}
		}
	}
	for _, typ := range []string{"CONSTRUCTION", "SOMETHING_NEW", ""} {
		if got := one(t, event(typ, "", "CLOSED")); !isOf(got, format.RoadClosed) {
			t.Errorf("%s, closed: %+v", typ, got)
		}
	}
	if got := one(t, event("SOMETHING_NEW", "", "")); got.Skip != format.NoKind || got.Word != "SOMETHING_NEW" {
		t.Errorf("%+v", got)
	}
	for word, severity := range format.Vocabulary().Severity["open511"] {
		text := strings.Replace(event("INCIDENT", "", ""), `"roads"`, `"severity":"`+word+`","roads"`, 1)
		if got := one(t, text); !strings.Contains(string(got.Row), `"severity":"`+severity+`"`) {
			t.Errorf("%s: %s", word, got.Row)
		}
	}
}

// TestSchedules checks that now must lie in an interval and in a schedule, and that the earlier end counts.
func TestSchedules(t *testing.T) {
	event := func(schedule string) string {
		return `{"events":[{"id":"a","status":"ACTIVE","event_type":"INCIDENT","schedule":` + schedule + `,"geography":{"type":"Point","coordinates":[5,52]}}]}`
	}
	const hours = `"recurring_schedules":[{"daily_start_time":"11:00","daily_end_time":"13:00","days":["7"]}]`
	for schedule, want := range map[string]struct {
		skip format.Reason
		end  string
	}{
		`{}`: {}, `{"intervals":["/"]}`: {}, `{"intervals":["2026-03-01T11:00/2026-03-01T12:30"]}`: {"", "2026-03-01T12:30:00Z"},
		`{"intervals":["/2026-03-01T12:30"],` + hours + `}`: {"", "2026-03-01T12:30:00Z"}, `{"intervals":["/2026-03-09"],` + hours + `}`: {"", "2026-03-01T13:00:00Z"},
		`{"intervals":["2026-03-02/"],` + hours + `}`: {format.NotYet, ""}, `{"intervals":["/2026-02-02"],` + hours + `}`: {format.Ended, ""},
		`{"recurring_schedules":[{"days":[1]}]}`: {format.NotYet, ""}, `{"recurring_schedules":[{"days":[8]}]}`: {format.Schedule, ""},
		`{"recurring_schedules":[{"daily_start_time":"noon"}]}`: {format.Schedule, ""}, `{"recurring_schedules":[{"end_date":"2026-02-01"}]}`: {format.Ended, ""},
		`{"recurring_schedules":[{}]}`: {}, `{"recurring_schedules":[{"end_date":"2026-03-02"}]}`: {"", "2026-03-03T00:00:00Z"}, `{"recurring_schedules":[{"days":[7]}]}`: {"", "2026-03-02T00:00:00Z"},
	} {
		got := one(t, event(schedule))
		if got.Skip != want.skip || want.skip == "" && !got.EndsAt.Equal(format.Time(want.end, nil)) {
			t.Errorf("%s: %q until %v, want %+v", schedule, got.Skip, got.EndsAt, want)
		}
	}
}

func FuzzConvert(f *testing.F) {
	if text, err := os.ReadFile("testdata/sample.json"); err != nil {
		f.Fatal(err)
	} else {
		f.Add(string(text))
	}
	if text, err := os.ReadFile("testdata/sample-xml.xml"); err != nil {
		f.Fatal(err)
	} else {
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		items, err := convert(text)
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
