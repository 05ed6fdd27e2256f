package region

import (
	"runtime"

	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// parts are what a region offers to others.
type parts struct {
	Graph *graph.Graph
	Index *match.Index
}

// readParts makes the parts of a mapped file.
func readParts(m *mapping) (p parts, err error) {
	p.Graph, err = graph.FromSections(func(name string) ([]byte, bool) {
		return m.section(name), m.table.find(name) != nil
	})
	if err == nil {
		p.Index = match.NewIndex(p.Graph)
	}
	return p, err
}

// heldParts is how many parts attach watches.
const heldParts = 2

// attach has gone called with m for each part that others may hold without the Region, once it can no longer be reached.
func (p *parts) attach(gone func(*mapping), m *mapping) {
	runtime.AddCleanup(p.Graph, gone, m)
	runtime.AddCleanup(p.Index, gone, m)
}
