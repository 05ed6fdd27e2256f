package region

import (
	"context"
	"errors"
	"fmt"
	"math"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/car"
	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/roads/osmpbf"
)

// fill makes the contents of the region and writes them, one product after another.
func (i *importer) fill(ctx context.Context) error {
	profile, err := car.New()
	if err != nil {
		return err
	}
	about := i.describe()
	s := &source{about: about, folder: i.Folder}
	for _, e := range i.inputs {
		s.files = append(s.files, e.pbf)
	}
	err = i.step(roadsStep, func() (err error) {
		if s.graph, err = i.roads(ctx, profile, s); err != nil {
			return err
		}
		if err := i.out.add(ctx, roadsProduct, contents(s.graph.Sections())); err != nil {
			return err
		}
		s.index = match.NewIndex(s.graph)
		return i.out.add(ctx, roadsProduct, contents(s.index.Sections()))
	})
	if err != nil {
		return err
	}
	if err := i.makeProducts(ctx, s, true); err != nil {
		return err
	}
	// The router needs only a part of the network, and later products none, so free memory here, where the import needs
	// most.
	routing := s.graph.ForRouting()
	s.graph, s.index = nil, nil
	err = i.step(routerStep, func() error {
		topology, err := cch.Prepare(ctx, routing, cch.PrepareOptions{})
		if err != nil {
			return fmt.Errorf("prepare the router: %w", err)
		}
		routing = nil
		return i.out.add(ctx, roadsProduct, contents(topology.Sections()))
	})
	if err != nil {
		return err
	}
	if err := i.makeProducts(ctx, s, false); err != nil {
		return err
	}
	return i.step(closingStep, func() error { return i.finish(about) })
}

// describe begins the description of the region.
func (i *importer) describe() *About {
	about := &About{ID: i.id(car.Figures()), Attribution: Attribution, Licence: Licence}
	if i.Attribution != "" {
		about.Attribution, about.Licence = i.Attribution, i.ImportOptions.Licence
	}
	for _, e := range i.inputs {
		about.Inputs = append(about.Inputs, e.Input)
		if at := e.pbf.Header.AsOf; at.After(about.AsOf) {
			about.AsOf = at
		}
	}
	return about
}

// roads makes the road network.
func (i *importer) roads(ctx context.Context, profile *car.Profile, s *source) (*graph.Graph, error) {
	g, counts, err := graph.Build(ctx, s.files, profile, graph.BuildOptions{})
	if err != nil {
		return nil, i.blame(ctx, err)
	}
	if len(g.Arcs) == 0 {
		last := i.inputs[len(i.inputs)-1]
		return nil, fmt.Errorf("%s: there is no road for cars in it, up to byte %d, where it ends", last.name, last.Bytes)
	}
	s.about.count(&counts)
	return g, nil
}

// blame adds the name of the file that caused an error.
func (i *importer) blame(ctx context.Context, err error) error {
	var bad *osmpbf.Error
	if len(i.inputs) == 1 || !errors.As(err, &bad) || ctx.Err() != nil {
		return fmt.Errorf("%s: %w", i.inputs[0].name, err)
	}
	for _, e := range i.inputs { // find the file that fails when it is read alone
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

// corners returns a box as west, south, east and north, rounded to seven places.
func corners(b geo.Box) [4]float64 {
	round := func(degrees float64) float64 { return math.Round(degrees*1e7) / 1e7 }
	return [4]float64{round(b.West), round(b.South), round(b.East), round(b.North)}
}

// contents returns the sections of the roads.
func contents(sections []graph.Section) []content {
	all := make([]content, len(sections))
	for i, s := range sections {
		all[i] = content{section: s.Name, data: s.Bytes}
	}
	return all
}
