package aheadtest_test

import (
	"bytes"
	"context"
	"testing"

	"wayside/internal/alerts/ahead/aheadtest"
	"wayside/internal/demo"
	"wayside/internal/nav"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/roads/roadtest"
)

// TestAlertsInTheTown drives a few routes through the demo's town, with the goals of issue 17; make bench BENCH=ahead drives a thousand
// there, in Milan and in Malta.
func TestAlertsInTheTown(t *testing.T) {
	var extract bytes.Buffer
	if err := demo.WriteExtract(&extract); err != nil {
		t.Fatal(err)
	}
	g, _ := roadtest.Build(t, graph.BuildOptions{}, roadtest.Open(t, extract.Bytes()))
	x := match.NewIndex(g)
	n := &nav.Network{Roads: nav.NewRoads(g, x, "town"), Search: nav.NewPlain(g, nil, nil)}
	result, err := aheadtest.Run(t.Context(), aheadtest.Roads{Graph: g, Index: x}, nav.New(func(context.Context) *nav.Network { return n }), 40, 17)
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
	if 100*probable.Known < 98*probable.Straight || 100*probable.KnownTime < 97*probable.Straight || probable.FalseShare() > 0.08 {
		t.Errorf("along the most probable way: %+v", *probable)
	}
	for _, c := range []*aheadtest.Count{session, probable} {
		if false1 := max(1, c.AllFalse()); circle.AllFalse() < 20*false1 || cone.AllFalse() < 5*false1 {
			t.Errorf("%d false alerts, the circle %d, the cone %d", c.AllFalse(), circle.AllFalse(), cone.AllFalse())
		}
	}
	if 100*result.Matched < 98*result.Fixes {
		t.Errorf("%d of %d fixes are on the right arc", result.Matched, result.Fixes)
	}
}
