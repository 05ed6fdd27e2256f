// Package mvt encodes vector tiles (Mapbox Vector Tile 2.1): layers of points, lines and polygons, clipped to their
// tile. It is used for maps that the program makes itself; the operator's tiles are passed on unchanged.
package mvt

import (
	"encoding/binary"
	"math"
	"slices"
)

// Vector tiles are encoded as protobuf.
const (
	Extent = 4096 // units along a tile's side

	// Units around the tile that belong to it, so that lines are drawn up to its edges.
	wideBuffer   = 128
	coarseBuffer = 32
)

// Geometry types of the format.
const (
	point   = 1
	line    = 2
	polygon = 3
)

// Pixel is a point in a tile, in its units; Y points down.
type Pixel struct{ X, Y float64 }

// Mercator returns the fractional tile coordinates of a point at a zoom, in degrees.
func Mercator(z int, lat, lng float64) (x, y float64) {
	side := float64(int(1) << z)
	phi := lat * math.Pi / 180
	return (lng + 180) / 360 * side, (1 - math.Log(math.Tan(phi)+1/math.Cos(phi))/math.Pi) / 2 * side
}

// Cell is a point in a tile, in whole units; Y points down.
type Cell struct{ X, Y int32 }

// Layer collects the features of one layer.
type Layer struct {
	name     string
	coarse   float64 // units of Extent for each unit of the layer
	buffer   float64 // units around the tile
	features []byte
	keys     index
	values   index
	groups   []*Group
	grouped  map[string]*Group // by type and tags
}

// index numbers texts in order of first use.
type index struct {
	known map[string]uint64
	order []string
}

func (x *index) number(text string) uint64 {
	n, ok := x.known[text]
	if !ok {
		n = uint64(len(x.order))
		x.known[text] = n
		x.order = append(x.order, text)
	}
	return n
}

// NewLayer returns an empty layer.
func NewLayer(name string) *Layer { return newLayer(name, 1, wideBuffer) }

// NewCoarseLayer returns an empty layer for thin lines, whose positions are rounded to a multiple of units of Extent,
// which takes fewer bytes.
func NewCoarseLayer(name string, units int) *Layer {
	return newLayer(name, float64(units), coarseBuffer)
}

func newLayer(name string, coarse, buffer float64) *Layer {
	return &Layer{
		name: name, coarse: coarse, buffer: buffer,
		keys: index{known: make(map[string]uint64)}, values: index{known: make(map[string]uint64)},
	}
}

// Tag is a member of a feature: a text or, if the text is empty, a whole number.
type Tag struct {
	Name   string
	Text   string
	Number int
}

func (t Tag) value() []byte {
	if t.Text != "" {
		return appendBytes(nil, 1, []byte(t.Text))
	}
	return appendNumber(nil, 5, uint64(t.Number))
}

// Point adds a point unless it lies outside the tile: a point belongs to one tile only.
func (l *Layer) Point(at Pixel, tags ...Tag) {
	if min(at.X, at.Y) < 0 || max(at.X, at.Y) >= Extent {
		return
	}
	p := pen{coarse: l.coarse, buffer: l.buffer}
	p.dot(at)
	l.add(point, p.commands, tags)
}

// Line adds the parts of a line that lie in the tile as one feature.
func (l *Layer) Line(along []Pixel, tags ...Tag) { l.Lines([][]Pixel{along}, tags...) }

// Lines adds the parts of lines that lie in the tile as one feature.
func (l *Layer) Lines(lines [][]Pixel, tags ...Tag) {
	p := pen{coarse: l.coarse, buffer: l.buffer}
	for _, along := range lines {
		for _, part := range clipLine(along, l.buffer) {
			p.draw(part, false)
		}
	}
	l.add(line, p.commands, tags)
}

// Polygon adds the part of an area that lies in the tile. The first ring is its outline, the others are holes; a ring
// does not repeat its first point.
func (l *Layer) Polygon(rings [][]Pixel, tags ...Tag) {
	p := pen{coarse: l.coarse, buffer: l.buffer}
	p.area(rings)
	l.add(polygon, p.commands, tags)
}

// Polygons adds several areas as one feature.
func (l *Layer) Polygons(areas [][][]Pixel, tags ...Tag) {
	p := pen{coarse: l.coarse, buffer: l.buffer}
	for _, rings := range areas {
		p.area(rings)
	}
	l.add(polygon, p.commands, tags)
}

// add adds a feature unless its geometry is empty.
func (l *Layer) add(geometryType uint64, commands []uint32, tags []Tag) {
	if len(commands) > 0 {
		l.encode(geometryType, commands, l.numbers(tags))
	}
}

// numbers encodes tags.
func (l *Layer) numbers(tags []Tag) []byte {
	var numbers []byte
	for _, t := range tags {
		numbers = binary.AppendUvarint(numbers, l.keys.number(t.Name))
		numbers = binary.AppendUvarint(numbers, l.values.number(string(t.value())))
	}
	return numbers
}

func (l *Layer) encode(geometryType uint64, commands []uint32, numbers []byte) {
	var geometry, feature []byte
	for _, c := range commands {
		geometry = binary.AppendUvarint(geometry, uint64(c))
	}
	feature = appendBytes(feature, 2, numbers)
	feature = appendNumber(feature, 3, geometryType)
	feature = appendBytes(feature, 4, geometry)
	l.features = appendBytes(l.features, 2, feature)
}

// AppendTo appends the encoded layer to a tile, unless it is empty.
func (l *Layer) AppendTo(tile []byte) []byte {
	for _, g := range l.groups {
		if len(g.pen.commands) > 0 {
			l.encode(g.geometryType, g.pen.commands, g.numbers)
		}
	}
	l.groups, l.grouped = nil, nil
	if len(l.features) == 0 {
		return tile
	}
	body := appendNumber(nil, 15, 2) // version
	body = appendBytes(body, 1, []byte(l.name))
	body = append(body, l.features...)
	for _, key := range l.keys.order {
		body = appendBytes(body, 3, []byte(key))
	}
	for _, value := range l.values.order {
		body = appendBytes(body, 4, []byte(value))
	}
	body = appendNumber(body, 5, uint64(Extent/l.coarse))
	return appendBytes(tile, 3, body)
}

func appendNumber(b []byte, field int, n uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3), n)
}

func appendBytes(b []byte, field int, body []byte) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3|2), uint64(len(body)))
	return append(b, body...)
}

// oriented returns a ring as the format requires it, with Y pointing down: clockwise, or counterclockwise for a hole.
func oriented(ring []Pixel, hole bool) []Pixel {
	sum := 0.0
	for i, a := range ring {
		b := ring[(i+1)%len(ring)]
		sum += a.X*b.Y - b.X*a.Y
	}
	if (sum < 0) != hole {
		slices.Reverse(ring)
	}
	return ring
}
