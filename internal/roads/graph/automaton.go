package graph

import "slices"

// automaton determines what restrictions forbid to a car that came by given arcs. Its states are arcs, by their index,
// and copies, which are arcs after certain others: one for each prefix, of at least two arcs, of a path that a
// restriction over ways forbids or prescribes. A car is in the state of the longest such prefix that it has just driven,
// as in the string search of Aho and Corasick.
type automaton struct {
	arcs     uint32
	copies   []copied
	children map[uint64]uint32 // by state and arc
	rules    []rule            // sorted by state
	first    []uint32          // index of the first rule of each state, and one more
	branches []bool            // by state: whether it has children
}

// copied is an arc after certain others.
type copied struct {
	arc    uint32
	parent uint32 // the state one arc before
	suffix uint32 // the state of the longest proper suffix of this path that is a prefix too
	depth  uint32
	target uint32 // the equivalent state that replaces this one, or itself
}

// rule is what is forbidden in a state: to turn onto an arc or, with only, onto any other.
type rule struct {
	state, to uint32
	only      bool
}

func newAutomaton(arcs uint32) automaton {
	return automaton{arcs: arcs, children: map[uint64]uint32{}}
}

func (a *automaton) states() int { return int(a.arcs) + len(a.copies) }

func (a *automaton) arcOf(state uint32) uint32 {
	if state < a.arcs {
		return state
	}
	return a.copies[state-a.arcs].arc
}

func key(state, arc uint32) uint64 { return uint64(state)<<32 | uint64(arc) }

// add creates the states of a path of arcs, and adds a rule to its last one.
func (a *automaton) add(path []uint32, to uint32, only bool) {
	state := path[0]
	for i, arc := range path[1:] {
		next, ok := a.children[key(state, arc)]
		if !ok {
			next = uint32(a.states())
			a.children[key(state, arc)] = next
			a.copies = append(a.copies, copied{arc: arc, parent: state, depth: uint32(i) + 2, target: next})
		}
		state = next
	}
	a.rules = append(a.rules, rule{state, to, only})
}

// finish prepares the automaton for use. It must be called after the last add and before any other method.
func (a *automaton) finish() {
	slices.SortFunc(a.rules, compareRules)
	a.rules = slices.Compact(a.rules)
	a.first = make([]uint32, a.states()+1)
	for _, r := range a.rules {
		a.first[r.state+1]++
	}
	for i := 1; i < len(a.first); i++ {
		a.first[i] += a.first[i-1]
	}
	a.branches = make([]bool, a.states())
	for i := range a.copies {
		a.branches[a.copies[i].parent] = true
	}
	order := make([]uint32, len(a.copies))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(x, y uint32) int { return int(a.copies[x].depth) - int(a.copies[y].depth) })
	for _, i := range order {
		c := &a.copies[i]
		if c.parent < a.arcs {
			c.suffix = c.arc
		} else {
			c.suffix = a.next(a.copies[c.parent-a.arcs].suffix, c.arc)
		}
	}
}

func compareRules(a, b rule) int {
	switch {
	case a.state != b.state:
		return int(int64(a.state) - int64(b.state))
	case a.to != b.to:
		return int(int64(a.to) - int64(b.to))
	case a.only == b.only:
		return 0
	case b.only:
		return -1
	}
	return 1
}

// next returns the state after driving onto an arc in a state.
func (a *automaton) next(state, arc uint32) uint32 {
	for {
		if a.branches[state] {
			if next, ok := a.children[key(state, arc)]; ok {
				return next
			}
		}
		if state < a.arcs {
			return arc
		}
		state = a.copies[state-a.arcs].suffix
	}
}

// forbids reports whether a car in a state must not turn onto an arc.
func (a *automaton) forbids(state, arc uint32) bool {
	for {
		for _, r := range a.rules[a.first[state]:a.first[state+1]] {
			if r.only != (r.to == arc) {
				return true
			}
		}
		if state < a.arcs {
			return false
		}
		state = a.copies[state-a.arcs].suffix
	}
}

// minimize finds copies that allow the same turns as their suffix state, and redirects turns to that state, until there
// are no more such copies.
func (a *automaton) minimize(g *Graph, lists [][]Turn) {
	for changed := true; changed; {
		changed = false
		for i := len(a.copies) - 1; i >= 0; i-- {
			c := &a.copies[i]
			if c.target != a.arcs+uint32(i) {
				continue
			}
			other := a.resolve(c.suffix)
			var turns []Turn
			if other < a.arcs {
				turns = g.TurnsFrom(other)
			} else {
				turns = lists[other-a.arcs]
			}
			if a.same(lists[i], turns) {
				c.target, changed = other, true
			}
		}
	}
}

// resolve returns the state that replaces a state, or the state itself.
func (a *automaton) resolve(state uint32) uint32 {
	for state >= a.arcs && a.copies[state-a.arcs].target != state {
		state = a.copies[state-a.arcs].target
	}
	return state
}

func (a *automaton) same(x, y []Turn) bool {
	return slices.EqualFunc(x, y, func(s, t Turn) bool { return a.resolve(s.To) == a.resolve(t.To) })
}

// isKept reports whether a state is not replaced by another.
func (a *automaton) isKept(state uint32) bool { return a.resolve(state) == state }

// number assigns each state the index of its arc. Copies to which no turn leads get None.
func (a *automaton) number(g *Graph, lists [][]Turn) []uint32 {
	numbers := make([]uint32, a.states())
	for i := range numbers {
		numbers[i] = None
	}
	var reached []uint32
	reach := func(turns []Turn) {
		for _, t := range turns {
			if s := a.resolve(t.To); s >= a.arcs && numbers[s] == None {
				numbers[s] = 0
				reached = append(reached, s)
			}
		}
	}
	reach(g.Turns)
	for len(reached) > 0 {
		s := reached[len(reached)-1]
		reached = reached[:len(reached)-1]
		reach(lists[s-a.arcs])
	}
	after := a.arcs
	for s := range numbers {
		switch {
		case uint32(s) < a.arcs:
			numbers[s] = uint32(s)
		case numbers[s] != None:
			numbers[s] = after
			after++
		}
	}
	for s := a.arcs; s < uint32(len(numbers)); s++ {
		if other := a.resolve(s); other != s {
			numbers[s] = numbers[other]
		}
	}
	return numbers
}
