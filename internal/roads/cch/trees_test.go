package cch_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
)

// TestRoutesAreThoseOfTrees compares trees of least weights from some arcs with routes to many others each: far more
// pairs than Dijkstra could compute one by one.
func TestRoutesAreThoseOfTrees(t *testing.T) {
	graphs := towns()
	for _, size := range []int{40, draw(40, 90)} {
		graphs[fmt.Sprintf("large town of %d", size)] = town(rand.New(rand.NewPCG(23, uint64(size))), size, size)
	}
	for name, g := range graphs {
		t.Run(name, func(t *testing.T) { routesAreThoseOfTrees(t, g) })
	}
}

func TestRoutesInExtractsAreThoseOfTrees(t *testing.T) {
	for _, name := range []string{"monaco-planetiler", "milan-otp", "malta-gh", "columbus-otp-nondense"} {
		t.Run(name, func(t *testing.T) { routesAreThoseOfTrees(t, extract(t, name+".osm.pbf")) })
	}
}

func routesAreThoseOfTrees(t *testing.T, g *graph.Graph) {
	if len(g.Arcs) == 0 {
		return
	}
	random := rand.New(rand.NewPCG(25, uint64(len(g.Arcs))))
	topology, metric := prepared(t, g)
	weights := g.Weights()
	compareTrees(t, g, random, topology, metric, weights)
	for range draw(100, 10_000) {
		change(random, g, metric, weights)
	}
	compareTrees(t, g, random, topology, metric, weights)
	same(t, topology, metric, weights)
}

func compareTrees(t *testing.T, g *graph.Graph, random *rand.Rand, topology *cch.Topology, metric *cch.Metric, weights []uint32) {
	c := comparison{graph: g, random: random}
	query, view := cch.NewQuery(topology), metric.View()
	defer view.Release()
	onto := turnsOnto(g)
	for range draw(3, 200) {
		from := c.ends()
		distances := tree(g, weights, from)
		for range draw(100, 500) {
			to := c.ends()
			want := uint64(unreached)
			for _, end := range to {
				for _, arc := range onto[end.Arc] {
					for _, turn := range g.TurnsFrom(arc) {
						if turn.To == end.Arc && distances[arc] != unreached {
							want = min(want, distances[arc]+uint64(turn.Weight)+uint64(end.Cost))
						}
					}
				}
			}
			path, ok := query.Route(view, from, to)
			if ok != (want != unreached) || ok && path.Weight != want {
				t.Fatalf("from %v to %v: got %v, %v; want %d", from, to, path, ok, want)
			}
			if ok {
				if err := replay(g, weights, path, from, to); err != nil {
					t.Fatalf("from %v to %v: %v", from, to, err)
				}
			}
		}
	}
}

const unreached = 1<<64 - 1

// turnsOnto returns for each arc the arcs from which turns lead onto it.
func turnsOnto(g *graph.Graph) [][]uint32 {
	onto := make([][]uint32, len(g.Arcs))
	for arc := range uint32(len(g.Arcs)) {
		for _, turn := range g.TurnsFrom(arc) {
			onto[turn.To] = append(onto[turn.To], arc)
		}
	}
	return onto
}

// tree returns the least weights to the ends of all arcs. It corrects labels in buckets of weight, and shares no code
// with the searches that it is compared with.
func tree(g *graph.Graph, weights []uint32, from []graph.End) []uint64 {
	const width = 64
	distances := make([]uint64, len(g.Arcs))
	for i := range distances {
		distances[i] = unreached
	}
	buckets := make(map[uint64][]uint32)
	var last uint64
	reach := func(arc uint32, distance uint64) {
		if distance < distances[arc] {
			distances[arc] = distance
			buckets[distance/width] = append(buckets[distance/width], arc)
			last = max(last, distance/width)
		}
	}
	for _, end := range from {
		reach(end.Arc, uint64(end.Cost))
	}
	for bucket := uint64(0); bucket <= last; bucket++ {
		for len(buckets[bucket]) > 0 {
			arcs := buckets[bucket]
			delete(buckets, bucket)
			for _, arc := range arcs {
				for _, turn := range g.TurnsFrom(arc) {
					if weights[turn.To] != graph.Closed {
						reach(turn.To, distances[arc]+uint64(turn.Weight)+uint64(weights[turn.To]))
					}
				}
			}
		}
	}
	return distances
}
