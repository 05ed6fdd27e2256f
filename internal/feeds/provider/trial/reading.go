package trial

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/format"
	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
)

// Reading is the result of reading the documents of a bridged feed, beside the rows.
type Reading struct {
	Done      bool // the documents were read; otherwise the last reading still applies
	Publisher string
	Licence   string
	Skips     bridge.Skips
}

// Skipped returns the skipped items in their stored form, the most frequent reason first.
func (r *Reading) Skipped() []mapdata.Skip {
	var all []mapdata.Skip
	for _, s := range r.Skips.List() {
		one := mapdata.Skip{Reason: string(s.Reason), Items: s.Items, Examples: s.Examples}
		for word, items := range s.Words {
			one.Words = append(one.Words, mapdata.SkipWord{Word: word, Items: items})
		}
		slices.SortFunc(one.Words, func(a, b mapdata.SkipWord) int {
			return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Word, b.Word))
		})
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b mapdata.Skip) int { return cmp.Compare(b.Items, a.Items) })
	return all
}

// Source returns a source of the documents' rows, judged for a time, which fills the reading each time it is called.
func (d *Documents) Source(now time.Time, reading *Reading) ingest.Source {
	return func(ctx context.Context, yield func([]byte, ingest.Beside) error) (again time.Time, err error) {
		*reading = Reading{Done: true}
		o, err := options(&d.Bridge, now, format.NewBudget(ctx, format.MaxWork))
		if err != nil {
			return again, err
		}
		room := &unpackedRoom{left: bridge.MaxUnpacked}
		items := 0
		for _, p := range d.pages {
			document := format.Document{Open: room.of(bridge.Unpacked(p.Open))}
			if d.status != nil {
				document.Status = room.of(bridge.Unpacked(d.status.Open))
			}
			summary, err := d.format.Convert(document, o, &reading.Skips, func(item format.Item) error {
				items++
				return yield(item.Row, ingest.Beside{Line: item.Line, EndsAt: item.EndsAt})
			})
			if err != nil {
				return again, err
			}
			if items+reading.Skips.Total() > format.MaxItems {
				return again, &format.Error{Fault: format.TooMany}
			}
			room.next()
			again = earlier(again, summary.Again)
			reading.Publisher, reading.Licence = cmp.Or(reading.Publisher, summary.Publisher), cmp.Or(reading.Licence, summary.Licence)
		}
		return again, ctx.Err()
	}
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// options returns the options of a feed's documents, with the budget of converting them.
func options(b *mapdata.Bridge, now time.Time, budget *format.Budget) (*format.Options, error) {
	o := &format.Options{Now: now, Budget: budget, Mapping: []byte(b.Mapping), ChargerNetwork: b.ChargerNetwork}
	if b.TimeZone != "" {
		var err error
		if o.Zone, err = time.LoadLocation(b.TimeZone); err != nil {
			return nil, fmt.Errorf("%w: time zone %s: %w", mapdata.ErrUnavailable, b.TimeZone, err)
		}
	}
	return o, nil
}

// unpackedRoom bounds the unpacked size of all pages together. A page may be read more than once.
type unpackedRoom struct {
	left    int64
	largest int64 // bytes of the longest reading of the current page
}

// of returns open with the bound, for a page or the status document beside it.
func (r *unpackedRoom) of(open func() (io.ReadCloser, error)) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		body, err := open()
		if err != nil {
			return nil, err
		}
		return &boundedPage{ReadCloser: body, room: r}, nil
	}
}

func (r *unpackedRoom) next() { r.left, r.largest = r.left-r.largest, 0 }

type boundedPage struct {
	io.ReadCloser
	room *unpackedRoom
	read int64
}

func (b *boundedPage) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	b.room.largest = max(b.room.largest, b.read)
	if b.read > b.room.left {
		return 0, &format.Error{Fault: format.TooLong, Byte: b.read}
	}
	return n, err
}
