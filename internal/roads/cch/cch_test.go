package cch_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
)

// fullDraw is the variable that, if set, makes TestRoutes…AreThoseOfTrees check 100 000 pairs for each graph, before and
// after 10 000 changes. Without it a smaller draw takes seconds.
const fullDraw = "WAYSIDE_TEST_FULL"

func draw(few, all int) int {
	if os.Getenv(fullDraw) != "" {
		return all
	}
	return few
}

func prepared(t testing.TB, g *graph.Graph) (*cch.Topology, *cch.Metric) {
	t.Helper()
	topology, err := cch.Prepare(context.Background(), g, cch.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	metric, err := topology.Customize(context.Background(), g.Weights())
	if err != nil {
		t.Fatal(err)
	}
	return topology, metric
}

// towns returns networks of all sizes, starting with one without junctions.
func towns() map[string]*graph.Graph {
	random := rand.New(rand.NewPCG(1, 2))
	graphs := map[string]*graph.Graph{"empty": {FirstTurn: []uint32{0}}}
	for _, size := range [][2]int{{1, 1}, {2, 1}, {2, 2}, {3, 5}, {20, 2}, {12, 12}, {30, 25}} {
		graphs[fmt.Sprintf("%d x %d", size[0], size[1])] = town(random, size[0], size[1])
	}
	return graphs
}

// TestRoutesAreThoseOfDijkstra checks that routes have the weight that Dijkstra finds, that their paths have this
// weight, and that changes give every edge of the hierarchy the same weight as a full customisation.
func TestRoutesAreThoseOfDijkstra(t *testing.T) {
	for name, g := range towns() {
		t.Run(name, func(t *testing.T) { routesAreThoseOfDijkstra(t, g, draw(300, 5_000)) })
	}
}

func TestRoutesInExtractsAreThoseOfDijkstra(t *testing.T) {
	for _, name := range []string{"monaco-planetiler", "milan-otp", "malta-gh", "columbus-otp-nondense"} {
		t.Run(name, func(t *testing.T) { routesAreThoseOfDijkstra(t, extract(t, name+".osm.pbf"), draw(200, 1_000)) })
	}
}

// routesAreThoseOfDijkstra compares the given number of pairs before and after changes.
func routesAreThoseOfDijkstra(t *testing.T, g *graph.Graph, pairs int) {
	random := rand.New(rand.NewPCG(3, uint64(len(g.Arcs))))
	topology, metric := prepared(t, g)
	c := comparison{t: t, graph: g, query: cch.NewQuery(topology), dijkstra: graph.NewDijkstra(g), random: random}
	weights := g.Weights()
	c.compare(metric, weights, pairs)
	if len(g.Arcs) == 0 {
		return
	}
	for range draw(100, 10_000) {
		change(random, g, metric, weights)
	}
	c.compare(metric, weights, pairs)
	same(t, topology, metric, weights)
}

// TestManyChangesAreCustomisedInFull checks weights after changes that are numerous enough for a full customisation, and
// after later ones.
func TestManyChangesAreCustomisedInFull(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	g := town(random, 25, 25)
	topology, metric := prepared(t, g)
	weights := g.Weights()
	for range 5 {
		var all []cch.ArcWeight
		for arc := range weights {
			weights[arc] = g.Arcs[arc].Weight * (1 + random.Uint32N(3))
			all = append(all, cch.ArcWeight{Arc: uint32(arc), Weight: weights[arc]})
		}
		metric.Update(all)
		if !metric.InFull() {
			t.Error("a change of all weights is customised in parts")
		}
		same(t, topology, metric, weights)
		for range random.IntN(3) {
			change(random, g, metric, weights)
			if metric.InFull() {
				t.Error("a change of a few weights is customised in full")
			}
			same(t, topology, metric, weights)
		}
	}
}

// change makes some arcs closed, slower or as they were.
func change(random *rand.Rand, g *graph.Graph, metric *cch.Metric, weights []uint32) {
	var changes []cch.ArcWeight
	for range 1 + random.IntN(4) {
		arc := random.Uint32N(uint32(len(weights)))
		weights[arc] = g.Arcs[arc].Weight
		switch random.IntN(4) {
		case 0:
			weights[arc] *= 1 + random.Uint32N(5)
		case 1:
			weights[arc] = graph.Closed
		}
		changes = append(changes, cch.ArcWeight{Arc: arc, Weight: weights[arc]})
	}
	metric.Update(changes)
}

func same(t *testing.T, topology *cch.Topology, metric *cch.Metric, weights []uint32) {
	t.Helper()
	full, err := topology.Customize(context.Background(), weights)
	if err != nil {
		t.Fatal(err)
	}
	a, b := metric.View(), full.View()
	defer a.Release()
	defer b.Release()
	if !slices.Equal(a.Weights(), weights) {
		t.Error("the weights of arcs are not what was asked for")
	}
	outA, inA := a.Edges()
	outB, inB := b.Edges()
	if !slices.Equal(outA, outB) || !slices.Equal(inA, inB) {
		t.Error("changes in part gave other weights than a full customisation")
	}
}

// comparison compares the routes of a query with those of Dijkstra.
type comparison struct {
	t        testing.TB
	graph    *graph.Graph
	query    *cch.Query
	dijkstra *graph.Dijkstra
	random   *rand.Rand
}

func (c *comparison) compare(metric *cch.Metric, weights []uint32, pairs int) {
	c.t.Helper()
	if len(weights) == 0 {
		return
	}
	view := metric.View()
	defer view.Release()
	for range pairs {
		from, to := c.ends(), c.ends()
		want, wantOK := c.dijkstra.Route(weights, from, to)
		got, ok := c.query.Route(view, from, to)
		if ok != wantOK || got.Weight != want.Weight {
			c.t.Fatalf("from %v to %v: got %v, %v; want %v, %v", from, to, got, ok, want, wantOK)
		}
		if ok {
			if err := replay(c.graph, weights, got, from, to); err != nil {
				c.t.Fatalf("from %v to %v: %v: %v", from, to, got, err)
			}
		}
	}
}

// ends returns one to three ends, sometimes several on one arc.
func (c *comparison) ends() []graph.End {
	var ends []graph.End
	for range 1 + c.random.IntN(3) {
		arc := c.random.Uint32N(uint32(len(c.graph.Arcs)))
		if len(ends) > 0 && c.random.IntN(3) == 0 {
			arc = (ends[0].Arc + c.random.Uint32N(3)) % uint32(len(c.graph.Arcs))
		}
		ends = append(ends, graph.End{Arc: arc, Cost: c.random.Uint32N(c.graph.Arcs[arc].Weight + 1)})
	}
	return ends
}

// replay follows a path and compares its weight. If several ends are on one arc, the least cost counts.
func replay(g *graph.Graph, weights []uint32, path graph.Path, from, to []graph.End) error {
	cost := func(ends []graph.End, arc uint32) (least uint64, err error) {
		least = 1 << 40
		for _, end := range ends {
			if end.Arc == arc {
				least = min(least, uint64(end.Cost))
			}
		}
		if least == 1<<40 {
			return 0, fmt.Errorf("no end is on arc %d", arc)
		}
		return least, nil
	}
	if len(path.Arcs) < 2 {
		return fmt.Errorf("takes no turn")
	}
	sum, err := cost(from, path.Arcs[0])
	if err != nil {
		return err
	}
	for i, arc := range path.Arcs[1:] {
		turn := uint64(1 << 40)
		for _, candidate := range g.TurnsFrom(path.Arcs[i]) {
			if candidate.To == arc {
				turn = min(turn, uint64(candidate.Weight))
			}
		}
		if turn == 1<<40 {
			return fmt.Errorf("there is no turn from %d onto %d", path.Arcs[i], arc)
		}
		sum += turn
		if i+2 < len(path.Arcs) {
			if weights[arc] == graph.Closed {
				return fmt.Errorf("arc %d is closed", arc)
			}
			sum += uint64(weights[arc])
		}
	}
	last, err := cost(to, path.Arcs[len(path.Arcs)-1])
	if err != nil {
		return err
	}
	if sum += last; sum != path.Weight {
		return fmt.Errorf("the path weighs %d", sum)
	}
	return nil
}
