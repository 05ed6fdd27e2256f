package graph_test

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"wayside/internal/roads/graph"
	"wayside/internal/roads/roadtest"
)

// sectionsOf returns copies of the sections of a graph by name, as a file does.
func sectionsOf(g *graph.Graph) map[string][]byte {
	all := map[string][]byte{}
	for _, s := range g.Sections() {
		all[s.Name] = slices.Clone(s.Bytes)
	}
	return all
}

func fromSections(all map[string][]byte) (*graph.Graph, error) {
	return graph.FromSections(func(name string) ([]byte, bool) {
		b, ok := all[name]
		return b, ok
	})
}

// busy returns a small map with a copy, a loop and a one-way road.
func busy(t testing.TB) *drawn {
	t.Helper()
	return draw(t, 100, streets, roadtest.Ways(allStreets, road+", name=Street"), roadtest.Way("ha", road+", oneway=yes, destination=Far;Away, destination:ref=A 1, junction:ref=1;2, turn:lanes=left|through"), roadtest.Way("dghd", "highway=service"),
		roadtest.Restriction("no_right_turn", "ab bc ch"), roadtest.Node("b", "highway=motorway_junction, ref=7, name=Exit"), roadtest.Node("d", "highway=motorway_junction, ref=8"), roadtest.Relation("type=maneuver, maneuver=turn, direction=left", "ab b bc"))
}

func TestSections(t *testing.T) {
	d := busy(t)
	again, err := fromSections(sectionsOf(d.Graph))
	if err != nil {
		t.Fatal(err)
	}
	if export(t, again) != export(t, d.Graph) || again.Text(again.Ways[0].Name) != "Street" {
		t.Errorf("another graph came back")
	}
	empty, err := fromSections(sectionsOf(&graph.Graph{FirstTurn: []uint32{0}}))
	if err != nil || len(empty.Arcs) != 0 {
		t.Errorf("a network without roads: %v", err)
	}
}

// TestLayoutOfArrays checks the layout of the types in region files: neither sizes nor gaps between members may change
// unnoticed.
func TestLayoutOfArrays(t *testing.T) {
	for name, size := range map[string][2]uintptr{
		"node": {unsafe.Sizeof(graph.Node{}), 16}, "piece": {unsafe.Sizeof(graph.Piece{}), 24}, "arc": {unsafe.Sizeof(graph.Arc{}), 32},
		"turn": {unsafe.Sizeof(graph.Turn{}), 12}, "position": {unsafe.Sizeof(graph.Position{}), 8}, "way": {unsafe.Sizeof(graph.Way{}), 40},
		"signs": {unsafe.Sizeof(graph.Signs{}), 40}, "exit": {unsafe.Sizeof(graph.Exit{}), 20}, "maneuver": {unsafe.Sizeof(graph.Maneuver{}), 16},
	} {
		if size[0] != size[1] {
			t.Errorf("a %s has %d bytes, want %d", name, size[0], size[1])
		}
	}
	want := []byte{0x2a, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0}
	g := &graph.Graph{Turns: []graph.Turn{{To: 42, Weight: 7, Duration: 9}}}
	if got := sectionsOf(g)["roads.turns"]; string(got) != string(want) {
		t.Errorf("a turn is %x, want %x", got, want)
	}
}

// TestForgedSections checks that sections with any number replaced are refused, or that searches and exports of the
// result stay within the arrays.
func TestForgedSections(t *testing.T) {
	d := busy(t)
	random := rand.New(rand.NewPCG(3, 4))
	refused, taken := 0, 0
	for _, section := range d.Sections() {
		for at := 0; at+4 <= len(section.Bytes); at += 4 {
			for _, value := range []uint32{0, 1, math.MaxUint32, math.MaxUint32 - 1, 1 << 31, random.Uint32N(64)} {
				forged := sectionsOf(d.Graph)
				binary.LittleEndian.PutUint32(forged[section.Name][at:], value)
				g, err := fromSections(forged)
				if err != nil {
					if refused++; !errors.Is(err, graph.ErrBadSections) {
						t.Errorf("%s at byte %d: %v", section.Name, at, err)
					}
					continue
				}
				taken++
				useAll(t, g)
			}
		}
	}
	if refused < 1000 || taken < 1000 {
		t.Errorf("%d refused and %d taken", refused, taken)
	}
}

// useAll calls everything that a graph offers.
func useAll(t testing.TB, g *graph.Graph) {
	t.Helper()
	export(t, g)
	for _, w := range g.Ways {
		signs := g.SignsOf(&w)
		_ = g.Text(w.Name) + g.Text(w.Ref) + g.Text(signs.Destination) + g.Text(signs.Exit) + g.Text(signs.Pronunc)
	}
	for _, p := range g.Pieces {
		for _, arc := range []uint32{p.Forward, p.Backward} {
			if arc != graph.None {
				_ = g.Arcs[arc]
			}
		}
	}
	for node := range g.Nodes {
		for _, m := range g.ManeuversAt(uint32(node)) {
			for _, way := range g.WaysOf(&m) {
				_ = g.Ways[way]
			}
		}
	}
	dijkstra := graph.NewDijkstra(g)
	for arc := range g.Arcs {
		_, _ = g.LanesOf(g.Arcs[arc].CopyOf), g.SignsOf(&g.Ways[g.Pieces[g.Arcs[arc].Piece].Way])
		if e, ok := g.ExitAt(g.Arcs[arc].To); ok {
			_ = g.Text(e.Ref) + g.Text(e.Name)
		}
		dijkstra.Route(g.Weights(), []graph.End{{Arc: uint32(arc)}}, []graph.End{{Arc: 0}})
	}
}

func TestForgedSizes(t *testing.T) {
	d := busy(t)
	for _, section := range d.Sections() {
		for name, change := range map[string]func(map[string][]byte){
			"missing":    func(all map[string][]byte) { delete(all, section.Name) },
			"empty":      func(all map[string][]byte) { all[section.Name] = nil },
			"cut":        func(all map[string][]byte) { all[section.Name] = all[section.Name][:len(all[section.Name])-1] },
			"half":       func(all map[string][]byte) { all[section.Name] = all[section.Name][:len(all[section.Name])/32*16] },
			"misaligned": func(all map[string][]byte) { all[section.Name] = append([]byte{0}, all[section.Name]...)[1:] },
		} {
			forged := sectionsOf(d.Graph)
			change(forged)
			if name == "missing" && strings.HasPrefix(section.Name, "roads.maneuver") {
				continue // files of earlier versions lack them
			}
			if _, err := fromSections(forged); !errors.Is(err, graph.ErrBadSections) && (section.Name != "roads.texts" && section.Name != "roads.exits" && section.Name != "roads.maneuvers" || name == "missing") {
				t.Errorf("%s %s: %v", section.Name, name, err)
			}
		}
	}
}
