package bridge

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"io"

	"wayside/internal/feeds/format"
)

// MaxUnpacked is the largest size of an unpacked document, in bytes (D17.12).
const MaxUnpacked = 256 << 20

// Unpacked returns a function that opens a body, unpacks it if its first two bytes are those of a gzip file, and bounds the result.
func Unpacked(open func() (io.ReadCloser, error)) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		body, err := open()
		if err != nil {
			return nil, err
		}
		buffered := bufio.NewReaderSize(body, 64<<10)
		first, _ := buffered.Peek(2) // the next read returns the error again
		u := &unpacked{from: buffered, body: body, left: MaxUnpacked}
		if len(first) == 2 && first[0] == 0x1F && first[1] == 0x8B {
			zipped, err := gzip.NewReader(buffered)
			if err != nil {
				return nil, errors.Join(&format.Error{Fault: format.NotFormat}, body.Close())
			}
			u.from, u.zipped = zipped, true
		}
		return u, nil
	}
}

// unpacked reads the content of a body, up to a bound.
type unpacked struct {
	from   io.Reader
	body   io.Closer
	left   int64
	read   int64
	zipped bool
}

func (u *unpacked) Read(p []byte) (int, error) {
	if u.left == 0 {
		var one [1]byte
		if n, err := io.ReadFull(u.from, one[:]); n == 0 {
			return 0, u.wrong(err)
		}
		return 0, &format.Error{Fault: format.TooLong, Byte: u.read}
	}
	if int64(len(p)) > u.left {
		p = p[:u.left]
	}
	n, err := u.from.Read(p)
	u.left -= int64(n)
	u.read += int64(n)
	return n, u.wrong(err)
}

// wrong converts the errors of a damaged gzip file to a fault, and returns other errors as they are.
func (u *unpacked) wrong(err error) error {
	if u.zipped && (errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, new(flate.CorruptInputError))) {
		return &format.Error{Fault: format.NotFormat, Byte: u.read}
	}
	return err
}

func (u *unpacked) Close() error { return u.body.Close() }

// Counted work, in measured nanoseconds.
const (
	readWork = 4    // a byte of a document that is unpacked and read
	itemWork = 1000 // an item that is judged or skipped, with its texts and times
	rowWork  = 4000 // a row that goes through the decoder of v1
	textWork = 2    // a byte of a row, or of the word and the id of a skipped item
)

// Convert reads a document, counts the items and those that are skipped, and passes the others to row. The options' budget bounds the cost
// of the document; without one, Convert uses the budget of a document, which no caller's context ends.
func (f Format) Convert(d format.Document, o *format.Options, skips *Skips, row func(format.Item) error) (format.Summary, error) {
	if o.Budget == nil {
		bounded := *o
		bounded.Budget = format.NewBudget(context.Background(), format.MaxWork)
		o = &bounded
	}
	at := &position{budget: o.Budget}
	d.Open = at.counting(d.Open)
	if d.Status != nil {
		d.Status = at.counting(d.Status)
	}
	items := 0
	summary, err := f.convert(d, o, func(item format.Item) error {
		if items++; items > format.MaxItems {
			return &format.Error{Fault: format.TooMany}
		}
		work := itemWork + textWork*(len(item.Row)+len(item.Word)+len(item.ID))
		if item.Skip == "" {
			work += rowWork
		}
		// An item that was read in part does not count either.
		if !o.Budget.Spend(work) {
			return o.Budget.Err()
		}
		if item.Skip != "" {
			skips.Add(item)
			return nil
		}
		return row(item)
	})
	if err == nil {
		err = o.Budget.Err() // spent by a part of the document that makes no item
	}
	return summary, at.placed(err)
}

// position tracks how far a document was read. It counts the cost of reading, and fails once the budget is spent or its context has ended.
type position struct {
	budget *format.Budget
	read   int64 // bytes of the document that was opened last
}

func (p *position) counting(open func() (io.ReadCloser, error)) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		body, err := open()
		if err != nil {
			return nil, err
		}
		p.read = 0
		return &counted{body, p}, nil
	}
}

// placed adds the position in the document to the error of a document that was refused for its cost.
func (p *position) placed(err error) error {
	var bad *format.Error
	if errors.As(err, &bad) && bad.Line == 0 && bad.Byte == 0 && bad.Fault.Large() {
		return &format.Error{Fault: bad.Fault, Byte: p.read}
	}
	return err
}

type counted struct {
	io.ReadCloser
	position *position
}

func (c *counted) Read(p []byte) (int, error) {
	if err := c.position.budget.Err(); err != nil {
		return 0, err
	}
	n, err := c.ReadCloser.Read(p)
	c.position.read += int64(n)
	if !c.position.budget.Spend(readWork * n) {
		return 0, c.position.budget.Err()
	}
	return n, err
}
