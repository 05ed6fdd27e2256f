package traffic

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/roads/graph"
)

// Condition is what one entity, or several that are merged into one pin, does to arcs. Its exported fields never change.
type Condition struct {
	EntityID string   // of the pin that is shown
	Merged   []string // entities that are merged into the pin
	Kind     mapdata.Kind
	Impact   Impact
	Since    time.Time
	Arcs     []uint32 // sorted, without copies
	InForce  bool     // false: it begins later, or has ended

	// Fields for display to drivers.
	Type         Type
	Description  string // the source's own words, on one line; empty: none
	Created      time.Time
	Starts, Ends time.Time // as the source states them; zero: not stated

	// Fields that only the follower uses.
	pins    []*pin
	digest  uint64       // of the input that it was made from
	read    time.Time    // when it was made
	until   time.Time    // when it must be read again; zero: it does not change with time
	toMatch *mapdata.Hit // the input, until it is matched to roads; nil: it is matched
	again   entry        // for until, in the collection's timetable
	place   uint64       // its number in the collection's queue for matching; 0: not queued
}

// holds reports whether the condition is still valid at now, so that making it again from the same input would change
// nothing.
func (c *Condition) holds(now time.Time) bool {
	return !now.Before(c.read) && (c.until.IsZero() || now.Before(c.until))
}

// same reports whether two conditions have the same effect on roads and look the same to readers.
func (c *Condition) same(o *Condition) bool {
	return c.Kind == o.Kind && c.Impact == o.Impact && c.InForce == o.InForce && c.Since.Equal(o.Since) &&
		slices.Equal(c.Merged, o.Merged) && c.Description == o.Description && c.Starts.Equal(o.Starts) && c.Ends.Equal(o.Ends) &&
		slices.Equal(c.Arcs, o.Arcs) && slices.EqualFunc(c.pins, o.pins, func(a, b *pin) bool { return a.id == b.id && a.at == b.at })
}

// Cost is the cost of driving an arc under the conditions on it.
type Cost struct {
	Arc        uint32
	Weight     uint32 // graph.Closed if the arc must not be driven from one end to the other
	Duration   uint32 // ms
	Open       uint32 // weight in ms without closures, for routes that begin or end on the arc
	Conditions Conditions
}

// State is a snapshot of the conditions. It never changes.
type State struct {
	Version uint64  // the metric_version of D15.17
	pages   []*page // nil where no arc has conditions
}

// page holds the costs of the arcs with conditions, among a fixed number of consecutive arcs.
type page struct {
	has   [pageArcs / 64]uint64 // a bit for each arc
	costs []Cost                // sorted by arc
}

const pageArcs = 512

func newState(g *graph.Graph) *State {
	return &State{pages: make([]*page, (len(g.Arcs)+pageArcs-1)/pageArcs)}
}

// Empty reports whether no arc has a condition.
func (s *State) Empty() bool {
	return !slices.ContainsFunc(s.pages, func(p *page) bool { return p != nil })
}

// Cost returns the cost of an arc, and false if the arc has no conditions, in which case the graph's cost applies.
func (s *State) Cost(arc uint32) (Cost, bool) {
	if c := s.cost(arc); c != nil {
		return *c, true
	}
	return Cost{}, false
}

// cost returns a pointer to the cost of an arc, or nil. It avoids a copy, because each arc of each route is looked up.
func (s *State) cost(arc uint32) *Cost {
	p := s.pages[arc/pageArcs]
	if p == nil {
		return nil
	}
	word, bit := arc%pageArcs/64, arc%64
	if p.has[word]>>bit&1 == 0 {
		return nil
	}
	at := bits.OnesCount64(p.has[word] & (1<<bit - 1))
	for _, before := range p.has[:word] {
		at += bits.OnesCount64(before)
	}
	return &p.costs[at]
}

// Weight returns the current weight of an arc of the graph.
func (s *State) Weight(g *graph.Graph, arc uint32) uint32 {
	if c := s.cost(arc); c != nil {
		return c.Weight
	}
	return g.Arcs[arc].Weight
}

// Costs yields the costs of all arcs with conditions, in order.
func (s *State) Costs(yield func(Cost) bool) {
	for _, p := range s.pages {
		if p == nil {
			continue
		}
		for _, c := range p.costs {
			if !yield(c) {
				return
			}
		}
	}
}

// with returns the state after changes, which are costs sorted by arc; a cost without conditions removes the arc's
// entry. It copies the pages with changes and the list of pages, nothing else.
func (s *State) with(changes []Cost, version uint64) *State {
	next := &State{Version: version, pages: slices.Clone(s.pages)}
	for len(changes) > 0 {
		number := changes[0].Arc / pageArcs
		here := 1
		for here < len(changes) && changes[here].Arc/pageArcs == number {
			here++
		}
		next.pages[number] = next.pages[number].with(changes[:here])
		changes = changes[here:]
	}
	return next
}

// with returns the page after changes, or nil if no condition is left.
func (p *page) with(changes []Cost) *page {
	var old []Cost
	if p != nil {
		old = p.costs
	}
	next := &page{costs: make([]Cost, 0, len(old)+len(changes))}
	for len(old) > 0 || len(changes) > 0 {
		switch {
		case len(changes) == 0 || len(old) > 0 && old[0].Arc < changes[0].Arc:
			next.add(old[0])
			old = old[1:]
			continue
		case len(old) > 0 && old[0].Arc == changes[0].Arc:
			old = old[1:]
		}
		if changes[0].Conditions.Len() > 0 {
			next.add(changes[0])
		}
		changes = changes[1:]
	}
	if len(next.costs) == 0 {
		return nil
	}
	return next
}

func (p *page) add(c Cost) {
	p.costs = append(p.costs, c)
	p.has[c.Arc%pageArcs/64] |= 1 << (c.Arc % 64)
}

// heaviest is the largest weight that slow traffic and delays can give an arc: some six days, far enough below Closed
// that sums in the router do not overflow.
const heaviest = 1 << 29

func slowed(ms uint32, factor float64, delay uint64) uint32 {
	return uint32(math.Min(heaviest, math.Round(float64(ms)/factor)+float64(delay)))
}

// Conditions returns the conditions on an arc, ordered by the ids of their entities.
func (s *State) Conditions(arc uint32) Conditions {
	if c := s.cost(arc); c != nil {
		return c.Conditions
	}
	return Conditions{}
}
