package jsondoc

import (
	"errors"
	"hash/maphash"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/feeds/format"
)

// Counted work, in measured nanoseconds.
const (
	byteWork  = 2  // of a document
	tokenWork = 25 // a token that is read by itself
	partWork  = 25 // a part of an item
	visitWork = 2  // a part that a lookup visits
)

// Reader reads one document, once.
type Reader struct {
	in     *bounded
	dec    *jsontext.Decoder
	budget *format.Budget
	tree   tree
	names  names
}

// New returns a reader of a document in UTF-8, or in UTF-16, which it recognises by the mark or by the zeros of the
// first characters. A nil budget bounds nothing.
func New(r io.Reader, budget *format.Budget) *Reader {
	text, _ := format.Decoded(r)
	in := &bounded{r: text, budget: budget}
	// The decoder itself would keep the names of an object for as long as it is open, however many there are.
	dec := jsontext.NewDecoder(in, jsontext.AllowDuplicateNames(true))
	return &Reader{in: in, dec: dec, budget: budget, tree: tree{budget: budget}, names: names{seed: maphash.MakeSeed()}}
}

// errItem ends reading where one token or item is longer than may be held.
var errItem = errors.New("an item is too large")

// bounded stops a decoder from reading further than allowed, because the decoder holds everything that it has not
// consumed yet.
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

// allow permits the next token or item to be as long as an item may be.
func (r *Reader) allow() { r.in.until = r.dec.InputOffset() + format.MaxItemBytes }

// Kind returns the first character of the next value, one of { [ " 0 t f n, or 0 where there is none or the text is not
// JSON.
func (r *Reader) Kind() byte {
	r.allow()
	return byte(r.dec.PeekKind())
}

// Members reads an object. It calls read for each member, and read must read or skip the value. Any other value is
// refused as not of the format.
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

// Elements reads an array. It calls read for each element, and read must read or skip it. Any other value is refused as
// not of the format.
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
			return r.Error(format.BadJSON) // read consumed nothing, so that the loop would never end
		}
	}
	_, err := r.dec.ReadToken()
	return r.wrong(err)
}

// Value reads the next value as a whole. It is valid until the next call.
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

// Skip skips the next value without holding it.
func (r *Reader) Skip() error {
	depth := r.dec.StackDepth()
	var open []int // where the names of each open object begin; unused for arrays
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

// Pass skips the next value in one step, which is quicker than Skip. The value must not be longer than an item, and its
// levels are not counted: Pass is for values that another reading of the document checks.
func (r *Reader) Pass() error {
	r.allow()
	_, err := r.dec.ReadValue()
	return r.wrong(err)
}

// End reads to the end of the document, and fails if anything but white space follows.
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

// Error returns an error for a fault at the current place of the document.
func (r *Reader) Error(fault format.Fault) error {
	return &format.Error{Fault: fault, Byte: r.dec.InputOffset()}
}

// wrong converts an error of the decoder to the fault of the document, and returns errors of the underlying reader as
// they are. It drops the decoder's own texts, which quote the document.
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
