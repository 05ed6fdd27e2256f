package aheadtest_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"wayside/internal/drive/alerts/ahead"
	"wayside/internal/drive/alerts/ahead/aheadtest"
	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/roads/roadtest"
	"wayside/internal/run/demo"
)

// town returns the roads of the demo's town.
func town(t testing.TB) (*graph.Graph, *match.Index) {
	t.Helper()
	var extract bytes.Buffer
	if err := demo.WriteExtract(&extract); err != nil {
		t.Fatal(err)
	}
	g, _ := roadtest.Build(t, graph.BuildOptions{}, roadtest.Open(t, extract.Bytes()))
	return g, match.NewIndex(g)
}

// BenchmarkLook looks from random places of the town for a thousand pins around, as one answer does.
func BenchmarkLook(b *testing.B) {
	g, x := town(b)
	random := rand.New(rand.NewPCG(1, 1))
	roads := ahead.Roads{Graph: g, Index: x, Version: 1}
	pins := make([]ahead.Pin, 1000)
	for i := range pins {
		line := g.PieceLine(uint32(random.IntN(len(g.Pieces))))
		pins[i] = ahead.Pin{At: line[random.IntN(len(line))].Point()}
	}
	var (
		w     ahead.Walk
		text  []byte
		found int
	)
	b.ReportAllocs()
	for b.Loop() {
		arc := &g.Arcs[random.IntN(len(g.Arcs))]
		at, next := g.Nodes[arc.From].Point(), g.Nodes[arc.To].Point()
		f := ahead.Fix{At: geo.Between(at, next, 0.3), Heading: geo.Bearing(at, next), Speed: 14, Now: time.Unix(1_800_000_000, 0)}
		state, ok := w.Probable(roads, f, nil, 3000)
		if !ok {
			continue
		}
		before, _ := ahead.ParseState(string(state.Append(text[:0])))
		if state, ok = w.Probable(roads, f, before, 3000); !ok {
			b.Fatal("the road is gone")
		}
		for i := range pins {
			if !w.Near(pins[i].At, 60) {
				continue
			}
			if _, ok := w.Find(&pins[i]); ok {
				found++
			}
		}
	}
	b.ReportMetric(float64(found)/float64(b.N), "pins")
}

// TestAlertsInTheTown checks the goals of issue 17 on a few routes through the demo's town. make bench BENCH=ahead
// drives a thousand routes there, in Milan and in Malta.
func TestAlertsInTheTown(t *testing.T) {
	g, x := town(t)
	n := &nav.Network{Roads: nav.NewRoads(g, x, "town"), Search: nav.NewPlain(g, nil, nil)}
	result, err := aheadtest.Run(t.Context(), aheadtest.Roads{Graph: g, Index: x}, nav.New(func() *nav.Network { return n }), 40, 17)
	if err != nil {
		t.Fatal(err)
	}
	counts := &result.Counts
	for m := range aheadtest.Methods {
		t.Logf("%s: %+v", m, counts[m])
	}
	session, probable, cone, circle := &counts[aheadtest.Session], &counts[aheadtest.Probable], &counts[aheadtest.Cone], &counts[aheadtest.Circle]
	if 100*session.Announced < 99*session.Expected || 100*session.InTime < 98*session.Expected || session.FalseShare() > 0.01 {
		t.Errorf("along routes: %+v", *session)
	}
	if 100*probable.Known < 98*probable.Straight || 100*probable.KnownTime < 90*probable.Straight || probable.FalseShare() > 0.04 {
		t.Errorf("along the most probable way: %+v", *probable)
	}
	for _, c := range []*aheadtest.Count{session, probable} {
		if false1 := max(1, c.AllFalse()); circle.AllFalse() < 20*false1 || cone.AllFalse() < 5*false1 {
			t.Errorf("%d false alerts, the circle %d, the cone %d", c.AllFalse(), circle.AllFalse(), cone.AllFalse())
		}
	}
	if led := &result.Guidance; led.Turns < 50 || led.Announced != led.Turns || led.Twice != 0 || led.NotThere != 0 || led.Rerouted != 0 {
		t.Errorf("led: %+v", *led)
	}
	if 100*result.Matched < 98*result.Fixes {
		t.Errorf("%d of %d fixes are on the right arc", result.Matched, result.Fixes)
	}
}
