package xmldoc_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/xmldoc"
)

// written returns a node as text.
func written(n xmldoc.Node) string {
	text := n.Name() + "(" + n.Text()
	for child := range n.Children() {
		text += " " + written(child)
	}
	return text + ")"
}

// read reads the first element of a document, and then the rest.
func read(from io.Reader) (string, error) {
	r := xmldoc.New(from, nil)
	if _, err := r.Next(); err != nil {
		return "", err
	}
	n, err := r.Element()
	if err != nil {
		return "", err
	}
	text := written(n)
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		return text, err
	}
	return text, nil
}

func TestElements(t *testing.T) {
	for text, want := range map[string]string{
		`<a/>`:       "a()",
		`<a> x </a>`: "a(x)",
		`<?xml version="1.0"?><!-- c --><p:a xmlns:p="u" b='>'><p:b>1</p:b><c/>tail</p:a> `: "a(tail b(1) c())",
		`<a>1<b>2</b>3<b/>4</a>`:                 "a(1 34 b(2) b())",
		`<a><![CDATA[<b> ]] > ]]>&amp;&#65;</a>`: "a(<b> ]] > &A)",
		`<a><!-- <b> --><?pi <b> ?></a>`:         "a()",
		`<a><b><c>d</c></b></a>`:                 "a( b( c(d)))",
	} {
		got, err := read(strings.NewReader(text))
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
		if slow, err := read(oneByOne{strings.NewReader(text)}); err != nil || slow != want {
			t.Errorf("%s, byte by byte: %q, %v", text, slow, err)
		}
	}
}

type oneByOne struct{ r io.Reader }

func (o oneByOne) Read(p []byte) (int, error) { return o.r.Read(p[:1]) }

func TestNodes(t *testing.T) {
	r := xmldoc.New(strings.NewReader(`<x:root xmlns:x="u"><head>1</head><item id="7" xmlns:i="v" i:type="sit:Accident"><a><b>first</b></a><a><b>second</b><c/></a></item><item id="8"/></x:root>`), nil)
	var names []string
	for {
		name, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
		if name != "item" || r.Attr("id") != "7" {
			continue
		}
		n, err := r.Element()
		if err != nil || n.Attr("id") != "7" || n.Type() != "Accident" || n.First("a", "b").Text() != "first" || n.Find("c").Name() != "c" || n.First("b").Exists() || n.Find("z").Text() != "" {
			t.Error(written(n), err)
		}
		count := 0
		for b := range n.Within("b") {
			count += len(b.Text())
		}
		for range n.All("a") {
			count += 100
		}
		if count != 211 {
			t.Error(count)
		}
	}
	if strings.Join(names, " ") != "root head item item" {
		t.Error(names)
	}
}

// TestLineOfText checks that an error for a document that is not XML names the line where it begins, not the last one.
func TestLineOfText(t *testing.T) {
	for text, want := range map[string]int{"id;kind\n1;a\n2;b\n": 1, "\n\n {\n\"a\": 1}\n": 3, "<a>\n</a>\n\nx\ny\n": 4} {
		_, err := read(strings.NewReader(text))
		if bad := (*format.Error)(nil); !errors.As(err, &bad) || bad.Line != want {
			t.Errorf("%q: %v, want line %d", text, err, want)
		}
	}
}

