package bridge_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/format"
)

var update = flag.Bool("update", false, "write the golden rows and counts anew")

// folder returns the directory of a format's package.
func folder(f bridge.Format) string {
	return filepath.Join("..", "format", strings.ReplaceAll(f.Name, "-", ""))
}

// options are the options of a sample, from the file beside it, SAMPLE.options.json.
type options struct {
	At             time.Time       `json:"at"`
	TimeZone       string          `json:"time_zone"`
	Mapping        json.RawMessage `json:"mapping"`
	ChargerNetwork string          `json:"charger_network"`
	Status         string          `json:"status"` // the file of the second document
}

// sample is a document with its options.
type sample struct {
	file string
	doc  format.Document
	o    format.Options
}

func readSample(t *testing.T, file string) sample {
	t.Helper()
	open := func(file string) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return os.Open(file) }
	}
	s := sample{file: file, doc: format.Document{Open: open(file)}}
	text, err := os.ReadFile(strings.TrimSuffix(file, filepath.Ext(file)) + ".options.json")
	if err != nil {
		t.Fatal(err)
	}
	var o options
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	s.o = format.Options{Now: o.At, Mapping: o.Mapping, ChargerNetwork: o.ChargerNetwork}
	if o.TimeZone != "" {
		if s.o.Zone, err = time.LoadLocation(o.TimeZone); err != nil {
			t.Fatal(err)
		}
	}
	if o.Status != "" {
		s.doc.Status = open(filepath.Join(filepath.Dir(file), o.Status))
	}
	return s
}

// golden returns the result of a document as text: a line for each row with its line and end, then the skipped items.
func golden(t *testing.T, f bridge.Format, d format.Document, o format.Options) string {
	t.Helper()
	var skips bridge.Skips
	var out strings.Builder
	summary, err := f.Convert(d, &o, &skips, func(item format.Item) error {
		if !json.Valid(item.Row) {
			t.Errorf("no JSON: %s", item.Row)
		}
		fmt.Fprintf(&out, "%s", item.Row)
		if len(item.Line) > 0 {
			fmt.Fprintf(&out, " line %v", item.Line)
		}
		if !item.EndsAt.IsZero() {
			fmt.Fprintf(&out, " ends %s", item.EndsAt.UTC().Format(time.RFC3339))
		}
		out.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range skips.List() {
		fmt.Fprintf(&out, "skipped %s %d", s.Reason, s.Items)
		for _, word := range slices.Sorted(maps.Keys(s.Words)) {
			fmt.Fprintf(&out, " %q %d", word, s.Words[word])
		}
		fmt.Fprintf(&out, " as %q\n", s.Examples)
	}
	fmt.Fprintf(&out, "again %v publisher %q licence %q next %q\n", summary.Again.UTC().Format(time.RFC3339), summary.Publisher, summary.Licence, summary.NextPage)
	return out.String()
}

// TestFormatsAreWhole checks that each format of the table has samples with their rows, a page of documentation and a
// fuzz target, and that its samples become the same rows each time.
func TestFormatsAreWhole(t *testing.T) {
	for _, f := range bridge.Formats() {
		t.Run(f.Name, func(t *testing.T) {
			page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "bridges", f.Name+".md"))
			if err != nil || len(page) < 1000 {
				t.Errorf("no page of documentation: %v", err)
			}
			if index, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "bridges.md")); err != nil || !bytes.Contains(index, []byte("\n| `"+f.Name+"` |")) {
				t.Errorf("no line in the table of docs/bridges.md: %v", err)
			}
			tests, err := filepath.Glob(filepath.Join(folder(f), "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			target := false
			for _, file := range tests {
				text, err := os.ReadFile(file)
				target = target || err == nil && bytes.Contains(text, []byte("\nfunc FuzzConvert("))
			}
			if !target {
				t.Error("no fuzz target FuzzConvert")
			}
			samples, err := filepath.Glob(filepath.Join(folder(f), "testdata", "sample*.options.json"))
			if err != nil || len(samples) == 0 {
				t.Fatal("no sample with options in testdata", err)
			}
			for _, options := range samples {
				t.Run(filepath.Base(options), func(t *testing.T) { becomesGolden(t, f, document(t, options)) })
			}
		})
	}
}

// document returns the file to which a file of options belongs.
func document(t *testing.T, options string) string {
	t.Helper()
	name := strings.TrimSuffix(options, ".options.json")
	files, err := filepath.Glob(name + ".*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if file != options && !strings.HasSuffix(file, ".golden") {
			return file
		}
	}
	t.Fatalf("no document beside %s", options)
	return ""
}

func becomesGolden(t *testing.T, f bridge.Format, file string) {
	t.Helper()
	s := readSample(t, file)
	got := golden(t, f, s.doc, s.o)
	if again := golden(t, f, s.doc, s.o); again != got {
		t.Error("converting twice is not the same")
	}
	path := strings.TrimSuffix(file, filepath.Ext(file)) + ".golden"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("%v\n%s\nis not what %s has: look at the difference, and write it anew with -update", err, got, path)
	}
	if regexp.MustCompile(`"external_id":""`).MatchString(got) {
		t.Error("a row without an id")
	}
}

// TestBadDocumentsOfAllFormats checks that a document that is not of a format fails as a whole, with a fault.
func TestBadDocumentsOfAllFormats(t *testing.T) {
	for _, f := range bridge.Formats() {
		for _, text := range []string{"", " ", "{", "<", "null", "7", `"text"`, "<a/>", "<!DOCTYPE a><a/>", strings.Repeat("[", 200_000), strings.Repeat("<a>", 200_000), "\x00\x01\x02", "{\"a\":1}"} {
			if f.Accept == bridge.CSV {
				continue // any line is a header
			}
			d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
			rows := 0
			_, err := f.Convert(d, &format.Options{Now: time.Now(), Mapping: []byte(`{"id":"id","kind":{"value":"alert.hazard"}}`)}, new(bridge.Skips), func(format.Item) error { rows++; return nil })
			var bad *format.Error
			if !errors.As(err, &bad) || rows > 0 {
				t.Errorf("%s: %.20q: %v, %d rows", f.Name, text, err, rows)
			}
		}
	}
}
