package cluster

import (
	"encoding/binary"
	"errors"
	"math"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// version begins each message; messages of other versions are not read.
const version = 1

// maxMoves bounds the places in one message.
const maxMoves = 1024

// nodeSize is the length of a node's name.
const nodeSize = 8

const circleSize = 24

// flagEverywhere is a flag of a message: everything may have moved.
const flagEverywhere = 1

// The bits of a call.
const (
	bitOK = 1 << iota
	bitTimedOut
	bitRefused
)

// message holds the events of one node since its last message.
type message struct {
	node       [nodeSize]byte
	everywhere bool
	moved      []geo.Circle
	calls      map[string]mapdata.UpstreamCall
}

func (m *message) empty() bool { return !m.everywhere && len(m.moved) == 0 && len(m.calls) == 0 }

func (m *message) encode() []byte {
	out := append(make([]byte, 0, 16+circleSize*len(m.moved)), version)
	out = append(out, m.node[:]...)
	var flags byte
	if m.everywhere {
		flags |= flagEverywhere
	}
	out = append(out, flags)
	out = binary.AppendUvarint(out, uint64(len(m.moved)))
	for _, c := range m.moved {
		for _, n := range [...]float64{c.Center.Lat, c.Center.Lng, c.Radius} {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(n))
		}
	}
	for name, call := range m.calls {
		out = binary.AppendUvarint(out, uint64(len(name)))
		out = append(out, name...)
		out = append(out, bitsOf(call))
	}
	return out
}

func bitsOf(c mapdata.UpstreamCall) (bits byte) {
	if c.OK {
		bits |= bitOK
	}
	if c.TimedOut {
		bits |= bitTimedOut
	}
	if c.Refused {
		bits |= bitRefused
	}
	return bits
}

var errMessage = errors.New("peers: not a message of this version")

// decode parses the result of encode, and refuses everything else.
func decode(in []byte) (*message, error) {
	m := &message{calls: make(map[string]mapdata.UpstreamCall)}
	if len(in) < 1+nodeSize+1 || in[0] != version {
		return nil, errMessage
	}
	copy(m.node[:], in[1:])
	m.everywhere = in[1+nodeSize]&flagEverywhere != 0
	in = in[1+nodeSize+1:]
	count, n := binary.Uvarint(in)
	if n <= 0 || count > maxMoves || uint64(len(in)-n) < count*circleSize {
		return nil, errMessage
	}
	in = in[n:]
	for range count {
		c := geo.Circle{Center: geo.Point{Lat: float(in), Lng: float(in[8:])}, Radius: float(in[16:])}
		if !c.Center.Valid() || !(c.Radius >= 0 && c.Radius <= maxRadius) {
			return nil, errMessage
		}
		m.moved = append(m.moved, c)
		in = in[circleSize:]
	}
	for len(in) > 0 {
		size, n := binary.Uvarint(in)
		if n <= 0 || size >= uint64(len(in)-n) {
			return nil, errMessage
		}
		name, bits := string(in[n:n+int(size)]), in[n+int(size)]
		m.calls[name] = mapdata.UpstreamCall{OK: bits&bitOK != 0, TimedOut: bits&bitTimedOut != 0, Refused: bits&bitRefused != 0}
		in = in[n+int(size)+1:]
	}
	return m, nil
}

func float(in []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(in)) }
