//go:build !race || nightly

package demo

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"wayside/internal/roads/graph"
	"wayside/internal/roads/roadtest"
)

// buildRoads builds the road network of the town's extract.
func buildRoads(t *testing.T) (*graph.Graph, graph.Counts) {
	t.Helper()
	var file bytes.Buffer
	if err := WriteExtract(&file); err != nil {
		t.Fatal(err)
	}
	g, counts := roadtest.Build(t, graph.BuildOptions{}, roadtest.Open(t, file.Bytes()))
	t.Logf("%d bytes: %+v", file.Len(), counts)
	return g, counts
}

// TestExtractIsWhole checks that the road network contains all of the drawn extract, and that only the island is disconnected.
func TestExtractIsWhole(t *testing.T) {
	g, counts := buildRoads(t)
	if len(counts.LeftOut) != 0 || counts.Restrictions.Applied != len(forbidden()) || counts.Restrictions.Ignored != 0 {
		t.Errorf("left out: %v; restrictions: %+v", counts.LeftOut, counts.Restrictions)
	}
	if counts.Islands != 2 {
		t.Errorf("%d islands, want the town and one lane", counts.Islands)
	}
	apart := map[string]int{}
	for i := range g.Arcs {
		if a := &g.Arcs[i]; a.Island != 0 {
			piece := &g.Pieces[a.Piece]
			name := g.Text(g.Ways[piece.Way].Name)
			at := g.Line[piece.FirstLine].Point()
			if s := spotOf(at.Lat, at.Lng); apart[name] == 0 {
				t.Logf("apart: %q at %.1f, %.1f blocks", name, s.x/blockMetres, s.y/blockMetres)
			}
			apart[name]++
		}
	}
	if len(apart) != 1 || apart[islandLane] == 0 {
		t.Errorf("apart from the town: %v", apart)
	}
}

// TestExtractIsTheMap checks that every place of a road of the extract lies on a street of the map, and the reverse.
func TestExtractIsTheMap(t *testing.T) {
	g, _ := buildRoads(t)
	p := newPlan()
	const off = 0.5 // metres
	cells := map[[2]int][]spot{}
	for _, at := range g.Line {
		s := spotOf(at.Point().Lat, at.Point().Lng)
		if r, along := p.nearest(s); r.at(along).distance(s) > off {
			t.Fatalf("%v is %.1f m off the map", s, r.at(along).distance(s))
		}
		cell := [2]int{int(math.Floor(s.x)), int(math.Floor(s.y))}
		cells[cell] = append(cells[cell], s)
	}
	for i := range p.roads {
		for _, s := range p.roads[i].line {
			found := false
			for dx := -1; dx <= 1; dx++ {
				for dy := -1; dy <= 1; dy++ {
					for _, at := range cells[[2]int{int(math.Floor(s.x)) + dx, int(math.Floor(s.y)) + dy}] {
						found = found || at.distance(s) < sameSpot
					}
				}
			}
			if !found {
				t.Errorf("%s at %v is not in the extract", p.roads[i].name, s)
			}
		}
	}
}

// TestRestrictionsHold checks that no turn leads where a restriction forbids it, and that all other turns exist.
func TestRestrictionsHold(t *testing.T) {
	g, _ := buildRoads(t)
	for _, row := range []struct {
		from, via, to spot
		allowed       bool
	}{
		{crossing(16, 13), crossing(16, 12), crossing(17, 12), false},
		{crossing(16, 13), crossing(16, 12), crossing(15, 12), true},
		{crossing(8, 15), crossing(8, 16), crossing(9, 16), false},
		{crossing(8, 15), crossing(8, 16), crossing(7, 16), true},
		{crossing(15, 8), crossing(16, 8), crossing(17, 8), true},
		{crossing(15, 8), crossing(16, 8), crossing(16, 9), false},
		{crossing(15, 8), crossing(16, 8), crossing(16, 7), false},
	} {
		arrives := func(arc uint32, via, other spot) bool { return towards(g, arc, false, via, other) }
		leaves := func(arc uint32, via, other spot) bool { return towards(g, arc, true, via, other) }
		found := false
		for arc := range g.Arcs {
			if !arrives(uint32(arc), row.via, row.from) {
				continue
			}
			for _, turn := range g.TurnsFrom(uint32(arc)) {
				found = found || leaves(turn.To, row.via, row.to)
			}
		}
		if found != row.allowed {
			t.Errorf("from %v over %v to %v: %v", row.from, row.via, row.to, found)
		}
	}
}

// towards reports whether an arc begins at a crossing and leads towards a spot, or comes from there and ends at the crossing.
func towards(g *graph.Graph, arc uint32, begins bool, via, other spot) bool {
	a := &g.Arcs[arc]
	line := slices.Clone(g.PieceLine(a.Piece))
	if (a.Flags&graph.Backward != 0) == begins {
		slices.Reverse(line) // the crossing first
	}
	at := func(p graph.Position) spot { return spotOf(p.Point().Lat, p.Point().Lng) }
	if at(line[0]).distance(via) > sameSpot {
		return false
	}
	next := at(line[1])
	return via.to(other, next.distance(via)/via.distance(other)).distance(next) < sameSpot
}
