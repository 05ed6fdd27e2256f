package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/osmpbf"
)

const (
	millionJunctions = 1_000_000
	// linksPerSide is how many roads lead from a town to each neighbouring one.
	linksPerSide = 16
	// betweenIDs is larger than any id of OpenStreetMap, so that the objects of each copy have different ids.
	betweenIDs = 1 << 40
	// betweenTowns is how far apart the copies are, in degrees.
	betweenTowns = 0.02
)

// million returns measurements with an extract of a million junctions.
func (n *navigation) million() []measurement {
	m := &navigation{bench: n.bench, name: "1 M junctions: ", closed: 150 * time.Millisecond}
	return []measurement{
		{"drawing a million junctions", func(ctx context.Context) error { m.without = n.without; return m.draw(ctx, n) }},
		{"importing them", m.importExtract},
		{"starting with and without the region", m.starts},
		{"opening the region in this process", m.open},
		{"memory with the region", m.memoryWith},
		{"asking for routes over HTTP", m.httpRoutes},
		{"closures, from the push to a route around it", m.closures},
		{"a thousand jams at once", m.jamsAtOnce},
		{"the router on a million junctions", m.routerOfMillion},
	}
}

// copies are the copies of a town, in rows and columns.
type copies struct {
	count, columns int
	width, height  int64 // nanodegrees from one to the next
	sides          [4][linksPerSide]int64
}

// The sides of a town.
const (
	west = iota
	east
	south
	north
)

// newCopies determines how many copies of a network are needed, and the junctions by which each is linked to its neighbours.
func newCopies(g *graph.Graph, bounds [4]float64) *copies {
	t := &copies{count: (millionJunctions + len(g.Nodes) - 1) / len(g.Nodes), columns: 1}
	for t.columns*t.columns < t.count {
		t.columns++
	}
	t.width, t.height = nano(bounds[2]-bounds[0]+betweenTowns), nano(bounds[3]-bounds[1]+betweenTowns)
	type best struct {
		set   bool
		value int32
	}
	var found [4][linksPerSide]best
	for i := range g.Arcs {
		a := &g.Arcs[i]
		if a.Island != 0 || a.CopyOf != uint32(i) || a.Flags&graph.MayBegin == 0 {
			continue
		}
		node := &g.Nodes[a.From]
		row := band(float64(node.Lat)/1e7, bounds[1], bounds[3])
		column := band(float64(node.Lng)/1e7, bounds[0], bounds[2])
		for side, value := range [4]int32{west: -node.Lng, east: node.Lng, south: -node.Lat, north: node.Lat} {
			at := row
			if side == south || side == north {
				at = column
			}
			if b := &found[side][at]; !b.set || value > b.value {
				*b, t.sides[side][at] = best{true, value}, node.OSM
			}
		}
	}
	return t
}

// band returns in which of the equal parts of an extent a coordinate lies.
func band(at, from, to float64) int {
	return max(0, min(linksPerSide-1, int(linksPerSide*(at-from)/(to-from))))
}

func nano(degrees float64) int64 { return int64(degrees * 1e9) }

// draw writes an extract of copies of a town, linked to each other, and replaces the earlier extract.
func (n *navigation) draw(ctx context.Context, town *navigation) (err error) {
	t := newCopies(town.region.Graph, town.region.Bounds)
	n.extract = filepath.Join(n.dir, "million.osm.pbf")
	out, err := os.Create(n.extract)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	in, err := os.Open(town.extract)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	f, err := osmpbf.Open(in, town.bytes)
	if err != nil {
		return err
	}
	w, err := osmpbf.NewWriter(out, osmpbf.WriterOptions{})
	if err != nil {
		return err
	}
	for i := range t.count {
		if err := f.Scan(ctx, osmpbf.Options{}, func(b *osmpbf.Block) error { return t.copyBlock(w, b, i) }); err != nil {
			return err
		}
	}
	if err := errors.Join(t.link(w), w.Close()); err != nil {
		return err
	}
	info, err := out.Stat()
	if err != nil {
		return err
	}
	n.bytes = info.Size()
	step(fmt.Sprintf("%d towns, each linked to those beside it by %d roads; %.0f MB", t.count, linksPerSide, n.megabytes()))
	return nil
}

