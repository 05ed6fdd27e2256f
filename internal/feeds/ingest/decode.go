package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"wayside/internal/ground/mapdata"

	"wayside/internal/ground/sched"
)

// Errors that make a whole text unacceptable (D3.11); all of them are mapdata.ErrMalformed too.
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

// yieldEvery is the number of rows after which decoding yields the processor: readers' requests take some ten microseconds each, and must
// not wait for a time slice of ten milliseconds behind thousands of rows.
const yieldEvery = 32

var byteOrderMark = []byte{0xEF, 0xBB, 0xBF}

// decode reads a JSON array of rows from r, judges each at the time now and passes it, or its error, to yield. It holds one row at a time.
// It fails with ErrMalformed, ErrNotArray or ErrTooManyRows, possibly after it has yielded rows, which must not count then. Errors of r and
// of yield are returned as they are.
func decode(r io.Reader, now time.Time, maxRows int, yield func(index int, row Row, rejected *RowError) error) (rows int, err error) {
	t := newTextReader(r)
	if err := open(t); err != nil {
		return 0, err
	}
	j := judge{now: now}
	for {
		more, err := anotherRow(t, rows == 0)
		if err != nil {
			return 0, err
		}
		if !more {
			return rows, closeArray(t)
		}
		value, err := t.value(maxDepth - 1)
		if err != nil {
			return 0, fmt.Errorf("row %d: %w", rows, err)
		}
		if rows == maxRows {
			return 0, fmt.Errorf("%w: more than %d", ErrTooManyRows, maxRows)
		}
		row, rejected := j.row(value)
		if rejected != nil {
			rejected.Index = rows
		}
		if err := yield(rows, row, rejected); err != nil {
			return 0, err
		}
		if rows++; rows%yieldEvery == 0 {
			sched.Yield()
		}
	}
}

// open reads a byte order mark, if there is one, and the array's opening bracket. It fails with ErrNotArray for any other JSON text, and
// with ErrMalformed for anything else.
func open(t *textReader) error {
	for t.end < len(byteOrderMark) {
		if err := t.fill(); err != nil {
			if errors.Is(err, io.EOF) {
				break
			}
			return err
		}
	}
	if bytes.HasPrefix(t.unread(), byteOrderMark) {
		t.start += len(byteOrderMark)
	}
	c, err := t.next()
	switch {
	case errors.Is(err, io.EOF):
		return ErrMalformed
	case err != nil:
		return err
	case c == '[':
		t.consume(1)
		return nil
	}
	if _, err := t.value(maxDepth); err != nil {
		return err
	}
	if err := endOfText(t); err != nil {
		return err
	}
	return ErrNotArray
}

// anotherRow advances to the beginning of the next row, or returns false at the end of the array.
func anotherRow(t *textReader, first bool) (more bool, err error) {
	c, err := t.next()
	switch {
	case err != nil:
		return false, t.brokenBy(err)
	case c == ']':
		return false, nil
	case first:
		return true, nil
	case c != ',':
		return false, t.breaksHere()
	}
	t.consume(1)
	if _, err := t.next(); err != nil {
		return false, t.brokenBy(err)
	}
	return true, nil
}

// closeArray reads the closing bracket and the rest, which may be white space only.
func closeArray(t *textReader) error {
	t.consume(1)
	return endOfText(t)
}

func endOfText(t *textReader) error {
	switch _, err := t.next(); {
	case err == nil:
		return t.breaksHere()
	case errors.Is(err, io.EOF):
		return nil
	default:
		return err
	}
}

// batchRow is a good row of a batch with its index.
type batchRow struct {
	Row
	index int
}

// Batch is a decoded and judged push.
type Batch struct {
	verdict
	rows  []batchRow // the last of each external id
	total int
	bytes int64
	at    time.Time // when it was judged

	Part *Part // nil: the batch is not a part of a snapshot
}

// Rows returns the number of rows in the array, including the rejected ones.
func (b *Batch) Rows() int { return b.total }

// All yields the good rows, the last of each external id, with their indexes in the array. Rows are valid for as long as the batch is, and
// must not be changed.
func (b *Batch) All() iter.Seq2[int, *Row] {
	return func(yield func(int, *Row) bool) {
		for i := range b.rows {
			if !yield(b.rows[i].index, &b.rows[i].Row) {
				return
			}
		}
	}
}

// Report returns the numbers of accepted and rejected rows, with the errors.
func (b *Batch) Report() Report { return b.report }

// DecodeBatch reads a batch from a text in memory. It fails with ErrMalformed, ErrNotArray, or ErrTooManyRows beyond
// MaxBatchRows.
func DecodeBatch(body []byte, now time.Time) (*Batch, error) {
	b, err := readBatch(bytes.NewReader(body), now, func(int) error { return nil })
	if err != nil {
		return nil, err
	}
	b.bytes = int64(len(body))
	return b, nil
}

// ReadBatch reads a push's body row by row and holds the good rows; read is the number of bytes read from r. It calls hold with the number
// of bytes that it is about to hold in addition, and stops with its error. Otherwise it fails as DecodeBatch does, or with the error of r.
func ReadBatch(r io.Reader, now time.Time, hold func(bytes int) error) (b *Batch, read int64, err error) {
	counted := countingReader{r: r}
	if b, err = readBatch(&counted, now, hold); err != nil {
		return nil, counted.bytes, err
	}
	b.bytes = counted.bytes
	return b, counted.bytes, nil
}

// rowOverhead approximates the memory of a batch's row beside its text: the row, its place in a map, and the entity that it becomes.
const rowOverhead = 512

func readBatch(r io.Reader, now time.Time, hold func(bytes int) error) (_ *Batch, err error) {
	b := &Batch{verdict: newVerdict(), at: now}
	places := make(map[string]int)
	var kept []byte // the properties of all rows, in few large pieces
	b.total, err = decode(r, now, MaxBatchRows, func(index int, row Row, rejected *RowError) error {
		if rejected != nil {
			b.reject(rejected)
			return nil
		}
		if err := hold(rowOverhead + len(row.ExternalID) + len(row.Properties)); err != nil {
			return err
		}
		b.report.Accepted++
		b.warn(index, &row)
		kept, row.Properties = keep(kept, row.Properties)
		if at, twice := places[row.ExternalID]; twice {
			b.duplicate(b.rows[at].index, row.ExternalID)
			b.rows[at] = batchRow{row, index}
			return nil
		}
		places[row.ExternalID] = len(b.rows)
		b.rows = append(b.rows, batchRow{row, index})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// countingReader counts the bytes read.
type countingReader struct {
	r     io.Reader
	bytes int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.bytes += int64(n)
	return n, err
}

// keepPiece is the size of one piece of kept text.
const keepPiece = 64 << 10

// keep appends a copy of text to the piece, or to a new piece when it is full, and returns both the piece and the copy.
func keep(piece, text []byte) (_, kept []byte) {
	if cap(piece)-len(piece) < len(text) {
		piece = make([]byte, 0, max(keepPiece, len(text)))
	}
	start := len(piece)
	piece = append(piece, text...)
	return piece, piece[start:len(piece):len(piece)]
}
