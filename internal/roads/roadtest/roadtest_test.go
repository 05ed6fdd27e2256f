package roadtest_test

import (
	"math"
	"testing"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

func TestMap(t *testing.T) {
	n := roadtest.MapAt(t, geo.Point{Lat: 60, Lng: 179.999}, 100, `
		a--b
		 1 |
		   c
	`,
		roadtest.Way("abxc", "highway=primary, name=High Street"),
		roadtest.Ways("ac cb", "highway=service"),
		roadtest.Node("b", "highway=stop"),
		roadtest.Restriction("no_entry", "abxc,ac b cb"),
		roadtest.Restriction("only_u_turn", "ac cb,abxc ac"),
	)
	for _, leg := range []struct {
		from, to string
		metres   float64
	}{{"a", "b", 300}, {"b", "c", 200}, {"a", "1", 100 * math.Sqrt2}} {
		if d := geo.Distance(n.Place(t, leg.from), n.Place(t, leg.to)); math.Abs(d-leg.metres) > 0.1 {
			t.Errorf("%s to %s: %.2f m, want %.2f", leg.from, leg.to, d, leg.metres)
		}
	}
	if lng := n.Place(t, "b").Lng; lng > -179.99 {
		t.Errorf("b lies at %v degrees east", lng)
	}
	f := roadtest.Open(t, n.Encoded(t, osmpbf.WriterOptions{PlainNodes: true}, osmpbf.Relations, osmpbf.Ways, osmpbf.Nodes))
	var nodes, ways, relations int
	err := f.Scan(t.Context(), osmpbf.Options{}, func(b *osmpbf.Block) error {
		for _, r := range b.Relations {
			if len(r.Members) != 4 || r.ID != roadtest.FirstRelation+int64(relations) {
				t.Errorf("relation %+v", r)
			}
			relations++
		}
		if len(b.Ways) > 0 && (b.Ways[0].ID != n.WayID(t, "abxc") || b.Ways[0].Tags[1].Value != "High Street" || len(b.Ways[0].Refs) != 4) {
			t.Errorf("way %+v", b.Ways[0])
		}
		nodes, ways = nodes+len(b.Nodes), ways+len(b.Ways)
		return nil
	})
	if err != nil || nodes != 3 || ways != 3 || relations != 2 {
		t.Errorf("%d nodes, %d ways, %d relations (%v)", nodes, ways, relations, err)
	}
	if id := n.NodeID(t, "b"); id != 'b' || len(n.Nodes[1].Tags) != 1 {
		t.Errorf("node b is %d, %+v", id, n.Nodes[1])
	}
}
