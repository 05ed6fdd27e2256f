package mvt

import (
	"encoding/binary"
	"errors"
	"iter"
	"math"
)

// Feature is a feature read from a tile.
type Feature struct {
	Parts   [][]Pixel // points, lines or rings
	Texts   map[string]string
	Numbers map[string]int
}

var errTile = errors.New("a vector tile cannot be read")

// Read returns the features of a layer, or none if the tile has no such layer. It reads only the output of this package:
// texts and whole numbers.
func Read(tile []byte, layer string) ([]Feature, error) {
	for number, body := range fields(tile) {
		if number != 3 || body.bytes == nil {
			continue
		}
		name := ""
		for number, value := range fields(body.bytes) {
			if number == 1 {
				name = string(value.bytes)
			}
		}
		if name == layer {
			return readLayer(body.bytes)
		}
	}
	return nil, nil
}

// field is a value of a protobuf message: bytes or a number.
type field struct {
	bytes  []byte
	number uint64
}

// fields yields the fields of a message until an invalid one.
func fields(b []byte) iter.Seq2[uint64, field] {
	return func(yield func(uint64, field) bool) {
		for len(b) > 0 {
			key, n := binary.Uvarint(b)
			if n <= 0 {
				return
			}
			value, m := binary.Uvarint(b[n:])
			if m <= 0 {
				return
			}
			b = b[n+m:]
			f := field{number: value}
			if key&7 == 2 {
				if value > uint64(len(b)) {
					return
				}
				f.bytes, b = b[:value:value], b[value:]
			}
			if !yield(key>>3, f) {
				return
			}
		}
	}
}

func readLayer(b []byte) ([]Feature, error) {
	var keys []string
	var values []field
	var features [][]byte
	coarse := 1.0
	for number, f := range fields(b) {
		switch number {
		case 2:
			features = append(features, f.bytes)
		case 3:
			keys = append(keys, string(f.bytes))
		case 4:
			for _, value := range fields(f.bytes) {
				values = append(values, value)
			}
		case 5:
			coarse = Extent / max(float64(f.number), 1)
		}
	}
	out := make([]Feature, len(features))
	for i, body := range features {
		f := Feature{Texts: make(map[string]string), Numbers: make(map[string]int)}
		for number, part := range fields(body) {
			switch number {
			case 2:
				tags := varints(part.bytes)
				for j := 0; j+1 < len(tags); j += 2 {
					if tags[j] >= uint64(len(keys)) || tags[j+1] >= uint64(len(values)) {
						return nil, errTile
					}
					switch value := values[tags[j+1]]; {
					case value.bytes != nil:
						f.Texts[keys[tags[j]]] = string(value.bytes)
					case value.number <= math.MaxInt32:
						f.Numbers[keys[tags[j]]] = int(value.number)
					}
				}
			case 4:
				f.Parts = decode(varints(part.bytes), coarse)
			}
		}
		out[i] = f
	}
	return out, nil
}

func varints(b []byte) []uint64 {
	var out []uint64
	for len(b) > 0 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return out
		}
		out, b = append(out, v), b[n:]
	}
	return out
}

// decode decodes geometry commands into points, lines or rings. coarse is the number of units of Extent for each of
// theirs.
func decode(commands []uint64, coarse float64) [][]Pixel {
	var parts [][]Pixel
	x, y := 0.0, 0.0
	unzigzag := func(v uint64) float64 { return float64(int32(v>>1) ^ -int32(v&1)) }
	for i := 0; i < len(commands); {
		id, count := commands[i]&7, commands[i]>>3
		i++
		if id == closePath {
			continue
		}
		for ; count > 0 && i+1 < len(commands); count-- {
			x, y = x+unzigzag(commands[i]), y+unzigzag(commands[i+1])
			i += 2
			if id == moveTo {
				parts = append(parts, nil)
			}
			if n := len(parts); n > 0 {
				parts[n-1] = append(parts[n-1], Pixel{x * coarse, y * coarse})
			}
		}
	}
	return parts
}
