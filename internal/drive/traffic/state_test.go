package traffic

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/roads/graph"
)

// TestStatesAreMaps checks states after changes against maps, and that earlier states stay unchanged.
func TestStatesAreMaps(t *testing.T) {
	const arcs = 3*pageArcs + 1
	rapid.Check(t, func(t *rapid.T) {
		states := []*State{newState(&graph.Graph{Arcs: make([]graph.Arc, arcs)})}
		want := []map[uint32]uint32{{}}
		for version := range rapid.IntRange(1, 10).Draw(t, "changes") {
			next := maps.Clone(want[version])
			changed := map[uint32]Cost{}
			for range rapid.IntRange(1, 40).Draw(t, "arcs") {
				arc := rapid.OneOf(rapid.Uint32Range(0, arcs-1), rapid.Uint32Range(60, 70)).Draw(t, "arc")
				c := Cost{Arc: arc, Weight: rapid.Uint32().Draw(t, "weight")}
				delete(next, arc)
				if rapid.Bool().Draw(t, "kept") {
					c.Conditions = Conditions{count: 1}
					next[arc] = c.Weight
				}
				changed[arc] = c
			}
			costs := slices.SortedFunc(maps.Values(changed), func(a, b Cost) int { return cmp.Compare(a.Arc, b.Arc) })
			states, want = append(states, states[version].with(costs, uint64(version+1))), append(want, next)
		}
		for i, s := range states {
			found := map[uint32]uint32{}
			for c := range s.Costs {
				found[c.Arc] = c.Weight
			}
			if !maps.Equal(found, want[i]) || s.Empty() != (len(want[i]) == 0) {
				t.Fatalf("state %d has %v, want %v", i, found, want[i])
			}
			for arc := range uint32(arcs) {
				weight, there := want[i][arc]
				if c, ok := s.Cost(arc); ok != there || c.Weight != weight || ok && c.Arc != arc {
					t.Fatalf("state %d has %+v for arc %d, want %d", i, c, arc, weight)
				}
			}
		}
	})
}
