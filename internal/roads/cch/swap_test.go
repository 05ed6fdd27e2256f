package cch_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
)

// TestViewsAreOfOneVersion checks that a view shows one version however long it is held, and that readers go on while
// weights change.
func TestViewsAreOfOneVersion(t *testing.T) {
	g := town(rand.New(rand.NewPCG(17, 18)), 12, 12)
	topology, metric := prepared(t, g)
	rounds := draw(60, 3000)
	versions := make([][]uint32, 2, rounds+2) // the weights of the arcs in each version
	versions[1] = g.Weights()
	random := rand.New(rand.NewPCG(19, 20))
	var updates [][]cch.ArcWeight
	for range rounds {
		weights := slices.Clone(versions[len(versions)-1])
		arc := random.Uint32N(uint32(len(weights)))
		weights[arc] = 1 + random.Uint32N(100)
		versions = append(versions, weights)
		updates = append(updates, []cch.ArcWeight{{Arc: arc, Weight: weights[arc]}})
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for reader := range uint64(3) {
		readers.Go(func() {
			c := comparison{graph: g, random: rand.New(rand.NewPCG(21, reader))}
			query, dijkstra := cch.NewQuery(topology), graph.NewDijkstra(g)
			for {
				select {
				case <-done:
					return
				default:
				}
				view := metric.View()
				from, to := c.ends(), c.ends()
				want, _ := dijkstra.Route(versions[view.Version()], from, to)
				got, _ := query.Route(view, from, to)
				if got.Weight != want.Weight || !slices.Equal(view.Weights(), versions[view.Version()]) {
					t.Errorf("version %d: got %d, want %d", view.Version(), got.Weight, want.Weight)
				}
				view.Release()
			}
		})
	}
	for i, update := range updates {
		if version := metric.Update(update); version != uint64(i+2) {
			t.Errorf("version %d after %d changes", version, i+1)
		}
	}
	close(done)
	readers.Wait()
}

// TestLongReadersDoNotBlockChanges checks that a reader that holds its view for long delays changes for a moment only,
// and that its view does not change.
func TestLongReadersDoNotBlockChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := town(rand.New(rand.NewPCG(17, 18)), 12, 12)
		topology, metric := prepared(t, g)
		weights := g.Weights()
		held := metric.View()
		for i := range uint32(5) {
			start := time.Now()
			weights[i] = graph.Closed
			metric.Update([]cch.ArcWeight{{Arc: i, Weight: graph.Closed}})
			if waited := time.Since(start); waited > 50*time.Millisecond {
				t.Errorf("the change waited for %v", waited)
			}
			same(t, topology, metric, weights)
		}
		if !slices.Equal(held.Weights(), g.Weights()) || held.Version() != 1 {
			t.Error("a view changed while it was held")
		}
		held.Release()
	})
}

// TestChangesWaitForTheLastReader checks that a change takes the copy as soon as its last reader leaves.
func TestChangesWaitForTheLastReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := town(rand.New(rand.NewPCG(17, 18)), 12, 12)
		_, metric := prepared(t, g)
		metric.Update([]cch.ArcWeight{{Arc: 0, Weight: 1}}) // the first change makes the second copy
		held := metric.View()
		metric.Update([]cch.ArcWeight{{Arc: 0, Weight: 2}})
		go func() {
			time.Sleep(5 * time.Millisecond)
			held.Release()
		}()
		start := time.Now()
		metric.Update([]cch.ArcWeight{{Arc: 0, Weight: 3}})
		if waited := time.Since(start); waited != 5*time.Millisecond {
			t.Errorf("the change waited for %v", waited)
		}
	})
}
