package bridge_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/format"
)

// lists names the places of a format's items: elements of XML and arrays of JSON with these names ("" is the document itself), or lines of
// a table.
var lists = map[string]struct {
	names []string
	lines bool
}{
	"wzdx":          {names: []string{"features"}},
	"digitraffic":   {names: []string{"features"}},
	"datex2":        {names: []string{"situation"}},
	"ocpi":          {names: []string{"data", ""}},
	"geojson":       {names: []string{"features"}},
	"csv":           {lines: true},
	"datex2-energy": {names: []string{"energyInfrastructureSite", "aegiEnergyInfrastructureSite", "refillPointStatus", "aegiRefillPointStatus"}},
	"open511":       {names: []string{"events", "event"}},
	"cifs":          {names: []string{"incidents", "incident"}},
	"autobahn":      {names: []string{"roadworks", "closure", "warning", "electric_charging_station"}},
	"overpass":      {names: []string{"elements"}},
	"ocm":           {names: []string{""}},
	"traff":         {names: []string{"message"}},
}

// list is a place in a document where items are adjacent.
type list struct {
	from, until int // offsets; the text before and after stays unchanged
	items       []string
	between     string
}

// text returns the list with other items, or with the same items in another order.
func (l *list) text(items []string) string { return strings.Join(items, l.between) }

// listsOf finds the lists of a document.
func listsOf(t *testing.T, name string, text []byte) (found []list) {
	t.Helper()
	where := lists[name]
	var err error
	switch first := bytes.TrimSpace(text); {
	case where.lines:
		found = linesOf(text)
	case first[0] == '<':
		found, err = elementsOf(text, where.names)
	default:
		found, err = arraysOf(text, where.names)
	}
	if err != nil && !errors.Is(err, io.EOF) || len(found) == 0 {
		t.Fatalf("no lists of items in %.40q: %v", text, err)
	}
	return found
}

// linesOf finds the lines after the first; a quoted cell may contain line ends.
func linesOf(text []byte) []list {
	l := list{from: bytes.IndexByte(text, '\n') + 1, until: len(text)}
	item := ""
	for line := range bytes.Lines(text[l.from:]) {
		if item += strings.TrimSuffix(string(line), "\n") + "\n"; strings.Count(item, `"`)%2 == 0 {
			l.items, item = append(l.items, item), ""
		}
	}
	return []list{l}
}

// arraysOf finds the arrays with these names, except those within their elements.
func arraysOf(text []byte, names []string) (found []list, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	name := ""
	for {
		token, err := d.ReadToken()
		if err != nil {
			return found, err
		}
		_, length := d.StackIndex(d.StackDepth())
		inObject, _ := d.StackIndex(d.StackDepth())
		switch {
		case token.Kind() == '[' && slices.Contains(names, name):
			l := list{from: int(d.InputOffset()), between: ","}
			for d.PeekKind() != ']' {
				item, err := d.ReadValue()
				if err != nil {
					return nil, err
				}
				l.items = append(l.items, string(item))
			}
			l.until = int(d.InputOffset())
			found = append(found, l)
		case token.Kind() == '"' && inObject == '{' && length%2 == 1:
			name = token.String()
			continue
		}
		name = "-"
	}
}

// elementsOf finds adjacent elements with these names.
func elementsOf(text []byte, names []string) (found []list, err error) {
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		begin := int(d.InputOffset())
		token, err := d.RawToken()
		if err != nil {
			return found, err
		}
		start, isStart := token.(xml.StartElement)
		if !isStart || !slices.Contains(names, start.Name.Local) {
			continue
		}
		for depth := 1; depth > 0; {
			if token, err = d.RawToken(); err != nil {
				return nil, err
			}
			switch token.(type) {
			case xml.StartElement:
				depth++
			case xml.EndElement:
				depth--
			}
		}
		end := int(d.InputOffset())
		if n := len(found); n > 0 && len(bytes.TrimSpace(text[found[n-1].until:begin])) == 0 {
			found[n-1].until, found[n-1].items = end, append(found[n-1].items, string(text[begin:end]))
			continue
		}
		found = append(found, list{from: begin, until: end, items: []string{string(text[begin:end])}})
	}
}

