package graph

import (
	"cmp"
	"math"
	"slices"

	"wayside/internal/roads/car"
)

// maxEnds is the number of ends of pieces that may meet at a node: n ends have n² turns. Real ones have fewer than 20.
const maxEnds = 64

// turns finds the allowed turns at each node, and makes the copies of arcs that restrictions over ways need, with their
// turns.
func (b *builder) turns() error {
	g := b.graph
	b.automaton = newAutomaton(uint32(b.baseArcs))
	b.applyRestrictions()
	b.automaton.finish()
	states := b.automaton.states()
	lists := make([][]Turn, states-b.baseArcs) // of copies
	var buffer []Turn
	g.FirstTurn, g.Turns = make([]uint32, 1, states+1), make([]Turn, 0, b.expectTurns())
	for arc := range uint32(b.baseArcs) {
		buffer = b.turnsOf(arc, buffer[:0])
		g.Turns = append(g.Turns, buffer...)
		if err := fits("turns", len(g.Turns)); err != nil {
			return err
		}
		g.FirstTurn = append(g.FirstTurn, uint32(len(g.Turns)))
	}
	for i := range lists {
		lists[i] = b.turnsOf(uint32(b.baseArcs+i), nil)
	}
	b.automaton.minimize(g, lists)
	b.addCopies(lists)
	return fits("turns", len(g.Turns))
}

// expectTurns estimates the number of turns: from each arc onto each other one, and back where a road ends.
func (b *builder) expectTurns() int {
	n := 0
	for node := range b.graph.Nodes {
		in, out, both := 0, 0, 0
		for _, e := range b.endsAt(uint32(node)) {
			leaves, arrives := b.graph.out(e) != None, b.graph.out(e^1) != None
			if leaves {
				out++
			}
			if arrives {
				in++
			}
			if leaves && arrives {
				both++
			}
		}
		if in*out == both || b.isBarred(uint32(node)) {
			n += both
		} else {
			n += in*out - both
		}
	}
	return n
}

// turnsOf appends the turns that are allowed from a state of the automaton: an arc, or an arc after certain others. They
// are in the order of the ends at the node, with turning back last.
func (b *builder) turnsOf(state uint32, turns []Turn) []Turn {
	g := b.graph
	arc := b.automaton.arcOf(state)
	node, arrival := g.Arcs[arc].To, g.arrival(arc)
	ends := b.endsAt(node)
	barred := b.isBarred(node)
	if !barred {
		for _, e := range ends {
			if to := g.out(e); e != arrival && to != None && !b.automaton.forbids(state, to) {
				turns = append(turns, b.turn(state, to, false))
			}
		}
	}
	back := g.out(arrival)
	if back == None || b.automaton.forbids(state, back) {
		return turns
	}
	allowed := car.TurningBack{
		RoadEnds: len(ends) == 1, Barred: barred, AtPlace: b.sign(node).TurningPlace, NothingElse: len(turns) == 0,
		ReverseLane: b.drive(arc).ReverseLane,
	}
	if !barred { // not where thousands of ends meet, because each would look at all others
		allowed.TwoWay = b.twoWay(ends)
	}
	if allowed.Allowed() {
		turns = append(turns, b.turn(state, back, true))
	}
	return turns
}

func sortTurns(turns []Turn) []Turn {
	slices.SortFunc(turns, func(a, b Turn) int { return cmp.Compare(a.To, b.To) })
	return turns
}

func (b *builder) isBarred(node uint32) bool {
	return b.sign(node).Barred || len(b.endsAt(node)) > maxEnds
}

// twoWay returns how many of the roads at a node are open in both directions.
func (b *builder) twoWay(ends []end) int {
	n := 0
	for _, e := range ends {
		if p := &b.graph.Pieces[e.piece()]; p.Forward != None && p.Backward != None {
			n++
		}
	}
	return n
}

func (b *builder) drive(arc uint32) car.Drive {
	return b.driveOfPiece(b.graph.Arcs[arc].Piece).Direction(b.graph.direction(arc))
}

// sign returns the effect of a node.
func (b *builder) sign(node uint32) car.Node {
	if i := b.signOf[node]; i > 0 {
		return b.nodes.signs[i-1].node
	}
	return car.Node{}
}

func (g *Graph) direction(arc uint32) car.Direction {
	if g.Arcs[arc].Flags&Backward != 0 {
		return car.Backward
	}
	return car.Forward
}

// turn returns the turn from a state onto an arc, with its cost.
func (b *builder) turn(state, to uint32, back bool) Turn {
	g := b.graph
	from := b.automaton.arcOf(state)
	in, out := &g.Arcs[from], &g.Arcs[to]
	departure := end(out.Piece << 1)
	if out.Flags&Backward != 0 {
		departure |= 1
	}
	arrival := g.arrival(from)
	ends := b.endsAt(in.To)
	duration, weight := b.profile.Turn(car.Turn{
		Angle: math.Remainder(b.bearings[departure]-b.bearings[arrival]-180, 360),
		Back:  back, Ends: len(ends), Ferry: in.Flags&Ferry != out.Flags&Ferry, DrivingLeft: in.Flags&DriveLeft != 0,
		FromLocal: in.Flags&LocalOnly != 0, ToLocal: out.Flags&LocalOnly != 0,
	})
	if sign := b.sign(in.To); sign.BarrierDelay > 0 || sign.Delay > 0 {
		seconds := sign.Seconds(car.Passage{
			Direction: g.direction(from), Ends: len(ends), In: b.lengths[in.Piece], Out: b.lengths[out.Piece],
			Speed: b.drive(from).Speed, Fastest: b.fastest(ends, arrival),
		})
		duration, weight = duration+seconds, weight+seconds
	}
	return Turn{To: b.automaton.next(state, to), Weight: milliseconds(weight), Duration: milliseconds(duration)}
}

// fastest returns the speed of the fastest of the roads at a node, except the one that the car comes by.
func (b *builder) fastest(ends []end, arrival end) float64 {
	speed := 0.0
	if len(ends) > maxEnds {
		return speed // only turning back is possible there, and each end must not look at all others
	}
	for _, e := range ends {
		if e != arrival {
			way := b.driveOfPiece(e.piece())
			speed = max(speed, way.Forward.Speed, way.Backward.Speed)
		}
	}
	return speed
}

// addCopies makes arcs for the states that are copies, with their turns.
func (b *builder) addCopies(lists [][]Turn) {
	g := b.graph
	renumbered := b.automaton.number(g, lists)
	for i := range g.Turns {
		g.Turns[i].To = renumbered[g.Turns[i].To]
	}
	for arc := range g.Arcs {
		sortTurns(g.TurnsFrom(uint32(arc)))
	}
	for i, turns := range lists {
		state := uint32(b.baseArcs + i)
		if renumbered[state] == None || !b.automaton.isKept(state) {
			continue // not needed, or replaced by another
		}
		arc := g.Arcs[b.automaton.arcOf(state)]
		arc.Flags &^= MayBegin
		g.Arcs = append(g.Arcs, arc)
		for j := range turns {
			turns[j].To = renumbered[turns[j].To]
		}
		g.Turns = append(g.Turns, sortTurns(turns)...)
		g.FirstTurn = append(g.FirstTurn, uint32(len(g.Turns)))
	}
}
