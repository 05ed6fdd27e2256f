package cch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"wayside/internal/roads/graph"
)

// ErrBadSections says that sections are not those of a topology of the graph.
var ErrBadSections = errors.New("what is prepared for routing is damaged")

// Sections are the arrays as bytes, for a file: little-endian, each to lie at a multiple of graph.SectionAlignment. They are the
// topology's own memory: do not change them.
func (t *Topology) Sections() []graph.Section {
	return []graph.Section{
		{Name: "cch.arc_of", Bytes: bytesOf(t.arcOf)},
		{Name: "cch.vertex_of", Bytes: bytesOf(t.vertexOf)},
		{Name: "cch.parent", Bytes: bytesOf(t.parent)},
		{Name: "cch.depth", Bytes: bytesOf(t.depth)},
		{Name: "cch.turns_into.first", Bytes: bytesOf(t.into.first)},
		{Name: "cch.turns_into.from", Bytes: bytesOf(t.into.from)},
		{Name: "cch.out.first", Bytes: bytesOf(t.out.first)},
		{Name: "cch.out.depth", Bytes: bytesOf(t.out.depth)},
		{Name: "cch.out.first_below", Bytes: bytesOf(t.out.firstBelow)},
		{Name: "cch.out.below", Bytes: bytesOf(t.out.below)},
		{Name: "cch.out.middle", Bytes: bytesOf(t.out.middle)},
		{Name: "cch.in.first", Bytes: bytesOf(t.in.first)},
		{Name: "cch.in.depth", Bytes: bytesOf(t.in.depth)},
		{Name: "cch.in.first_below", Bytes: bytesOf(t.in.firstBelow)},
		{Name: "cch.in.below", Bytes: bytesOf(t.in.below)},
		{Name: "cch.in.middle", Bytes: bytesOf(t.in.middle)},
	}
}

// FromSections makes a topology of a graph of the bytes that Sections gave, by name. It keeps them as its arrays, so they must stay
// and not change while the topology is used. It refuses with ErrBadSections what does not fit together: bytes that somebody forged
// may lead to wrong routes, but never beyond an array.
func FromSections(g *graph.Graph, section func(name string) ([]byte, bool)) (*Topology, error) {
	t := &Topology{graph: g}
	r := sectionReader{section: section}
	read(&r, "cch.arc_of", &t.arcOf)
	read(&r, "cch.vertex_of", &t.vertexOf)
	read(&r, "cch.parent", &t.parent)
	read(&r, "cch.depth", &t.depth)
	read(&r, "cch.turns_into.first", &t.into.first)
	read(&r, "cch.turns_into.from", &t.into.from)
	read(&r, "cch.out.first", &t.out.first)
	read(&r, "cch.out.depth", &t.out.depth)
	read(&r, "cch.out.first_below", &t.out.firstBelow)
	read(&r, "cch.out.below", &t.out.below)
	read(&r, "cch.out.middle", &t.out.middle)
	read(&r, "cch.in.first", &t.in.first)
	read(&r, "cch.in.depth", &t.in.depth)
	read(&r, "cch.in.first_below", &t.in.firstBelow)
	read(&r, "cch.in.below", &t.in.below)
	read(&r, "cch.in.middle", &t.in.middle)
	if r.err == nil {
		r.err = t.check()
	}
	if r.err != nil {
		return nil, r.err
	}
	t.schedule, t.flags = t.newSchedule(), flagsOf(g)
	return t, nil
}

// check finds whatever would lead a search beyond an array, or in a circle.
func (t *Topology) check() error {
	count := len(t.graph.Arcs)
	switch {
	case len(t.arcOf) != count || len(t.vertexOf) != count || len(t.parent) != count || len(t.depth) != count:
		return fmt.Errorf("%w: it is not for as many arcs as there are", ErrBadSections)
	case !ranges(t.into.first, count, len(t.into.from)) || !below(t.into.from, uint32(count)):
		return fmt.Errorf("%w: the turns onto arcs", ErrBadSections)
	}
	for v := range uint32(count) {
		if arc := t.arcOf[v]; arc >= uint32(count) || t.vertexOf[arc] != v {
			return fmt.Errorf("%w: the order of arcs", ErrBadSections)
		}
		switch p := t.parent[v]; {
		case p == graph.None && t.depth[v] == 0:
		case p == graph.None || p <= v || p >= uint32(count) || uint32(t.depth[v]) != uint32(t.depth[p])+1:
			return fmt.Errorf("%w: the elimination tree", ErrBadSections)
		}
	}
	for v, first := range t.firstDescendants() {
		if first > uint32(v) {
			return fmt.Errorf("%w: the order of the elimination tree", ErrBadSections)
		}
	}
	if !t.out.good(t.depth) || !t.in.good(t.depth) {
		return fmt.Errorf("%w: the shortcuts", ErrBadSections)
	}
	return nil
}

// good tells whether edges lead to ancestors, and the lists of lower vertices to lower vertices.
func (e *edges) good(depth []uint16) bool {
	if len(e.middle) != len(e.depth) || !ranges(e.first, len(depth), len(e.depth)) || !ranges(e.firstBelow, len(depth), len(e.below)) {
		return false
	}
	for v := range depth {
		above := depth[v]
		for _, d := range e.depth[e.first[v]:e.first[v+1]] {
			if d >= above {
				return false
			}
			above = d
		}
		if !below(e.belowOf(uint32(v)), uint32(v)) {
			return false
		}
		for _, middle := range e.middle[e.first[v]:e.first[v+1]] {
			if middle != graph.None && middle >= uint32(v) {
				return false
			}
		}
	}
	return true
}

// ranges tells whether first cuts an array of some size into count parts.
func ranges(first []uint32, count, size int) bool {
	if len(first) != count+1 || first[0] != 0 || uint64(first[count]) != uint64(size) {
		return false
	}
	for i := range count {
		if first[i] > first[i+1] {
			return false
		}
	}
	return true
}

func below(values []uint32, limit uint32) bool {
	for _, value := range values {
		if value >= limit {
			return false
		}
	}
	return true
}

type sectionReader struct {
	section func(name string) ([]byte, bool)
	err     error // the first
}

func read[T uint16 | uint32](r *sectionReader, name string, into *[]T) {
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
	case binary.NativeEndian.Uint16([]byte{1, 0}) != 1:
		r.err = errors.New("region files can only be read on little-endian machines")
	case len(raw) == 0:
	case uintptr(unsafe.Pointer(unsafe.SliceData(raw)))%unsafe.Alignof(one) != 0:
		r.err = fmt.Errorf("%w: the section %s does not lie at a multiple of %d bytes", ErrBadSections, name, size)
	default:
		*into = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(raw))), len(raw)/size)
	}
}

func bytesOf[T uint16 | uint32](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(values[0])))
}
