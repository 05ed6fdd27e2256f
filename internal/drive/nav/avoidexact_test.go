//go:build !race || nightly

package nav_test

import (
	"math/rand/v2"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// TestAvoidIsExact compares routes with the best combination over the roads that are not avoided. It finds the roads
// inside a ring by checking every position of a fine grid along them.
func TestAvoidIsExact(t *testing.T) {
	found := 0
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 2))
		w := grid(t, random)
		for range 10 {
			south, west := -random.Float64()*0.0072, random.Float64()*0.0135
			north, east := south+random.Float64()*0.003, west+random.Float64()*0.003
			ring := []geo.Point{{Lat: south, Lng: west}, {Lat: north, Lng: west}, {Lat: north, Lng: east}, {Lat: south, Lng: east}}
			weights := w.Graph.Weights()
			for arc := range w.Graph.Arcs {
				line := w.Graph.PieceLine(w.Graph.Arcs[arc].Piece)
				for i := range line[1:] {
					for k := range 2001 {
						at := geo.Between(line[i].Point(), line[i+1].Point(), float64(k)/2000)
						if at.Lat >= south && at.Lat <= north && at.Lng >= west && at.Lng <= east {
							weights[arc] = graph.Closed
						}
					}
				}
			}
			q := nav.RouteRequest{Straight: nav.TurnsAllowed, Avoid: nav.Avoid{Rings: [][]geo.Point{ring}}}
			for range 3 {
				q.Coordinates = append(q.Coordinates, geo.Point{Lat: -random.Float64() * 0.0072, Lng: random.Float64() * 0.0135})
			}
			var a nav.RouteAnswer
			if err := w.Route(t.Context(), &q, &a); err != nil {
				continue
			}
			found++
			if want := w.enumerate(weights, a.Spots, false); a.Routes[0].Weight != want {
				t.Fatalf("seed %d, %+v: %d ms, want %d", seed, q, a.Routes[0].Weight, want)
			}
			w.replay(t, &a.Routes[0], weights)
		}
	}
	if found < 50 {
		t.Errorf("only %d routes were found", found)
	}
}
