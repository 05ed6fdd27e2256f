package mapdata

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"wayside/internal/geo"
)

// MaxLine is how many positions the line of a stored entity has at most (D17.4).
const MaxLine = 500

// LatestEnd is the latest end of an entity. A later one is none: the index keeps ends as seconds in 32 bits.
func LatestEnd() time.Time { return time.Unix(math.MaxUint32, 0).UTC() }

// Lines are stored as well-known binary (WKB), which PostGIS and other tools read: byte order, type, number of positions, and
// of each position longitude and latitude.
const (
	littleEndian  = 1
	wkbLineString = 2
	wkbHeader     = 1 + 4 + 4
	wkbPosition   = 8 + 8
	minLine       = 2
)

var errNoLine = errors.New("a stored line is not the well-known binary of a line of 2 to 500 positions")

// ValidLine says whether an entity can have the line: 2 to MaxLine positions on the globe.
func ValidLine(line []geo.Point) bool {
	if len(line) < minLine || len(line) > MaxLine {
		return false
	}
	for _, p := range line {
		if !(math.Abs(p.Lat) <= 90 && math.Abs(p.Lng) <= 180) { // false for NaN too
			return false
		}
	}
	return true
}

// LineBytes is how long a line is as AppendLine writes it; 0 for none.
func LineBytes(line []geo.Point) int {
	if len(line) == 0 {
		return 0
	}
	return wkbHeader + wkbPosition*len(line)
}

// AppendLine appends a line as it is stored, and nothing for none.
func AppendLine(dst []byte, line []geo.Point) []byte {
	if len(line) == 0 {
		return dst
	}
	dst = append(dst, littleEndian)
	dst = binary.LittleEndian.AppendUint32(dst, wkbLineString)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(line)))
	for _, p := range line {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(p.Lng))
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(p.Lat))
	}
	return dst
}

// ParseLine reads what AppendLine wrote; nil for nothing.
func ParseLine(stored []byte) ([]geo.Point, error) {
	if len(stored) == 0 {
		return nil, nil
	}
	if len(stored) < wkbHeader || stored[0] != littleEndian || binary.LittleEndian.Uint32(stored[1:]) != wkbLineString {
		return nil, errNoLine
	}
	n := binary.LittleEndian.Uint32(stored[wkbHeader-4:])
	if n < minLine || n > MaxLine || len(stored) != wkbHeader+wkbPosition*int(n) {
		return nil, errNoLine
	}
	line := make([]geo.Point, n)
	for i, at := 0, stored[wkbHeader:]; i < len(line); i, at = i+1, at[wkbPosition:] {
		line[i].Lng = math.Float64frombits(binary.LittleEndian.Uint64(at))
		line[i].Lat = math.Float64frombits(binary.LittleEndian.Uint64(at[8:]))
	}
	return line, nil
}
