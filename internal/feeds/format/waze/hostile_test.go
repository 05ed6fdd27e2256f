package waze

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
)

// hostileStrings returns JSON strings as they are written, and one that is too long for any row.
func hostileStrings(t testing.TB) []string {
	t.Helper()
	body, err := os.ReadFile("testdata/hostile_strings.json")
	if err != nil {
		t.Fatal(err)
	}
	dec := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		t.Fatal(err)
	}
	texts := []string{`"` + strings.Repeat("<long>", 4000) + `"`}
	for dec.PeekKind() == '"' {
		text, err := dec.ReadValue()
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if len(texts) < 60 {
		t.Fatalf("only %d strings", len(texts))
	}
	return texts
}

// TestHostileStrings checks each string in every text of an item: it stays one JSON string with the same text, or makes
// that item alone bad.
func TestHostileStrings(t *testing.T) {
	texts := map[string]string{"street": "street", "city": "city", "subtype": "subtype", "reportDescription": "description", "endNode": "end_node"}
	ids := []string{"uuid", "id"}
	others := []string{"type", "iconCategory", "pubMillis", "reliability", "location", "line", "level", "magvar", "reportBy", "country", "x"}
	const after = `{"uuid":"after","type":"POLICE","location":{"x":1,"y":2}}`
	good := 0
	for _, text := range hostileStrings(t) {
		plain, err := jsontext.AppendUnquote(nil, text)
		storable := err == nil && bytes.IndexByte(plain, 0) < 0 && len(text) < 16_000
		for _, member := range slices.Concat(ids, others, slices.Sorted(maps.Keys(texts))) {
			item := `{"` + member + `":` + text
			for _, rest := range []string{`"uuid":"u"`, `"type":"ACCIDENT"`, `"location":{"x":1,"y":2}`} {
				if !strings.HasPrefix(rest, `"`+member+`"`) && (member != "id" || !strings.HasPrefix(rest, `"uuid"`)) {
					item += "," + rest
				}
			}
			items, labels := mapped(t, `{"alerts":[`+item+`},`+after+`],"users":[`+text+`]}`)
			for _, label := range labels {
				if len(label) > longestLabel || strings.Trim(strings.ToUpper(label), "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:") != "" {
					t.Fatalf("label %q of %s", label, item)
				}
			}
			rows, codes := judged(t, items)
			if len(labels)+len(codes)+len(rows) != 2 || len(rows) == 0 || rows[len(rows)-1].ExternalID != "after" {
				t.Fatalf("%.200s: %d rows, dropped %q, rejected %q", item, len(rows), labels, codes)
			}
			property := texts[member]
			if property == "" || !storable {
				if property != "" && len(rows) == 2 {
					t.Errorf("%.200s was accepted", item)
				}
				continue
			}
			want := "{}"
			if len(plain) > 0 {
				want = `{"` + property + `":` + text + `}`
			}
			if len(rows) != 2 || string(rows[0].Properties) != want {
				t.Errorf("%.200s: %d rows, rejected %q", item, len(rows), codes)
			}
			good++
		}
	}
	if good < 300 {
		t.Errorf("only %d strings were kept", good)
	}
}

func FuzzDecode(f *testing.F) {
	for _, name := range []string{"reports.json", "icons.json"} {
		body, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	for _, text := range hostileStrings(f)[1:] {
		f.Add([]byte(`{"alerts":[{"uuid":` + text + `,"type":"POLICE","street":` + text + `,` + text + `:1,"location":{"x":1,"y":2}}],"jams":[{"type":` + text + `}]}`))
	}
	for _, body := range []string{
		`{"jams":[{"uuid":1,"line":[{"x":1,"y":2},{"x":1e400},{"y":90,"x":-180}]}],"alerts":null}`, `{"alerts":[{"uuid":"u","uuid":"v","type":1}]}`,
		`{"alerts":[{"location":{"x":{"y":[]},"y":null,"y":1},"type":"6","id":-1e-1}]}`, `{"alerts":[[[[{}]]],null]}`, "{\"alerts\":[\"\xff\"]}", `{"jams":[{"line":`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		items, at, err := Decode(body, func(label string) {
			if len(label) > longestLabel {
				t.Fatalf("label %q", label)
			}
		})
		if err != nil {
			if !errors.Is(err, mapdata.ErrMalformed) || items != nil || !at.IsZero() {
				t.Fatalf("%d items, %v", len(items), err)
			}
			return
		}
		for i := range items {
			item := &items[i]
			if v := jsontext.Value(item.Row); v.Kind() != '{' || !v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
				t.Fatalf("no object: %q", item.Row)
			}
			if !(item.Prior >= 0 && item.Prior <= 1) || len(item.Line) == 1 || len(item.Line) > longestLine {
				t.Fatalf("prior %v, %d points", item.Prior, len(item.Line))
			}
			for _, p := range item.Line {
				if !p.Valid() {
					t.Fatalf("point %v", p)
				}
			}
		}
		if len(items) <= ingest.MaxBatchRows {
			judged(t, items)
		}
	})
}

// BenchmarkMapRaw measures an answer of 300 items, as for a city.
func BenchmarkMapRaw(b *testing.B) {
	var alerts, jams []string
	for i := range 200 {
		alerts = append(alerts, fmt.Sprintf(`{"country":"NL","nThumbsUp":%d,"city":"Nowhere","reportRating":4,"confidence":3,"reliability":8,"type":"HAZARD","uuid":"00000000-aaaa-4000-8000-%012d",
			"speed":0,"subtype":"HAZARD_ON_SHOULDER_CAR_STOPPED","street":"Invented Quay","id":"alert-%d","reportBy":"somebody","location":{"x":4.%05d,"y":52.%05d},"pubMillis":1795248000000}`, i%7, i, i, i, i))
	}
	for i := range 100 {
		var line []string
		for j := range 20 {
			line = append(line, fmt.Sprintf(`{"x":4.%05d,"y":52.%05d}`, i+j, i+j))
		}
		jams = append(jams, fmt.Sprintf(`{"uuid":%d,"level":3,"speedKMH":9.04,"length":382,"delay":105,"type":"NONE","turnType":"NONE","street":"Invented Road","endNode":"Last Lane","line":[%s],"pubMillis":1795248000000}`, i, strings.Join(line, ",")))
	}
	body := []byte(`{"alerts":[` + strings.Join(alerts, ",") + `],"jams":[` + strings.Join(jams, ",") + `],"users":[]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		items, _, err := Decode(body, func(string) {})
		if err != nil || len(items) != 300 {
			b.Fatal(len(items), err)
		}
	}
}
