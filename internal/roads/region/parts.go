package region

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"wayside/internal/roads/basemap"
	"wayside/internal/roads/cch"
	"wayside/internal/roads/geocode"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// parts are the contents of a region.
type parts struct {
	Graph    *graph.Graph
	Index    *match.Index
	Topology *cch.Topology // of the router

	// Products. Each is nil if it was left out of the import.
	CameraRows, ChargerRows *Rows
	Search                  *geocode.Index
	Tiles                   *basemap.Archive // the base map
}

// readParts makes the parts of a mapped file. Its checksums are correct, so inconsistent sections come from another
// version.
func readParts(m *mapping, about *About) (p parts, err error) {
	section := func(name string) ([]byte, bool) { return m.section(name), m.table.find(name) != nil }
	if p.Graph, err = graph.FromSections(section); err == nil {
		p.Topology, err = cch.FromSections(p.Graph, section)
	}
	if err == nil {
		p.Index, err = match.FromSections(p.Graph, section)
	}
	if err == nil && m.table.find(geocode.FirstSection) != nil {
		p.Search, err = geocode.Open(section, p.Graph, p.Index)
	}
	if errors.Is(err, graph.ErrBadSections) || errors.Is(err, cch.ErrBadSections) || errors.Is(err, match.ErrBadSections) || errors.Is(err, geocode.ErrBadSections) {
		return parts{}, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	if err != nil {
		return parts{}, err
	}
	p.CameraRows, p.ChargerRows = newRows(m, camerasSection), newRows(m, chargersSection)
	if p.Tiles, err = openTiles(m, about); err != nil {
		return parts{}, err
	}
	return p, nil
}

// attach arranges that gone is called with m for each part that others may hold without the Region, once the part is
// unreachable, and adds the number of parts to held.
func (p *parts) attach(held *atomic.Int64, gone func(*mapping), m *mapping) {
	attach(p.Graph, held, gone, m)
	attach(p.Index, held, gone, m)
	attach(p.Topology, held, gone, m)
	attach(p.CameraRows, held, gone, m)
	attach(p.ChargerRows, held, gone, m)
	attach(p.Search, held, gone, m)
	attach(p.Tiles, held, gone, m)
}

func attach[T any](part *T, held *atomic.Int64, gone func(*mapping), m *mapping) {
	if part != nil {
		held.Add(1)
		runtime.AddCleanup(part, gone, m)
	}
}
