package cch_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"wayside/internal/roads/car"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// extract builds the network of a real extract from the folder that WAYSIDE_TEST_OSM names, or skips.
func extract(t testing.TB, name string) *graph.Graph {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(roadtest.Extracts(t), name))
	if err != nil {
		t.Fatal(err)
	}
	file, err := osmpbf.Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	profile, err := car.New()
	if err != nil {
		t.Fatal(err)
	}
	g, _, err := graph.Build(t.Context(), []*osmpbf.File{file}, profile, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}
