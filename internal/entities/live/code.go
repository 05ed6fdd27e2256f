package live

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// A tile's value is a head and its records. The head consists of the format's version, eleven random bytes that make
// each writing distinct, and the CRC-32C of the records.
const (
	tileVersion = 1
	headSize    = 16
	sumAt       = 12
)

type head [headSize]byte

// errUnreadable is the error for a value that this version did not write, which counts as absent.
var errUnreadable = errors.New("live: unreadable value")

// writeTile returns a tile's value. Each writing differs, even of the same records, so that a compare and swap replaces
// exactly the value that was read.
func writeTile(records []record) []byte {
	dst := make([]byte, 0, sizeOf(records))
	dst = append(dst, tileVersion)
	dst = binary.LittleEndian.AppendUint64(dst, rand.Uint64())
	low := rand.Uint32()
	dst = append(dst, byte(low), byte(low>>8), byte(low>>16), 0, 0, 0, 0)
	dst = appendRecords(dst, records)
	sum := crc32.Checksum(dst[headSize:], crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint32(dst[sumAt:], sum)
	return dst
}

// readTile parses the output of writeTile. The records may refer to value.
func readTile(upstream string, value []byte) ([]record, error) {
	if len(value) < headSize || value[0] != tileVersion ||
		binary.LittleEndian.Uint32(value[sumAt:]) != crc32.Checksum(value[headSize:], crc32.MakeTable(crc32.Castagnoli)) {
		return nil, errUnreadable
	}
	return readRecords(upstream, value[headSize:])
}

// sizeOf estimates the size of the records, rather too large than too small.
func sizeOf(records []record) int {
	size := headSize + binary.MaxVarintLen64
	for i := range records {
		p := &records[i].pin
		size += smallestRecord + 40 + len(p.ExternalID) + len(p.Network) + len(p.Properties) + pointSize*len(p.Line)
	}
	return size
}

func appendRecords(dst []byte, records []record) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(records)))
	for i := range records {
		dst = appendRecord(dst, &records[i])
	}
	return dst
}

func appendRecord(dst []byte, r *record) []byte {
	gone := byte(0)
	if r.gone {
		gone = 1
	}
	p := &r.pin
	dst = append(dst, gone)
	dst = appendText(dst, p.ExternalID)
	dst = appendText(dst, p.Kind.ID())
	dst = appendText(dst, p.Network)
	dst = appendText(dst, p.Properties)
	dst = appendPoint(dst, p.Point)
	dst = binary.AppendUvarint(dst, uint64(len(p.Line)))
	for _, point := range p.Line {
		dst = appendPoint(dst, point)
	}
	for _, n := range [...]int64{
		int64(p.Digest), int64(math.Float64bits(p.Prior)), int64(p.Lifetime / time.Millisecond),
		millisOf(p.FirstSeenAt), millisOf(p.SeenAt), millisOf(p.ChangedAt), r.stamp(), r.said, r.located,
	} {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(n))
	}
	return dst
}

func appendText[T string | []byte](dst []byte, text T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

func appendPoint(dst []byte, p geo.Point) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(p.Lat))
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(p.Lng))
}

// Smallest sizes, against which a count is checked before memory is allocated.
const (
	pointSize      = 16
	smallestRecord = 1 + 4 + pointSize + 1 + 9*8
)

func readRecords(upstream string, data []byte) ([]record, error) {
	in := reader{data: data, text: string(data)}
	count := in.count(smallestRecord)
	records := make([]record, 0, count)
	for range count {
		r, known := in.record()
		if in.bad {
			break
		}
		if known {
			r.pin.Upstream = upstream
			records = append(records, r)
		}
	}
	if in.bad || in.at != len(data) {
		return nil, errUnreadable
	}
	return records, nil
}

// reader decodes bytes; after an error bad is set and it returns zeros.
type reader struct {
	data []byte
	text string // the same bytes, so that records share one string
	at   int
	bad  bool
}

// record reads one record; known is false for a kind that this version does not have.
func (in *reader) record() (r record, known bool) {
	p := &r.pin
	r.gone = in.byte() != 0
	from, to := in.span()
	p.ExternalID = in.text[from:to]
	from, to = in.span()
	p.Kind, known = mapdata.ParseKind(in.text[from:to])
	from, to = in.span()
	p.Network = in.text[from:to]
	if from, to = in.span(); to > from {
		p.Properties = in.data[from:to:to]
	}
	p.Point = in.point()
	if n := in.count(pointSize); n > 0 {
		p.Line = make([]geo.Point, n)
		for i := range p.Line {
			p.Line[i] = in.point()
		}
	}
	p.At = p.Point.Vector()
	p.Digest = uint64(in.int64())
	p.Prior = math.Float64frombits(uint64(in.int64()))
	// A value from another node is not trusted to be fresh for longer than allowed.
	p.Lifetime = time.Duration(min(max(in.int64(), 0), Freshness.Milliseconds())) * time.Millisecond
	p.FirstSeenAt, p.SeenAt, p.ChangedAt = timeOf(in.int64()), timeOf(in.int64()), timeOf(in.int64())
	p.Stamp = timeOf(in.int64())
	r.said, r.located = in.int64(), in.int64()
	return r, known
}

func (in *reader) take(n int) (from int) {
	if in.bad || n > len(in.data)-in.at {
		in.bad = true
		return -1
	}
	from = in.at
	in.at += n
	return from
}

func (in *reader) byte() byte {
	from := in.take(1)
	if from < 0 {
		return 0
	}
	return in.data[from]
}

func (in *reader) int64() int64 {
	from := in.take(8)
	if from < 0 {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(in.data[from:]))
}

// count reads the number of following elements of at least size bytes each; a number beyond the remaining bytes is an
// error.
func (in *reader) count(size int) int {
	if in.bad {
		return 0
	}
	n, width := binary.Uvarint(in.data[in.at:])
	if width <= 0 || n > uint64(len(in.data)-in.at-width)/uint64(size) {
		in.bad = true
		return 0
	}
	in.at += width
	return int(n)
}

func (in *reader) span() (from, to int) {
	n := in.count(1)
	from = in.take(n)
	if from < 0 {
		return 0, 0
	}
	return from, from + n
}

func (in *reader) point() geo.Point {
	lat := math.Float64frombits(uint64(in.int64()))
	return geo.Point{Lat: lat, Lng: math.Float64frombits(uint64(in.int64()))}
}
