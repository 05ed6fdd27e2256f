package traffic

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/roads/graph"
)

func oneArc() *graph.Graph {
	return &graph.Graph{Arcs: []graph.Arc{{Weight: 20_000, Duration: 20_000}}, Pieces: []graph.Piece{{Length: 200_000}}}
}

// TestOnArcIsASortedMap checks the conditions on an arc, and their cost, against a map, and that published lists never
// change.
func TestOnArcIsASortedMap(t *testing.T) {
	impacts := []Impact{{Effect: Closes}, {Effect: Slows, Factor: 0.8}, {Effect: Slows, SpeedKmh: 7}, {Effect: Delays, Delay: 90_000}}
	rapid.Check(t, func(t *rapid.T) {
		g, on, now := oneArc(), new(onArc), map[string]*Condition{}
		round, count := uint64(1), rapid.IntRange(1, 500).Draw(t, "ids")
		type published struct {
			cost Cost
			want []*Condition
		}
		var before []published
		random := rapid.Uint64().Draw(t, "seed")
		draw := func(n int) int { // a plain generator, because thousands of rapid draws would be slow
			random = random*6364136223846793005 + 1442695040888963407
			return int(random>>33) % n
		}
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			grows := draw(3) > 0
			for range draw(2 * count) {
				id := fmt.Sprint(draw(count))
				if old := now[id]; old != nil {
					on.remove(old, round)
					delete(now, id)
				}
				if grows || draw(4) == 0 {
					now[id] = &Condition{EntityID: id, Impact: impacts[draw(len(impacts))]}
					on.add(now[id], round)
				}
			}
			on.remove(&Condition{EntityID: "nowhere"}, round)
			want := slices.SortedFunc(maps.Values(now), func(a, b *Condition) int { return cmp.Compare(a.EntityID, b.EntityID) })
			before = append(before, published{on.cost(g, 0), want})
			round++
		}
		for i, p := range before {
			if got := slices.Collect(p.cost.Conditions.All()); !slices.Equal(got, p.want) || p.cost.Conditions.Len() != len(p.want) {
				t.Fatalf("publication %d has %d conditions (%d), want %d", i, len(got), p.cost.Conditions.Len(), len(p.want))
			}
			e := effectOn(g, 0, p.want)
			open := slowed(20_000, e.factor, e.delay)
			if p.cost.Open != open || p.cost.Duration != open || (p.cost.Weight == graph.Closed) != e.closed || !e.closed && p.cost.Weight != open {
				t.Fatalf("publication %d costs %+v, want %d, closed: %t", i, p.cost, open, e.closed)
			}
			for _, c := range p.want {
				if p.cost.Conditions.find(c.EntityID) != c {
					t.Fatalf("publication %d does not find %s", i, c.EntityID)
				}
			}
		}
	})
}

// TestOneOfACrowd checks that a change of one of 8 000 roadworks on one arc allocates a few kilobytes; a copy of the
// whole list would take 64.
func TestOneOfACrowd(t *testing.T) {
	g, on, round := oneArc(), new(onArc), uint64(1)
	for i := range 8_000 {
		on.add(&Condition{EntityID: fmt.Sprint(i), Impact: Impact{Effect: Slows, Factor: 0.8}}, round)
	}
	on.cost(g, 0)
	one := &Condition{EntityID: "one", Impact: Impact{Effect: Closes}}
	const rounds = 200
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range rounds {
		round++
		on.add(one, round)
		if on.cost(g, 0).Weight != graph.Closed {
			t.Fatal("it is not closed")
		}
		round++
		on.remove(one, round)
		if on.cost(g, 0).Weight != 25_000 {
			t.Fatal("it is still closed")
		}
	}
	runtime.ReadMemStats(&after)
	if bytes := (after.TotalAlloc - before.TotalAlloc) / (2 * rounds); bytes > 16<<10 {
		t.Errorf("a change of one of 8 000 conditions copies %d bytes", bytes)
	} else {
		t.Logf("a change copies %d bytes", bytes)
	}
}
