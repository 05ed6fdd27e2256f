package traffic

import (
	"cmp"
	"maps"
	"slices"

	"wayside/internal/geo"
)

// collection is all conditions that are known, in force or not, by what they are looked for.
type collection struct {
	network *Network
	byID    map[string]*Condition
	byArc   map[uint32]*onArc // those in force
	byCell  map[geo.Cell][]*Condition
	changed map[uint32]bool // arcs since the last take
	round   uint64          // grows with each take; from 1

	again     timetable
	unmatched unmatched
}

// cells are about a kilometre high: most changes look into some four.
func cells() geo.Grid { return geo.Grid{Height: 0.01} }

func newCollection(n *Network) *collection {
	return &collection{
		network: n, byID: map[string]*Condition{}, byArc: map[uint32]*onArc{}, byCell: map[geo.Cell][]*Condition{}, changed: map[uint32]bool{},
		round: 1,
	}
}

// put adds a condition, or replaces the one of its id.
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

// renew has a condition know what its successor, which does the same, was made of.
func (x *collection) renew(old, next *Condition) {
	x.network.pins.forget(old.pins)
	old.pins, old.digest, old.read, old.until, old.toMatch = next.pins, next.digest, next.read, next.until, next.toMatch
	x.schedule(old)
	x.network.pins.keep(old.pins)
}

// schedule has a condition read again, and matched, when it must be. A condition has one time.
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

// without is the list without a condition, in another order: a hundred thousand may end in the same instant, so nothing is copied.
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

// within are the conditions with a pin in a circle.
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

// take returns the costs of the arcs that changed since the last call, with their copies, in the order of arcs.
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
