package guide

import (
	"math"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// Part is an arc of a leg, or its driven part.
type Part struct {
	Arc                    uint32
	From, To               float64 // shares of the arc's length
	First, Last            int     // positions Locations[First:Last+1]
	Weight, Duration, Free uint32  // ms
	TurnWeight, TurnTime   uint32  // ms, of the turn at its end
	Turned                 bool    // followed by a turn, and not by the next leg
}

// Step is a maneuver, and the way from it to the next one.
type Step struct {
	Kind             Kind
	Direction        Direction // the modifier
	Exit             int       // number of the exit of a roundabout; 0: the route ends within it, or there is none
	Degrees          int       // angle driven around a roundabout: 180 is straight on; 0: no roundabout
	Before, After    int       // bearings, 0 to 359
	First, Last      int       // positions Locations[First:Last+1]
	Arc              uint32    // the arc whose way gives the names
	Rotary           *graph.Way
	Exits            graph.TextRange // the numbers of the motorway's exit
	Flags            graph.Flags
	Distance         float64 // metres
	Duration, Weight uint64  // ms
	Intersections    []Intersection
}

// Classes are the flags that answers list as the classes of a road.
const Classes = graph.Toll | graph.Motorway | graph.Ferry | graph.LocalOnly | graph.Tunnel

// Intersection is a place where roads meet, or where the classes of a road change.
type Intersection struct {
	Location graph.Position
	Roads    []Road // clockwise from north
	In, Out  int    // indexes into Roads; -1: none
	Classes  graph.Flags
	Lanes    []Lane // before the intersection, from left to right
	At       float64
}

// Road is one of the roads that meet at an intersection.
type Road struct {
	Bearing int
	Entry   bool
}

// Way is the driven way from one waypoint to the next.
type Way struct {
	Parts     []Part
	Locations []graph.Position
	From, To  geo.Point // where the driver wants to begin and end
	// KeepExits makes the exit of a roundabout a separate maneuver.
	KeepExits bool
}

// Guide makes steps. It reuses its memory: its results are valid until the next call.
type Guide struct {
	net          *Network
	way          *Way
	turns        []turn
	view         view
	other        view // for junctions ahead
	at           []float64
	begins, ends int // the first and last part with a noticeable length
	// lastCircle is the kind of the roundabout that was entered last, and circlePiece the next piece of it on the route.
	lastCircle  circleKind
	circlePiece uint32
	steps       []Step
	roads       []Road
	spots       []Intersection
	lanes       []Lane
}

// turn is a place where a part ends.
type turn struct {
	judged
	part       int // at whose end it is; -1: at the beginning of the leg
	angle      float64
	in, out    float64 // bearings of arrival and departure
	until      *turn   // the last junction of a crossing that is announced as one; nil: this one
	branches   int
	exit       int
	degrees    int
	named      uint32 // the arc whose way gives the names
	rotary     *graph.Way
	spot       Intersection
	group      struct{ first, count int } // the lanes for the turn, whatever comes next
	lanesOf    int                        // the part that has the lanes
	isJunction bool
	reclassed  bool // the classes of the road change
	passes     bool // passes an exit of a roundabout
	// leavesArrows means that an arrow of the lanes shows no road at the junction.
	leavesArrows bool
	used         bool // it has been the turn of a step
	fixed        bool // mappers determine the instruction
}

// Steps returns the steps of a way.
func (g *Guide) Steps(net *Network, way *Way) []Step {
	g.net, g.way = net, way
	g.turns, g.steps, g.roads, g.spots, g.at, g.lanes = g.turns[:0], g.steps[:0], g.roads[:0], g.spots[:0], g.at[:0], g.lanes[:0]
	metres := 0.0
	for i := range way.Parts {
		g.at = append(g.at, metres)
		p := &way.Parts[i]
		metres += (p.To - p.From) * net.metres(net.graph.Arcs[p.Arc].Piece)
	}
	g.at = append(g.at, metres)
	g.begins, g.ends = g.trim()
	g.circlePiece = graph.None
	g.depart()
	for i := g.begins; i < g.ends; i++ {
		if way.Parts[i].Turned {
			g.pass(i)
		}
	}
	g.arrive()
	g.joinRoundabouts()
	g.collapse()
	g.anticipateLanes()
	g.emit()
	return g.steps
}

// shortest is the minimum length in metres of a part at the beginning or end of a leg that a driver notices.
const shortest = 0.5

// trim finds the first and the last part that a driver notices, because a leg may begin where a road ends.
func (g *Guide) trim() (first, last int) {
	length := func(i int) float64 { return g.at[i+1] - g.at[i] }
	last = len(g.way.Parts) - 1
	for first < last && g.way.Parts[first].Turned && length(first) < shortest {
		first++
	}
	for last > first && g.way.Parts[last-1].Turned && length(last) < shortest {
		last--
	}
	return first, last
}

func (g *Guide) depart() {
	p := &g.way.Parts[g.begins]
	from := min(p.First, len(g.way.Locations)-2)
	bearing := g.bearingAlong(from, from+1)
	g.roads = append(g.roads, Road{bearing, true})
	t := turn{judged: judged{Depart, g.side(g.way.From, from, from+1)}, part: -1, named: p.Arc, used: true}
	t.spot = Intersection{Location: g.way.Locations[0], Roads: g.roads[len(g.roads)-1:], In: -1, Out: 0, Classes: g.net.graph.Arcs[p.Arc].Flags}
	g.turns = append(g.turns, t)
}

func (g *Guide) arrive() {
	p := &g.way.Parts[g.ends]
	end := len(g.way.Locations) - 1
	last := max(p.Last, 1)
	bearing := (g.bearingAlong(last-1, last) + 180) % 360
	g.roads = append(g.roads, Road{bearing, true})
	t := turn{judged: judged{Arrive, g.side(g.way.To, last-1, last)}, part: len(g.way.Parts) - 1, named: p.Arc, used: true}
	t.spot = Intersection{Location: g.way.Locations[end], Roads: g.roads[len(g.roads)-1:], In: 0, Out: -1, At: g.at[len(g.way.Parts)]}
	g.turns = append(g.turns, t)
}

// bearingAlong returns the bearing from one location of the way to another, in whole degrees.
func (g *Guide) bearingAlong(from, to int) int {
	p := planeAt(g.way.Locations[from])
	return whole(bearingOf(p.offset(g.way.Locations[to])))
}

func whole(bearing float64) int { return int(math.Round(bearing)) % 360 }

// besideMetres is the minimum distance of a place from the road at which its side is announced.
const besideMetres = 3.0

// side returns the side of the road on which a place lies, where the route reaches or leaves it.
func (g *Guide) side(at geo.Point, from, to int) Direction {
	a, b := g.way.Locations[from].Point(), g.way.Locations[to].Point()
	if a == b || geo.Distance(at, geo.NearestOnSegment(at, a, b)) < besideMetres {
		return NoDirection
	}
	off := math.Remainder(geo.Bearing(a, at)-geo.Bearing(a, b), 360)
	switch {
	case math.Abs(off) < 0.01 || math.Abs(off) > 179.99:
		return Straight
	case off > 0:
		return Right
	}
	return Left
}

// pass examines the junction at the end of a part.
func (g *Guide) pass(part int) {
	from, to := g.way.Parts[part].Arc, g.way.Parts[part+1].Arc
	tail := g.net.tailOf(to)
	unchanged := g.net.goesOnUnchanged(g.net.headOf(from), tail)
	reclassed := (g.net.graph.Arcs[from].Flags^g.net.graph.Arcs[to].Flags)&Classes != 0
	if unchanged && !reclassed {
		return
	}
	v := &g.view
	v.look(g.net, from)
	t := turn{part: part, named: to, branches: len(v.all), isJunction: v.ends > 2 && !v.onlySplits(), reclassed: reclassed}
	t.spot = g.intersection(v, tail, to)
	t.spot.At = g.at[part+1]
	at := v.find(tail)
	if at >= 0 {
		t.angle = v.branches[at].angle
	} else {
		t.angle = 180
	}
	t.in, t.out = math.Mod(v.in.bearing+180, 360), v.seen(tail)
	if !unchanged && !g.circle(v, &t, at) {
		t.judged = v.classify(at)
	}
	if t.isJunction && !isCircle(v.in.flags) {
		if t.spot.Lanes = g.matchLanes(v, &t, at); len(t.spot.Lanes) > 0 {
			g.addSliproadLanes(&t)
		}
	}
	t.used = t.kind != Silent
	g.override(&t)
	g.turns = append(g.turns, t)
}

// intersection describes a junction for answers. The two carriageways of a road are one there too.
func (g *Guide) intersection(v *view, tail end, to uint32) Intersection {
	i := Intersection{Location: g.net.graph.Nodes[v.node].Position, In: -1, Out: -1, Classes: g.net.graph.Arcs[to].Flags}
	first := len(g.roads)
	for k := range v.all {
		b := &v.all[k]
		if b.end == v.in.end {
			i.In = k
			if tail == v.back || tail == b.end {
				i.Out = k
			}
		} else if b.end == tail {
			i.Out = k
		}
		entry := b.entry
		if b.end == v.in.end && v.entries() > 0 {
			entry = false // where the route can go on, turning back is not an entry
		}
		g.roads = append(g.roads, Road{whole(b.shown), entry})
	}
	i.Roads = g.roads[first:len(g.roads):len(g.roads)]
	return i
}

// emit makes the steps: one for each announced turn, with the junctions up to the next one.
func (g *Guide) emit() {
	for i := range g.turns {
		t := &g.turns[i]
		if t.kind != Silent {
			g.begin(t)
		}
		s := &g.steps[len(g.steps)-1]
		if t.kind != Silent || t.isJunction || t.reclassed {
			g.spots = append(g.spots, t.spot)
			s.Intersections = g.spots[len(g.spots)-1-len(s.Intersections):]
		}
		if t.kind == Arrive {
			return
		}
		next := g.turns[i+1].part // the last part before the next place
		for part := t.part + 1; part <= next; part++ {
			g.drive(s, part)
		}
	}
}

// drive adds a part to a step.
func (g *Guide) drive(s *Step, part int) {
	p := &g.way.Parts[part]
	s.Last = p.Last
	s.Distance += g.at[part+1] - g.at[part]
	s.Duration += uint64(p.Duration) + uint64(p.TurnTime) // a turn belongs to the step before it
	s.Weight += uint64(p.Weight) + uint64(p.TurnWeight)
}

// begin begins a step with a turn.
func (g *Guide) begin(t *turn) {
	at := 0
	if t.part >= 0 {
		at = g.way.Parts[t.part].Last
	}
	s := Step{Kind: t.kind, Direction: t.dir, Exit: t.exit, Degrees: t.degrees, First: at, Last: at, Arc: t.named, Rotary: t.rotary, Flags: g.net.graph.Arcs[t.named].Flags}
	if i := &t.spot; i.In >= 0 {
		s.Before = (i.Roads[i.In].Bearing + 180) % 360
	}
	i := &t.spot
	if t.until != nil {
		i = &t.until.spot
	}
	if i.Out >= 0 {
		s.After = i.Roads[i.Out].Bearing
	}
	if t.part >= 0 && t.kind == OffRamp {
		if e, ok := g.net.graph.ExitAt(g.net.graph.Arcs[g.way.Parts[t.part].Arc].To); ok {
			s.Exits = e.Ref
		}
	}
	g.steps = append(g.steps, s)
}
