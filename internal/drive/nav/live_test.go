package nav_test

import (
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/roads/roadtest"
)

// closures is conditions that close some arcs.
type closures struct {
	version uint64
	arcs    []uint32
}

func (c closures) Version() uint64 { return c.version }

func (c closures) None() bool { return len(c.arcs) == 0 }

func (c closures) On(arc uint32) (nav.Condition, bool) {
	return nav.Condition{Weight: 1, Closed: true}, slices.Contains(c.arcs, arc)
}

func (c closures) Events(uint32, func(nav.Event)) {}

func (c closures) Arcs() iter.Seq[uint32] { return slices.Values(c.arcs) }

// TestLiveNetworkIsOfOneVersion checks that routes requested while a bridge opens and closes have weights and conditions
// of one version: no route leads over a closure in its own conditions, nor around an open bridge.
func TestLiveNetworkIsOfOneVersion(t *testing.T) {
	drawing := roadtest.Map(t, 100, `
		a--b-----c--d
		   |     |
		   e-----f
	`,
		roadtest.Ways("ab bc cd be ef fc", "highway=residential"),
	)
	live, g := liveNetwork(t, drawing)
	arcOf := func(nodes string) uint32 { return forward(t, g, drawing, nodes) }
	bridge, begin, end := arcOf("bc"), arcOf("ab"), arcOf("cd")

	var asking sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		asking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				n := live.Network()
				path, found, err := n.Search.Route(t.Context(), &nav.Query{From: []graph.End{{Arc: begin}}, To: []graph.End{{Arc: end}}})
				closed := n.Conditions != nil && len(n.Conditions.(closures).arcs) > 0
				n.Release()
				if err != nil || !found || slices.Contains(path.Arcs, bridge) == closed {
					t.Errorf("%v over %v while the bridge is closed: %t", err, path.Arcs, closed)
					return
				}
			}
		})
	}
	for i := range 500 {
		if i%2 == 0 {
			live.Update([]cch.ArcWeight{{Arc: bridge, Weight: graph.Closed}}, closures{uint64(i), []uint32{bridge}})
		} else {
			live.Update([]cch.ArcWeight{{Arc: bridge, Weight: g.Arcs[bridge].Weight}}, closures{uint64(i), nil})
		}
	}
	close(done)
	asking.Wait()
}

// TestLiveAlternatives checks that requesting one alternative returns two paths if there is another way.
func TestLiveAlternatives(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	g := grid(t, random).Graph
	topology, err := cch.Prepare(t.Context(), g, cch.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	live, err := nav.NewLive(t.Context(), nav.NewRoads(g, match.NewIndex(g), "1"), topology)
	if err != nil {
		t.Fatal(err)
	}
	n, others := live.Network(), 0
	defer n.Release()
	for range 300 {
		q := nav.Query{From: []graph.End{{Arc: random.Uint32N(uint32(len(g.Arcs)))}}, To: []graph.End{{Arc: random.Uint32N(uint32(len(g.Arcs)))}}}
		for count := range 3 {
			paths, err := n.Search.Alternatives(t.Context(), &q, count)
			if err != nil || len(paths) > count+1 {
				t.Fatalf("%d paths with %d alternatives (%v)", len(paths), count, err)
			}
			if count == 1 {
				others += max(0, len(paths)-1)
			}
		}
	}
	if others == 0 {
		t.Error("no route has an alternative")
	}
}

// liveNetwork makes a network of a drawing.
func liveNetwork(t *testing.T, drawing *roadtest.Network) (*nav.Live, *graph.Graph) {
	t.Helper()
	g := drawing.Graph(t)
	topology, err := cch.Prepare(t.Context(), g, cch.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	live, err := nav.NewLive(t.Context(), nav.NewRoads(g, match.NewIndex(g), "1"), topology)
	if err != nil {
		t.Fatal(err)
	}
	return live, g
}

// forward returns an arc of a way in the way's direction.
func forward(t *testing.T, g *graph.Graph, drawing *roadtest.Network, nodes string) uint32 {
	t.Helper()
	for i := range g.Arcs {
		if g.Ways[g.Pieces[g.Arcs[i].Piece].Way].OSM == drawing.WayID(t, nodes) && g.Arcs[i].Flags&graph.Backward == 0 {
			return uint32(i)
		}
	}
	t.Fatal("no arc of " + nodes)
	return 0
}
