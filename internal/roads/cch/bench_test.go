package cch_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
)

// Run them alone: WAYSIDE_TEST_OSM=… go test ./internal/roads/cch -run - -bench . -timeout 30m

// onNetworks runs a benchmark on Milan, and on so many of it side by side that they have a million junctions.
func onNetworks(b *testing.B, run func(b *testing.B, g *graph.Graph)) {
	g := extract(b, "milan-otp.osm.pbf")
	b.Run("Milan", func(b *testing.B) { run(b, g) })
	b.Run("Million", func(b *testing.B) {
		if testing.Short() {
			b.Skip("a million junctions take minutes")
		}
		run(b, tiled(g, 1_000_000))
	})
}

func BenchmarkPrepare(b *testing.B) {
	onNetworks(b, func(b *testing.B, g *graph.Graph) {
		var topology *cch.Topology
		for b.Loop() {
			var err error
			if topology, err = cch.Prepare(context.Background(), g, cch.PrepareOptions{}); err != nil {
				b.Fatal(err)
			}
		}
		size := 0
		for _, s := range topology.Sections() {
			size += len(s.Bytes)
		}
		metric, _ := topology.Customize(context.Background(), g.Weights())
		view := metric.View()
		defer view.Release()
		out, in := view.Edges()
		b.ReportMetric(float64(len(g.Nodes)), "junctions")
		b.ReportMetric(float64(len(g.Arcs))/float64(len(g.Nodes)), "arcs/junction")
		b.ReportMetric(float64(len(out)+len(in))/float64(len(g.Nodes)), "edges/junction")
		b.ReportMetric(float64(size)/float64(len(g.Nodes)), "mapped-B/junction")
		b.ReportMetric(float64(2*4*(len(out)+len(in)+len(g.Arcs)))/float64(len(g.Nodes)), "private-B/junction")
	})
}

func BenchmarkCustomize(b *testing.B) {
	onNetworks(b, func(b *testing.B, g *graph.Graph) {
		topology, _ := prepared(b, g)
		for b.Loop() {
			if _, err := topology.Customize(context.Background(), g.Weights()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRoute(b *testing.B) {
	onNetworks(b, func(b *testing.B, g *graph.Graph) {
		topology, metric := prepared(b, g)
		query, view := cch.NewQuery(topology), metric.View()
		defer view.Release()
		pairs := pairsOf(g)
		b.ReportAllocs()
		quantiles(b, func(i int) {
			pair := &pairs[i%len(pairs)]
			query.Route(view, pair[:1], pair[1:])
		})
	})
}

func BenchmarkDijkstra(b *testing.B) {
	onNetworks(b, func(b *testing.B, g *graph.Graph) {
		dijkstra, weights, pairs := graph.NewDijkstra(g), g.Weights(), pairsOf(g)
		quantiles(b, func(i int) {
			pair := &pairs[i%len(pairs)]
			dijkstra.Route(weights, pair[:1], pair[1:])
		})
	})
}

// One arc is closed, and opened again.
func BenchmarkUpdateOfOne(b *testing.B) {
	onNetworks(b, func(b *testing.B, g *graph.Graph) {
		_, metric := prepared(b, g)
		random := rand.New(rand.NewPCG(1, 2))
		arc := uint32(0)
		quantiles(b, func(i int) {
			if i%2 == 1 {
				metric.Update([]cch.ArcWeight{{Arc: arc, Weight: g.Arcs[arc].Weight}})
				return
			}
			arc = random.Uint32N(uint32(len(g.Arcs)))
			metric.Update([]cch.ArcWeight{{Arc: arc, Weight: graph.Closed}})
		})
	})
}

func BenchmarkUpdateOfThousand(b *testing.B) {
	onNetworks(b, func(b *testing.B, g *graph.Graph) {
		_, metric := prepared(b, g)
		random := rand.New(rand.NewPCG(1, 2))
		changes := make([]cch.ArcWeight, 1000)
		quantiles(b, func(int) {
			for i := range changes {
				arc := random.Uint32N(uint32(len(g.Arcs)))
				changes[i] = cch.ArcWeight{Arc: arc, Weight: g.Arcs[arc].Weight * (1 + random.Uint32N(3))}
			}
			metric.Update(changes)
		})
	})
}

func BenchmarkTable100(b *testing.B) {
	onNetworks(b, func(b *testing.B, g *graph.Graph) {
		topology, metric := prepared(b, g)
		query, view := cch.NewQuery(topology), metric.View()
		defer view.Release()
		request := cch.TableRequest{Arc: func(arc uint32) cch.Measure {
			return cch.Measure{Duration: uint64(g.Arcs[arc].Duration), Length: 1}
		}}
		for _, pair := range pairsOf(g)[:100] {
			request.From, request.To = append(request.From, []graph.End{pair[0]}), append(request.To, []graph.End{pair[1]})
		}
		cells := make([]cch.Cell, 10_000)
		quantiles(b, func(int) {
			if err := query.Table(context.Background(), view, request, cells); err != nil {
				b.Fatal(err)
			}
		})
	})
}

func BenchmarkAlternatives(b *testing.B) {
	onNetworks(b, func(b *testing.B, g *graph.Graph) {
		topology, metric := prepared(b, g)
		query, view := cch.NewQuery(topology), metric.View()
		defer view.Release()
		pairs, found, asked := pairsOf(g), 0, 0
		quantiles(b, func(i int) {
			pair := &pairs[i%len(pairs)]
			found += len(query.Alternatives(view, pair[:1], pair[1:], 3))
			asked++
		})
		b.ReportMetric(float64(found)/float64(asked), "paths")
	})
}

// pairsOf are pairs of arcs of the largest island.
func pairsOf(g *graph.Graph) [][2]graph.End {
	random := rand.New(rand.NewPCG(1, 2))
	end := func() graph.End {
		for {
			if arc := random.Uint32N(uint32(len(g.Arcs))); g.Arcs[arc].Island == 0 {
				return graph.End{Arc: arc}
			}
		}
	}
	pairs := make([][2]graph.End, 10_000)
	for i := range pairs {
		pairs[i] = [2]graph.End{end(), end()}
	}
	return pairs
}

// quantiles reports the median and the 99th percentile of what is done.
func quantiles(b *testing.B, do func(i int)) {
	times := make([]time.Duration, 0, 1<<20)
	for b.Loop() {
		start := time.Now()
		do(len(times))
		if len(times) < cap(times) {
			times = append(times, time.Since(start))
		}
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds())/1e3, "p99-µs")
}
