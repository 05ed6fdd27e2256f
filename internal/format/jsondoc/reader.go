package jsondoc

import (
	"errors"
	"hash/maphash"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/format"
)

// Work that is counted, in nanoseconds as measured.
const (
	byteWork  = 2  // of a document
	tokenWork = 25 // a token that is read by itself
	partWork  = 25 // a part of an item
	visitWork = 2  // a part that a lookup passes
)

// Reader goes through one document, once.
type Reader struct {
	in     *bounded
	dec    *jsontext.Decoder
	budget *format.Budget
	tree   tree
	names  names
}

// New begins to read a document: UTF-8, or UTF-16 by its mark or by the zeros of its first characters. A nil budget bounds nothing.
func New(r io.Reader, budget *format.Budget) *Reader {
	text, _ := format.Decoded(r)
	in := &bounded{r: text, budget: budget}
	// The decoder itself would keep the names of an object for as long as it is open, however many there are.
	dec := jsontext.NewDecoder(in, jsontext.AllowDuplicateNames(true))
	return &Reader{in: in, dec: dec, budget: budget, tree: tree{budget: budget}, names: names{seed: maphash.MakeSeed()}}
}

// errItem ends reading where one token or item is longer than may be held.
var errItem = errors.New("an item is too large")

// bounded lets a decoder read no further than is allowed: the decoder holds what it has not passed yet.
type bounded struct {
	r      io.Reader
	budget *format.Budget
	read   int64
	until  int64
	err    error // of r, other than io.EOF, or of the budget
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.read >= b.until {
		return 0, errItem
	}
	if left := b.until - b.read; int64(len(p)) > left {
		p = p[:left]
	}
	n, err := b.r.Read(p)
	b.read += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	} else if !b.budget.Spend(byteWork * n) {
		b.err = b.budget.Err()
		return n, b.err
	}
	return n, err
}

// allow lets the next token or item be as long as one may be.
func (r *Reader) allow() { r.in.until = r.dec.InputOffset() + format.MaxItemBytes }

// Kind is what the next value is by its first character: one of { [ " 0 t f n, and 0 where there is none or it is no JSON.
func (r *Reader) Kind() byte {
	r.allow()
	return byte(r.dec.PeekKind())
}

// Members reads an object: read is called for each member and reads, or skips, its value. Another value is not the format's.
func (r *Reader) Members(read func(name string) error) error {
	from := len(r.names.hashes)
	err := r.enclosed('{', '}', func() error {
		name, err := r.token()
		if err != nil {
			return err
		}
		text := name.String()
		if !r.names.add([]byte(text), from) {
			return r.Error(format.TooLarge)
		}
		return read(text)
	})
	if r.names.end(from) && err == nil {
		return r.Error(format.BadJSON)
	}
	return err
}

// token reads one token.
func (r *Reader) token() (jsontext.Token, error) {
	r.allow()
	token, err := r.dec.ReadToken()
	if err != nil {
		return token, r.wrong(err)
	}
	if !r.budget.Spend(tokenWork) {
		return token, r.wrong(r.budget.Err())
	}
	return token, nil
}

// Elements reads an array: read is called for each element, and reads or skips it. Another value is not the format's.
func (r *Reader) Elements(read func() error) error { return r.enclosed('[', ']', read) }

func (r *Reader) enclosed(opens, closes byte, each func() error) error {
	switch kind := r.Kind(); {
	case kind == opens:
	case kind == 0:
		_, err := r.dec.ReadToken()
		return r.wrong(err)
	default:
		if err := r.Skip(); err != nil { // a document that breaks off later is bad JSON
			return err
		}
		return r.Error(format.NotFormat)
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return r.wrong(err)
	}
	if r.dec.StackDepth() > format.MaxDepth {
		return r.Error(format.TooDeep)
	}
	for {
		kind := r.Kind()
		if kind == closes {
			break
		}
		if kind == 0 {
			_, err := r.dec.ReadToken()
			return r.wrong(err)
		}
		before := r.dec.InputOffset()
		if err := each(); err != nil {
			return err
		}
		if r.dec.InputOffset() == before {
			return r.Error(format.BadJSON) // nothing was read: it would go on for ever
		}
	}
	_, err := r.dec.ReadToken()
	return r.wrong(err)
}

