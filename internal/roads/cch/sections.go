package cch

import (
	"errors"
	"fmt"

	"wayside/internal/roads/graph"
)

// ErrBadSections is returned for sections that are not those of a topology of the graph.
var ErrBadSections = errors.New("what is prepared for routing is damaged")

// Sections returns the arrays as bytes for a file: little-endian, each to be placed at a multiple of
// graph.SectionAlignment. They share the topology's memory; the caller must not change them.
func (t *Topology) Sections() []graph.Section {
	return []graph.Section{
		{Name: "cch.arc_of", Bytes: graph.SectionBytes(t.arcOf)},
		{Name: "cch.vertex_of", Bytes: graph.SectionBytes(t.vertexOf)},
		{Name: "cch.parent", Bytes: graph.SectionBytes(t.parent)},
		{Name: "cch.depth", Bytes: graph.SectionBytes(t.depth)},
		{Name: "cch.turns_into.first", Bytes: graph.SectionBytes(t.into.first)},
		{Name: "cch.turns_into.from", Bytes: graph.SectionBytes(t.into.from)},
		{Name: "cch.out.first", Bytes: graph.SectionBytes(t.out.first)},
		{Name: "cch.out.depth", Bytes: graph.SectionBytes(t.out.depth)},
		{Name: "cch.out.first_below", Bytes: graph.SectionBytes(t.out.firstBelow)},
		{Name: "cch.out.below", Bytes: graph.SectionBytes(t.out.below)},
		{Name: "cch.out.middle", Bytes: graph.SectionBytes(t.out.middle)},
		{Name: "cch.in.first", Bytes: graph.SectionBytes(t.in.first)},
		{Name: "cch.in.depth", Bytes: graph.SectionBytes(t.in.depth)},
		{Name: "cch.in.first_below", Bytes: graph.SectionBytes(t.in.firstBelow)},
		{Name: "cch.in.below", Bytes: graph.SectionBytes(t.in.below)},
		{Name: "cch.in.middle", Bytes: graph.SectionBytes(t.in.middle)},
	}
}

// FromSections makes a topology of a graph from the bytes that Sections returned, by name. It uses them as its arrays,
// so they must stay unchanged while the topology is used. It returns ErrBadSections if they are inconsistent: forged
// bytes may lead to wrong routes, but never beyond an array.
func FromSections(g *graph.Graph, section func(name string) ([]byte, bool)) (*Topology, error) {
	t := &Topology{graph: g}
	r := graph.SectionReader{Section: section, Damaged: ErrBadSections}
	graph.ReadSection(&r, "cch.arc_of", &t.arcOf)
	graph.ReadSection(&r, "cch.vertex_of", &t.vertexOf)
	graph.ReadSection(&r, "cch.parent", &t.parent)
	graph.ReadSection(&r, "cch.depth", &t.depth)
	graph.ReadSection(&r, "cch.turns_into.first", &t.into.first)
	graph.ReadSection(&r, "cch.turns_into.from", &t.into.from)
	graph.ReadSection(&r, "cch.out.first", &t.out.first)
	graph.ReadSection(&r, "cch.out.depth", &t.out.depth)
	graph.ReadSection(&r, "cch.out.first_below", &t.out.firstBelow)
	graph.ReadSection(&r, "cch.out.below", &t.out.below)
	graph.ReadSection(&r, "cch.out.middle", &t.out.middle)
	graph.ReadSection(&r, "cch.in.first", &t.in.first)
	graph.ReadSection(&r, "cch.in.depth", &t.in.depth)
	graph.ReadSection(&r, "cch.in.first_below", &t.in.firstBelow)
	graph.ReadSection(&r, "cch.in.below", &t.in.below)
	graph.ReadSection(&r, "cch.in.middle", &t.in.middle)
	if r.Err == nil {
		r.Err = t.check()
	}
	if r.Err != nil {
		return nil, r.Err
	}
	t.schedule, t.flags = t.newSchedule(), flagsOf(g)
	return t, nil
}

// check finds whatever would lead a search beyond an array, or into an endless loop.
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

// good reports whether edges lead to ancestors, and the lists of lower vertices to lower vertices.
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

// ranges reports whether first cuts an array of the given size into count parts.
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
