package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/mapdata"
)

// What makes a whole text unacceptable (D3.11); all of them are mapdata.ErrMalformed too.
var (
	ErrMalformed   = fmt.Errorf("%w: not one JSON text in UTF-8", mapdata.ErrMalformed)
	ErrNotArray    = fmt.Errorf("%w: not a JSON array", mapdata.ErrMalformed)
	ErrTooManyRows = fmt.Errorf("%w: too many rows", mapdata.ErrMalformed)
)

// Bounds of a text.
const (
	MaxBatchRows    = 5000    // of a push (Limits)
	MaxSnapshotRows = 200_000 // of a pull (D6.6)
	maxDepth        = 1000    // levels of nesting, the array included (D3.11)
)

// yieldEvery is after how many rows decoding lets others run: readers' requests take some ten microseconds each, and must
// not wait for a time slice of ten milliseconds behind thousands of rows.
const yieldEvery = 32

var byteOrderMark = []byte{0xEF, 0xBB, 0xBF}

// decode reads a JSON array of rows from r, judges each at the time now and hands it, or what is wrong with it, to yield.
// It fails with ErrMalformed, ErrNotArray or ErrTooManyRows, also after it has yielded rows: they must not count then.
// An error of r is returned as it is.
func decode(r io.Reader, now time.Time, maxRows int, yield func(index int, row Row, rejected *RowError)) (rows int, err error) {
	source := &failingReader{r: r}
	defer func() {
		if source.err != nil {
			err = source.err
		}
	}()
	buffered := bufio.NewReader(source)
	if mark, err := buffered.Peek(len(byteOrderMark)); err == nil && bytes.Equal(mark, byteOrderMark) {
		if _, err := buffered.Discard(len(byteOrderMark)); err != nil {
			return 0, err
		}
	}
	// Rows judge their own duplicate members and halves of surrogate pairs (D3.12); invalid UTF-8 is looked for below.
	dec := jsontext.NewDecoder(buffered, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err := open(dec); err != nil {
		return 0, err
	}
	j := judge{now: now}
	for dec.PeekKind() != ']' {
		value, err := dec.ReadValue()
		if err != nil {
			return 0, fmt.Errorf("%w (row %d)", ErrMalformed, rows)
		}
		if !utf8.Valid(value) || len(value) > maxDepth && 1+depthOf(value) > maxDepth {
			return 0, fmt.Errorf("%w, nested at most %d deep (row %d)", ErrMalformed, maxDepth, rows)
		}
		if rows == maxRows {
			return 0, fmt.Errorf("%w: more than %d", ErrTooManyRows, maxRows)
		}
		row, rejected := j.row(value)
		if rejected != nil {
			rejected.Index = rows
		}
		yield(rows, row, rejected)
		if rows++; rows%yieldEvery == 0 {
			runtime.Gosched()
		}
	}
	return rows, closeArray(dec)
}

// open reads the array's opening bracket. Another JSON text is no array, and whatever else is none at all.
func open(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case '[':
		_, err := dec.ReadToken()
		return err
	case 0:
		return ErrMalformed
	}
	value, err := dec.ReadValue()
	if err != nil || !utf8.Valid(value) || len(value) > maxDepth && depthOf(value) > maxDepth || !atEnd(dec) {
		return ErrMalformed
	}
	return ErrNotArray
}

// closeArray reads the closing bracket and whatever follows, which may be white space only.
func closeArray(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return ErrMalformed
	}
	if !atEnd(dec) {
		return fmt.Errorf("%w: something follows the array", ErrMalformed)
	}
	return nil
}

func atEnd(dec *jsontext.Decoder) bool {
	_, err := dec.ReadToken()
	return errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF)
}

// failingReader remembers an error of its reader, so that it is not taken for an error of the text.
type failingReader struct {
	r   io.Reader
	err error
}

func (f *failingReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// batchRow is a good row of a batch with its place.
type batchRow struct {
	Row
	index int
}

// Batch is a push, decoded and judged.
type Batch struct {
	verdict
	rows  []batchRow // the last of each external id
	total int
	bytes int64
	at    time.Time // when it was judged

	Part *Part // nil: the batch is no part of a snapshot
}

// Rows is how many rows the array had, the rejected ones included.
func (b *Batch) Rows() int { return b.total }

// All gives the good rows, the last of each external id, with their places in the array. Rows are valid for as long as the
// batch is, and are not to be changed.
func (b *Batch) All() iter.Seq2[int, *Row] {
	return func(yield func(int, *Row) bool) {
		for i := range b.rows {
			if !yield(b.rows[i].index, &b.rows[i].Row) {
				return
			}
		}
	}
}

// Report tells what was accepted and what was rejected.
func (b *Batch) Report() Report { return b.report }

// DecodeBatch reads a push's body. It fails with ErrMalformed, ErrNotArray, or ErrTooManyRows beyond MaxBatchRows.
func DecodeBatch(body []byte, now time.Time) (*Batch, error) {
	b := &Batch{verdict: newVerdict(), bytes: int64(len(body)), at: now}
	places := make(map[string]int)
	var kept []byte // the properties of all rows, in few large pieces
	total, err := decode(bytes.NewReader(body), now, MaxBatchRows, func(index int, row Row, rejected *RowError) {
		if rejected != nil {
			b.reject(rejected)
			return
		}
		b.report.Accepted++
		kept, row.Properties = keep(kept, row.Properties)
		if at, twice := places[row.ExternalID]; twice {
			b.duplicate(b.rows[at].index, row.ExternalID)
			b.rows[at] = batchRow{row, index}
			return
		}
		places[row.ExternalID] = len(b.rows)
		b.rows = append(b.rows, batchRow{row, index})
	})
	if err != nil {
		return nil, err
	}
	b.total = total
	return b, nil
}

// keepPiece is how much text is kept in one piece of memory.
const keepPiece = 64 << 10

// keep copies text behind what is kept in the piece, or into a new piece when it is full, and gives the copy.
func keep(piece, text []byte) (_, kept []byte) {
	if cap(piece)-len(piece) < len(text) {
		piece = make([]byte, 0, max(keepPiece, len(text)))
	}
	start := len(piece)
	piece = append(piece, text...)
	return piece, piece[start:len(piece):len(piece)]
}
