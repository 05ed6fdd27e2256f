package bridge

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"

	"wayside/internal/format"
)

// MaxUnpacked is how many bytes a document has at most once it is unpacked (D17.12).
const MaxUnpacked = 256 << 20

// Unpacked opens a body that may be a gzip file, by its first two bytes, and bounds what comes out.
func Unpacked(open func() (io.ReadCloser, error)) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		body, err := open()
		if err != nil {
			return nil, err
		}
		buffered := bufio.NewReaderSize(body, 64<<10)
		first, _ := buffered.Peek(2) // an error comes again with the next read
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

// unpacked reads what is in a body, up to a bound.
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

// wrong says that a gzip file is damaged; other errors are passed on.
func (u *unpacked) wrong(err error) error {
	if u.zipped && (errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, new(flate.CorruptInputError))) {
		return &format.Error{Fault: format.NotFormat, Byte: u.read}
	}
	return err
}

func (u *unpacked) Close() error { return u.body.Close() }

// Convert reads a document, counts what is skipped and how many items there are, and hands the others to row.
func (f Format) Convert(d format.Document, o *format.Options, skips *Skips, row func(format.Item) error) (format.Summary, error) {
	items := 0
	return f.convert(d, o, func(item format.Item) error {
		if items++; items > format.MaxItems {
			return &format.Error{Fault: format.TooMany}
		}
		if item.Skip != "" {
			skips.Add(item)
			return nil
		}
		return row(item)
	})
}
