package csv_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/csv"
)

func read(body io.Reader, mapping string, yield func(format.Item) error) error {
	d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(body), nil }}
	_, err := csv.Convert(d, &format.Options{Mapping: []byte(mapping)}, yield)
	return err
}

func convert(text, mapping string) (items []format.Item, err error) {
	err = read(strings.NewReader(text), mapping, func(item format.Item) error {
		item.Row = append([]byte(nil), item.Row...)
		items = append(items, item)
		return nil
	})
	return items, err
}

// by returns a mapping with the columns id, lat, lng and name, and the given csv member.
func by(csv string) string {
	return `{"id":"id","kind":"camera.speed","lat":"lat","lng":"lng","properties":{"street":"name"},"csv":` + csv + `}`
}

// street converts a table and returns the street of its first row.
func street(t *testing.T, text, mapping string) string {
	t.Helper()
	items, err := convert(text, mapping)
	if err != nil || len(items) == 0 || items[0].Skip != "" {
		t.Fatalf("%q: %+v %v", text, items, err)
	}
	var row struct {
		Properties struct {
			Street string `json:"street"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(items[0].Row, &row); err != nil {
		t.Fatal(err)
	}
	return row.Properties.Street
}

func TestCells(t *testing.T) {
	for cell, want := range map[string]string{
		`a`: "a", ` a `: "a", `"a"`: "a", `"a,b"`: "a,b", `"a ""b"" c"`: `a "b" c`, "\"a\nb\"": "a b", "\"a\r\n\r\nb\"": "a b", `""`: "", `a"b`: `a"b`, `5" pipe`: `5" pipe`, `"a"b`: "ab", `""""`: `"`, `"a"  `: "a",
	} {
		for _, end := range []string{"", "\n", "\r\n", ",more\n2,1,2,b\n", "\n\n\n"} {
			if got := street(t, "id,lat,lng,name\r\n1,52,5,"+cell+end, by(`{}`)); got != want {
				t.Errorf("%q before %q: %q, want %q", cell, end, got, want)
			}
		}
	}
}

func TestDelimitersAndDecimals(t *testing.T) {
	for _, tt := range []struct{ text, csv string }{
		{"id;lat;lng;name\n1;52,5;5,25;a", `{"delimiter":";","decimal":","}`},
		{"id\tlat\tlng\tname\n1\t52.5\t5.25\ta", `{"delimiter":"\t"}`},
		{"id|lat|lng|name\n1|\"52.5\"| 5.25 |a", `{"delimiter":"|","decimal":"."}`},
		{"\n\r\n id , lat,\"lng\",name\n1,52.5,5.25,a", `{}`},
	} {
		items, err := convert(tt.text, by(tt.csv))
		if err != nil || len(items) != 1 || !strings.Contains(string(items[0].Row), `"lat":52.5,"lng":5.25,"properties":{"street":"a"}`) {
			t.Errorf("%q: %+v %v", tt.text, items, err)
		}
	}
	items, err := convert("7,camera.speed,52,5\n8,camera.speed,53,6\n", `{"id":"1","kind":"2","lat":"3","lng":"4","csv":{"header":false}}`)
	if err != nil || len(items) != 2 || items[1].ID != "8" || items[1].Skip != "" {
		t.Errorf("without a header: %+v %v", items, err)
	}
	for _, number := range []string{"", "x", "NaN", "Inf", "0x1", "1,5", "5°"} {
		items, err := convert("id,lat,lng\n1,52,\""+number+"\"", by(`{}`))
		if err != nil || items[0].Skip != format.NoPosition {
			t.Errorf("%s: %+v %v", number, items, err)
		}
	}
}

func TestEncodings(t *testing.T) {
	const head = "id,lat,lng,name\n1,52,5,"
	utf16 := func(text string, big bool) string {
		var out []byte
		for _, r := range text {
			hi, lo := byte(r>>8), byte(r)
			if big {
				hi, lo = lo, hi
			}
			out = append(out, lo, hi)
		}
		return string(out)
	}
	for _, tt := range []struct{ text, csv, want string }{
		{head + "Straße", `{}`, "Straße"},
		{"\uFEFF" + head + "Straße", `{}`, "Straße"},
		{"\uFEFF" + head + "Straße", `{"encoding":"iso-8859-1"}`, "Straße"},
		{head + "Stra\xdfe", `{"encoding":"iso-8859-1"}`, "Straße"},
		{head + "\xa4", `{"encoding":"ISO-8859-15"}`, "€"},
		{head + "\x80", `{"encoding":"windows-1252"}`, "€"},
		{utf16("\uFEFF"+head+"Straße €", false), `{}`, "Straße €"},
		{utf16("\uFEFF"+head+"Straße €", true), `{}`, "Straße €"},
		{utf16(head+"Straße", false), `{"encoding":"utf-16"}`, "Straße"},
	} {
		if got := street(t, tt.text, by(tt.csv)); got != tt.want {
			t.Errorf("%q %s: %q, want %q", tt.text, tt.csv, got, tt.want)
		}
	}
	for _, text := range []string{head + "Stra\xdfe", utf16(head+"a", false), "id,lat,lng,name\n1,52,5,a\n2,52,5,\xff"} {
		_, err := convert(text, by(`{}`))
		var bad *format.Error
		if !errors.As(err, &bad) || bad.Fault != format.BadCharset || bad.Line == 0 {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTables(t *testing.T) {
	for text, want := range map[string]string{
		"id,lat,lng\n": "", "id,lat,lng,name": "", "": "format: line 1", "\n\n": "format: line 3", "id,lat,name\n1,2,3": "format: line 1", "<a/>": "format: line 1", "{\"a\":1}": "format: line 1",
		"id,lat,lng\n1,2,3\n2,\"3,4\n5,6": "csv: line 3", "id,lat,lng\n" + strings.Repeat(",", 5000): "item: line 2",
	} {
		_, err := convert(text, by(`{}`))
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

// endless repeats a text for ever.
type endless string

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e[i%len(e)]
	}
	return len(p), nil
}

// TestLongLines checks that a line of 64 MiB and more is refused with bounded memory, because a line is bounded as
// items are.
func TestLongLines(t *testing.T) {
	for _, text := range []string{"a", ",", `"`, `""a`, "a\n"} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		err := read(io.LimitReader(io.MultiReader(strings.NewReader("id,lat,lng\n1,2,\""), endless(text)), 80<<20), by(`{}`), func(format.Item) error { return nil })
		runtime.ReadMemStats(&after)
		var bad *format.Error
		if !errors.As(err, &bad) || bad.Fault != format.TooLarge || bad.Line != 2 {
			t.Errorf("%q: %v", text, err)
		}
		if held := int64(after.HeapSys) - int64(before.HeapSys); held > 128<<20 {
			t.Errorf("%q: %d MiB", text, held>>20)
		}
	}
}

func TestErrorsOfReaders(t *testing.T) {
	failed := errors.New("disk")
	pipe, in := io.Pipe()
	go func() { in.CloseWithError(failed) }()
	if err := read(io.MultiReader(strings.NewReader("id,lat,lng\n1,2,3\n"), pipe), by(`{}`), func(format.Item) error { return nil }); !errors.Is(err, failed) {
		t.Error(err)
	}
	if err := read(strings.NewReader("id,lat,lng\n1,2,3\n"), by(`{}`), func(format.Item) error { return failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
}

func FuzzConvert(f *testing.F) {
	text, err := os.ReadFile("testdata/sample.csv")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text), `{"delimiter":";","encoding":"windows-1252"}`)
	f.Add("id,lat,lng,name\n1,2,3,\"a\"\"\nb\"\n", `{}`)
	f.Add("\xff\xfei\x00", `{"encoding":"utf-16"}`)
	f.Fuzz(func(t *testing.T, text, form string) {
		items, err := convert(text, by(form))
		if err != nil {
			return
		}
		for _, item := range items {
			if (item.Skip == "") != (len(item.Row) > 0) || item.Skip == "" && !json.Valid(item.Row) {
				t.Errorf("%+v", item)
			}
		}
	})
}
