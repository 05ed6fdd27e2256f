package graph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"
)

// Section is one of the arrays of a graph as bytes: little-endian, as they lie in memory.
type Section struct {
	Name  string
	Bytes []byte
}

// SectionAlignment is what the place of a section in a mapped file must be a multiple of.
const SectionAlignment = 8

// ErrBadSections says that sections are not those of a graph.
var ErrBadSections = errors.New("the road network is damaged")

// Sections are the arrays as bytes, for a file. They are the graph's own memory: do not change them.
func (g *Graph) Sections() []Section {
	return []Section{
		{"roads.nodes", bytesOf(g.Nodes)},
		{"roads.pieces", bytesOf(g.Pieces)},
		{"roads.arcs", bytesOf(g.Arcs)},
		{"roads.first_turn", bytesOf(g.FirstTurn)},
		{"roads.turns", bytesOf(g.Turns)},
		{"roads.line", bytesOf(g.Line)},
		{"roads.line_nodes", bytesOf(g.LineNodes)},
		{"roads.ways", bytesOf(g.Ways)},
		{"roads.texts", g.Texts},
	}
}

// FromSections makes a graph of the bytes that Sections gave, by name. It keeps them as its arrays, so they must stay and not
// change while the graph is used. It refuses with ErrBadSections what does not fit together, so that no use of the graph
// reaches beyond its arrays.
func FromSections(section func(name string) ([]byte, bool)) (*Graph, error) {
	g := &Graph{}
	r := sectionReader{section: section}
	read(&r, "roads.nodes", &g.Nodes)
	read(&r, "roads.pieces", &g.Pieces)
	read(&r, "roads.arcs", &g.Arcs)
	read(&r, "roads.first_turn", &g.FirstTurn)
	read(&r, "roads.turns", &g.Turns)
	read(&r, "roads.line", &g.Line)
	read(&r, "roads.line_nodes", &g.LineNodes)
	read(&r, "roads.ways", &g.Ways)
	read(&r, "roads.texts", &g.Texts)
	if r.err == nil {
		r.err = g.check()
	}
	if r.err != nil {
		return nil, r.err
	}
	return g, nil
}

type sectionReader struct {
	section func(name string) ([]byte, bool)
	err     error // the first
}

// plain are the types of the arrays. None has pointers or gaps.
type plain interface {
	Node | Piece | Arc | Turn | Position | Way | uint32 | int64 | byte
}

func read[T plain](r *sectionReader, name string, into *[]T) {
	if r.err != nil {
		return
	}
	raw, ok := r.section(name)
	var one T
	size := int(unsafe.Sizeof(one))
	switch {
	case !ok:
		r.err = fmt.Errorf("%w: the section %s is missing", ErrBadSections, name)
	case len(raw)%size != 0:
		r.err = fmt.Errorf("%w: the section %s has %d bytes, which is no multiple of %d", ErrBadSections, name, len(raw), size)
	case !littleEndian():
		r.err = errors.New("region files can only be read on little-endian machines")
	case len(raw) == 0:
	case uintptr(unsafe.Pointer(unsafe.SliceData(raw)))%unsafe.Alignof(one) != 0:
		r.err = fmt.Errorf("%w: the section %s does not lie at a multiple of %d bytes", ErrBadSections, name, unsafe.Alignof(one))
	default:
		*into = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(raw))), len(raw)/size)
	}
}

func bytesOf[T plain](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(values[0])))
}

func littleEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) == 1 }
