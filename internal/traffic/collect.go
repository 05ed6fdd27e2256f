package traffic

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// conditionOf is the condition that a pin is, with those that are merged into it (D15.13). old is the one that it was before, or nil: it is
// the answer if it was made of the same. Where the budget does not last, it does what the old one does, and must be matched later.
func (n *Network) conditionOf(h *mapdata.Hit, id string, old *Condition, now time.Time, left *matchBudget) *Condition {
	disputed := mapdata.StandingOf(int(h.Confirms), int(h.Disputes)) == mapdata.Disputed
	digest := n.digestOf(h, disputed)
	if old != nil && old.digest == digest && old.holds(now) {
		return old
	}
	created := time.UnixMilli(h.FirstSeenAt)
	c := &Condition{EntityID: id, Kind: h.Kind, Since: created, Type: n.rules.typeOf(h.Kind), Created: created, digest: digest, read: now}
	matched := c.add(n, h, id, h.Kind, disputed, now, left)
	c.Description, c.Starts, c.Ends = c.pins[0].description, c.pins[0].effect.starts, c.pins[0].effect.ends
	for i := range h.Merged {
		m := &h.Merged[i]
		hit := mapdata.Hit{Point: m.Point, ExternalID: m.ExternalID, Prepared: m.Prepared, ExpiresAt: m.ExpiresAt}
		id := mapdata.EntityID(m.Source, string(m.ExternalID))
		c.Merged = append(c.Merged, id)
		matched = c.add(n, &hit, id, m.Kind, disputed, now, left) && matched
	}
	if !matched {
		return c.unmatched(h, old)
	}
	slices.Sort(c.Arcs)
	c.Arcs = slices.Compact(c.Arcs)
	c.InForce = c.InForce && len(c.Arcs) > 0
	return c
}

// unmatched is the condition as long as it is not matched: it does what the old one does.
func (c *Condition) unmatched(h *mapdata.Hit, old *Condition) *Condition {
	c.Arcs, c.InForce, c.Impact = nil, false, Impact{}
	if old != nil {
		c.Arcs, c.InForce, c.Impact, c.Since = old.Arcs, old.InForce, old.Impact, old.Since
	}
	hit := *h
	hit.Merged = slices.Clone(h.Merged) // the reader uses its memory again
	c.toMatch = &hit
	return c
}

// add adds one of the pins that are the condition. It is false if the pin was not matched.
func (c *Condition) add(n *Network, h *mapdata.Hit, id string, kind mapdata.Kind, disputed bool, now time.Time, left *matchBudget) bool {
	p, matched := n.pinOf(h, id, left)
	if h.ExpiresAt != 0 {
		c.readAgain(time.UnixMilli(h.ExpiresAt), now)
	}
	c.pins = append(c.pins, p)
	for _, bound := range []time.Time{p.effect.starts, p.effect.ends} {
		if !bound.IsZero() {
			c.readAgain(bound, now)
		}
	}
	if now.Before(p.effect.starts) || !p.effect.ends.IsZero() && !now.Before(p.effect.ends) {
		return matched
	}
	impact := n.rules.impactOf(kind, &p.effect, disputed)
	arcs := p.arcs
	switch impact.Effect {
	case Nothing:
		return matched
	case Delays:
		arcs = p.nearest
	case Closes, Slows:
	}
	c.InForce = true
	c.Arcs = append(c.Arcs, arcs...)
	if p.effect.starts.After(c.Since) {
		c.Since = p.effect.starts
	}
	if c.Impact.Effect == Nothing || impact.Effect < c.Impact.Effect {
		c.Impact = impact // the gravest effect of the pins: closed, then slower, then a delay
	}
	return matched
}

// readAgain notes a time in the future at which the condition is another.
func (c *Condition) readAgain(at, now time.Time) {
	if at.After(now) && (c.until.IsZero() || at.Before(c.until)) {
		c.until = at
	}
}

// collection is all conditions that are known, in force or not, by what they are looked for.
type collection struct {
	network *Network
	byID    map[string]*Condition
	byArc   map[uint32][]*Condition // those in force
	byCell  map[geo.Cell][]*Condition
	changed map[uint32]bool // arcs since the last take

	unmatched []*Condition // in the order in which they are to be matched; those that are known no longer are passed over
}

// cells are about a kilometre high: most changes look into some four.
func cells() geo.Grid { return geo.Grid{Height: 0.01} }

func newCollection(n *Network) *collection {
	return &collection{
		network: n, byID: map[string]*Condition{}, byArc: map[uint32][]*Condition{}, byCell: map[geo.Cell][]*Condition{}, changed: map[uint32]bool{},
	}
}

// put adds a condition or replaces the one of its id. It is false if that one does the same.
func (x *collection) put(c *Condition) bool {
	old := x.byID[c.EntityID]
	if old != nil {
		if old == c {
			return false
		}
		if old.same(c) {
			return x.renew(old, c)
		}
		x.remove(old)
	}
	x.byID[c.EntityID] = c
	x.network.pins.keep(c.pins)
	if c.toMatch != nil {
		x.unmatched = append(x.unmatched, c)
	}
	for _, cell := range c.cells() {
		x.byCell[cell] = append(x.byCell[cell], c)
	}
	if !c.InForce {
		return true
	}
	for _, arc := range c.Arcs {
		x.byArc[arc] = append(x.byArc[arc], c)
		x.changed[arc] = true
	}
	return true
}

// renew has a condition know what its successor, which does the same, was made of. It is false if it is to be read again when it was.
func (x *collection) renew(old, next *Condition) bool {
	later := !old.until.Equal(next.until)
	x.network.pins.forget(old.pins)
	old.pins, old.digest, old.read, old.until, old.toMatch = next.pins, next.digest, next.read, next.until, next.toMatch
	if old.toMatch != nil {
		x.unmatched = append(x.unmatched, old)
	}
	x.network.pins.keep(old.pins)
	return later
}

func (x *collection) remove(c *Condition) {
	delete(x.byID, c.EntityID)
	x.network.pins.forget(c.pins)
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
		if left := without(x.byArc[arc], c); len(left) > 0 {
			x.byArc[arc] = left
		} else {
			delete(x.byArc, arc)
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

// take gives the costs of the arcs that changed since the last call, with their copies, in the order of arcs.
func (x *collection) take() []Cost {
	g := x.network.graph
	var costs []Cost
	for arc := range x.changed {
		on := slices.Clone(x.byArc[arc])
		slices.SortFunc(on, func(a, b *Condition) int { return cmp.Compare(a.EntityID, b.EntityID) })
		x.network.withCopies(arc, func(arc uint32) { costs = append(costs, costOf(g, arc, on)) })
	}
	clear(x.changed)
	slices.SortFunc(costs, func(a, b Cost) int { return cmp.Compare(a.Arc, b.Arc) })
	return costs
}
