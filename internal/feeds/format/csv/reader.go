package csv

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/mapping"
)

// maxCells is the largest number of cells of a line.
const maxCells = 4096

// Counted work, in measured nanoseconds, and the bytes that a cell takes beside its text.
const (
	byteWork = 8
	cellWork = 40
	cellSize = 16
)

// reader splits a table into lines of cells (RFC 4180): a cell in quotes may hold delimiters, doubled quotes and line
// ends. Quotes elsewhere are text, as many programs write them.
type reader struct {
	in        *bufio.Reader
	budget    *format.Budget
	delimiter byte
	line      int // of the last record, from 1
	ended     int // lines read so far
	record    []byte
	cells     []string
}

func newReader(body io.Reader, c mapping.CSV, budget *format.Budget) *reader {
	return &reader{budget: budget, in: bufio.NewReaderSize(decoded(body, c.Encoding), 64<<10), delimiter: c.Delimiter}
}

// decoded converts a table to UTF-8. A byte order mark takes precedence over the encoding that the mapping names.
func decoded(body io.Reader, name string) io.Reader {
	buffered := bufio.NewReaderSize(body, 64<<10)
	first, _ := buffered.Peek(3) // the next read returns the error again
	var from encoding.Encoding
	switch {
	case bytes.HasPrefix(first, []byte{0xEF, 0xBB, 0xBF}):
		_, _ = buffered.Discard(3) // Peek has shown that they exist
		return buffered
	case bytes.HasPrefix(first, []byte{0xFE, 0xFF}), bytes.HasPrefix(first, []byte{0xFF, 0xFE}):
		from = unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM)
	case name == "utf-16":
		from = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case name == "iso-8859-1":
		from = charmap.ISO8859_1
	case name == "iso-8859-15":
		from = charmap.ISO8859_15
	case name == "windows-1252":
		from = charmap.Windows1252
	default:
		return buffered
	}
	return from.NewDecoder().Reader(buffered)
}

func (r *reader) fault(fault format.Fault) error {
	return &format.Error{Fault: fault, Line: max(r.line, 1)}
}

// spent returns the error for a spent budget, with its place.
func (r *reader) spent() error {
	err := r.budget.Err()
	var bad *format.Error
	if errors.As(err, &bad) {
		return r.fault(bad.Fault)
	}
	return err
}

// next returns the cells of the next line that is not empty. They are valid until the following call. It returns io.EOF
// at the end.
func (r *reader) next() ([]string, error) {
	for {
		if err := r.read(); err != nil {
			return nil, err
		}
		switch record := bytes.TrimRight(r.record, "\r\n"); {
		case len(record) == 0:
		case !utf8.Valid(record), bytes.IndexByte(record, 0) >= 0:
			return nil, r.fault(format.BadCharset)
		default:
			cells, err := r.split(string(record))
			if err == nil && (!r.budget.Spend(cellWork*len(cells)) || !r.budget.Hold(len(record)+cellSize*len(cells))) {
				err = r.spent()
			}
			return cells, err
		}
	}
}

// read gathers a record, which spans several lines where a line ends within quotes.
func (r *reader) read() error {
	r.record = r.record[:0]
	r.line = r.ended + 1
	r.budget.NextItem()
	q := quotes{delimiter: r.delimiter, cell: true}
	for {
		part, err := r.in.ReadSlice('\n')
		r.record = append(r.record, part...)
		if len(r.record) > format.MaxItemBytes {
			return r.fault(format.TooLarge)
		}
		if !r.budget.Spend(cellWork+byteWork*len(part)) || !r.budget.Hold(len(part)) {
			return r.spent()
		}
		q.read(part)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return err
		}
		r.ended++
		switch {
		case err == nil && q.open:
		case q.open:
			return r.fault(format.BadCSV) // the table ends within quotes
		case err != nil && len(r.record) == 0:
			return io.EOF
		default:
			return nil
		}
	}
}

// quotes tracks whether a text ends within quotes.
type quotes struct {
	delimiter byte
	open      bool
	cell      bool // a cell begins with the next byte
}

func (q *quotes) read(text []byte) {
	for _, c := range text {
		switch {
		case c == '"' && (q.open || q.cell):
			q.open = !q.open
			q.cell = !q.open // a second quote reopens the cell, because the pair is a doubled quote
		default:
			q.cell = !q.open && c == q.delimiter
		}
	}
}

// split returns the cells of a record, without white space around those that are not in quotes.
func (r *reader) split(record string) ([]string, error) {
	r.cells = r.cells[:0]
	for {
		if len(r.cells) == maxCells {
			return nil, r.fault(format.TooLarge)
		}
		var cell string
		var more bool
		if strings.HasPrefix(record, `"`) {
			cell, record, more = quoted(record[1:], r.delimiter)
		} else {
			cell, record, more = strings.Cut(record, string(rune(r.delimiter)))
			cell = strings.TrimSpace(cell)
		}
		r.cells = append(r.cells, cell)
		if !more {
			return r.cells, nil
		}
	}
}

// quoted returns the cell up to its closing quote, and the text after the delimiter that follows. more is false at the
// end of the record.
func quoted(text string, delimiter byte) (cell, rest string, more bool) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, `"`)
		b.WriteString(before)
		switch {
		case !found:
			return b.String(), "", false
		case strings.HasPrefix(after, `"`):
			b.WriteByte('"')
			text = after[1:]
		default:
			behind, rest, more := strings.Cut(after, string(rune(delimiter)))
			b.WriteString(strings.TrimRight(behind, " \t"))
			return b.String(), rest, more
		}
	}
}
