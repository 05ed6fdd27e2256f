package ingest

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"wayside/internal/ground/mapdata"
)

// Bounds of the accepted rows that Check returns.
const (
	MaxCheckedPins = 1000
	MaxCheckedRows = 10
)

// Checked is the result that a poll or a push of a text would have.
type Checked struct {
	Report     Report
	Rows       int                  // of the array, the rejected ones included
	Kinds      map[mapdata.Kind]int // accepted rows by kind
	Rejections []mapdata.Rejection  // the most frequent first; without At
	Warnings   []mapdata.Rejection  // likewise, of accepted rows
	// Pins are the first accepted rows as they would be drawn, at most MaxCheckedPins, without those that retire. Only
	// the first MaxCheckedRows have Properties.
	Pins []mapdata.Entity
}

// Check decodes and judges rows as a poll would and stores nothing, for providers who want to know beforehand. It fails
// as a poll does, with ErrMalformed, ErrNotArray or ErrTooManyRows, or with the error of r.
func Check(r io.Reader, now time.Time) (*Checked, error) {
	c := newChecking(now)
	rows, err := decode(r, now, MaxSnapshotRows, c.take)
	if err != nil {
		return nil, err
	}
	return c.checked(rows), nil
}

// CheckSource checks the rows of a bridge as Check does. It fails with ErrTooManyRows, or with the error of the source.
func CheckSource(ctx context.Context, source Source, now time.Time) (*Checked, error) {
	c := newChecking(now)
	rows, _, err := readSource(ctx, source, now, c.take)
	if err != nil {
		return nil, err
	}
	return c.checked(rows), nil
}

func newChecking(now time.Time) *checking {
	return &checking{verdict: newVerdict(), kinds: make(map[mapdata.Kind]int), places: make(map[string]place), now: now}
}

// checked returns the result of the given number of rows.
func (c *checking) checked(rows int) *Checked {
	pins := c.pins[:0]
	for i := range c.pins {
		if c.pins[i].ExternalID != "" {
			pins = append(pins, c.pins[i])
		}
	}
	for _, all := range [...][]mapdata.Rejection{c.rejections, c.warnings} {
		slices.SortFunc(all, func(a, b mapdata.Rejection) int {
			return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Code, b.Code))
		})
	}
	return &Checked{Report: c.report, Rows: rows, Kinds: c.kinds, Rejections: c.rejections, Warnings: c.warnings, Pins: pins}
}

// checking is a text being checked, row by row.
type checking struct {
	verdict
	now    time.Time
	kinds  map[mapdata.Kind]int
	places map[string]place
	pins   []mapdata.Entity // a pin that a later row replaced has no external id
}

// place records the last row with an external id.
type place struct {
	index int
	kind  mapdata.Kind
	pin   int // -1: none
}

func (c *checking) take(index int, row Row, rejected *RowError) error {
	if rejected != nil {
		c.reject(rejected)
		return nil
	}
	c.report.Accepted++
	c.warn(index, &row)
	if old, twice := c.places[row.ExternalID]; twice {
		c.duplicate(old.index, row.ExternalID)
		c.kinds[old.kind]--
		if old.pin >= 0 {
			c.pins[old.pin].ExternalID = ""
		}
	}
	c.places[row.ExternalID] = place{index, row.Kind, c.pin(&row)}
	c.kinds[row.Kind]++
	return nil
}

// pin keeps the entity of a row that would be drawn, and returns its index, or -1 if it would not be drawn or there are
// enough.
func (c *checking) pin(row *Row) int {
	at := len(c.pins)
	if row.Retire || at == MaxCheckedPins {
		return -1
	}
	e := row.Entity(c.now)
	e.Line = slices.Clone(e.Line)
	if at < MaxCheckedRows {
		e.Properties = bytes.Clone(e.Properties)
	} else {
		e.Properties = nil
	}
	c.pins = append(c.pins, e)
	return at
}
