package traff_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/traff"
)

// convert converts a document as of noon, in UTC.
func convert(text string) (items []format.Item, err error) {
	d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	o := format.Options{Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Zone: time.UTC}
	_, err = traff.Convert(d, &o, func(item format.Item) error {
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
	for text, want := range map[string]format.Fault{`<a/>`: format.NotFormat, `<a>`: format.BadXML, `{}`: format.BadXML, `<message/>`: format.NotFormat} {
		var bad *format.Error
		if _, err := convert(text); !errors.As(err, &bad) || bad.Fault != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{`<feed/>`} {
		if items, err := convert(text); err != nil || len(items) != 0 {
			t.Errorf("%s: %v %v", text, items, err)
		}
	}
}

func message(events, location string) string {
	return `<feed><message id="a"><events>` + events + `</events><location>` + location + `</location></message></feed>`
}

const place = `<at>52 5</at>`

// TestWords checks the tables of words one by one.
func TestWords(t *testing.T) {
	words := format.Vocabulary().TraFF
	if len(words.Event) == 0 || len(words.Class) == 0 || len(words.Contains) == 0 {
		t.Fatal("no words")
	}
	event := func(class, typ string) string { return `<event class="` + class + `" type="` + typ + `"/>` }
	const works = `<event class="CONSTRUCTION" type="CONSTRUCTION_ROADWORKS"/>`
	for typ, kind := range words.Event {
		if got := one(t, message(event("RESTRICTION", typ), place)); !isOf(got, format.LanesKind(kind, false)) {
			t.Errorf("%s: %+v", typ, got)
		}
		want := format.LanesKind(kind, true)
		if !format.Vocabulary().Graver(want, "alert.construction") {
			want = "alert.construction"
		}
		if got := one(t, message(event("RESTRICTION", typ)+works, place)); !isOf(got, want) {
			t.Errorf("%s with works: %+v", typ, got)
		}
	}
	for class, kind := range words.Class {
		if got := one(t, message(event(class, "SOMETHING_NEW"), place)); !isOf(got, kind) {
			t.Errorf("%s: %+v", class, got)
		}
	}
	for _, part := range words.Contains {
		for _, class := range []string{"HAZARD", "INCIDENT", "WEATHER", "ENVIRONMENT", "CONGESTION"} {
			want := part[1]
			if class == "CONGESTION" {
				want = words.Class[class]
			}
			if got := one(t, message(event(class, class+"_"+part[0]+"S"), place)); !isOf(got, want) {
				t.Errorf("%s in %s: %+v", part[0], class, got)
			}
		}
	}
	for word, severity := range format.Vocabulary().Severity["traff_urgency"] {
		text := strings.Replace(message(event("HAZARD", "HAZARD"), place), `id="a"`, `id="a" urgency="`+word+`"`, 1)
		if got := one(t, text); !strings.Contains(string(got.Row), `"severity":"`+severity+`"`) {
			t.Errorf("%s: %s", word, got.Row)
		}
	}
	if got := one(t, message(event("SOMETHING", "NEW"), place)); got.Skip != format.NoKind || got.Word != "NEW" {
		t.Errorf("%+v", got)
	}
}

func TestPlaces(t *testing.T) {
	for location, lat := range map[string]string{
		`<to>3 3</to><from>2 2</from><at>1 1</at>`: "1", `<to>3 3</to><from>2 2</from>`: "2", `<to>3 3</to>`: "3", `<at>here</at><to>3 3</to>`: "3",
	} {
		if got := one(t, message(`<event class="HAZARD" type="HAZARD"/>`, location)); !strings.Contains(string(got.Row), `"lat":`+lat+`,"lng":`+lat+`,`) || got.Line != nil {
			t.Errorf("%s: %+v %s", location, got, got.Row)
		}
	}
}

func FuzzConvert(f *testing.F) {
	if text, err := os.ReadFile("testdata/sample.xml"); err != nil {
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
