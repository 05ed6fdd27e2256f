package traffic

import (
	"slices"
	"time"

	"wayside/internal/ground/mapdata"
)

// conditionOf returns the condition of a pin, together with the pins merged into it (D15.13). old is the pin's previous
// condition, or nil; conditionOf returns it unchanged if its input is the same. If the matching budget runs out, the
// result keeps the old condition's effect and must be matched later.
func (n *Network) conditionOf(h *mapdata.Hit, id string, old *Condition, now time.Time, left *matchBudget) *Condition {
	disputed := mapdata.RoadDisputed(int(h.CountedConfirms), int(h.CountedDisputes))
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

// unmatched marks the condition as one that must still be matched to roads, and gives it the old condition's effect
// until then.
func (c *Condition) unmatched(h *mapdata.Hit, old *Condition) *Condition {
	c.Arcs, c.InForce, c.Impact = nil, false, Impact{}
	if old != nil {
		c.Arcs, c.InForce, c.Impact, c.Since = old.Arcs, old.InForce, old.Impact, old.Since
	}
	hit := *h
	hit.Merged = slices.Clone(h.Merged) // because the reader reuses its memory
	c.toMatch = &hit
	return c
}

// add adds one of the pins of the condition. It returns false if the pin was not matched.
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

// readAgain schedules a reread at the given time, if it lies in the future, because the condition changes then.
func (c *Condition) readAgain(at, now time.Time) {
	if at.After(now) && (c.until.IsZero() || at.Before(c.until)) {
		c.until = at
	}
}
