package region

import (
	"errors"
	"fmt"
	"runtime"

	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// parts are what a region offers to others.
type parts struct {
	Graph    *graph.Graph
	Index    *match.Index
	Topology *cch.Topology // of the router
}

// readParts makes the parts of a mapped file. Its checksums are right: sections that do not fit are those of another version.
func readParts(m *mapping) (p parts, err error) {
	section := func(name string) ([]byte, bool) { return m.section(name), m.table.find(name) != nil }
	if p.Graph, err = graph.FromSections(section); err == nil {
		p.Topology, err = cch.FromSections(p.Graph, section)
	}
	if errors.Is(err, graph.ErrBadSections) || errors.Is(err, cch.ErrBadSections) {
		return parts{}, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	if err != nil {
		return parts{}, err
	}
	p.Index = match.NewIndex(p.Graph)
	return p, nil
}

// heldParts is how many parts attach watches.
const heldParts = 3

// attach has gone called with m for each part that others may hold without the Region, once it can no longer be reached.
func (p *parts) attach(gone func(*mapping), m *mapping) {
	runtime.AddCleanup(p.Graph, gone, m)
	runtime.AddCleanup(p.Index, gone, m)
	runtime.AddCleanup(p.Topology, gone, m)
}
