package graph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"wayside/internal/roads/car"
)

// Section is one of the arrays of a graph as bytes: little-endian, as in memory.
type Section struct {
	Name  string
	Bytes []byte
}

// SectionAlignment is the alignment of sections in a mapped file.
const SectionAlignment = 8

// ErrBadSections is returned for sections that are not those of a graph.
var ErrBadSections = errors.New("the road network is damaged")

// Sections returns the arrays as bytes for a file. They share the graph's memory; the caller must not change them.
func (g *Graph) Sections() []Section {
	return []Section{
		{"roads.nodes", SectionBytes(g.Nodes)},
		{"roads.pieces", SectionBytes(g.Pieces)},
		{"roads.arcs", SectionBytes(g.Arcs)},
		{"roads.first_turn", SectionBytes(g.FirstTurn)},
		{"roads.turns", SectionBytes(g.Turns)},
		{"roads.line", SectionBytes(g.Line)},
		{"roads.line_nodes", SectionBytes(g.LineNodes)},
		{"roads.ways", SectionBytes(g.Ways)},
		{"roads.signs", SectionBytes(g.Signs)},
		{"roads.lanes", SectionBytes(g.Lanes)},
		{"roads.exits", SectionBytes(g.Exits)},
		{"roads.maneuvers", SectionBytes(g.Maneuvers)},
		{"roads.maneuver_ways", SectionBytes(g.ManeuverWays)},
		{"roads.texts", g.Texts},
	}
}

// FromSections makes a graph from the bytes that Sections returned, by name. It uses them as its arrays, so they must
// stay unchanged while the graph is used. It returns ErrBadSections if they are inconsistent, so that no use of the
// graph reads beyond its arrays.
func FromSections(section func(name string) ([]byte, bool)) (*Graph, error) {
	g := &Graph{}
	r := SectionReader{Section: section, Damaged: ErrBadSections}
	ReadSection(&r, "roads.nodes", &g.Nodes)
	ReadSection(&r, "roads.pieces", &g.Pieces)
	ReadSection(&r, "roads.arcs", &g.Arcs)
	ReadSection(&r, "roads.first_turn", &g.FirstTurn)
	ReadSection(&r, "roads.turns", &g.Turns)
	ReadSection(&r, "roads.line", &g.Line)
	ReadSection(&r, "roads.line_nodes", &g.LineNodes)
	ReadSection(&r, "roads.ways", &g.Ways)
	ReadSection(&r, "roads.signs", &g.Signs)
	ReadSection(&r, "roads.lanes", &g.Lanes)
	ReadSection(&r, "roads.exits", &g.Exits)
	readAddedSection(&r, "roads.maneuvers", &g.Maneuvers)
	readAddedSection(&r, "roads.maneuver_ways", &g.ManeuverWays)
	ReadSection(&r, "roads.texts", &g.Texts)
	if r.Err == nil {
		r.Err = g.check()
	}
	if r.Err != nil {
		return nil, r.Err
	}
	return g, nil
}

// SectionReader reads arrays from sections, until one cannot be read.
type SectionReader struct {
	Section func(name string) ([]byte, bool)
	Damaged error // the error that damage is reported as
	Err     error // the first error
}

// plain are the types of the arrays. None has pointers or gaps.
type plain interface {
	Node | Piece | Arc | Turn | Position | Way | Signs | car.Lane | Exit | Maneuver | uint16 | uint32 | int64 | byte | ~[4]uint32
}

// ReadSection sets an array to the contents of a section, without copying it.
func ReadSection[T plain](r *SectionReader, name string, into *[]T) {
	var one T
	size := unsafe.Sizeof(one)
	if raw := r.Bytes(name, size, unsafe.Alignof(one)); len(raw) > 0 {
		*into = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(raw))), len(raw)/int(size))
	}
}

// readAddedSection reads a section that files of earlier versions lack.
func readAddedSection[T plain](r *SectionReader, name string, into *[]T) {
	if _, there := r.Section(name); there {
		ReadSection(r, name, into)
	}
}

// Bytes returns a section that holds an array of values of a size, and checks its alignment. It returns nil if the
// section cannot be read.
func (r *SectionReader) Bytes(name string, size, align uintptr) []byte {
	if r.Err != nil {
		return nil
	}
	raw, ok := r.Section(name)
	switch {
	case !ok:
		r.Err = fmt.Errorf("%w: the section %s is missing", r.Damaged, name)
	case uintptr(len(raw))%size != 0:
		r.Err = fmt.Errorf("%w: the section %s has %d bytes, which is no multiple of %d", r.Damaged, name, len(raw), size)
	case !littleEndian():
		r.Err = errors.New("region files can only be read on little-endian machines")
	case len(raw) > 0 && uintptr(unsafe.Pointer(unsafe.SliceData(raw)))%align != 0:
		r.Err = fmt.Errorf("%w: the section %s does not lie at a multiple of %d bytes", r.Damaged, name, align)
	default:
		return raw
	}
	return nil
}

// SectionBytes returns the memory of an array as bytes, without copying it.
func SectionBytes[T plain](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(values[0])))
}

func littleEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) == 1 }
