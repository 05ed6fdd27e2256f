package graph_test

import (
	"testing"

	"wayside/internal/roads/car"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// words are used in fuzzed tags.
var words = []string{
	"highway", "primary", "service", "route", "ferry", "oneway", "yes", "no", "-1", "access", "private", "junction", "roundabout", "duration",
	"00:10", "maxspeed", "30", "barrier", "gate", "bollard", "stop", "minor", "type", "restriction", "no_u_turn", "only_straight_on", "traffic_signals",
	"direction", "backward", "name", "\xff", "lanes", "1", "except", "motorcar", "construction", "traffic_calming", "", "turning_circle", "motorway",
}

// FuzzBuild makes an extract from bytes: a few nodes, ways and relations, with odd tags. It checks that any result is a
// graph that can be stored, searched and exported.
func FuzzBuild(f *testing.F) {
	f.Add([]byte("\x03\x01\x02\x00\x01\x03\x02\x03\x00\x01\x05\x01\x02"))
	f.Add([]byte{2, 1, 0, 1, 3, 1, 2, 3, 2, 1, 0, 1, 3, 3, 4, 5, 3, 1, 22, 23, 3, 0, 1, 2})
	f.Fuzz(func(t *testing.T, input []byte) {
		w := newExtract(t)
		next := func(n int) int {
			if len(input) == 0 {
				return 0
			}
			value := int(input[0]) % n
			input = input[1:]
			return value
		}
		tags := func() (all osmpbf.Tags) {
			for range next(4) {
				all = append(all, osmpbf.Tag{Key: words[next(len(words))], Value: words[next(len(words))]})
			}
			return all
		}
		for id := int64(0); len(input) > 0 && id < 200; id++ {
			var err error
			switch next(3) {
			case 0:
				err = w.Node(osmpbf.Node{ID: int64(next(12)), Lng: int64(next(256)-128) * 1_500_000_000, Lat: int64(next(256)-128) * 750_000_000, Tags: tags()})
			case 1:
				way := osmpbf.Way{ID: int64(next(20)), Tags: append(tags(), osmpbf.Tag{Key: "highway", Value: "primary"})}
				for range next(8) {
					way.Refs = append(way.Refs, int64(next(12)))
				}
				err = w.Way(way)
			case 2:
				r := osmpbf.Relation{ID: id, Tags: append(tags(), osmpbf.Tag{Key: "type", Value: "restriction"}, osmpbf.Tag{Key: "restriction", Value: "no_u_turn"})}
				for range next(8) {
					kind := []osmpbf.Types{osmpbf.Nodes, osmpbf.Ways}[next(2)]
					r.Members = append(r.Members, osmpbf.Member{Ref: int64(next(20)), Type: kind, Role: []string{"from", "via", "to"}[next(3)]})
				}
				err = w.Relation(r)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		p, err := car.New()
		if err != nil {
			t.Fatal(err)
		}
		g, counts, err := graph.Build(t.Context(), []*osmpbf.File{roadtest.Open(t, w.out.Bytes())}, p, graph.BuildOptions{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		again, err := fromSections(sectionsOf(g))
		if err != nil {
			t.Fatal(err)
		}
		useAll(t, again)
		holdIslands(t, again, counts)
	})
}
