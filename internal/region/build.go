package region

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"wayside/internal/geo"
	"wayside/internal/roads/car"
	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/osmpbf"
)

// build makes everything that the region holds.
func (i *importer) build(ctx context.Context) (*made, error) {
	profile, err := car.New()
	if err != nil {
		return nil, err
	}
	m := &made{about: About{ID: i.id(car.Figures()), Attribution: Attribution, Licence: Licence}}
	if i.Attribution != "" {
		m.about.Attribution, m.about.Licence = i.Attribution, i.ImportOptions.Licence
	}
	for _, e := range i.inputs {
		m.about.Inputs = append(m.about.Inputs, e.Input)
		if at := e.pbf.Header.AsOf; at.After(m.about.AsOf) {
			m.about.AsOf = at
		}
	}
	var roads *graph.Graph
	if err := i.step("building the roads", func() error { roads, err = i.roads(ctx, profile, &m.about); return err }); err != nil {
		return nil, err
	}
	var topology *cch.Topology
	if err := i.step("preparing the router", func() error { topology, err = cch.Prepare(ctx, roads, cch.PrepareOptions{}); return err }); err != nil {
		return nil, fmt.Errorf("prepare the router: %w", err)
	}
	for _, s := range slices.Concat(roads.Sections(), topology.Sections()) {
		m.sections = append(m.sections, namedBytes{s.Name, s.Bytes})
	}
	return m, nil
}

// roads makes the road network.
func (i *importer) roads(ctx context.Context, profile *car.Profile, about *About) (*graph.Graph, error) {
	files := make([]*osmpbf.File, len(i.inputs))
	for n, e := range i.inputs {
		files[n] = e.pbf
	}
	g, counts, err := graph.Build(ctx, files, profile, graph.BuildOptions{})
	if err != nil {
		return nil, i.blame(ctx, err)
	}
	if len(g.Arcs) == 0 {
		last := i.inputs[len(i.inputs)-1]
		return nil, fmt.Errorf("%s: there is no road for cars in it, up to byte %d, where it ends", last.name, last.Bytes)
	}
	about.count(&counts)
	return g, nil
}

// blame names the file that an error of several is about.
func (i *importer) blame(ctx context.Context, err error) error {
	var bad *osmpbf.Error
	if len(i.inputs) == 1 || !errors.As(err, &bad) || ctx.Err() != nil {
		return fmt.Errorf("%s: %w", i.inputs[0].name, err)
	}
	for _, e := range i.inputs { // the one that fails when it is read alone
		if err := e.pbf.Scan(ctx, osmpbf.Options{}, func(*osmpbf.Block) error { return nil }); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return err
}

func (a *About) count(c *graph.Counts) {
	a.Bounds = corners(c.Bounds)
	a.Nodes, a.Ways, a.Relations = c.Nodes, c.Ways, c.Relations
	a.Junctions, a.Arcs, a.Turns, a.Islands = int64(c.Junctions), int64(c.Arcs), int64(c.Turns), int64(c.Islands)
	a.RoadMetres = int64(math.Round(c.RoadMetres))
	a.Restrictions = Restrictions(c.Restrictions)
	a.LeftOut = c.LeftOut
}

// corners is a box as west, south, east and north, to seven places.
func corners(b geo.Box) [4]float64 {
	round := func(degrees float64) float64 { return math.Round(degrees*1e7) / 1e7 }
	return [4]float64{round(b.West), round(b.South), round(b.East), round(b.North)}
}
