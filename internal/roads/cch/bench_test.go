package cch_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/roadtest"
)

// network is a network to measure on.
type network struct {
	graph    *graph.Graph
	topology *cch.Topology
	metric   *cch.Metric
	pairs    [][2]graph.End
}

// BenchmarkRouter measures on Milan, and on copies of Milan side by side with a million junctions in total. Run it
// alone: WAYSIDE_TEST_OSM=… go test ./internal/roads/cch -run - -bench . (-short leaves out the million).
func BenchmarkRouter(b *testing.B) {
	g := extract(b, "milan-otp.osm.pbf")
	b.Run("Milan", func(b *testing.B) { benchmarkNetwork(b, g) })
	b.Run("Million", func(b *testing.B) {
		if testing.Short() {
			b.Skip("a million junctions take minutes")
		}
		benchmarkNetwork(b, roadtest.Tiled(g, 1_000_000))
	})
}

func benchmarkNetwork(b *testing.B, g *graph.Graph) {
	n := network{graph: g, pairs: pairsOf(g)}
	b.Run("prepare", n.benchmarkPrepare)
	if n.topology == nil {
		n.topology, n.metric = prepared(b, g)
	}
	b.Run("customize", func(b *testing.B) {
		for b.Loop() {
			if _, err := n.topology.Customize(context.Background(), g.Weights()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("dijkstra", func(b *testing.B) {
		dijkstra, weights := graph.NewDijkstra(g), g.Weights()
		quantiles(b, func(i int) {
			pair := &n.pairs[i%len(n.pairs)]
			dijkstra.Route(weights, pair[:1], pair[1:])
		})
	})
	b.Run("route", func(b *testing.B) { n.benchmarkRoute(b, n.metric) })
	b.Run("route without motorways", func(b *testing.B) {
		excluding, err := n.metric.Excluding(context.Background(), graph.Motorway)
		if err != nil {
			b.Fatal(err)
		}
		n.benchmarkRoute(b, excluding)
	})
	n.metric, _ = n.topology.Customize(context.Background(), g.Weights())
	b.Run("alternatives", n.benchmarkAlternatives)
	b.Run("table 100", n.benchmarkTable)
	b.Run("close one", n.benchmarkOne)
	b.Run("slow a thousand", n.benchmarkThousand)
}

func (n *network) benchmarkPrepare(b *testing.B) {
	g := n.graph
	for b.Loop() {
		n.topology, n.metric = prepared(b, g)
	}
	size := 0
	for _, s := range n.topology.Sections() {
		size += len(s.Bytes)
	}
	view := n.metric.View()
	defer view.Release()
	out, in := view.Edges()
	junctions := float64(len(g.Nodes))
	b.ReportMetric(junctions, "junctions")
	b.ReportMetric(float64(len(g.Arcs))/junctions, "arcs/junction")
	b.ReportMetric(float64(len(out)+len(in))/junctions, "edges/junction")
	b.ReportMetric(float64(size)/junctions, "mapped-B/junction")
	b.ReportMetric(float64(2*4*(len(out)+len(in)+len(g.Arcs)))/junctions, "private-B/junction")
}

func (n *network) benchmarkRoute(b *testing.B, metric *cch.Metric) {
	query, view := cch.NewQuery(n.topology), metric.View()
	defer view.Release()
	b.ReportAllocs()
	quantiles(b, func(i int) {
		pair := &n.pairs[i%len(n.pairs)]
		query.Route(view, pair[:1], pair[1:])
	})
}

func (n *network) benchmarkAlternatives(b *testing.B) {
	query, view := cch.NewQuery(n.topology), n.metric.View()
	defer view.Release()
	found, asked := 0, 0
	quantiles(b, func(i int) {
		pair := &n.pairs[i%len(n.pairs)]
		found += len(query.Alternatives(view, pair[:1], pair[1:], 3))
		asked++
	})
	b.ReportMetric(float64(found)/float64(asked), "paths")
}

func (n *network) benchmarkTable(b *testing.B) {
	query, view := cch.NewQuery(n.topology), n.metric.View()
	defer view.Release()
	request := cch.TableRequest{Arc: func(arc uint32) cch.Measure {
		return cch.Measure{Duration: uint64(n.graph.Arcs[arc].Duration), Length: 1}
	}}
	for _, pair := range n.pairs[:100] {
		request.From, request.To = append(request.From, []graph.End{pair[0]}), append(request.To, []graph.End{pair[1]})
	}
	cells := make([]cch.Cell, 10_000)
	quantiles(b, func(int) {
		if err := query.Table(context.Background(), view, request, cells); err != nil {
			b.Fatal(err)
		}
	})
}

// benchmarkOne measures closing an arc and opening it again.
func (n *network) benchmarkOne(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	arc := uint32(0)
	quantiles(b, func(i int) {
		if i%2 == 1 {
			n.metric.Update([]cch.ArcWeight{{Arc: arc, Weight: n.graph.Arcs[arc].Weight}})
			return
		}
		arc = random.Uint32N(uint32(len(n.graph.Arcs)))
		n.metric.Update([]cch.ArcWeight{{Arc: arc, Weight: graph.Closed}})
	})
}

func (n *network) benchmarkThousand(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	changes := make([]cch.ArcWeight, 1000)
	quantiles(b, func(int) {
		for i := range changes {
			arc := random.Uint32N(uint32(len(n.graph.Arcs)))
			changes[i] = cch.ArcWeight{Arc: arc, Weight: n.graph.Arcs[arc].Weight * (1 + random.Uint32N(3))}
		}
		n.metric.Update(changes)
	})
}

// pairsOf returns pairs of arcs of the largest island.
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

// quantiles reports the median and the 99th percentile of the duration of do.
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
