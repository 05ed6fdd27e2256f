package nav_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/roadtest"
)

func TestAlternatives(t *testing.T) {
	w := draw(t, `
		     c-------d
		     |       |
		a-1--b-------e--2-f
		     |       |
		     g-------h
	`, roadtest.Ways("ab bcde be ef bghe", "highway=primary"))
	ask := func(count int) *nav.RouteAnswer {
		t.Helper()
		a := new(nav.RouteAnswer)
		if err := w.Route(t.Context(), &nav.RouteRequest{Places: w.places("12"), Alternatives: count}, a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := ask(0); len(a.Routes) != 1 {
		t.Errorf("%d routes without alternatives", len(a.Routes))
	}
	if a := ask(3); len(a.Routes) != 1 {
		t.Errorf("%d routes, the others are 28 %% longer", len(a.Routes))
	}
	// Two ways around a block that differ by little: the second one is an alternative.
	w = draw(t, `
		   c----------d
		   |          |
		a1-b          e-2f
		   |          |
		   g----------h
	`, roadtest.Ways("ab bcde ef bghe", "highway=primary"))
	if a := ask(3); len(a.Routes) != 2 || w.letters(&a.Routes[0]) != w.letters(&a.Routes[1]) && a.Routes[0].Weight > a.Routes[1].Weight {
		t.Errorf("%d routes", len(a.Routes))
	}
}

// TestAlternativesKeepTheirPromise checks that alternatives are at most a quarter longer, sorted, and allowed.
func TestAlternativesKeepTheirPromise(t *testing.T) {
	found := 0
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 3))
		w := grid(t, random)
		for range 20 {
			q := nav.RouteRequest{Alternatives: 3}
			for range 2 {
				q.Coordinates = append(q.Coordinates, geo.Point{Lat: -random.Float64() * 0.0072, Lng: random.Float64() * 0.0135})
			}
			var a nav.RouteAnswer
			var refused *nav.Error
			if err := w.Route(t.Context(), &q, &a); errors.As(err, &refused) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			found += len(a.Routes) - 1
			for i := range a.Routes {
				r := &a.Routes[i]
				if r.Weight < a.Routes[0].Weight || float64(r.Weight) > 1.25*float64(a.Routes[0].Weight) || len(a.Routes) > 4 {
					t.Errorf("route %d of %d weighs %d, the best %d", i, len(a.Routes), r.Weight, a.Routes[0].Weight)
				}
				w.replay(t, r, w.Graph.Weights())
			}
		}
	}
	if found == 0 {
		t.Error("no alternative was found")
	}
}