// copyBlock writes the contents of a block as a part of a copy.
func (t *copies) copyBlock(w *osmpbf.Writer, b *osmpbf.Block, town int) error {
	ids := int64(town) * betweenIDs
	for _, node := range b.Nodes {
		node.ID += ids
		node.Lng += int64(town%t.columns) * t.width
		node.Lat += int64(town/t.columns-t.columns/2) * t.height
		if err := w.Node(node); err != nil {
			return err
		}
	}
	for _, way := range b.Ways {
		way.ID += ids
		for i := range way.Refs {
			way.Refs[i] += ids
		}
		if err := w.Way(way); err != nil {
			return err
		}
	}
	for _, relation := range b.Relations {
		relation.ID += ids
		for i := range relation.Members {
			relation.Members[i].Ref += ids
		}
		if err := w.Relation(relation); err != nil {
			return err
		}
	}
	return nil
}

// link writes the roads between towns.
func (t *copies) link(w *osmpbf.Writer) error {
	tags := osmpbf.Tags{{Key: "highway", Value: "primary"}}
	id := int64(0)
	for town := range t.count {
		for _, beside := range []struct {
			is       bool
			town     int
			from, to int
		}{
			{(town+1)%t.columns != 0 && town+1 < t.count, town + 1, east, west},
			{town+t.columns < t.count, town + t.columns, north, south},
		} {
			for i := range linksPerSide {
				from, to := t.sides[beside.from][i], t.sides[beside.to][i]
				if !beside.is || from == 0 || to == 0 {
					continue
				}
				id++
				refs := []int64{from + int64(town)*betweenIDs, to + int64(beside.town)*betweenIDs}
				if err := w.Way(osmpbf.Way{ID: int64(t.count)*betweenIDs + id, Refs: refs, Tags: tags}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// routerOfMillion measures the router of the region alone.
func (n *navigation) routerOfMillion(ctx context.Context) error {
	if err := n.stop(); err != nil { // so that the service takes no time from the measurements
		return err
	}
	r := router{
		name: n.name, table: n.table, graph: n.region.Graph, topology: n.region.Topology,
		goals: routerGoals{p50: 800 * time.Microsecond, ratio: 1000, dijkstraPairs: 100, jams: 800 * time.Millisecond},
	}
	return r.measure(ctx)
}

// jamsMeasured is how many batches of a thousand jams are pushed.
const jamsMeasured = 15

// jamsAtOnce pushes a thousand jams with one closure among them in one batch, and requests a route until it leads around the
// closure: then the whole batch is on the roads.
func (n *navigation) jamsAtOnce(ctx context.Context) error {
	const goal = 800 * time.Millisecond
	random := rand.New(rand.NewPCG(9, 10))
	places := make([]geo.Point, jamsAtOnce)
	for i := range places {
		places[i] = randomPlace(n.region.Graph, random)
	}
	var waits []time.Duration
	for i := 0; len(waits) < jamsMeasured && i < len(n.routes); i++ {
		path := n.routes[i] + "&geometries=geojson"
		on, ok, err := n.middleOfRoute(ctx, path)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		rows := jams(places, 0, len(places), random)
		rows = append(append(rows[:len(rows)-1], ','), closureRow(on.middle())[1:]...)
		if err := n.push(ctx, n.feeds[1], rows, len(places)+1); err != nil {
			return err
		}
		wait, err := n.awaitRoute(ctx, path, on, false)
		if err != nil {
			return err
		}
		if err := n.push(ctx, n.feeds[1], closureRow(geo.Point{}), 1); err != nil {
			return err
		}
		if _, err := n.awaitRoute(ctx, path, on, true); err != nil {
			return err
		}
		if wait >= 0 {
			waits = append(waits, wait)
		}
	}
	if len(waits) == 0 {
		return errors.New("no route ever led around a closure among jams")
	}
	p50, p99 := quantiles(waits)
	n.table.add(n.name+"from the 200 of 1 000 jams' push to a route that knows them", "≤ 800 ms",
		fmt.Sprintf("%.0f ms (highest %.0f)", ms(p50), ms(p99)), p50 <= goal)
	return nil
}
