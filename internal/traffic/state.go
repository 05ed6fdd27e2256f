package traffic

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"wayside/internal/mapdata"
	"wayside/internal/roads/graph"
)

// Condition is what one entity, or several that are merged into one pin, does to arcs. What is exported never changes.
type Condition struct {
	EntityID string   // of the pin that is shown
	Merged   []string // the entities of the pins that are merged into it
	Kind     mapdata.Kind
	Impact   Impact
	Since    time.Time
	Arcs     []uint32 // in order, without copies
	InForce  bool     // false: it begins later, or has ended

	// What drivers are told of it.
	Type         Type
	Description  string // the source's own words, of one line; empty: it has none
	Created      time.Time
	Starts, Ends time.Time // what the source says; zero: nothing

	// What follows belongs to the follower.
	pins    []*pin
	digest  uint64       // of all that it was made of
	read    time.Time    // when it was made
	until   time.Time    // when it must be read again; zero: nothing that is known moves it
	toMatch *mapdata.Hit // what it is made of, as long as it is not matched to roads; nil: it is
	again   entry        // of until, in the collection's timetable
	place   uint64       // its number in the collection's queue of what is to be matched; 0: it is not in it
}

// holds says whether a condition that is made of the same again is the same as well.
func (c *Condition) holds(now time.Time) bool {
	return !now.Before(c.read) && (c.until.IsZero() || now.Before(c.until))
}

// same says whether two conditions do the same to roads and readers.
func (c *Condition) same(o *Condition) bool {
	return c.Kind == o.Kind && c.Impact == o.Impact && c.InForce == o.InForce && c.Since.Equal(o.Since) &&
		slices.Equal(c.Merged, o.Merged) && c.Description == o.Description && c.Starts.Equal(o.Starts) && c.Ends.Equal(o.Ends) &&
		slices.Equal(c.Arcs, o.Arcs) && slices.EqualFunc(c.pins, o.pins, func(a, b *pin) bool { return a.id == b.id && a.at == b.at })
}

// Cost is what driving an arc costs under the conditions on it.
type Cost struct {
	Arc        uint32
	Weight     uint32 // graph.Closed: it must not be driven from one end to the other
	Duration   uint32 // ms
	Open       uint32 // ms of weight without closures, for those who begin or end on it
	Conditions Conditions
}

// State is the conditions at one moment. It never changes.
type State struct {
	Version uint64  // the metric_version of D15.17
	pages   []*page // nil: no condition is on their arcs
}

// page is the costs of those of some arcs that follow each other on which conditions are.
type page struct {
	has   [pageArcs / 64]uint64 // a bit for each arc
	costs []Cost                // in order
}

const pageArcs = 512

func newState(g *graph.Graph) *State {
	return &State{pages: make([]*page, (len(g.Arcs)+pageArcs-1)/pageArcs)}
}

// Empty says that no condition is on any arc.
func (s *State) Empty() bool {
	return !slices.ContainsFunc(s.pages, func(p *page) bool { return p != nil })
}

// Cost is what an arc costs, and false if no condition is on it: then it costs what the graph says.
func (s *State) Cost(arc uint32) (Cost, bool) {
	if c := s.cost(arc); c != nil {
		return *c, true
	}
	return Cost{}, false
}

// cost is what an arc costs, or nil. Each arc of each route is looked up.
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

// Weight is the weight of an arc of the graph now.
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

// with is the state after changes: costs in the order of their arcs, those without conditions no longer there. Its cost is that
// of the pages with changes and a copy of the list of pages.
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

// with is the page after changes; nil: no condition is left.
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

// heaviest is the weight beyond which no arc goes: some six days, far enough below Closed for sums in the router.
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
