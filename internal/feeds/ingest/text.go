package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// maxRowBytes is the largest size of a row as it is sent, from its first byte to its last (D7.1). It is four times the longest properties.
// A longer row is skipped without being held, and is rejected.
const maxRowBytes = 64 << 10

// Sizes of the buffer through which a text is read. It grows for longer rows.
const (
	minTextBuffer = 16 << 10
	maxTextBuffer = 2 * maxRowBytes
)

// SyntaxError is ErrMalformed with the place where the text stops being JSON.
type SyntaxError struct {
	Line, Column int // in characters, both from 1; of the last character if the text ends too early
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%v: it breaks in line %d, at character %d", ErrMalformed, e.Line, e.Column)
}

// Unwrap returns ErrMalformed.
func (e *SyntaxError) Unwrap() error { return ErrMalformed }

// textReader reads a JSON text in blocks and divides it into values. It holds one value at most, and none longer than maxRowBytes.
type textReader struct {
	source       io.Reader
	buf          []byte
	start, end   int   // of the bytes that are read and not consumed
	err          error // of source; io.EOF: the text ends
	line, column int   // of the last consumed character
	scanner      scanner
}

func newTextReader(r io.Reader) *textReader {
	size := minTextBuffer
	if known, ok := r.(interface{ Len() int }); ok {
		size = min(max(known.Len()+1, 512), maxTextBuffer)
	}
	return &textReader{source: r, buf: make([]byte, size), line: 1}
}

// unread returns the bytes that are read and not consumed.
func (t *textReader) unread() []byte { return t.buf[t.start:t.end] }

// fill reads more bytes after the unread ones, and fails with the error of the source. The buffer grows up to maxTextBuffer; a caller with
// that many unread bytes consumes some first.
func (t *textReader) fill() error {
	if t.err != nil {
		return t.err
	}
	if t.end == len(t.buf) && t.start > 0 {
		t.end = copy(t.buf, t.unread())
		t.start = 0
	}
	if t.end == len(t.buf) {
		t.buf = append(t.buf, make([]byte, min(len(t.buf), maxTextBuffer-len(t.buf)))...)
	}
	const maxEmptyReads = 100
	for range maxEmptyReads {
		n, err := t.source.Read(t.buf[t.end:])
		t.end += n
		t.err = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	t.err = io.ErrNoProgress
	return t.err
}

// consume consumes the next n bytes and counts lines and characters.
func (t *textReader) consume(n int) {
	part := t.buf[t.start : t.start+n]
	t.start += n
	if lines := bytes.Count(part, []byte{'\n'}); lines > 0 {
		t.line += lines
		t.column = 0
		part = part[bytes.LastIndexByte(part, '\n')+1:]
	}
	t.column += characters(part)
}

// next returns the next byte that is not white space, without consuming it, and fails with io.EOF at the end.
func (t *textReader) next() (byte, error) {
	for {
		t.consume(whiteSpace(t.unread()))
		if t.start < t.end {
			return t.buf[t.start], nil
		}
		if err := t.fill(); err != nil {
			return 0, err
		}
	}
}

// breaksHere returns the error of a text that is invalid at its next byte, or that ends here.
func (t *textReader) breaksHere() error {
	if t.start < t.end {
		t.consume(1)
	}
	return &SyntaxError{Line: t.line, Column: t.column}
}

// brokenBy converts the error with which the source ended: io.EOF becomes an error of the text.
func (t *textReader) brokenBy(err error) error {
	if errors.Is(err, io.EOF) {
		return t.breaksHere()
	}
	return err
}

// value reads the next value, of at most the given number of levels, and returns its bytes, or nil if there are more than maxRowBytes. The
// bytes are valid until the next call.
func (t *textReader) value(maxDepth int) (value []byte, err error) {
	s := &t.scanner
	s.reset(maxDepth)
	var encoding utf8Scanner
	size, held := 0, 0 // held: bytes that were scanned and are still unread
	for {
		n, found := s.scan(t.unread()[held:])
		size, held = size+n, held+n
		switch found {
		case complete:
			return t.completed(&encoding, size, held)
		case broken:
			isText := encoding.pass(t.unread()[:held]) && encoding.whole()
			t.consume(held)
			if !isText { // this error precedes the syntax error, however the text was divided into blocks
				return nil, fmt.Errorf("%w: invalid UTF-8", ErrMalformed)
			}
			return nil, t.breaksHere()
		case tooDeep:
			return nil, fmt.Errorf("%w, nested at most %d deep", ErrMalformed, maxDepth)
		case incomplete:
		}
		if size > maxRowBytes {
			if !encoding.pass(t.unread()[:held]) {
				return nil, fmt.Errorf("%w: invalid UTF-8", ErrMalformed)
			}
			t.consume(held)
			held = 0
		}
		if err := t.fill(); err != nil {
			if errors.Is(err, io.EOF) && s.atEnd() {
				return t.completed(&encoding, size, held)
			}
			t.consume(held)
			return nil, t.brokenBy(err)
		}
	}
}

// completed ends a value whose last bytes are still unread.
func (t *textReader) completed(encoding *utf8Scanner, size, held int) ([]byte, error) {
	last := t.unread()[:held]
	t.consume(held)
	if size <= maxRowBytes {
		if !validUTF8(last) {
			return nil, fmt.Errorf("%w: invalid UTF-8", ErrMalformed)
		}
		return last, nil
	}
	if !encoding.pass(last) || !encoding.whole() {
		return nil, fmt.Errorf("%w: invalid UTF-8", ErrMalformed)
	}
	return nil, nil
}

// utf8Scanner checks the encoding of a text that arrives in blocks, which may divide characters.
type utf8Scanner struct {
	begun [utf8.UTFMax]byte // a character of which some bytes have not arrived
	n     int
}

// pass reports whether the next block is valid, as far as it is known yet.
func (u *utf8Scanner) pass(part []byte) bool {
	for u.n > 0 && len(part) > 0 {
		u.begun[u.n] = part[0]
		u.n, part = u.n+1, part[1:]
		if !utf8.FullRune(u.begun[:u.n]) {
			continue
		}
		if !utf8.Valid(u.begun[:u.n]) {
			return false
		}
		u.n = 0
	}
	for back := 1; back < utf8.UTFMax && back <= len(part); back++ {
		if last := part[len(part)-back:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				u.n = copy(u.begun[:], last)
				part = part[:len(part)-back]
			}
			break
		}
	}
	return validUTF8(part)
}

// whole reports whether the text does not end within a character.
func (u *utf8Scanner) whole() bool { return u.n == 0 }
