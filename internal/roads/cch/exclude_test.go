package cch_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
)

// TestExcludingIsExact checks that routes without arcs of some flags are those of Dijkstra with these arcs closed,
// through all changes, however many combinations are requested in turn.
func TestExcludingIsExact(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	g := town(random, 14, 14)
	topology, metric := prepared(t, g)
	weights := g.Weights()
	c := comparison{t: t, graph: g, query: cch.NewQuery(topology), dijkstra: graph.NewDijkstra(g), random: random}
	for i := range draw(60, 2000) {
		change(random, g, metric, weights)
		flags := []graph.Flags{graph.Toll, graph.Motorway, graph.Toll | graph.Motorway, graph.Ferry, graph.Roundabout}[i/4%5]
		excluding, err := metric.Excluding(context.Background(), flags)
		if err != nil {
			t.Fatal(err)
		}
		if none := flags&(graph.Toll|graph.Motorway) == 0; none != (excluding == metric) {
			t.Fatalf("flags %d: no arc has them: %v", flags, none)
		}
		left := make([]uint32, len(weights))
		for arc, weight := range weights {
			if left[arc] = weight; g.Arcs[arc].Flags&flags&(graph.Toll|graph.Motorway) != 0 {
				left[arc] = graph.Closed
			}
		}
		c.compare(excluding, left, 20)
		same(t, topology, excluding, left)
		a, b := metric.View(), excluding.View()
		if a.Version() != b.Version() {
			t.Fatalf("versions %d and %d", a.Version(), b.Version())
		}
		a.Release()
		b.Release()
	}
}

// TestExclusionsAreBounded checks that making a fourth metric drops the one of three that was not used for longest.
func TestExclusionsAreBounded(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	g := town(random, 6, 6)
	for i := range g.Arcs {
		if i%9 == 0 {
			g.Arcs[i].Flags |= graph.Ferry
		}
	}
	_, metric := prepared(t, g)
	ask := func(flags graph.Flags) *cch.Metric {
		excluding, err := metric.Excluding(context.Background(), flags)
		if err != nil {
			t.Fatal(err)
		}
		return excluding
	}
	toll, motorway := ask(graph.Toll), ask(graph.Motorway)
	ask(graph.Ferry)
	if ask(graph.Toll) != toll || ask(graph.Motorway) != motorway {
		t.Error("a metric is made anew while it is there")
	}
	ask(graph.Ferry | graph.Toll)
	if ask(graph.Toll) != toll || ask(graph.Motorway) != motorway {
		t.Error("a metric that was used is dropped")
	}
	if metric.Exclusions() != 3 {
		t.Errorf("%d metrics are kept", metric.Exclusions())
	}
}

// TestExclusionsAreMadeInTurn checks that requests for one combination after another take at most a tenth of the time,
// and that metrics that exist are available without waiting.
func TestExclusionsAreMadeInTurn(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	g := town(random, 6, 6)
	for i := range g.Arcs {
		if i%9 == 0 {
			g.Arcs[i].Flags |= graph.Ferry
		}
	}
	_, metric := prepared(t, g)
	synctest.Test(t, func(t *testing.T) {
		asked := func(ctx context.Context, combinations ...graph.Flags) time.Duration {
			began := time.Now()
			for range 10 {
				for _, flags := range combinations {
					if _, err := metric.Excluding(ctx, flags); err != nil {
						t.Fatal(err)
					}
				}
			}
			return time.Since(began)
		}
		if took := asked(t.Context(), graph.Toll, graph.Motorway, graph.Ferry); took != 0 {
			t.Errorf("three combinations waited %s", took)
		}
		if took := asked(t.Context(), graph.Toll, graph.Motorway, graph.Ferry, graph.Toll|graph.Ferry, graph.Motorway|graph.Ferry); took < 4500*time.Millisecond || took > 20*time.Second {
			t.Errorf("fifty requests for five combinations in turns took %s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := metric.Excluding(ctx, graph.Toll|graph.Motorway); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a request that ends while it waits: %v", err)
		}
		if took := asked(t.Context(), graph.Ferry, graph.Toll|graph.Ferry, graph.Motorway|graph.Ferry); took != 0 {
			t.Errorf("metrics that are there waited %s", took)
		}
	})
}

// TestExcludingMeanwhile checks that a metric that is made while weights change includes all changes: those before,
// during and after its making.
func TestExcludingMeanwhile(t *testing.T) {
	random := rand.New(rand.NewPCG(27, 28))
	g := town(random, 20, 20)
	for i := range g.Arcs {
		if i%9 == 0 {
			g.Arcs[i].Flags |= graph.Ferry
		}
	}
	topology, metric := prepared(t, g)
	weights := g.Weights()
	combinations := []graph.Flags{graph.Toll, graph.Motorway, graph.Ferry, graph.Toll | graph.Ferry, graph.Motorway | graph.Ferry}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range draw(1500, 20_000) {
			change(random, g, metric, weights)
		}
	}()
	for i, changing := 0, true; changing || i%len(combinations) != 0; i++ {
		flags := combinations[i%len(combinations)]
		if _, err := metric.Excluding(context.Background(), flags); err != nil {
			t.Fatal(err)
		}
		select {
		case <-done:
			changing = false
		default:
		}
	}
	for _, flags := range combinations[2:] { // the three that were used last
		left := make([]uint32, len(weights))
		for arc, weight := range weights {
			if left[arc] = weight; g.Arcs[arc].Flags&flags != 0 {
				left[arc] = graph.Closed
			}
		}
		excluding, err := metric.Excluding(context.Background(), flags)
		if err != nil {
			t.Fatal(err)
		}
		same(t, topology, excluding, left)
	}
}

// TestPausesBetweenExclusions checks that making metrics takes a tenth of the time at most, and that a pause takes at least 100 ms.
func TestPausesBetweenExclusions(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: 100 * time.Millisecond, 11 * time.Millisecond: 100 * time.Millisecond, 2 * time.Second: 18 * time.Second} {
		if got := cch.PauseAfter(took); got != want {
			t.Errorf("after %v: a pause of %v, want %v", took, got, want)
		}
	}
}
