package cch_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
)

// TestTableIsThatOfRoutes checks that a cell has the weight of the route that Query.Route finds, and the duration and
// length of a path of this weight.
func TestTableIsThatOfRoutes(t *testing.T) {
	for name, g := range towns() {
		if len(g.Arcs) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(11, uint64(len(g.Arcs))))
			topology, metric := prepared(t, g)
			weights := g.Weights()
			for range 20 {
				change(random, g, metric, weights)
			}
			view := metric.View()
			defer view.Release()
			c := comparison{t: t, graph: g, random: random, dijkstra: graph.NewDijkstra(g)}
			request := cch.TableRequest{Arc: func(arc uint32) cch.Measure {
				return cch.Measure{Duration: uint64(weights[arc]), Length: 1}
			}}
			for range draw(12, 200) {
				request.From, request.To = append(request.From, c.ends()), append(request.To, c.ends())
			}
			request.To = append(request.To, nil)
			cells := make([]cch.Cell, len(request.From)*len(request.To))
			if err := cch.NewQuery(topology).Table(context.Background(), view, request, cells); err != nil {
				t.Fatal(err)
			}
			for i, cell := range cells {
				from, to := request.From[i/len(request.To)], request.To[i%len(request.To)]
				want, ok := c.dijkstra.Route(weights, from, to)
				if !ok {
					if cell.Weight != cch.NoPath {
						t.Fatalf("cell %d: got %+v, want no path", i, cell)
					}
					continue
				}
				// Each turn's duration is its weight, so the durations are the weight without the costs of the ends.
				ends := uint64(from[cell.From].Cost) + uint64(to[cell.To].Cost)
				if cell.Weight != want.Weight || cell.Duration+ends != cell.Weight {
					t.Fatalf("cell %d: got %+v, want %d over %v", i, cell, want.Weight, want.Arcs)
				}
			}
		})
	}
}

func TestTableEndsWithItsContext(t *testing.T) {
	g := town(rand.New(rand.NewPCG(5, 6)), 3, 3)
	topology, metric := prepared(t, g)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ends := [][]graph.End{{{Arc: 0}}}
	err := cch.NewQuery(topology).Table(ctx, metric.View(), cch.TableRequest{From: ends, To: ends}, make([]cch.Cell, 1))
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
