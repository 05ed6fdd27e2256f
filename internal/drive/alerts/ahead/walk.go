package ahead

import (
	"bytes"
	"math"
	"slices"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/roads/minheap"
)

// Roads is the network that a walk follows.
type Roads struct {
	Graph   *graph.Graph
	Index   *match.Index
	Version uint32 // of the graph's arcs
}

// Bounds of a walk.
const (
	maxSteps = 2048 // arcs: the roads within reach of a town have some hundred
	// minProbability is the probability below which a way of a walk ends (issue 17).
	minProbability = 0.2
)

// Walk is the ways ahead of a driver: arcs with the distance along the road to each. It can be refilled many times.
type Walk struct {
	roads   Roads
	plane   plane
	steps   []step
	line    []xy // of all steps
	first   map[uint32]int32
	queue   minheap.Heap[float64, int32] // steps by the distance to their ends
	turns   []turning
	places  []match.Place
	near    []nearby
	located []candidate
	reach   *Walk // from the driver's previous place
}

// step is an arc of a walk.
type step struct {
	arc         uint32
	from, to    float64 // shares of the arc's length between which it is part of the walk
	start       float64 // metres along the road to the arc's beginning; negative on the driver's own arc
	length      float64 // metres, of the complete arc
	probability float64
	firstPoint  int32
	points      int32
	around      rectangle
}

// seed is a place where a walk begins.
type seed struct {
	arc         uint32
	share       float64
	probability float64
}

func (w *Walk) reset(r Roads, at geo.Point) {
	w.roads, w.plane = r, newPlane(at)
	w.steps, w.line = w.steps[:0], w.line[:0]
	w.queue.Clear()
	if w.first == nil {
		w.first = make(map[uint32]int32)
	}
	clear(w.first)
}

// add appends an arc, or increases its probability if the walk contains it already.
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

// expand walks from seeds up to the given distance, and ends ways that are less probable than least.
func (w *Walk) expand(seeds []seed, metres, least float64) {
	for _, s := range seeds {
		length := float64(w.roads.Graph.Pieces[w.roads.Graph.Arcs[s.arc].Piece].Length) / 1000
		if w.add(s.arc, -s.share*length, 0, 1, s.probability) {
			w.queue.Push(w.steps[len(w.steps)-1].end(), int32(len(w.steps)-1))
		}
	}
	for w.queue.Len() > 0 {
		_, first := w.queue.Pop()
		s := w.steps[first] // a copy, because add may move the steps
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
				w.queue.Push(w.steps[len(w.steps)-1].end(), int32(len(w.steps)-1))
			}
		}
	}
}

// turning is a turn with the share of the drivers who take it.
type turning struct {
	arc   uint32
	share float64
}

// The choice of drivers at a fork: each constant is a factor for the share of a way that has the property. The factors
// are those of a multinomial logit, fitted to 114 000 forks on fastest routes between random places of Milan and Malta.
// On forks that were left out of the fit, ways with predicted probabilities of 0.9 to 1 were taken as often as
// predicted, within a hundredth.
const (
	sameRoad       = 1.25 // the way has the same name or number
	maxImportance  = 1.65 // no other way is more important
	offMainRoad    = 0.5  // the way is a link that leaves the road
	onAlongLink    = 0.36
	ontoLocalRoad  = 0.35
	ontoMinorRoad  = 0.6
	ontoRing       = 0.8
	nowhere        = 0.02 // a dead end, which few drivers take
	roundaboutExit = 0.52
)

// lowerClass is the factor for a way whose class is less important than that of the road before, by the difference in
// ranks.
var lowerClass = [...]float64{1, 0.55, 0.26, 0.14}

// turnShares are the factors for ways that turn by up to the given degrees.
var turnShares = [...]struct{ degrees, share float64 }{
	{8, 1}, {25, 0.9}, {45, 0.68}, {70, 0.45}, {90, 0.29}, {112, 0.18}, {138, 0.08}, {160, 0.03}, {180, 0.015},
}

// turnShare returns the factor for a turn by an angle, interpolated from turnShares.
func turnShare(angle float64) float64 {
	before := turnShares[0]
	for _, next := range turnShares[1:] {
		if angle < next.degrees {
			return before.share + (next.share-before.share)*max(0, angle-before.degrees)/(next.degrees-before.degrees)
		}
		before = next
	}
	return before.share
}

// fork lists the turns from an arc, with their shares.
func (w *Walk) fork(arc uint32) {
	g := w.roads.Graph
	w.turns = w.turns[:0]
	before := &g.Arcs[arc]
	way := &g.Ways[g.Pieces[before.Piece].Way]
	direction := arriving(g, arc)
	highest := math.MaxInt
	for _, t := range g.TurnsFrom(arc) {
		to := &g.Arcs[t.To]
		if to.Piece == before.Piece {
			continue // the other direction is searched once the driver has turned back
		}
		highest = min(highest, rank(g.Ways[g.Pieces[to.Piece].Way].Class))
		w.turns = append(w.turns, turning{arc: t.To})
	}
	if len(w.turns) == 1 {
		w.turns[0].share = 1
		return
	}
	whole := 0.0
	for i := range w.turns {
		w.turns[i].share = w.attraction(before, way, direction, highest, w.turns[i].arc)
		whole += w.turns[i].share
	}
	for i := range w.turns {
		w.turns[i].share /= whole
	}
}

// attraction returns the relative weight of a turn among the turns of a fork.
func (w *Walk) attraction(before *graph.Arc, way *graph.Way, direction float64, highest int, to uint32) float64 {
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
	share := turnShare(geo.AngleBetween(direction, leaving(g, to)))
	for _, is := range [...]struct {
		so     bool
		factor float64
	}{
		{next == way || sameName(g, way, next), sameRoad},
		{rank(next.Class) == highest, maxImportance},
		{isLink(next.Class) && !isLink(way.Class), offMainRoad},
		{isLink(next.Class) && isLink(way.Class), onAlongLink},
		{after.Flags&graph.LocalOnly != 0 && before.Flags&graph.LocalOnly == 0, ontoLocalRoad},
		{next.Use == graph.MinorUse && way.Use != graph.MinorUse, ontoMinorRoad},
		{after.Flags&ring != 0, ontoRing},
		{endsAfter(g, to), nowhere},
	} {
		if is.so {
			share *= is.factor
		}
	}
	return share * lowerClass[min(len(lowerClass)-1, max(0, rank(next.Class)-rank(way.Class)))]
}

// endsAfter reports whether drivers can only turn back at the end of an arc, or of the one after it.
func endsAfter(g *graph.Graph, arc uint32) bool {
	next, ways := onlyOnward(g, arc)
	if ways == 1 {
		_, ways = onlyOnward(g, next)
	}
	return ways == 0
}

// onlyOnward returns the number of ways that lead on from an arc without turning back, and one of them.
func onlyOnward(g *graph.Graph, arc uint32) (next uint32, ways int) {
	for _, t := range g.TurnsFrom(arc) {
		if g.Arcs[t.To].Piece != g.Arcs[arc].Piece {
			next = t.To
			ways++
		}
	}
	return next, ways
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

// rank returns the importance of roads of a class; 0 is the most important. A link ranks like its road.
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
