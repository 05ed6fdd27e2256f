package traffic

import (
	"iter"
	"math"
	"slices"
	"strings"

	"wayside/internal/roads/graph"
)

// Conditions are those on one arc, ordered by the ids of their entities. They never change.
type Conditions struct {
	runs  []run
	count int
}

// Len returns how many there are.
func (c Conditions) Len() int { return c.count }

// All yields them in order.
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

// find returns the condition of an entity; nil: it has none here.
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

// run is conditions that follow each other on an arc, at most maxRun, with what they do to it together. Where thousands of
// works are on one motorway, a change of one of them copies one run and the list of runs, and neither sorts nor adds up the
// others.
type run struct {
	conditions []*Condition
	round      uint64 // of the change that copied it last: no reader has it before the next publication
	stale      bool   // effect is that of earlier conditions
	effect     arcEffect
}

const maxRun = 128

// arcEffect is what conditions do to an arc together: closed wins, then the slowest speed; seconds add up (D15.14).
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

// onArc is the conditions in force on one arc, which change. Its zero value is empty.
type onArc struct {
	now   Conditions
	round uint64 // of the change that copied the list of runs last
}

func compareID(c *Condition, id string) int { return strings.Compare(c.EntityID, id) }

// runOf returns the index of the run that an entity belongs into. There is at least one run, and none is empty.
func runOf(runs []run, id string) int {
	at, _ := slices.BinarySearchFunc(runs, id, func(r run, id string) int {
		if r.conditions[0].EntityID <= id {
			return -1
		}
		return 1
	})
	return max(0, at-1)
}

// own makes the list of runs one that no reader has, with room for one more.
func (a *onArc) own(round uint64) {
	if a.round != round {
		a.now.runs = append(make([]run, 0, len(a.now.runs)+1), a.now.runs...)
		a.round = round
	}
}

// ownRun makes a run one that no reader has, with room for one more.
func (a *onArc) ownRun(at int, round uint64) *run {
	r := &a.now.runs[at]
	if r.round != round {
		r.conditions = append(make([]*Condition, 0, len(r.conditions)+1), r.conditions...)
		r.round = round
	}
	r.stale = true
	return r
}

// add adds a condition whose entity has none here yet. round grows with each publication.
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

// remove removes a condition, if it is here.
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

// cost returns what an arc, or a copy of it, costs under what is on it now.
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

// effectOn returns what conditions do to an arc together.
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
