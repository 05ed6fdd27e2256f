package traffic

import (
	"cmp"
	"maps"
	"slices"

	"wayside/internal/ground/geo"
)

// collection holds all known conditions, in force or not, indexed for each kind of lookup.
type collection struct {
	network *Network
	byID    map[string]*Condition
	byArc   map[uint32]*onArc // in force only
	byCell  map[geo.Cell][]*Condition
	changed map[uint32]bool // arcs that changed since the last call of take
	round   uint64          // grows with each call of take; starts at 1

	again     timetable
	unmatched unmatched
}

// cells returns a grid with cells about a kilometre high, so that most changes touch about four of them.
func cells() geo.Grid { return geo.Grid{Height: 0.01} }

func newCollection(n *Network) *collection {
	return &collection{
		network: n, byID: map[string]*Condition{}, byArc: map[uint32]*onArc{}, byCell: map[geo.Cell][]*Condition{}, changed: map[uint32]bool{},
		round: 1,
	}
}

// put adds a condition, or replaces the one with the same id.
func (x *collection) put(c *Condition) {
	old := x.byID[c.EntityID]
	if old != nil {
		if old == c {
			return
		}
		if old.same(c) {
			x.renew(old, c)
			return
		}
		x.remove(old)
	}
	x.byID[c.EntityID] = c
	x.network.pins.keep(c.pins)
	x.schedule(c)
	for _, cell := range c.cells() {
		x.byCell[cell] = append(x.byCell[cell], c)
	}
	if !c.InForce {
		return
	}
	for _, arc := range c.Arcs {
		on := x.byArc[arc]
		if on == nil {
			on = new(onArc)
			x.byArc[arc] = on
		}
		on.add(c, x.round)
		x.changed[arc] = true
	}
}

// renew updates a condition from its successor, which has the same effect but was read from newer input.
func (x *collection) renew(old, next *Condition) {
	x.network.pins.forget(old.pins)
	old.pins, old.digest, old.read, old.until, old.toMatch = next.pins, next.digest, next.read, next.until, next.toMatch
	x.schedule(old)
	x.network.pins.keep(old.pins)
}

// schedule sets the one time at which the condition is read again, and adds it to or removes it from the queue for
// matching.
func (x *collection) schedule(c *Condition) {
	x.again.set(&c.again, c.until, geo.Circle{Center: c.pins[0].at, Radius: 1})
	if c.toMatch != nil {
		x.unmatched.add(c)
	} else {
		x.unmatched.remove(c)
	}
}

func (x *collection) remove(c *Condition) {
	delete(x.byID, c.EntityID)
	x.network.pins.forget(c.pins)
	x.again.remove(&c.again)
	x.unmatched.remove(c)
	for _, cell := range c.cells() {
		if left := without(x.byCell[cell], c); len(left) > 0 {
			x.byCell[cell] = left
		} else {
			delete(x.byCell, cell)
		}
	}
	if !c.InForce {
		return
	}
	for _, arc := range c.Arcs {
		if on := x.byArc[arc]; on != nil {
			on.remove(c, x.round)
			if on.now.Len() == 0 {
				delete(x.byArc, arc)
			}
		}
		x.changed[arc] = true
	}
}

// without removes a condition from a list in place and does not keep the order. It copies nothing, because a hundred
// thousand conditions may end in the same instant.
func without(list []*Condition, c *Condition) []*Condition {
	last := len(list) - 1
	if at := slices.Index(list, c); at >= 0 {
		list[at], list[last] = list[last], nil
		return list[:last]
	}
	return list
}

func (c *Condition) cells() []geo.Cell {
	all := make([]geo.Cell, 0, len(c.pins))
	for _, p := range c.pins {
		if cell := cells().Cell(p.at); !slices.Contains(all, cell) {
			all = append(all, cell)
		}
	}
	return all
}

// within returns the conditions that have a pin in the circle.
func (x *collection) within(area geo.Circle) []*Condition {
	found := map[*Condition]bool{}
	grid := cells()
	for cell := range grid.Cells(area.Box()) {
		for _, c := range x.byCell[cell] {
			if slices.ContainsFunc(c.pins, within(area)) {
				found[c] = true
			}
		}
	}
	return slices.Collect(maps.Keys(found))
}

func within(area geo.Circle) func(*pin) bool {
	return func(p *pin) bool { return geo.Distance(p.at, area.Center) <= area.Radius }
}

// take returns the costs of the arcs that changed since the last call, and of their copies, sorted by arc.
func (x *collection) take() []Cost {
	g := x.network.graph
	var costs []Cost
	for arc := range x.changed {
		on := x.byArc[arc]
		if on == nil {
			on = new(onArc)
		}
		x.network.withCopies(arc, func(arc uint32) { costs = append(costs, on.cost(g, arc)) })
	}
	clear(x.changed)
	x.round++
	slices.SortFunc(costs, func(a, b Cost) int { return cmp.Compare(a.Arc, b.Arc) })
	return costs
}
