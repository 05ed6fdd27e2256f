package roadtest

import (
	"testing"

	"wayside/internal/roads/car"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/osmpbf"
)

// Build makes the network of extracts.
func Build(t testing.TB, o graph.BuildOptions, files ...*osmpbf.File) (*graph.Graph, graph.Counts) {
	t.Helper()
	profile, err := car.New()
	if err != nil {
		t.Fatal(err)
	}
	g, counts, err := graph.Build(t.Context(), files, profile, o)
	if err != nil {
		t.Fatal(err)
	}
	return g, counts
}

// Graph returns the network of the extract.
func (n *Network) Graph(t testing.TB) *graph.Graph {
	t.Helper()
	g, _ := Build(t, graph.BuildOptions{}, n.File(t))
	return g
}
