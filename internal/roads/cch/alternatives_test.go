package cch_test

import (
	"math/rand/v2"
	"testing"

	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
)

// TestAlternativesAreOtherWays checks that alternatives are paths, at most a quarter longer than the best one, that at
// least a fifth of each is on no other, and that each sufficiently short part of them is a shortest path.
func TestAlternativesAreOtherWays(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	g := town(random, 25, 25)
	checkAlternatives(t, g, random, draw(150, 5000))
}

func TestAlternativesInMilan(t *testing.T) {
	g := extract(t, "milan-otp.osm.pbf")
	checkAlternatives(t, g, rand.New(rand.NewPCG(15, 16)), draw(30, 500))
}

func checkAlternatives(t *testing.T, g *graph.Graph, random *rand.Rand, pairs int) {
	topology, metric := prepared(t, g)
	weights := g.Weights()
	change(random, g, metric, weights)
	view := metric.View()
	defer view.Release()
	c := comparison{t: t, graph: g, random: random, dijkstra: graph.NewDijkstra(g)}
	query, found := cch.NewQuery(topology), 0
	for range pairs {
		from, to := c.ends(), c.ends()
		paths := query.Alternatives(view, from, to, 3)
		want, ok := c.dijkstra.Route(weights, from, to)
		if ok != (len(paths) > 0) || len(paths) > 3 || ok && paths[0].Weight != want.Weight {
			t.Fatalf("got %v, want %v first", paths, want)
		}
		for i, path := range paths {
			if err := replay(g, weights, path, from, to); err != nil {
				t.Fatalf("alternative %d: %v", i, err)
			}
			if path.Weight > want.Weight*5/4 {
				t.Errorf("alternative %d weighs %d, the best way %d", i, path.Weight, want.Weight)
			}
			for _, other := range paths[:i] {
				if shared := sharedWeight(g, weights, path, other); shared*5 > path.Weight*4+5 {
					t.Errorf("alternative %d weighs %d, and shares %d of it", i, path.Weight, shared)
				}
				found++
			}
			c.detours(weights, path, want.Weight/4)
		}
	}
	if found < pairs/10 {
		t.Errorf("%d alternatives for %d pairs", found, pairs)
	}
}

func sharedWeight(g *graph.Graph, weights []uint32, path, other graph.Path) (sum uint64) {
	on := make(map[uint32]bool)
	for _, arc := range other.Arcs {
		on[g.Arcs[arc].CopyOf] = true
	}
	for _, arc := range path.Arcs[1 : len(path.Arcs)-1] {
		if on[g.Arcs[arc].CopyOf] {
			sum += uint64(weights[arc])
		}
	}
	return sum
}

// detours fails the test if a part of a path, of the given length, is not a shortest path.
func (c *comparison) detours(weights []uint32, path graph.Path, length uint64) {
	for first := 0; first < len(path.Arcs)-2; first += 1 + c.random.IntN(10) {
		sum, last := uint64(0), first
		for next := first + 1; next < len(path.Arcs)-1; next++ {
			turn := uint64(1 << 40)
			for _, candidate := range c.graph.TurnsFrom(path.Arcs[last]) {
				if candidate.To == path.Arcs[next] {
					turn = min(turn, uint64(candidate.Weight))
				}
			}
			if sum+turn+uint64(weights[path.Arcs[next]]) > length {
				break
			}
			sum += turn + uint64(weights[path.Arcs[next]])
			last = next
		}
		if last == first {
			continue
		}
		end := graph.End{Arc: path.Arcs[last], Cost: weights[path.Arcs[last]]}
		if best, ok := c.dijkstra.Route(weights, []graph.End{{Arc: path.Arcs[first]}}, []graph.End{end}); !ok || best.Weight != sum {
			c.t.Errorf("from arc %d to %d of %v it is %d, and could be %d", first, last, path.Arcs, sum, best.Weight)
		}
	}
}
