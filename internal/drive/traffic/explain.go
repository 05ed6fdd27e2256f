package traffic

import (
	"context"
	"slices"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/roads/graph"
)

// Explanation describes what the entities around a place do to roads.
type Explanation struct {
	Network    *Network
	Conditions []Explained // the nearest first
	Version    uint64      // the metric_version of the state in force
	Truncated  bool        // there are more conditions
	Unmatched  int         // entities that would affect roads, but lie on none
}

// Explained is a condition, and whether it is in force.
type Explained struct {
	*Condition
	Applies bool // false: routes do not use it, for example because it comes from the owner's own pending feed
}

// explainSamples bounds how many places are matched to roads for one explanation: a tenth of a second for usual lines.
const explainSamples = 40_000

// Explain reads what the entities around a place do to roads, and marks the conditions that are in force in the state.
func (n *Network) Explain(ctx context.Context, r Reader, s *State, area geo.Circle, limit int, now time.Time) (*Explanation, error) {
	x := &Explanation{Network: n, Version: s.Version}
	left := &matchBudget{explainSamples} // conditions that the follower already matched cost nothing
	more, err := r.Read(ctx, area, nil, n.rules.all(), limit, func(h *mapdata.Hit) {
		c := n.conditionOf(h, mapdata.EntityID(h.Source, string(h.ExternalID)), nil, now, left)
		if c.InForce {
			x.Conditions = append(x.Conditions, Explained{Condition: c})
		}
		x.Truncated = x.Truncated || c.toMatch != nil
		if c.Impact.Effect != Nothing && len(c.Arcs) == 0 {
			x.Unmatched++
		}
	})
	x.Truncated = x.Truncated || more
	x.markApplied(s)
	return x, err
}

// markApplied marks the conditions that are in force in a state on any of their arcs, by themselves or merged into
// another condition. Any arc suffices, because the state may still have the arcs of an earlier line, or show guests a
// merged pin.
func (x *Explanation) markApplied(s *State) {
	arcs := map[uint32]bool{}
	for i := range x.Conditions {
		c := &x.Conditions[i]
		c.Applies = slices.ContainsFunc(c.Arcs, func(arc uint32) bool { return s.Conditions(arc).find(c.EntityID) != nil })
		if !c.Applies {
			for _, arc := range c.Arcs {
				arcs[arc] = true
			}
		}
	}
	merged := map[string]bool{}
	for arc := range arcs {
		for c := range s.Conditions(arc).All() {
			for _, id := range c.Merged {
				merged[id] = true
			}
		}
	}
	for i := range x.Conditions {
		c := &x.Conditions[i]
		c.Applies = c.Applies || merged[c.EntityID]
	}
}

// ArcShape is the geometry of an arc.
type ArcShape struct {
	OSMWay int64
	Line   []graph.Position // in the direction of the arc
	Length float64          // metres
}

// Shape returns the geometry of an arc.
func (n *Network) Shape(arc uint32) ArcShape {
	a := &n.graph.Arcs[arc]
	p := &n.graph.Pieces[a.Piece]
	shape := ArcShape{OSMWay: n.graph.Ways[p.Way].OSM, Line: n.graph.PieceLine(a.Piece), Length: float64(p.Length) / 1000}
	if a.Flags&graph.Backward != 0 {
		shape.Line = slices.Clone(shape.Line)
		slices.Reverse(shape.Line)
	}
	return shape
}

// FactorOn returns the share of the usual speed that a condition leaves on an arc, or 1 if it does not slow.
func (n *Network) FactorOn(arc uint32, c *Condition) float64 {
	if c.Impact.Effect != Slows {
		return 1
	}
	a := &n.graph.Arcs[arc]
	return c.Impact.factorOn(a, n.graph.Pieces[a.Piece].Length)
}

// Factor returns the share of the usual speed that a condition leaves on the arc that it slows most, or 1 if it slows
// none.
func (n *Network) Factor(c *Condition) float64 {
	factor := 1.0
	for _, arc := range c.Arcs {
		factor = min(factor, n.FactorOn(arc, c))
	}
	return factor
}

// Stretch describes for people where a condition is.
type Stretch struct {
	Streets []string // distinct names, or references, of the roads; empty if they have none
	Length  float64  // metres; a road with both directions counts once
	Both    bool     // the whole stretch is affected in both directions
}

// Stretch returns the stretch of a condition, with the names of at most the given number of streets.
func (n *Network) Stretch(c *Condition, streets int) Stretch {
	s := Stretch{Both: true}
	for _, arc := range c.Arcs {
		p := &n.graph.Pieces[n.graph.Arcs[arc].Piece]
		_, ahead := slices.BinarySearch(c.Arcs, p.Forward)
		_, back := slices.BinarySearch(c.Arcs, p.Backward)
		s.Both = s.Both && ahead && back
		if !ahead || !back || arc == p.Forward {
			s.Length += float64(p.Length) / 1000
		}
		way := &n.graph.Ways[p.Way]
		name := n.graph.Text(way.Name)
		if name == "" {
			name = n.graph.Text(way.Ref)
		}
		if name != "" && len(s.Streets) < streets && !slices.Contains(s.Streets, name) {
			s.Streets = append(s.Streets, name)
		}
	}
	return s
}
