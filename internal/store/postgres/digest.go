package postgres

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cespare/xxhash/v2"
)

// digest is a checksum of rows, independent of their order. Equal digests mean equal rows, up to collisions.
type digest struct {
	rows int64
	sum  uint64
}

// add adds a row, whose values may be in the form that the driver returns or accepts.
func (d *digest) add(row []any) error {
	h := xxhash.New()
	var buf []byte
	for i, value := range row {
		var err error
		if buf, err = appendValue(buf[:0], value); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
		if _, err := h.Write(buf); err != nil {
			return err
		}
	}
	d.rows++
	d.sum += h.Sum64()
	return nil
}

// appendValue appends an unambiguous encoding of a value: its type, its length, and the value itself.
func appendValue(dst []byte, value any) ([]byte, error) {
	const (
		null = iota
		number
		float
		text
		list
	)
	long := func(b string) []byte {
		return append(binary.AppendUvarint(append(dst, text), uint64(len(b))), b...)
	}
	switch v := value.(type) {
	case nil:
		return append(dst, null), nil
	case int64:
		return binary.LittleEndian.AppendUint64(append(dst, number), uint64(v)), nil
	case int32:
		return appendValue(dst, int64(v))
	case int16:
		return appendValue(dst, int64(v))
	case bool:
		if v {
			return appendValue(dst, int64(1))
		}
		return appendValue(dst, int64(0))
	case float64:
		return binary.LittleEndian.AppendUint64(append(dst, float), math.Float64bits(v)), nil
	case string:
		return long(v), nil
	case []byte:
		return long(string(v)), nil
	case [16]byte:
		return long(string(v[:])), nil
	case []string:
		dst = binary.AppendUvarint(append(dst, list), uint64(len(v)))
		for _, s := range v {
			dst = append(binary.AppendUvarint(dst, uint64(len(s))), s...)
		}
		return dst, nil
	case []any:
		strings := make([]string, len(v))
		for i := range v {
			s, ok := v[i].(string)
			if !ok {
				return nil, fmt.Errorf("a list holds a %T", v[i])
			}
			strings[i] = s
		}
		return appendValue(dst, strings)
	}
	return nil, fmt.Errorf("a value is a %T", value)
}
