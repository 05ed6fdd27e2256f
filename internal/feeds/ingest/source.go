package ingest

import (
	"context"
	"fmt"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"

	"wayside/internal/ground/sched"
)

// Beside is the data of a bridge's row that a v1 row cannot express (D17.3). No member of a row sets it.
type Beside struct {
	Line   []geo.Point // nil: none. A line that mapdata.ValidLine refuses is dropped; the row stays (D17.4)
	EndsAt time.Time   // zero: none. Its fraction of a second is dropped, and an end after mapdata.LatestEnd counts as none
}

// Source passes each row of a foreign document to yield, in v1 form, with the data beside it; both need to be valid
// during the call only. It returns an error of yield as it is. again is the earliest start or end after now in the
// document, including those of skipped rows; the same document is read again then (D17.6); zero: none.
type Source func(ctx context.Context, yield func(row []byte, beside Beside) error) (again time.Time, err error)

// ReadRows validates the rows of a source one by one, as a poll would, and passes each, or its error, to take. It fails
// with ErrTooManyRows, possibly after it has passed rows, which must not count then. Errors of the source and of take
// are returned as they are.
func ReadRows(
	ctx context.Context, source Source, now time.Time, take func(index int, row *Row, rejected *RowError) error,
) (rows int, again time.Time, err error) {
	return readSource(ctx, source, now, func(index int, row Row, rejected *RowError) error { return take(index, &row, rejected) })
}

// readSource validates the rows of a source as decode does those of a text.
func readSource(
	ctx context.Context, source Source, now time.Time, yield func(index int, row Row, rejected *RowError) error,
) (rows int, again time.Time, err error) {
	j := judge{now: now}
	var syntax scanner
	again, err = source(ctx, func(text []byte, beside Beside) error {
		if rows == MaxSnapshotRows {
			return fmt.Errorf("%w: more than %d", ErrTooManyRows, MaxSnapshotRows)
		}
		row, rejected := j.foreignRow(&syntax, text)
		if rejected != nil {
			rejected.Index = rows
		} else {
			row.Beside = beside.judged()
		}
		if err := yield(rows, row, rejected); err != nil {
			return err
		}
		if rows++; rows%yieldEvery == 0 {
			sched.Yield()
		}
		return nil
	})
	if err != nil {
		return 0, time.Time{}, err
	}
	return rows, again, nil
}

// foreignRow validates a row that a bridge wrote. A row that is not valid JSON is rejected alone, without the document.
func (j *judge) foreignRow(syntax *scanner, text []byte) (Row, *RowError) {
	if len(text) > maxRowBytes {
		return j.row(nil)
	}
	syntax.reset(maxDepth - 1)
	n, found := syntax.scan(text)
	if found != complete || n != len(text) || !validUTF8(text) {
		return Row{}, &RowError{Code: codeNotAnObject, Message: "A row must be a JSON object in UTF-8."}
	}
	return j.row(text)
}

// judged returns the part of b that an entity can have.
func (b Beside) judged() Beside {
	if !mapdata.ValidLine(b.Line) {
		b.Line = nil
	}
	if b.EndsAt.After(mapdata.LatestEnd()) {
		b.EndsAt = time.Time{}
	}
	if !b.EndsAt.IsZero() {
		b.EndsAt = b.EndsAt.UTC().Truncate(time.Second)
	}
	return b
}
