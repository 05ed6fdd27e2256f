package mapdata

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"wayside/internal/ground/geo"
)

// MaxLine is the largest number of positions in the line of a stored entity (D17.4).
const MaxLine = 500

// LatestEnd returns the latest end of an entity. A later end counts as none, because the index keeps ends as seconds in
// 32 bits.
func LatestEnd() time.Time { return time.Unix(math.MaxUint32, 0).UTC() }

// Lines are stored as well-known binary (WKB), which PostGIS and other tools read: byte order, type, number of
// positions, and the longitude and latitude of each position.
const (
	littleEndian  = 1
	wkbLineString = 2
	wkbHeader     = 1 + 4 + 4
	wkbPosition   = 8 + 8
	minLine       = 2
)

var errNoLine = errors.New("a stored line is not the well-known binary of a line of 2 to 500 positions")

// ValidLine reports whether an entity can have the line: 2 to MaxLine positions on the globe.
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

// LineBytes returns the size of a line as AppendLine writes it; 0 for none.
func LineBytes(line []geo.Point) int {
	if len(line) == 0 {
		return 0
	}
	return wkbHeader + wkbPosition*len(line)
}

// AppendLine appends a line in its stored form, and nothing for an empty line.
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

// ParseLine parses the output of AppendLine; it returns nil for empty input.
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
