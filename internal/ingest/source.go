package ingest

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// Beside is what stands beside a row of a bridge, since a v1 row cannot say it (D17.3). No member of a row sets it.
type Beside struct {
	Line   []geo.Point // nil: none. What mapdata.ValidLine refuses is left out; the row stays (D17.4)
	EndsAt time.Time   // zero: none. Its fraction of a second is dropped, and one after mapdata.LatestEnd is none
}

// Source hands each row of a foreign document to yield, in v1 form, with what stands beside it: both need to be valid during
// the call only. It returns an error of yield as it is. again is the earliest start or end after now that the document met,
// those of rows that it skipped included: the same document is read again then (D17.6); zero: none.
type Source func(ctx context.Context, yield func(row []byte, beside Beside) error) (again time.Time, err error)

// ReadRows judges the rows of a source one by one, as a poll would, and hands each, or what is wrong with it, to take. It
// fails with ErrTooManyRows, also after it has handed over rows: they must not count then. Errors of the source and of take
// are returned as they are.
func ReadRows(
	ctx context.Context, source Source, now time.Time, take func(index int, row *Row, rejected *RowError) error,
) (rows int, again time.Time, err error) {
	return readSource(ctx, source, now, func(index int, row Row, rejected *RowError) error { return take(index, &row, rejected) })
}

// readSource is decode for rows that no text holds.
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
			runtime.Gosched()
		}
		return nil
	})
	if err != nil {
		return 0, time.Time{}, err
	}
	return rows, again, nil
}

// foreignRow judges a row that a bridge wrote. One that is no JSON text costs that row, not the document.
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

// judged is what of it an entity can have.
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
