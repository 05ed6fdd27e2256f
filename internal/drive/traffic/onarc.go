package traffic

import (
	"iter"
	"math"
	"slices"
	"strings"

	"wayside/internal/roads/graph"
)

// Conditions is the list of conditions on one arc, ordered by the ids of their entities. It never changes.
type Conditions struct {
	runs  []run
	count int
}

// Len returns the number of conditions.
func (c Conditions) Len() int { return c.count }

// All yields the conditions in order.
func (c Conditions) All() iter.Seq[*Condition] {
	return func(yield func(*Condition) bool) {
		for i := range c.runs {
			for _, one := range c.runs[i].conditions {
				if !yield(one) {
					return
				}
			}
		}
	}
}

// find returns the condition of an entity, or nil if it has none on this arc.
func (c Conditions) find(entityID string) *Condition {
	if c.count == 0 {
		return nil
	}
	in := &c.runs[runOf(c.runs, entityID)]
	if at, there := slices.BinarySearchFunc(in.conditions, entityID, compareID); there {
		return in.conditions[at]
	}
	return nil
}

// run is a part of an arc's sorted list of conditions, at most maxRun of them, with their combined effect. If thousands
// of roadworks lie on one motorway, a change of one of them copies one run and the list of runs, and neither sorts the
// other runs nor adds up their effects.
type run struct {
	conditions []*Condition
	round      uint64 // of the change that last copied the run; readers cannot have this copy before the next publication
	stale      bool   // effect does not include the latest changes
	effect     arcEffect
}

const maxRun = 128

// arcEffect is the combined effect of conditions on an arc: closed wins, then the slowest speed; delays add up (D15.14).
type arcEffect struct {
	closed bool
	factor float64
	delay  uint64 // ms
}

func (e *arcEffect) add(other arcEffect) {
	e.closed = e.closed || other.closed
	e.factor = math.Min(e.factor, other.factor)
	e.delay += other.delay
}

// onArc holds the conditions in force on one arc and is mutable. Its zero value is empty.
type onArc struct {
	now   Conditions
	round uint64 // of the change that last copied the list of runs
}

func compareID(c *Condition, id string) int { return strings.Compare(c.EntityID, id) }

// runOf returns the index of the run in which an entity's condition belongs. There must be at least one run, and none
// may be empty.
func runOf(runs []run, id string) int {
	at, _ := slices.BinarySearchFunc(runs, id, func(r run, id string) int {
		if r.conditions[0].EntityID <= id {
			return -1
		}
		return 1
	})
	return max(0, at-1)
}

// own makes sure that no reader shares the list of runs, copying it with room for one more if necessary.
func (a *onArc) own(round uint64) {
	if a.round != round {
		a.now.runs = append(make([]run, 0, len(a.now.runs)+1), a.now.runs...)
		a.round = round
	}
}

// ownRun makes sure that no reader shares the run, copying it with room for one more if necessary, and marks it stale.
func (a *onArc) ownRun(at int, round uint64) *run {
	r := &a.now.runs[at]
	if r.round != round {
		r.conditions = append(make([]*Condition, 0, len(r.conditions)+1), r.conditions...)
		r.round = round
	}
	r.stale = true
	return r
}

// add adds a condition whose entity has none on the arc yet. round is the number of the current publication.
func (a *onArc) add(c *Condition, round uint64) {
	a.own(round)
	a.now.count++
	if len(a.now.runs) == 0 {
		a.now.runs = append(a.now.runs, run{conditions: []*Condition{c}, round: round, stale: true})
		return
	}
	number := runOf(a.now.runs, c.EntityID)
	r := a.ownRun(number, round)
	at, _ := slices.BinarySearchFunc(r.conditions, c.EntityID, compareID)
	r.conditions = slices.Insert(r.conditions, at, c)
	if len(r.conditions) > maxRun {
		half := len(r.conditions) / 2
		second := run{conditions: slices.Clone(r.conditions[half:]), round: round, stale: true}
		clear(r.conditions[half:])
		r.conditions = r.conditions[:half]
		a.now.runs = slices.Insert(a.now.runs, number+1, second)
	}
}

// remove removes a condition, if it is on the arc.
func (a *onArc) remove(c *Condition, round uint64) {
	if a.now.find(c.EntityID) != c {
		return
	}
	a.own(round)
	a.now.count--
	number := runOf(a.now.runs, c.EntityID)
	r := a.ownRun(number, round)
	at, _ := slices.BinarySearchFunc(r.conditions, c.EntityID, compareID)
	r.conditions = slices.Delete(r.conditions, at, at+1)
	if len(r.conditions) == 0 {
		a.now.runs = slices.Delete(a.now.runs, number, number+1)
	}
}

// cost returns the cost of an arc, or of a copy of it, under its current conditions.
func (a *onArc) cost(g *graph.Graph, arc uint32) Cost {
	total := arcEffect{factor: 1}
	for i := range a.now.runs {
		r := &a.now.runs[i]
		if r.stale {
			r.effect, r.stale = effectOn(g, arc, r.conditions), false
		}
		total.add(r.effect)
	}
	of := &g.Arcs[arc]
	cost := Cost{
		Arc: arc, Open: slowed(of.Weight, total.factor, total.delay), Duration: slowed(of.Duration, total.factor, total.delay), Conditions: a.now,
	}
	cost.Weight = cost.Open
	if total.closed {
		cost.Weight = graph.Closed
	}
	return cost
}

// effectOn returns the combined effect of conditions on an arc.
func effectOn(g *graph.Graph, arc uint32, conditions []*Condition) arcEffect {
	of := &g.Arcs[arc]
	e := arcEffect{factor: 1}
	for _, c := range conditions {
		switch c.Impact.Effect {
		case Closes:
			e.closed = true
		case Slows:
			e.factor = math.Min(e.factor, c.Impact.factorOn(of, g.Pieces[of.Piece].Length))
		case Delays:
			e.delay += uint64(c.Impact.Delay)
		case Nothing:
		}
	}
	return e
}
