package nav_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"wayside/internal/nav"
	"wayside/internal/roads/car"
	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// closures is conditions that close some arcs.
type closures struct {
	version uint64
	arcs    []uint32
}

func (c closures) Version() uint64 { return c.version }

func (c closures) On(arc uint32) (nav.Condition, bool) {
	return nav.Condition{Weight: 1, Closed: true}, slices.Contains(c.arcs, arc)
}

func (c closures) Entities(uint32, func(string)) {}

// Routes that are asked for while a bridge closes and opens all the time have weights and conditions of one version: never a route
// over what its own conditions close, nor around what they leave open.
func TestLiveNetworkIsOfOneVersion(t *testing.T) {
	drawing := roadtest.Map(t, 100, `
		a--b-----c--d
		   |     |
		   e-----f
	`,
		roadtest.Ways("ab bc cd be ef fc", "highway=residential"),
	)
	profile, err := car.New()
	if err != nil {
		t.Fatal(err)
	}
	g, _, err := graph.Build(t.Context(), []*osmpbf.File{drawing.File(t)}, profile, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	topology, err := cch.Prepare(t.Context(), g, cch.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	live, err := nav.NewLive(t.Context(), nav.NewRoads(g, match.NewIndex(g), "1"), topology)
	if err != nil {
		t.Fatal(err)
	}
	arcOf := func(nodes string) uint32 {
		for i := range g.Arcs {
			if g.Ways[g.Pieces[g.Arcs[i].Piece].Way].OSM == drawing.WayID(t, nodes) && g.Arcs[i].Flags&graph.Backward == 0 {
				return uint32(i)
			}
		}
		t.Fatal("no arc of " + nodes)
		return 0
	}
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
				ctx, release := context.WithCancel(t.Context())
				n := live.Network(ctx)
				path, found, err := n.Search.Route(ctx, &nav.Query{From: []graph.End{{Arc: begin}}, To: []graph.End{{Arc: end}}})
				closed := n.Conditions != nil && len(n.Conditions.(closures).arcs) > 0
				release()
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
