package osmpbf

import (
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is one field of a protobuf message.
type field struct {
	tag   uint64 // number and wire type, as encoded
	value uint64 // of a varint
	bytes []byte // of a text, a message or a packed array
}

// Tags of fields are number<<3 | wire type. A known number with another wire type is an unknown field, as everywhere in
// protobuf.
const (
	asVarint = uint64(protowire.VarintType)
	asBytes  = uint64(protowire.BytesType)
)

// next splits the first field off a message.
func next(message []byte) (f field, rest []byte, err error) {
	tag, n := protowire.ConsumeVarint(message)
	if n < 0 {
		return f, nil, wireError(n)
	}
	number, kind := protowire.DecodeTag(tag)
	if number < protowire.MinValidNumber {
		return f, nil, errors.New("a field without a number")
	}
	f.tag, message = tag, message[n:]
	switch kind {
	case protowire.VarintType:
		f.value, n = protowire.ConsumeVarint(message)
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(message)
	default:
		n = protowire.ConsumeFieldValue(number, kind, message)
	}
	if n < 0 {
		return f, nil, wireError(n)
	}
	return f, message[n:], nil
}

// wireError describes an error code of protowire.
func wireError(code int) error {
	err := protowire.ParseError(code)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("a field is longer than the message that it is in")
	}
	return fmt.Errorf("not protobuf: %w", err)
}

// packed is an array of varints.
type packed []byte

// set takes the array from a field. Protobuf would also allow an array in parts, or element by element, but set refuses
// those: no writer produces them, the format requires one packed field, and hostile files could make joining parts
// expensive.
func (p *packed) set(f field) error {
	if f.tag&7 != asBytes || *p != nil {
		return fmt.Errorf("the array of field %d is not in one piece", f.tag>>3)
	}
	*p = f.bytes
	return nil
}

// next takes the first varint off the array, which must not be empty.
func (p *packed) next() (v uint64, ok bool) {
	if b := *p; len(b) > 0 && b[0] < 0x80 {
		*p = b[1:]
		return uint64(b[0]), true
	}
	return p.long()
}

func (p *packed) long() (uint64, bool) {
	v, n := protowire.ConsumeVarint(*p)
	if n < 0 {
		return 0, false
	}
	*p = (*p)[n:]
	return v, true
}

// badNumber returns the error for an array with an invalid varint.
func badNumber(what string) error {
	return fmt.Errorf("%s: a number that is cut off or has more than 64 bits", what)
}