func TestBadDocuments(t *testing.T) {
	const laughs = `<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;">]><lolz>&lol2;</lolz>`
	for text, want := range map[string]format.Fault{
		"": format.BadXML, " ": format.BadXML, "x": format.BadXML, "<a>": format.BadXML, "<a></b>": format.BadXML, "<a/><b/>": format.BadXML, "<a/>x": format.BadXML,
		"<a b=1/>": format.BadXML, `<a b="1" b="2"/>`: format.BadXML, "<a>&unknown;</a>": format.BadXML, "<a>&lt</a>": format.BadXML, "</a>": format.BadXML, "<a><x:b></y:b></a>": format.BadXML,
		`<?xml version="2.0"?><a/>`: format.BadXML, "<a>\x01</a>": format.BadXML,
		laughs: format.HasDTD,
		`<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>`: format.HasDTD,
		`<a/><!DOCTYPE a>`:    format.HasDTD,
		`<a><!ELEMENT b></a>`: format.HasDTD,
		"<a>\xff</a>":         format.BadCharset,
		`<?xml version="1.0" encoding="EBCDIC"?><a/>`:      format.BadCharset,
		`<?xml version="1.0" encoding="UTF-16"?><a/>`:      format.BadCharset,
		strings.Repeat("<a>", 101):                         format.TooDeep,
		strings.Repeat("<a>", 200_000):                     format.TooDeep,
		"<a " + strings.Repeat(`b="c" `, 2_000_000) + "/>": format.TooLarge,
		"<a b=\"" + strings.Repeat("c", 300<<10) + "\"/>":  format.TooLarge,
		"<" + strings.Repeat("a", 1<<20):                   format.TooLarge,
		"<a>" + strings.Repeat("b", 17<<20):                format.TooLarge,
		"<a>" + strings.Repeat("<b/>", 200_001):            format.TooLarge,
		"<a>" + strings.Repeat("<b>c</b> ", 2<<20):         format.TooLarge,
		"<a><!--" + strings.Repeat("b", 17<<20):            format.TooLarge,
	} {
		_, err := read(strings.NewReader(text))
		var bad *format.Error
		if !errors.As(err, &bad) || bad.Fault != want {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	if _, err := read(strings.NewReader(strings.Repeat("<a>", 100) + strings.Repeat("</a>", 100))); err != nil {
		t.Error("100 levels:", err)
	}
	_, err := read(strings.NewReader("<a>\n\n<b></c></a>"))
	var bad *format.Error
	if !errors.As(err, &bad) || bad.Line != 3 {
		t.Errorf("%v, want line 3", err)
	}
	_, err = read(strings.NewReader("<a>\n\n\n<!DOCTYPE b>"))
	if !errors.As(err, &bad) || bad.Line != 4 {
		t.Errorf("%v, want line 4", err)
	}
}

func TestEncodings(t *testing.T) {
	const text = `<?xml version="1.0" encoding="%"?><a>Düsseldorf</a>`
	wide := func(big bool, text string) []byte {
		var out []byte
		for _, unit := range utf16.Encode([]rune(text)) {
			if big {
				out = append(out, byte(unit>>8), byte(unit))
			} else {
				out = append(out, byte(unit), byte(unit>>8))
			}
		}
		return out
	}
	narrow := func(m *charmap.Charmap, label string) []byte {
		out, err := m.NewEncoder().Bytes([]byte(strings.Replace(text, "%", label, 1)))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	wideText := strings.Replace(text, "%", "UTF-16", 1)
	for name, form := range map[string][]byte{
		"UTF-8": []byte(strings.Replace(text, "%", "utf-8", 1)), "with mark": []byte("\uFEFF" + strings.Replace(text, "%", "UTF-8", 1)),
		"UTF-16 BE": wide(true, "\uFEFF"+wideText), "UTF-16 LE": wide(false, "\uFEFF"+wideText), "without a mark": wide(false, wideText), "BE without": wide(true, wideText),
		"ISO-8859-1": narrow(charmap.ISO8859_1, "ISO-8859-1"), "ISO-8859-15": narrow(charmap.ISO8859_15, "iso-8859-15"), "windows-1252": narrow(charmap.Windows1252, "Windows-1252"),
	} {
		got, err := read(bytes.NewReader(form))
		if err != nil || got != "a(Düsseldorf)" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// endless is a text without end.
type endless struct {
	begin, then string
	block       string // repeated after begin
	at          int    // position in the block
}

func (e *endless) Read(p []byte) (int, error) {
	if e.begin != "" {
		n := copy(p, e.begin)
		e.begin = e.begin[n:]
		return n, nil
	}
	if e.block == "" {
		e.block = strings.Repeat(e.then, 1+(64<<10)/len(e.then))
	}
	n := copy(p, e.block[e.at:])
	e.at = (e.at + n) % len(e.block)
	return n, nil
}

// TestMemory checks that reading endless documents holds a bounded amount of memory.
func TestMemory(t *testing.T) {
	for _, e := range []*endless{
		{begin: "<a", then: "a"},
		{begin: "<a ", then: `b="c" `},
		{begin: `<a b="`, then: "c"},
		{begin: "<a>", then: "b"},
		{begin: "<a><![CDATA[", then: "b"},
		{begin: "<a><!--", then: "b"},
		{begin: "<?a ", then: "b"},
		{begin: "<a>", then: "<b/>"},
		{begin: "<a>", then: "&amp;"},
		{then: " "},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		_, err := read(e)
		runtime.ReadMemStats(&after)
		var bad *format.Error
		if !errors.As(err, &bad) || !bad.Fault.Large() {
			t.Errorf("%q…: %v", e.then, err)
		}
		if held := int64(after.HeapSys) - int64(before.HeapSys); held > 128<<20 {
			t.Errorf("%q…: %d MiB", e.then, held>>20)
		}
	}
}

func TestErrorsOfReaders(t *testing.T) {
	failed := errors.New("disk")
	if _, err := read(io.MultiReader(strings.NewReader("<a>"), errorReader{failed})); !errors.Is(err, failed) {
		t.Error(err)
	}
}

type errorReader struct{ err error }

func (e errorReader) Read([]byte) (int, error) { return 0, e.err }

// FuzzElement checks that encoding/xml accepts as well-formed every document that xmldoc accepts.
func FuzzElement(f *testing.F) {
	for _, text := range []string{`<a b="c">d<e/></a>`, `<!DOCTYPE a><a/>`, `<a><![CDATA[x]]></a>`, `<?xml version="1.0" encoding="ISO-8859-1"?><a/>`, "\xff\xfe<\x00a\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := read(strings.NewReader(text)); err != nil {
			return
		}
		dec := xml.NewDecoder(strings.NewReader(text))
		dec.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
		if bytes.HasPrefix([]byte(text), []byte{0xFF, 0xFE}) || bytes.HasPrefix([]byte(text), []byte{0xFE, 0xFF}) || strings.ContainsRune(text, 0) || strings.Contains(text, "encoding") {
			return
		}
		for {
			if _, err := dec.Token(); err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatalf("%q is read, but: %v", text, err)
				}
				return
			}
		}
	})
}
