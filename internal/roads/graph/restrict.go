package graph

import (
	"cmp"
	"slices"

	"wayside/internal/roads/car"
)

// Bounds of the cost of restrictions over ways: each arc of a via may become a copy, with all of its turns.
const (
	maxViaArcs    = 500 // of one restriction
	copiesPerArc  = 1   // in total
	freeCopies    = 1000
	restrictPairs = 64 // pairs of ways from and to of one restriction
)

// applyRestrictions adds the restrictions of relations to the automaton (D15.9), in the order of their ids.
func (b *builder) applyRestrictions() {
	allowed := copiesPerArc*b.baseArcs + freeCopies
	for i := range b.restrictions {
		r := &b.restrictions[i]
		reason := map[car.Outcome]string{
			car.ConditionalIgnored: relationTimed, car.UnknownValueIgnored: relationUnknown, car.MembersIgnored: relationMembers,
		}[r.outcome]
		if reason == "" && len(r.From)*len(r.To) > restrictPairs {
			reason = relationMembers
		}
		if reason == "" {
			reason = b.apply(r, allowed)
		}
		if reason != "" {
			b.counts.LeftOut[reason]++
			b.counts.Restrictions.Ignored++
			continue
		}
		b.counts.Restrictions.Applied++
	}
}

// apply adds a restriction to the automaton. It returns the reason if the restriction has no effect, or "".
func (b *builder) apply(r *restriction, allowed int) (reason string) {
	applied := false
	for from, to := range r.Pairs() {
		path, after, why := b.path(r, from, to)
		if why == "" && len(b.automaton.copies)+len(path)-1 > allowed {
			why = relationTooLarge
		}
		if why != "" {
			reason = why
			continue
		}
		b.automaton.add(path, after, r.Only)
		applied = true
	}
	if applied {
		return ""
	}
	return reason
}

// path returns the arcs of a restriction: the path that a car comes by, and the arc after it onto which it must not, or
// must, turn.
func (b *builder) path(r *restriction, from, to int64) (path []uint32, after uint32, reason string) {
	first, ok := b.findWay(from)
	last, found := b.findWay(to)
	if !ok || !found {
		return nil, 0, relationAbsent
	}
	if len(r.ViaWays) == 0 {
		return b.overNode(first, last, r.via)
	}
	via := make([]uint32, len(r.ViaWays))
	for i, id := range r.ViaWays {
		if via[i], ok = b.findWay(id); !ok {
			return nil, 0, relationAbsent
		}
	}
	return b.overWays(first, via, last)
}

func (b *builder) findWay(id int64) (uint32, bool) {
	at, ok := slices.BinarySearchFunc(b.graph.Ways, id, func(w Way, id int64) int { return cmp.Compare(w.OSM, id) })
	return uint32(at), ok
}

// findViaNodes finds the nodes of restrictions over a node. It must run while nodeOf is available.
func (b *builder) findViaNodes() {
	for i := range b.restrictions {
		r := &b.restrictions[i]
		r.via = None
		if len(r.ViaWays) > 0 {
			continue
		}
		if index, ok := slices.BinarySearch(b.nodes.ids, r.ViaNode); ok && b.nodes.has(uint32(index)) {
			if r.via = b.nodeOf[index]; r.via == None {
				r.via = parted // inside a way, where no way ends
			}
		}
	}
}

func (b *builder) overNode(from, to, via uint32) (path []uint32, after uint32, reason string) {
	switch via {
	case None:
		return nil, 0, relationAbsent
	case parted:
		return nil, 0, relationParted
	}
	return b.joined(b.arcInto(from, via), nil, b.arcOutOf(to, via))
}

// joined returns the path, if its arcs are connected and open.
func (b *builder) joined(from uint32, via []uint32, to uint32) (path []uint32, after uint32, reason string) {
	switch {
	case from == parted || to == parted:
		return nil, 0, relationParted
	case from == None || to == None:
		return nil, 0, relationAbsent
	}
	path = append([]uint32{from}, via...)
	for _, arc := range path {
		if b.isBarred(b.graph.Arcs[arc].To) {
			return nil, 0, relationAbsent
		}
	}
	return path, to, ""
}