// rewritten returns a document with other items in its lists.
func rewritten(text []byte, all []list, items [][]string) string {
	var out strings.Builder
	at := 0
	for i := range all {
		out.Write(text[at:all[i].from])
		out.WriteString(all[i].text(items[i]))
		at = all[i].until
	}
	out.Write(text[at:])
	return out.String()
}

// outcome returns the result of a document regardless of order: its rows with their lines and ends, sorted, the skipped items by reason and
// word, and the summary.
func outcome(f bridge.Format, document, status string, o format.Options) string {
	open := func(text string) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	}
	d := format.Document{Open: open(document)}
	if status != "" {
		d.Status = open(status)
	}
	var rows []string
	var skips bridge.Skips
	summary, err := f.Convert(d, &o, &skips, func(item format.Item) error {
		rows = append(rows, fmt.Sprintf("%s %v %s", item.Row, item.Line, item.EndsAt.UTC().Format(time.RFC3339Nano)))
		return nil
	})
	slices.Sort(rows)
	for _, s := range skips.List() {
		rows = append(rows, fmt.Sprint("skipped ", s.Reason, s.Items))
		for _, word := range slices.Sorted(maps.Keys(s.Words)) {
			rows = append(rows, fmt.Sprintf("%q %d", word, s.Words[word]))
		}
	}
	return fmt.Sprintf("%s\n%+v %v", strings.Join(rows, "\n"), summary, err)
}

// drawn returns some of the items, each any number of times, and the same items in another order.
func drawn(t *rapid.T, all []list) (some, shuffled [][]string) {
	for i := range all {
		chosen := slices.Clone(all[i].items)
		if rapid.Bool().Draw(t, "not all, and some twice") {
			chosen = rapid.SliceOfN(rapid.SampledFrom(all[i].items), 0, 2*len(all[i].items)).Draw(t, "items")
		}
		some = append(some, chosen)
		order := rapid.Permutation(chosen).Draw(t, "order")
		if len(order) < 2 && len(chosen) == 1 {
			order = chosen
		}
		shuffled = append(shuffled, order)
	}
	return some, shuffled
}

// TestOrderNeverMatters checks for every format that documents of any items of its sample become the same rows, skips and times in whatever
// order the items stand, also those of its second document.
func TestOrderNeverMatters(t *testing.T) {
	for _, f := range bridge.Formats() {
		options, err := filepath.Glob(filepath.Join(folder(f), "testdata", "sample*.options.json"))
		if _, known := lists[f.Name]; err != nil || !known || len(options) == 0 {
			t.Errorf("%s: no sample, or nothing is known of where its items stand: %v", f.Name, err)
		}
		for _, file := range options {
			t.Run(f.Name+"/"+filepath.Base(file), func(t *testing.T) {
				holdsInAnyOrder(t, f, readSample(t, document(t, file)))
			})
		}
	}
}

func holdsInAnyOrder(t *testing.T, f bridge.Format, s sample) {
	t.Helper()
	text := read(t, s.doc.Open)
	all := listsOf(t, f.Name, text)
	var status []byte
	var statuses []list
	if s.doc.Status != nil {
		status = read(t, s.doc.Status)
		statuses = listsOf(t, f.Name, status)
	}
	rapid.Check(t, func(t *rapid.T) {
		some, shuffled := drawn(t, all)
		someOf, shuffledOf := drawn(t, statuses)
		want := outcome(f, rewritten(text, all, some), rewritten(status, statuses, someOf), s.o)
		got := outcome(f, rewritten(text, all, shuffled), rewritten(status, statuses, shuffledOf), s.o)
		if got != want {
			t.Fatalf("in another order:\n%s\nis not\n%s", got, want)
		}
	})
}

func read(t *testing.T, open func() (io.ReadCloser, error)) []byte {
	t.Helper()
	body, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
