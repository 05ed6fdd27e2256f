package format

import (
	"math"
	"slices"

	"wayside/internal/ground/geo"
)

// Bounds of lines (D17.4).
const (
	MaxLine      = 500 // positions
	joinDistance = 1.0 // metres between parts that are joined to one line
	digits       = 1e7 // computed coordinates have 7 digits behind the point
)

// Line joins parts to one line. It joins parts where one ends within 1 m of the beginning of the next, keeps the
// longest piece, drops positions that repeat the one before, and thins the line to MaxLine positions. It returns nil if
// fewer than two positions are left or one is out of range.
func Line(parts ...[]geo.Point) []geo.Point {
	var longest, piece []geo.Point
	joined := false // piece is an array of its own
	most := 0.0     // the length of the longest piece, once there are two to compare
	ends := func() {
		switch {
		case longest == nil:
			longest = piece
		case len(piece) > 0:
			if most == 0 {
				most = lengthOf(longest)
			}
			if length := lengthOf(piece); length > most {
				longest, most = piece, length
			}
		}
		piece, joined = nil, false
	}
	for _, part := range parts {
		part = withoutRepeats(part)
		if len(part) == 0 {
			continue
		}
		if len(piece) > 0 && geo.Distance(piece[len(piece)-1], part[0]) > joinDistance {
			ends()
		}
		if len(piece) == 0 {
			piece = part
			continue
		}
		if !joined {
			piece, joined = slices.Grow(slices.Clip(piece), len(part)), true
		}
		if part[0] == piece[len(piece)-1] {
			part = part[1:]
		}
		piece = append(piece, part...)
	}
	ends()
	if len(longest) < 2 {
		return nil
	}
	for _, p := range longest {
		if !p.Valid() {
			return nil
		}
	}
	return thinned(longest)
}

func withoutRepeats(line []geo.Point) []geo.Point {
	for i := 1; i < len(line); i++ {
		if line[i] == line[i-1] {
			kept := append(make([]geo.Point, 0, len(line)), line[:i]...)
			for _, p := range line[i:] {
				if p != kept[len(kept)-1] {
					kept = append(kept, p)
				}
			}
			return kept
		}
	}
	return line
}

// thinned keeps MaxLine evenly spaced positions of a longer line, including both ends.
func thinned(line []geo.Point) []geo.Point {
	if len(line) <= MaxLine {
		return line
	}
	kept := make([]geo.Point, MaxLine)
	for i := range kept {
		kept[i] = line[i*(len(line)-1)/(MaxLine-1)]
	}
	return kept
}

// lengthOf returns the length of a piece in degrees of latitude, on a flat earth around each step, which is accurate
// enough to find the longest piece.
func lengthOf(line []geo.Point) float64 {
	length := 0.0
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		east := math.Remainder(b.Lng-a.Lng, 360) * math.Cos((a.Lat+b.Lat)*(math.Pi/360))
		length += math.Sqrt(east*east + (b.Lat-a.Lat)*(b.Lat-a.Lat))
	}
	return length
}

// PointOf returns the point of a row that has a line: its beginning, or halfway along it when it is for both directions
// (D17.5). line has at least one position.
func PointOf(line []geo.Point, both bool) geo.Point {
	if !both {
		return line[0]
	}
	var few [MaxLine]float64
	lengths, left := append(few[:0], 0), 0.0 // of each step to a position from the one before, in radians
	before := line[0].Vector()
	for _, p := range line[1:] {
		at := p.Vector()
		d := arcOf(before.ChordSquared(at))
		lengths, left, before = append(lengths, d), left+d/2, at
	}
	for i := 1; i < len(line); i++ {
		d := lengths[i]
		if d > 0 && d >= left {
			return between(line[i-1], line[i], left/d)
		}
		left -= d
	}
	return line[0]
}

// arcOf returns the angle of a chord with the given square. Up to some 6 km it uses the beginning of the series, which
// takes a tenth of the time and has a relative error below 1e-13.
func arcOf(chordSquared float64) float64 {
	if chordSquared < 1e-6 {
		return math.Sqrt(chordSquared) * (1 + chordSquared/24)
	}
	return geo.MetresOf(chordSquared) / geo.EarthRadius
}

// between returns the point at the given share of the way from a to b. Both are near each other, so that it
// interpolates degrees. It crosses the antimeridian where that is shorter.
func between(a, b geo.Point, share float64) geo.Point {
	return rounded(geo.Point{
		Lat: a.Lat + share*(b.Lat-a.Lat),
		Lng: math.Remainder(a.Lng+share*math.Remainder(b.Lng-a.Lng, 360), 360),
	})
}

func rounded(p geo.Point) geo.Point {
	return geo.Point{Lat: math.Round(p.Lat*digits) / digits, Lng: math.Round(p.Lng*digits) / digits}
}
