package ahead

import (
	"bytes"
	"math"
	"slices"

	"wayside/internal/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// Roads is the network that is looked along.
type Roads struct {
	Graph   *graph.Graph
	Index   *match.Index
	Version uint32 // of the graph's arcs
}

// Bounds of a walk.
const (
	maxSteps = 2048 // arcs: what is within reach of a town has some hundred
	// leastProbability ends a way of a walk (issue 17).
	leastProbability = 0.2
)

// Walk is the ways ahead of a driver: arcs with the distance along the road to each. It can be filled again and again.
type Walk struct {
	roads   Roads
	plane   plane
	steps   []step
	line    []xy // of all steps
	first   map[uint32]int32
	queue   []int32 // a heap of steps by the distance to their ends
	turns   []turning
	places  []match.Place
	near    []nearby
	located []candidate
	reach   *Walk // from where the driver was before
}

// step is an arc of a walk.
type step struct {
	arc         uint32
	from, to    float64 // shares of the arc's length that are on the way
	start       float64 // metres along the road to the arc's beginning; negative on the driver's own arc
	length      float64 // metres, of the whole arc
	probability float64
	firstPoint  int32
	points      int32
	around      rectangle
}

// seed is where a walk begins.
type seed struct {
	arc         uint32
	share       float64
	probability float64
}

func (w *Walk) reset(r Roads, at geo.Point) {
	w.roads, w.plane = r, newPlane(at)
	w.steps, w.line, w.queue = w.steps[:0], w.line[:0], w.queue[:0]
	if w.first == nil {
		w.first = make(map[uint32]int32)
	}
	clear(w.first)
}

// add appends an arc, or adds to its probability if it is there.
func (w *Walk) add(arc uint32, start, from, to, probability float64) (added bool) {
	if known, ok := w.first[arc]; ok {
		w.steps[known].probability = min(1, w.steps[known].probability+probability)
		return false
	}
	if len(w.steps) >= maxSteps {
		return false
	}
	g := w.roads.Graph
	a := &g.Arcs[arc]
	s := step{arc: arc, from: from, to: to, start: start, length: float64(g.Pieces[a.Piece].Length) / 1000, probability: probability, firstPoint: int32(len(w.line)), around: emptyRectangle()}
	line := g.PieceLine(a.Piece)
	for i := range line {
		if a.Flags&graph.Backward != 0 {
			i = len(line) - 1 - i
		}
		p := w.plane.place(line[i].Point())
		w.line = append(w.line, p)
		s.around.add(p)
	}
	s.points = int32(len(line))
	w.first[arc] = int32(len(w.steps))
	w.steps = append(w.steps, s)
	return true
}

func (w *Walk) lineOf(s *step) []xy { return w.line[s.firstPoint : s.firstPoint+s.points] }

func (s *step) end() float64 { return s.start + s.length }

// expand walks from seeds as far as so many metres, until a way is less probable than least.
func (w *Walk) expand(seeds []seed, metres, least float64) {
	for _, s := range seeds {
		length := float64(w.roads.Graph.Pieces[w.roads.Graph.Arcs[s.arc].Piece].Length) / 1000
		if w.add(s.arc, -s.share*length, 0, 1, s.probability) {
			w.push(int32(len(w.steps) - 1))
		}
	}
	for len(w.queue) > 0 {
		s := w.steps[w.pop()] // a copy, since add may move them
		if s.end() >= metres {
			continue
		}
		w.fork(s.arc)
		for _, t := range w.turns {
			probability := s.probability * t.share
			if probability < least {
				continue
			}
			if w.add(t.arc, s.end(), 0, 1, probability) {
				w.push(int32(len(w.steps) - 1))
			}
		}
	}
}

func (w *Walk) push(index int32) {
	w.queue = append(w.queue, index)
	at := len(w.queue) - 1
	for at > 0 && w.steps[index].end() < w.steps[w.queue[(at-1)/2]].end() {
		w.queue[at] = w.queue[(at-1)/2]
		at = (at - 1) / 2
	}
	w.queue[at] = index
}

func (w *Walk) pop() int32 {
	first := w.queue[0]
	last := w.queue[len(w.queue)-1]
	w.queue = w.queue[:len(w.queue)-1]
	at := 0
	for len(w.queue) > 0 {
		child := 2*at + 1
		if child >= len(w.queue) {
			break
		}
		if child+1 < len(w.queue) && w.steps[w.queue[child+1]].end() < w.steps[w.queue[child]].end() {
			child++
		}
		if w.steps[w.queue[child]].end() >= w.steps[last].end() {
			break
		}
		w.queue[at] = w.queue[child]
		at = child
	}
	if len(w.queue) > 0 {
		w.queue[at] = last
	}
	return first
}

// turning is a turn with its share of those who come.
type turning struct {
	arc   uint32
	share float64
}

// How drivers choose at a fork: each factor is by how much less often a way is taken than one that goes straight on.
const (
	turnWidth      = 32.0 // degrees: a turn by as much is taken 0.37 times as often
	leastTurn      = 0.02 // of turns by a right angle and more
	otherName      = 0.5
	lowerClass     = 0.45 // a rank less important than the road before
	offMainRoad    = 0.25 // a link that leaves
	ontoLocalRoad  = 0.15
	roundaboutExit = 0.45 // for each exit
)

// fork has the turns from an arc, with their shares.
func (w *Walk) fork(arc uint32) {
	g := w.roads.Graph
	w.turns = w.turns[:0]
	before := &g.Arcs[arc]
	way := &g.Ways[g.Pieces[before.Piece].Way]
	direction := arriving(g, arc)
	whole := 0.0
	for _, t := range g.TurnsFrom(arc) {
		if g.Arcs[t.To].Piece == before.Piece {
			continue // who turns back is looked for on the other side when they have
		}
		share := w.attraction(before, way, direction, t.To)
		w.turns = append(w.turns, turning{t.To, share})
		whole += share
	}
	for i := range w.turns {
		w.turns[i].share /= whole
	}
}

// attraction is how often a turn is taken, against one straight on.
func (w *Walk) attraction(before *graph.Arc, way *graph.Way, direction float64, to uint32) float64 {
	g := w.roads.Graph
	after := &g.Arcs[to]
	next := &g.Ways[g.Pieces[after.Piece].Way]
	const ring = graph.Roundabout | graph.Circular
	if before.Flags&ring != 0 {
		if after.Flags&ring != 0 {
			return 1 - roundaboutExit
		}
		return roundaboutExit
	}
	angle := geo.AngleBetween(direction, leaving(g, to))
	share := max(leastTurn, math.Exp(-(angle/turnWidth)*(angle/turnWidth)))
	if after.Flags&ring != 0 {
		share = 1 // there is one way round
	}
	if next != way && !sameName(g, way, next) {
		share *= otherName
	}
	for range max(0, rank(next.Class)-rank(way.Class)) {
		share *= lowerClass
	}
	if isLink(next.Class) && !isLink(way.Class) {
		share *= offMainRoad
	}
	if after.Flags&graph.LocalOnly != 0 && before.Flags&graph.LocalOnly == 0 || next.Use == graph.MinorUse && way.Use != graph.MinorUse {
		share *= ontoLocalRoad
	}
	return share
}

func sameName(g *graph.Graph, a, b *graph.Way) bool {
	same := func(a, b graph.TextRange) bool {
		return a.Length > 0 && a.Length == b.Length && (a == b || bytes.Equal(g.Texts[a.Start:a.Start+a.Length], g.Texts[b.Start:b.Start+b.Length]))
	}
	return same(a.Name, b.Name) || same(a.Ref, b.Ref)
}

func isLink(c graph.Class) bool {
	return slices.Contains([]graph.Class{graph.ClassMotorwayLink, graph.ClassTrunkLink, graph.ClassPrimaryLink, graph.ClassSecondaryLink, graph.ClassTertiaryLink}, c)
}

// rank is how important roads of a class are, the most important first. A link is as important as its road.
func rank(c graph.Class) int {
	switch c {
	case graph.ClassMotorway, graph.ClassMotorwayLink:
		return 0
	case graph.ClassTrunk, graph.ClassTrunkLink:
		return 1
	case graph.ClassPrimary, graph.ClassPrimaryLink:
		return 2
	case graph.ClassSecondary, graph.ClassSecondaryLink:
		return 3
	case graph.ClassTertiary, graph.ClassTertiaryLink:
		return 4
	case graph.ClassUnclassified, graph.ClassResidential, graph.ClassFerry:
		return 5
	case graph.ClassLivingStreet:
		return 6
	case graph.ClassService, graph.ClassOther:
	}
	return 7
}
