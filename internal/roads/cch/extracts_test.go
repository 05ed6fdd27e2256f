package cch_test

import (
	"testing"

	"wayside/internal/roads/graph"
	"wayside/internal/roads/roadtest"
)

// extract builds the network of a real extract from the folder that WAYSIDE_TEST_OSM names, or skips the test.
func extract(t testing.TB, name string) *graph.Graph {
	t.Helper()
	g, _ := roadtest.Build(t, graph.BuildOptions{}, roadtest.Open(t, roadtest.Extract(t, name)))
	return g
}