// Value reads the next value whole. It is valid until the next one is read.
func (r *Reader) Value() (Value, error) {
	r.allow()
	text, err := r.dec.ReadValue()
	if err != nil {
		return Value{}, r.wrong(err)
	}
	r.budget.NextItem()
	if !r.budget.Hold(len(text)) {
		return Value{}, r.wrong(r.budget.Err())
	}
	if fault := r.tree.read(text, format.MaxDepth-r.dec.StackDepth(), &r.names); fault != "" {
		return Value{}, r.Error(fault)
	}
	if !r.budget.Spend(partWork*len(r.tree.parts)) || !r.budget.Hold(partSize*len(r.tree.parts)) {
		return Value{}, r.wrong(r.budget.Err())
	}
	return Value{&r.tree, 0, true}, nil
}

// Skip passes the next value over without holding it.
func (r *Reader) Skip() error {
	depth := r.dec.StackDepth()
	var open []int // where the names of each object begin that is open; of arrays they are not used
	for {
		token, err := r.token()
		if err != nil {
			return err
		}
		now := r.dec.StackDepth()
		switch kind := token.Kind(); kind {
		case '{', '[':
			if now > format.MaxDepth {
				return r.Error(format.TooDeep)
			}
			open = append(open, len(r.names.hashes))
		case '}', ']':
			from := open[len(open)-1]
			open = open[:len(open)-1]
			if r.names.end(from) {
				return r.Error(format.BadJSON)
			}
		case '"':
			if now == depth {
				break
			}
			if in, length := r.dec.StackIndex(now); in == '{' && length%2 == 1 && !r.names.add([]byte(token.String()), open[len(open)-1]) {
				return r.Error(format.TooLarge)
			}
		}
		if now <= depth {
			return nil
		}
	}
}

// Pass passes the next value over at once, which is quicker than Skip. It must not be longer than an item, and its levels are not counted:
// it is for what another reading of the document looks at.
func (r *Reader) Pass() error {
	r.allow()
	_, err := r.dec.ReadValue()
	return r.wrong(err)
}

// End reads to the end of the document, where nothing but white space may follow.
func (r *Reader) End() error {
	r.allow()
	_, err := r.dec.ReadToken()
	switch {
	case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil
	case err == nil:
		return r.Error(format.BadJSON)
	}
	return r.wrong(err)
}

// Error says what makes the document bad, and that it is found here.
func (r *Reader) Error(fault format.Fault) error {
	return &format.Error{Fault: fault, Byte: r.dec.InputOffset()}
}

// wrong turns an error of the decoder into what makes the document bad; errors of the reader below it are passed on. The decoder's own
// texts quote the document.
func (r *Reader) wrong(err error) error {
	if err == nil {
		return nil
	}
	var syntax *jsontext.SyntacticError
	var bad *format.Error
	switch {
	case errors.Is(err, errItem):
		return r.Error(format.TooLarge)
	case errors.As(err, &bad) && bad.Byte == 0:
		return r.Error(bad.Fault) // the budget is spent
	case r.in.err != nil:
		if errors.As(r.in.err, &bad) && bad.Byte == 0 {
			return r.Error(bad.Fault)
		}
		return r.in.err
	case errors.As(err, &syntax):
		if strings.Count(string(syntax.JSONPointer), "/") > format.MaxDepth {
			return &format.Error{Fault: format.TooDeep, Byte: syntax.ByteOffset}
		}
		return &format.Error{Fault: format.BadJSON, Byte: syntax.ByteOffset}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return r.Error(format.BadJSON)
	}
	return err
}
