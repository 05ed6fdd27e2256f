package jsondoc_test

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/jsondoc"
)

// asAny returns a value as encoding/json would decode it.
func asAny(v jsondoc.Value) any {
	switch v.Kind() {
	case '{':
		m := map[string]any{}
		for name, member := range v.Members() {
			m[name] = asAny(member)
		}
		return m
	case '[':
		l := []any{}
		for element := range v.Elements() {
			l = append(l, asAny(element))
		}
		return l
	case '"':
		return v.Text()
	case '0':
		n, _ := v.Number()
		return n
	case 't', 'f':
		b, _ := v.Bool()
		return b
	}
	return nil
}

// read reads a whole document as one value.
func read(text string) (any, error) {
	r := jsondoc.New(strings.NewReader(text), nil)
	v, err := r.Value()
	if err != nil {
		return nil, err
	}
	got := asAny(v)
	return got, r.End()
}

func TestValues(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `"a"`, `0`, `-1.5e3`, `true`, `false`, `null`, ` [ 1 , 2 ] `, `{"a":{"b":[1,{"c":"d"}],"e":null},"f":"\"\\"}`,
		`{"é\n":"\u00e9\ud83d\ude00"}`, `[[],[[]],{},[{}]]`, `["\\"," ","\\\""]`, `{"a":"]}","b":["{"]}`,
	} {
		var want any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if got, err := read(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestBadDocuments(t *testing.T) {
	for text, want := range map[string]format.Fault{
		"": format.BadJSON, " ": format.BadJSON, "{": format.BadJSON, `{"a":1,"a":2}`: format.BadJSON, "NaN": format.BadJSON,
		"[1,]": format.BadJSON, "[1] 2": format.BadJSON, "\"\xff\"": format.BadJSON, `"\ud800"`: format.BadJSON, "01": format.BadJSON,
		strings.Repeat("[", 101) + strings.Repeat("]", 101):          format.TooDeep,
		strings.Repeat("[", 200_000):                                 format.TooDeep,
		`"` + strings.Repeat("a", format.MaxItemBytes) + `"`:         format.TooLarge,
		"[" + strings.Repeat("1,", 1_000_000) + "1]":                 format.TooLarge,
		strings.Repeat(" ", 10) + `{"a":[` + strings.Repeat("1,", 5): format.BadJSON,
	} {
		_, err := read(text)
		var bad *format.Error
		if !errors.As(err, &bad) || bad.Fault != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
		if want == format.TooLarge {
			continue // a value that is not held may be large
		}
		r := jsondoc.New(strings.NewReader(text), nil)
		err = r.Skip()
		if err == nil {
			err = r.End()
		}
		if !errors.As(err, &bad) || bad.Fault != want {
			t.Errorf("skipped %.20q: %v, want %s", text, err, want)
		}
	}
	if _, err := read(strings.Repeat("[", 100) + strings.Repeat("]", 100)); err != nil {
		t.Error("100 levels:", err)
	}
}

func TestStream(t *testing.T) {
	var seen []string
	r := jsondoc.New(strings.NewReader(`{"head":{"x":[1]},"items":[{"id":"a"},5,{"id":"b"}],"tail":null}`), nil)
	err := r.Members(func(name string) error {
		if name != "items" {
			return r.Skip()
		}
		return r.Elements(func() error {
			v, err := r.Value()
			seen = append(seen, v.Get("id").Text())
			return err
		})
	})
	if err != nil || r.End() != nil || strings.Join(seen, "|") != "a||b" {
		t.Errorf("%v %v", seen, err)
	}
	for text, want := range map[string]format.Fault{`[1]`: format.NotFormat, `"a"`: format.NotFormat, `[1`: format.BadJSON, ``: format.BadJSON} {
		r := jsondoc.New(strings.NewReader(text), nil)
		var bad *format.Error
		if err := r.Members(func(string) error { return r.Skip() }); !errors.As(err, &bad) || bad.Fault != want {
			t.Errorf("%q as an object: %v, want %s", text, err, want)
		}
	}
}

// TestEncodings checks the same document in UTF-8 with a mark, and in UTF-16 with and without one.
func TestEncodings(t *testing.T) {
	const text = `{"name":"Düsseldorf 😀"}`
	forms := map[string]string{"mark": "\uFEFF" + text}
	for name, order := range map[string]func(hi, lo byte) []byte{
		"big": func(hi, lo byte) []byte { return []byte{hi, lo} }, "little": func(hi, lo byte) []byte { return []byte{lo, hi} },
	} {
		encode := func(text string) string {
			var out []byte
			for _, unit := range utf16.Encode([]rune(text)) {
				out = append(out, order(byte(unit>>8), byte(unit))...)
			}
			return string(out)
		}
		forms[name], forms[name+" with mark"] = encode(text), encode("\uFEFF"+text)
	}
	for name, form := range forms {
		r := jsondoc.New(strings.NewReader(form), nil)
		v, err := r.Value()
		if err != nil || v.Get("name").Text() != "Düsseldorf 😀" {
			t.Errorf("%s: %q %v", name, v.Get("name").Text(), err)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]float64{`1.5`: 1.5, `"1.5"`: 1.5, `"-0"`: 0, `"0x1"`: math.NaN(), `"Inf"`: math.NaN(), `""`: math.NaN(), `"1_0"`: math.NaN(), `true`: math.NaN(), `1e999`: math.NaN()} {
		r := jsondoc.New(strings.NewReader(text), nil)
		v, err := r.Value()
		got, ok := v.NumberOrText()
		if err != nil || ok == math.IsNaN(want) || ok && got != want {
			t.Errorf("%s: %v %v %v", text, got, ok, err)
		}
	}
}

// TestShortNumbers compares numbers as coordinates are written, which have a parser of their own, with strconv.
func TestShortNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		text := strconv.FormatFloat((random.Float64()-0.5)*math.Pow10(random.IntN(9)), 'f', random.IntN(14), 64)
		v, err := jsondoc.New(strings.NewReader(text), nil).Value()
		got, ok := v.Number()
		if want, _ := strconv.ParseFloat(text, 64); err != nil || !ok || got != want {
			t.Fatalf("%s: %v %v, want %v", text, got, ok, want)
		}
	}
}

// TestComparisons checks the methods that avoid the conversion to a string against those that do not.
func TestComparisons(t *testing.T) {
	v, err := jsondoc.New(strings.NewReader(`{"a":"x","\u0062":"\u0078y","c":"12","d":-7,"e":1.0,"f":null,"a.b":null,"c.d":3,"g":"","h":"-9223372036854775808","i":9223372036854775808}`), nil).Value()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "x", "b": "xy", "c": "12", "g": ""} {
		if !v.Get(name).Is(want) || v.Get(name).Is(want+"z") || v.Get(name).Is("z"+want) {
			t.Errorf("%s is not only %q", name, want)
		}
	}
	if v.Get("d").Is("-7") || v.Get("f").Is("") || v.Get("none").Is("") {
		t.Error("what is no string is one")
	}
	for name, want := range map[string]int64{"c": 12, "d": -7, "h": math.MinInt64} {
		if got, ok := v.Get(name).Integer(); !ok || got != want {
			t.Errorf("%s: %d %v", name, got, ok)
		}
	}
	for _, name := range []string{"a", "b", "e", "f", "g", "i", "none"} {
		if got, ok := v.Get(name).Integer(); ok {
			t.Errorf("%s: %d", name, got)
		}
	}
	for names, want := range map[[2]string]string{
		{"a", "c"}: "x", {"none", "b"}: "xy", {"b", "a"}: "xy", {"c.d", "c"}: "3", {"a.b", "a"}: "x", {"none", "nothing"}: "",
	} {
		if got, first := v.Either(names[0], names[1]); got.Text() != want || first != v.Get(names[0]).Exists() {
			t.Errorf("%q: %q %v", names, got.Text(), first)
		}
	}
}

