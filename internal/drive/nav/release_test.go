package nav_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// TestSearchesOfClientsThatLeft checks aborted requests beside thousands of changes of weights: the copy of the weights
// that a search reads must be written again only after the search has ended, not when its context has. The race detector
// would report it.
func TestSearchesOfClientsThatLeft(t *testing.T) {
	g := grid(t, rand.New(rand.NewPCG(1, 1))).Graph
	topology, err := cch.Prepare(t.Context(), g, cch.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	live, err := nav.NewLive(t.Context(), nav.NewRoads(g, match.NewIndex(g), "1"), topology)
	if err != nil {
		t.Fatal(err)
	}
	live.Begin(closures{1, nil})
	service := nav.New(live.Network)
	place := func(i int) geo.Point { return g.PieceLine(uint32(i % len(g.Pieces)))[0].Point() }
	done := make(chan struct{})
	var asking sync.WaitGroup
	for range 2 {
		asking.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				ctx, leave := context.WithCancel(t.Context())
				go leave() // the client closes its connection
				q := nav.RouteRequest{Places: nav.Places{Coordinates: []geo.Point{place(i), place(i * 7919)}}, Alternatives: 2}
				_ = service.Route(ctx, &q, new(nav.RouteAnswer)) // the client does not get the answer
			}
		})
	}
	for i := range 1000 {
		arc := uint32(i*31) % uint32(len(g.Arcs))
		weight := g.Arcs[arc].Weight
		if i%2 == 0 {
			weight = graph.Closed
		}
		live.Update([]cch.ArcWeight{{Arc: arc, Weight: weight}}, closures{uint64(i + 2), nil})
	}
	close(done)
	asking.Wait()
}
