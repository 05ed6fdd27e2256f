// Package geometry reads GeoJSON geometries as places on roads.
package geometry

import (
	"iter"
	"math"
	"strconv"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/jsondoc"
	"wayside/internal/ground/geo"
)

// Place is the position of an item, or the reason why it has none.
type Place struct {
	Point geo.Point
	Line  []geo.Point // nil: none
	Skip  format.Reason
}

// maxPositions is the largest number of positions that are read of one item: 16 MiB could hold more.
const maxPositions = 200_000

// GeoJSON converts a geometry to a place (D17.4, D17.5). both means that the item concerns both directions. Polygons
// are no place on a road; the place of a collection is that of its lines and points.
func GeoJSON(v jsondoc.Value, both bool) Place {
	var few [4][]geo.Point
	r := reader{left: maxPositions, parts: few[:0]}
	r.geometry(v)
	switch {
	case len(r.parts) > 0:
		return OfLine(r.parts, both)
	case r.found:
		return Place{Point: r.point}
	case r.area:
		return Place{Skip: format.Area}
	}
	return Place{Skip: format.NoPosition}
}

// OfLine returns the place of a line in parts, of which at least one has a position.
func OfLine(parts [][]geo.Point, both bool) Place {
	line := format.Line(parts...)
	if line != nil {
		return Place{Point: format.PointOf(line, both), Line: line}
	}
	for _, part := range parts {
		if len(part) > 0 {
			return Place{Point: part[0]}
		}
	}
	return Place{Skip: format.NoPosition}
}

// reader gathers the lines and points of geometries.
type reader struct {
	parts [][]geo.Point
	point geo.Point
	found bool // a point was found
	area  bool
	left  int
}

func (r *reader) geometry(v jsondoc.Value) {
	typ, coordinates := v.Get("type"), v.Get("coordinates")
	switch {
	case typ.Is("Point"):
		r.first(coordinates)
	case typ.Is("MultiPoint"):
		r.first(coordinates.Index(0))
	case typ.Is("LineString"):
		r.line(coordinates)
	case typ.Is("MultiLineString"):
		for line := range coordinates.Elements() {
			r.line(line)
		}
	case typ.Is("Polygon"), typ.Is("MultiPolygon"):
		r.area = true
	case typ.Is("GeometryCollection"):
		for one := range v.Get("geometries").Elements() {
			r.geometry(one)
		}
	}
}

func (r *reader) first(v jsondoc.Value) {
	if p, ok := position(v); ok && !r.found {
		r.point, r.found = p, true
	}
}

func (r *reader) line(v jsondoc.Value) {
	line := make([]geo.Point, 0, min(v.Len(), r.left))
	for element := range v.Elements() {
		p, ok := position(element)
		if !ok || r.left == 0 {
			continue
		}
		r.left--
		line = append(line, p)
	}
	if len(line) > 0 {
		r.parts = append(r.parts, line)
	}
}

// position reads a longitude and a latitude, in this order.
func position(v jsondoc.Value) (geo.Point, bool) {
	lng, lat, ok := v.Pair()
	return geo.Point{Lat: lat, Lng: lng}, ok
}

// List gathers positions from lists of numbers in texts, at most maxPositions of one item in all its parts.
type List struct {
	Parts [][]geo.Point
	held  int
}

// Add reads a part: pairs of numbers, the latitude first unless lngFirst. A word that is not a number ends the part.
// words yields one word at a time, because a text of 16 MiB has eight million of them.
func (l *List) Add(words iter.Seq[string], lngFirst bool) {
	var line []geo.Point
	first, half := 0.0, false
	for word := range words {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil || math.IsNaN(v) || l.held == maxPositions {
			break
		}
		if half = !half; half {
			first = v
			continue
		}
		p := geo.Point{Lat: first, Lng: v}
		if lngFirst {
			p = geo.Point{Lat: v, Lng: first}
		}
		line = append(line, p)
		l.held++
	}
	if len(line) > 0 {
		l.Parts = append(l.Parts, line)
	}
}

// Positions reads one list of pairs.
func Positions(words iter.Seq[string], lngFirst bool) []geo.Point {
	var l List
	l.Add(words, lngFirst)
	if len(l.Parts) == 0 {
		return nil
	}
	return l.Parts[0]
}
