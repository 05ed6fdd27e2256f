package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// codesOf decodes a text and returns the codes of its rows, empty for a good one.
func codesOf(r io.Reader) (codes []string, err error) {
	_, err = decode(r, testNow, MaxSnapshotRows, func(_ int, _ Row, rejected *RowError) error {
		code := ""
		if rejected != nil {
			code = rejected.Code
		}
		codes = append(codes, code)
		return nil
	})
	return codes, err
}

// TestLongRowsAreRejectedOneByOne checks that a row of more than 64 KiB is rejected alone (D7.1), unless it is not JSON
// (D3.12).
func TestLongRowsAreRejectedOneByOne(t *testing.T) {
	row := good("", "")
	exact := good("q", `"`+strings.Repeat("x", maxRowBytes-len(good("q", `""`)))+`"`)
	long := strings.Repeat("x", maxRowBytes)
	for name, tt := range map[string]struct {
		middle, code string
		malformed    bool
	}{
		"64 KiB":                            {middle: exact},
		"a byte more":                       {middle: exact[:len(exact)-1] + " }", code: codeRowTooLarge},
		"white space within":                {middle: strings.Replace(row, ":", ":"+strings.Repeat(" ", maxRowBytes), 1), code: codeRowTooLarge},
		"white space around":                {middle: strings.Repeat("\n", 1<<20) + row + strings.Repeat("\t", 1<<20)},
		"a long string":                     {middle: good("q", `"`+strings.Repeat("€", maxRowBytes)+`"`), code: codeRowTooLarge},
		"a long number":                     {middle: strings.Repeat("1", 1<<20), code: codeRowTooLarge},
		"a long name":                       {middle: `{"` + long + `":1}`, code: codeRowTooLarge},
		"many members":                      {middle: `{"a":{}` + strings.Repeat(`,"a":{}`, 300_000) + `}`, code: codeRowTooLarge},
		"an unknown name in a long row":     {middle: good("q", `["`+long+`",{"a":tru}]`), malformed: true},
		"an escape that is none":            {middle: good("q", `"`+long+`\x"`), malformed: true},
		"a character cut off in a long row": {middle: good("q", `"`+long+"\xe2\x82"+`"`), malformed: true},
		"half a character at its end":       {middle: good("q", `"`+long+"\xe2"+`"`), malformed: true},
		"no UTF-8 at its beginning":         {middle: good("q", `"`+"\xff"+long+`"`), malformed: true},
		"nested too deep in a long row":     {middle: good("q", `["`+long+`",`+strings.Repeat("[", 998)+strings.Repeat("]", 998)+`]`), malformed: true},
		"a long row that does not end":      {middle: good("q", `["`+long), malformed: true},
	} {
		t.Run(name, func(t *testing.T) {
			for reader, wrap := range map[string]func(io.Reader) io.Reader{
				"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader, "with its error": iotest.DataErrReader,
			} {
				codes, err := codesOf(wrap(strings.NewReader("[" + row + "," + tt.middle + "," + row + "]")))
				if tt.malformed {
					if !errors.Is(err, ErrMalformed) {
						t.Errorf("%s: %v", reader, err)
					}
					continue
				}
				if err != nil || len(codes) != 3 || codes[0] != "" || codes[1] != tt.code || codes[2] != "" {
					t.Errorf("%s: %v, %v, want %q in the middle", reader, codes, err, tt.code)
				}
			}
		})
	}
	t.Run("no array", func(t *testing.T) {
		if _, err := codesOf(strings.NewReader(`{"entities":["` + long + `"]}`)); !errors.Is(err, ErrNotArray) {
			t.Error(err)
		}
	})
}

// endless repeats a text up to a number of bytes.
type endless struct {
	piece string
	left  int
	at    int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && e.left > 0 {
		m := copy(p[n:], e.piece[e.at:])
		m = min(m, e.left)
		n, e.left, e.at = n+m, e.left-m, (e.at+m)%len(e.piece)
	}
	return n, nil
}