// TestEscapedNames checks that members are found whose names contain escapes, beside others that look like them, in
// successive items.
func TestEscapedNames(t *testing.T) {
	r := jsondoc.New(strings.NewReader(`[{"\u0061\u0062":"1\n","a\\u0062":"2","":"3"},{"ab":"4","c":"5\\"}]`), nil)
	wants := []map[string]string{{"ab": "1\n", `a\u0062`: "2", "": "3", `\u0061\u0062`: ""}, {"ab": "4", "c": `5\`, "": ""}}
	err := r.Elements(func() error {
		v, err := r.Value()
		for name, want := range wants[0] {
			if got := v.Get(name).Text(); got != want {
				t.Errorf("%q: %q, want %q", name, got, want)
			}
		}
		for name := range v.Members() {
			if wants[0][name] == "" {
				t.Errorf("there is no member %q", name)
			}
		}
		wants = wants[1:]
		return err
	})
	if err != nil || len(wants) != 0 {
		t.Error(err, wants)
	}
}

// endless is a text without end.
type endless struct{ begin, then string }

func (e *endless) Read(p []byte) (int, error) {
	if e.begin != "" {
		n := copy(p, e.begin)
		e.begin = e.begin[n:]
		return n, nil
	}
	for i := range p {
		p[i] = e.then[i%len(e.then)]
	}
	return len(p), nil
}

// TestMemory checks that reading endless texts holds a bounded amount of memory.
func TestMemory(t *testing.T) {
	for _, e := range []*endless{{`["`, "a"}, {`{"`, "a"}, {`[`, " "}, {`[`, "1"}, {`[{"a":`, `[1,1],`[1:]}} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r := jsondoc.New(e, nil)
		err := r.Elements(func() error { _, err := r.Value(); return err })
		runtime.ReadMemStats(&after)
		var bad *format.Error
		if !errors.As(err, &bad) {
			t.Errorf("%.10q…: %v", e.then, err)
		}
		if held := int64(after.HeapSys) - int64(before.HeapSys); held > 200<<20 {
			t.Errorf("%.10q…: %d MiB", e.then, held>>20)
		}
	}
}

// TestErrorsOfReaders checks that errors of the underlying reader are returned as they are, since they do not concern
// the document.
func TestErrorsOfReaders(t *testing.T) {
	failed := errors.New("disk")
	r := jsondoc.New(io.MultiReader(strings.NewReader(`{"a":`), errorReader{failed}), nil)
	if _, err := r.Value(); !errors.Is(err, failed) {
		t.Error(err)
	}
}

type errorReader struct{ err error }

func (e errorReader) Read([]byte) (int, error) { return 0, e.err }

func FuzzValue(f *testing.F) {
	for _, text := range []string{`{"a":[1,"b",{"c":null}]}`, `"\ud800"`, `[[[]]]`, "\xef\xbb\xbf1", "\xff\xfe1\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := read(text)
		if err != nil {
			return
		}
		var want any
		if json.Unmarshal([]byte(strings.TrimPrefix(text, "\uFEFF")), &want) == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	})
}
