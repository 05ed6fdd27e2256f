package graph_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"wayside/internal/roads/graph"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// extracts returns the paths of the real extracts in the folder that WAYSIDE_TEST_OSM names.
func extracts(t *testing.T) []string {
	t.Helper()
	folder := roadtest.Extracts(t)
	paths, err := filepath.Glob(filepath.Join(folder, "*.osm.pbf"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no extracts in %s (%v)", folder, err)
	}
	return paths
}

func openExtract(t *testing.T, path string) *osmpbf.File {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return roadtest.Open(t, content)
}

func TestExtracts(t *testing.T) {
	for _, path := range extracts(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f := openExtract(t, path)
			start := time.Now()
			g, counts := roadtest.Build(t, graph.BuildOptions{}, f)
			took := time.Since(start)
			t.Logf("%.2f s for %.1f MB: %+v", took.Seconds(), float64(f.Size())/1e6, counts)
			start = time.Now()
			again, err := fromSections(sectionsOf(g))
			t.Logf("%d ways, %d pieces, %d copies; checked in %v", len(g.Ways), len(g.Pieces), copies(g), time.Since(start))
			if err != nil {
				t.Fatal(err)
			}
			_ = again
		})
	}
}

func copies(g *graph.Graph) int {
	n := 0
	for i := range g.Arcs {
		if g.Arcs[i].CopyOf != uint32(i) {
			n++
		}
	}
	return n
}