// TestTextsOfAnyLengthCostLittle checks that 32 MiB of text that need not be held (F1) take little memory.
func TestTextsOfAnyLengthCostLittle(t *testing.T) {
	for name, piece := range map[string]string{
		"white space": " ", "a string": "x", "members": `"a":{},`, "elements": "1,", "digits": "7",
	} {
		t.Run(name, func(t *testing.T) {
			begin := map[string]string{"a string": `["`, "members": `[{`, "elements": `[[`}[name]
			if begin == "" {
				begin = "["
			}
			text := newTextReader(io.MultiReader(strings.NewReader(begin), &endless{piece: piece, left: 4 << 20}))
			if err := open(text); err != nil {
				t.Fatal(err)
			}
			_, err := anotherRow(text, true)
			if err == nil {
				_, err = text.value(maxDepth)
			}
			if name != "digits" && !errors.Is(err, ErrMalformed) { // a number may end with the text
				t.Error(err)
			}
			if len(text.buf) > maxTextBuffer {
				t.Errorf("the buffer has %d bytes", len(text.buf))
			}
		})
	}
}

// TestHoldIsAskedBeforeRowsAreHeld checks that reading stops where there is no room, with the error of the hold
// function.
func TestHoldIsAskedBeforeRowsAreHeld(t *testing.T) {
	full := errors.New("full")
	held := 0
	_, _, err := ReadBatch(bytes.NewReader(rowsOf(1000, 1)), testNow, func(n int) error {
		if held += n; held > 100_000 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || held < 100_000 || held > 101_000 {
		t.Errorf("%v after %d bytes", err, held)
	}
}

// FuzzText compares with the standard library which texts are JSON, in whatever blocks they arrive, and where the
// others stop being JSON.
func FuzzText(f *testing.F) {
	for _, text := range []string{
		"[]", `[{"a":[1,-0.5e+3,"\u00e9\n",true,false,null]}]`, `[{"a":1,}]`, "[1 2]", `["é"]`, "[\"\xff\"]", `{"a":1}`, "[01]", "[1.]", "[-]", `["\x"]`, "", "[",
		"[ 1 , 2 ]\n", "[1]x", "[tru]", `["` + strings.Repeat("é", 40_000) + `"]`, "[0,1e5]", "[1.5E-7 ]", `[{"a" : {"b":{}} , "c":[]}]`,
		`["` + strings.Repeat("é", 20_000) + "\xb9" + strings.Repeat("é", 20_000) + "\x00\"]", // two faults, of which the first is reported
	} {
		f.Add([]byte(text), uint8(3))
	}
	f.Fuzz(func(t *testing.T, body []byte, piece uint8) {
		if bytes.HasPrefix(body, byteOrderMark) {
			return
		}
		codes, err := codesOf(&pieces{body, int(piece)})
		whole, wholeErr := codesOf(bytes.NewReader(body))
		if (err == nil) != (wholeErr == nil) || err != nil && err.Error() != wholeErr.Error() || strings.Join(codes, " ") != strings.Join(whole, " ") {
			t.Fatalf("in pieces: %v, %v; whole: %v, %v", codes, err, whole, wholeErr)
		}
		valid := json.Valid(body) && utf8.Valid(body)
		var value any
		if deep := json.Unmarshal(body, &value); valid && deep != nil {
			return // beyond the library's nesting limit
		}
		if accepted := err == nil || errors.Is(err, ErrNotArray); accepted != valid && !strings.Contains(err.Error(), "nested") {
			t.Fatalf("%q: %v, and it is JSON: %v", body, err, valid)
		}
		var broken *SyntaxError
		var theirs *json.SyntaxError
		if errors.As(err, &broken) && utf8.Valid(body) && errors.As(json.Unmarshal(body, &value), &theirs) {
			before := body[:min(int(theirs.Offset), len(body))]
			line := bytes.Count(before, []byte("\n")) + 1
			column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
			if broken.Line != line || broken.Column != column {
				t.Fatalf("%q breaks at %d:%d, the library says %d:%d", body, broken.Line, broken.Column, line, column)
			}
		}
	})
}

// pieces reads at most n bytes at a time.
type pieces struct {
	rest []byte
	size int
}

func (p *pieces) Read(to []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(to, p.rest[:min(len(p.rest), max(1, p.size))])
	p.rest = p.rest[n:]
	return n, nil
}