// parted is returned by arcInto and arcOutOf for a way that does not begin or end at the node, or does both. It also
// stands for a node at which no way begins or ends.
const parted = None - 1

// arcInto returns the arc of a way that arrives at the node at which the way begins or ends, or None if it is closed.
func (b *builder) arcInto(way, node uint32) uint32 {
	e, ok := b.endOf(way, node)
	if !ok {
		return parted
	}
	if e == noEnd {
		return None
	}
	return b.graph.out(e ^ 1)
}

// arcOutOf returns the arc of a way that leaves the node at which the way begins or ends, or None if it is closed.
func (b *builder) arcOutOf(way, node uint32) uint32 {
	e, ok := b.endOf(way, node)
	if !ok {
		return parted
	}
	if e == noEnd {
		return None
	}
	return b.graph.out(e)
}

const noEnd = end(None)

// endOf returns the end of a way at the node at which it begins or ends. It returns noEnd if the extract lacks the nodes
// next to it, and false if the way does not begin or end at the node, or does both.
func (b *builder) endOf(way, node uint32) (end, bool) {
	ends := b.wayEnds[way]
	if (ends[0] == node) == (ends[1] == node) {
		return noEnd, false
	}
	first, after := b.wayFirst[way], b.wayFirst[way+1]
	switch {
	case first == after:
	case ends[0] == node && b.pieceEnds[first][0] == node:
		return end(first << 1), true
	case ends[1] == node && b.pieceEnds[after-1][1] == node:
		return end((after-1)<<1 | 1), true
	}
	return noEnd, true
}

// overWays finds the one direction in which a car can drive from, all of via, and to.
func (b *builder) overWays(from uint32, via []uint32, to uint32) (path []uint32, after uint32, reason string) {
	reason = relationParted
	for _, start := range b.wayEnds[via[0]] {
		if start == None {
			continue
		}
		chain, end, why := b.chain(via, start)
		if why == relationParted {
			continue
		}
		if why == "" && (b.touches(from, start, end) != 1 || b.touches(to, start, end) != 1) {
			continue
		}
		if why == "" {
			path, after, why = b.joined(b.arcInto(from, start), chain, b.arcOutOf(to, end))
		}
		if why == "" {
			return path, after, ""
		}
		if reason == relationParted {
			reason = why
		}
	}
	return nil, 0, reason
}

// touches returns how many of the ends of a way lie at one of two nodes.
func (b *builder) touches(way, x, y uint32) int {
	n := 0
	for _, node := range b.wayEnds[way] {
		if node != None && (node == x || node == y) {
			n++
		}
	}
	return n
}

// chain returns the arcs of whole ways, one after another from a node on, and the node at which they end.
func (b *builder) chain(ways []uint32, node uint32) (arcs []uint32, end uint32, reason string) {
	for _, way := range ways {
		first, last := b.wayEnds[way][0], b.wayEnds[way][1]
		if first == None || last == None || (first == node) == (last == node) {
			return nil, 0, relationParted
		}
		if len(arcs)+int(b.wayFirst[way+1]-b.wayFirst[way]) > maxViaArcs {
			return nil, 0, relationTooLarge
		}
		var whole bool
		if arcs, whole = b.wholeWay(arcs, way, last == node); !whole {
			return nil, 0, relationAbsent
		}
		node = first + last - node
	}
	return arcs, node, ""
}

// wholeWay appends the arcs of a way from one end to the other. It returns false if there is a gap, or a piece is
// closed.
func (b *builder) wholeWay(arcs []uint32, way uint32, backward bool) ([]uint32, bool) {
	first, after := b.wayFirst[way], b.wayFirst[way+1]
	for piece := first; piece < after; piece++ {
		if piece > first && b.pieceEnds[piece-1][1] != b.pieceEnds[piece][0] {
			return arcs, false
		}
		arc := b.graph.Pieces[piece].Forward
		if backward {
			arc = b.graph.Pieces[first+after-1-piece].Backward
		}
		if arc == None {
			return arcs, false
		}
		arcs = append(arcs, arc)
	}
	return arcs, first < after && b.pieceEnds[first][0] == b.wayEnds[way][0] && b.pieceEnds[after-1][1] == b.wayEnds[way][1]
}
