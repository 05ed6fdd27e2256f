package cifs_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/alertwords"
	"wayside/internal/feeds/format/cifs"
)

// convert converts a document as of noon, in UTC.
func convert(text string) (items []format.Item, err error) {
	d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	o := format.Options{Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Zone: time.UTC}
	_, err = cifs.Convert(d, &o, func(item format.Item) error {
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
	for text, want := range map[string]format.Fault{`<a/>`: format.NotFormat, `<a>`: format.BadXML, `{}`: format.NotFormat, `{"incidents":{}}`: format.NotFormat, `{"incidents":[`: format.BadJSON} {
		var bad *format.Error
		if _, err := convert(text); !errors.As(err, &bad) || bad.Fault != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{`{"incidents":[]}`, `<incidents/>`} {
		if items, err := convert(text); err != nil || len(items) != 0 {
			t.Errorf("%s: %v %v", text, items, err)
		}
	}
}

// TestWords checks the tables of D17 word by word, and that alerts of the relay's raw form have the same kinds.
func TestWords(t *testing.T) {
	words := format.Vocabulary().CIFS
	if len(words.Type) == 0 || len(words.Subtype) == 0 {
		t.Fatal("no words")
	}
	incident := func(typ, subtype string) string {
		return `{"incidents":[{"id":"a","type":"` + typ + `","subtype":"` + subtype + `","polyline":"52 5"}]}`
	}
	for typ, kind := range words.Type {
		for _, subtype := range []string{"", "SOMETHING_NEW"} {
			if got := one(t, incident(typ, subtype)); !isOf(got, kind) || kind == "" && got.Word != typ {
				t.Errorf("%s %s: %+v, want %s", typ, subtype, got, kind)
			}
		}
	}
	for subtype, kind := range words.Subtype {
		typ := ""
		for of := range words.Type {
			if strings.HasPrefix(subtype, of) && len(of) > len(typ) {
				typ = of
			}
		}
		if got := one(t, incident(typ, subtype)); !isOf(got, kind) || kind == "" && got.Word != subtype {
			t.Errorf("%s %s: %+v, want %s", typ, subtype, got, kind)
		}
	}
	if got := one(t, incident("SOMETHING", "NEW")); got.Skip != format.NoKind || got.Word != "SOMETHING" {
		t.Errorf("%+v", got)
	}
	if terms := len(words.Type) + len(words.Subtype); len(alertwords.Terms()) != terms {
		t.Errorf("%d terms in use, %d in the tables of D17", len(alertwords.Terms()), terms)
	}
}

func TestPolylines(t *testing.T) {
	for polyline, points := range map[string]int{
		`"52 5 53 6"`: 2, `[52,5,53,6]`: 2, `[[52,5],[53,6]]`: 2, `["52 5","53 6"]`: 2, `"52 5"`: 0, `"52 5 52 5"`: 0, `"52 5 north 6"`: 0,
	} {
		got := one(t, `{"incidents":[{"id":"a","type":"JAM","polyline":`+polyline+`}]}`)
		if len(got.Line) != points || !strings.Contains(string(got.Row), `"lat":52,"lng":5,`) {
			t.Errorf("%s: %+v %s", polyline, got, got.Row)
		}
	}
	if got := one(t, `{"incidents":[{"id":"a","type":"JAM","polyline":"nowhere"}]}`); got.Skip != format.NoPosition {
		t.Errorf("%+v", got)
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
