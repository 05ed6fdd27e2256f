package nav

import (
	"cmp"
	"math"
	"slices"

	"wayside/internal/geo"
	"wayside/internal/roads/graph"
)

// Step is a maneuver, and the way from there to the next one. What is told here are turns, names and ends; guide follows.
type Step struct {
	Type, Modifier   string // of the maneuver; no modifier: ""
	Before, After    int    // bearings, 0 to 359
	First, Last      int    // it leads over Leg.Locations[First:Last+1]
	Way              *graph.Way
	Arc              uint32
	Mode, Side       string
	Distance         float64 // metres
	Duration, Weight uint64  // ms
	Intersections    []Intersection
}

// Intersection is a place where roads meet.
type Intersection struct {
	Location graph.Position
	Bearings []int // of the roads, clockwise from north
	Entry    []bool
	In, Out  int // indexes into Bearings; -1: none
	Classes  graph.Flags
}

// lookAhead is how far along a road its bearing at a junction is measured, in metres.
const lookAhead = 10.0

// describe makes the steps of a leg and its summary.
func (n *Network) describe(l *Leg, from, to *Spot) {
	d := describer{Network: n, leg: l}
	d.depart(from)
	for i := range l.Parts {
		d.drive(&l.Parts[i])
		if i+1 < len(l.Parts) && l.Parts[i].Turned {
			d.turn(&l.Parts[i], &l.Parts[i+1])
		}
	}
	d.arrive(to)
	l.Summary = n.summary(l)
}

type describer struct {
	*Network
	leg *Leg
}

// current is the step that is being driven.
func (d *describer) current() *Step { return &d.leg.Steps[len(d.leg.Steps)-1] }

// begin begins a step on an arc.
func (d *describer) begin(arc uint32, at int) *Step {
	s := Step{Arc: arc, Way: d.way(arc), First: at, Last: at, Mode: "driving", Side: "right"}
	flags := d.Graph.Arcs[arc].Flags
	if flags&graph.Ferry != 0 {
		s.Mode = "ferry"
	}
	if flags&graph.DriveLeft != 0 {
		s.Side = "left"
	}
	d.leg.Steps = append(d.leg.Steps, s)
	return d.current()
}

// drive adds a part of the way to the step.
func (d *describer) drive(p *Part) {
	s := d.current()
	s.Last = p.Last
	s.Distance += d.Length(p)
	s.Duration += uint64(p.Duration) + uint64(p.TurnTime) // a turn belongs to the step before it
	s.Weight += uint64(p.Weight) + uint64(p.TurnWeight)
}

func (d *describer) depart(from *Spot) {
	p := &d.leg.Parts[0]
	s := d.begin(p.Arc, 0)
	s.Type = "depart"
	s.After = d.bearingAlong(0, 1)
	s.Modifier = d.side(from.Input, 0, 1)
	s.Intersections = []Intersection{{Location: d.leg.Locations[0], Bearings: []int{s.After}, Entry: []bool{true}, In: -1, Out: 0, Classes: d.Graph.Arcs[p.Arc].Flags}}
}

func (d *describer) arrive(to *Spot) {
	last := len(d.leg.Locations) - 1
	s := d.begin(d.leg.Parts[len(d.leg.Parts)-1].Arc, last)
	s.Type = "arrive"
	s.Before = d.bearingAlong(last-1, last)
	s.Modifier = d.side(to.Input, last-1, last)
	s.Intersections = []Intersection{{Location: d.leg.Locations[last], Bearings: []int{(s.Before + 180) % 360}, Entry: []bool{true}, In: 0, Out: -1}}
}

// bearingAlong is the bearing from one location of the leg to another, in whole degrees.
func (d *describer) bearingAlong(from, to int) int {
	return whole(geo.Bearing(d.leg.Locations[from].Point(), d.leg.Locations[to].Point()))
}

func whole(bearing float64) int { return int(math.Round(bearing)) % 360 }

// besideMetres is how far a place must be off the road to be told on which side it is.
const besideMetres = 3.0

// side is on which side of the road a place lies, where it is reached or left.
func (d *describer) side(at geo.Point, from, to int) string {
	a, b := d.leg.Locations[from].Point(), d.leg.Locations[to].Point()
	if a == b || geo.Distance(at, geo.NearestOnSegment(at, a, b)) < besideMetres {
		return ""
	}
	off := math.Remainder(geo.Bearing(a, at)-geo.Bearing(a, b), 360)
	switch {
	case math.Abs(off) < 0.01 || math.Abs(off) > 179.99:
		return "straight"
	case off > 0:
		return "right"
	}
	return "left"
}

// turn tells the driver of a turn, if there is something to tell, and of the junction in any case.
func (d *describer) turn(from, to *Part) {
	junction, roads := d.junction(from.Arc, to.Arc)
	in, out := (junction.Bearings[junction.In]+180)%360, junction.Bearings[junction.Out]
	angle := math.Remainder(float64(out-in), 360)
	if kind := d.maneuver(from.Arc, to.Arc, angle, roads); kind != "" {
		s := d.begin(to.Arc, to.First)
		s.Type, s.Modifier, s.Before, s.After = kind, modifier(angle), in, out
	}
	s := d.current()
	s.Intersections = append(s.Intersections, junction)
}

// Angles of turns, in degrees, at which what is told of them changes.
const (
	straightAngle = 10
	slightAngle   = 40
	usualAngle    = 120
	uTurnAngle    = 175
	toldAngle     = 30 // of a turn from a road onto another
	keptAngle     = 50 // of a bend in the same road at a junction
)

func modifier(angle float64) string {
	side := " right"
	if angle < 0 {
		side, angle = " left", -angle
	}
	switch {
	case angle < straightAngle:
		return "straight"
	case angle < slightAngle:
		return "slight" + side
	case angle < usualAngle:
		return side[1:]
	case angle < uTurnAngle:
		return "sharp" + side
	}
	return "uturn"
}

// maneuver is the type of what is told at a junction of so many roads; "": nothing is.
func (d *describer) maneuver(from, to uint32, angle float64, roads int) string {
	a, b := d.way(from), d.way(to)
	same := d.Graph.Text(a.Name) == d.Graph.Text(b.Name) && d.Graph.Text(a.Ref) == d.Graph.Text(b.Ref)
	angle = math.Abs(angle)
	ferry := (d.Graph.Arcs[from].Flags^d.Graph.Arcs[to].Flags)&graph.Ferry != 0
	switch {
	case angle >= uTurnAngle:
		return "continue"
	case ferry:
		return "notification"
	case roads <= 2 && same:
		return ""
	case roads <= 2 || !same && angle < toldAngle:
		if same || d.Graph.Text(b.Name) == "" && d.Graph.Text(b.Ref) == "" {
			return ""
		}
		return "new name"
	case same && d.Graph.Text(b.Name) != "" && angle >= keptAngle:
		return "continue"
	case same && angle < keptAngle:
		return ""
	}
	return "turn"
}

// road is one that meets others at a node.
type road struct {
	bearing int
	piece   uint32
	atEnd   bool // the piece ends here, and does not begin
	entry   bool
}

// junction is the node at the end of an arc, and how many roads meet there.
func (d *describer) junction(from, to uint32) (i Intersection, count int) {
	node := d.Graph.Arcs[from].To
	var roads []road
	seen := make(map[uint32]bool, 4)
	for _, piece := range d.piecesAt[d.firstPiece[node]:d.firstPiece[node+1]] {
		begin, end := d.nodesOf(piece)
		for _, atEnd := range [...]bool{false, true} {
			if seen[piece] || atEnd && end != node || !atEnd && begin != node {
				continue
			}
			roads = append(roads, road{d.bearingAway(piece, atEnd), piece, atEnd, d.mayEnter(from, piece, atEnd)})
		}
		seen[piece] = true
	}
	slices.SortFunc(roads, func(a, b road) int {
		return cmp.Or(cmp.Compare(a.bearing, b.bearing), cmp.Compare(a.piece, b.piece))
	})
	i = Intersection{Location: d.Graph.Nodes[node].Position, In: -1, Out: -1, Classes: d.Graph.Arcs[to].Flags}
	for k, r := range roads {
		i.Bearings, i.Entry = append(i.Bearings, r.bearing), append(i.Entry, r.entry)
		if in := &d.Graph.Arcs[from]; r.piece == in.Piece && r.atEnd == (in.Flags&graph.Backward == 0) {
			i.In = k
		}
		if out := &d.Graph.Arcs[to]; r.piece == out.Piece && r.atEnd == (out.Flags&graph.Backward != 0) {
			i.Out = k
		}
	}
	return i, len(roads)
}

// bearingAway is the bearing of a piece from one of its ends.
func (r *Roads) bearingAway(piece uint32, fromEnd bool) int {
	line := r.Graph.PieceLine(piece)
	position := func(i int) geo.Point {
		if fromEnd {
			i = len(line) - 1 - i
		}
		return line[i].Point()
	}
	start, far := position(0), position(1)
	for i := 1; i < len(line); i++ {
		if far = position(i); geo.Distance(start, far) >= lookAhead {
			break
		}
	}
	return whole(geo.Bearing(start, far))
}

// mayEnter says whether a turn leads from an arc onto a piece, at one of the piece's ends.
func (r *Roads) mayEnter(from, piece uint32, atEnd bool) bool {
	for _, turn := range r.Graph.TurnsFrom(from) {
		a := &r.Graph.Arcs[turn.To]
		if a.Piece == piece && (a.Flags&graph.Backward != 0) == atEnd {
			return true
		}
	}
	return false
}

// summary names the two roads on which most of the leg is driven, in their order.
func (n *Network) summary(l *Leg) string {
	type stretch struct {
		name   string
		length float64
		first  int
	}
	var roads []stretch
	for i := range l.Steps {
		s := &l.Steps[i]
		name := cmp.Or(n.Graph.Text(s.Way.Name), n.Graph.Text(s.Way.Ref))
		if name == "" {
			continue
		}
		at := slices.IndexFunc(roads, func(r stretch) bool { return r.name == name })
		if at < 0 {
			at = len(roads)
			roads = append(roads, stretch{name: name, first: i})
		}
		roads[at].length += s.Distance
	}
	slices.SortStableFunc(roads, func(a, b stretch) int { return cmp.Compare(b.length, a.length) })
	if len(roads) == 0 {
		return ""
	}
	roads = roads[:min(2, len(roads))]
	slices.SortFunc(roads, func(a, b stretch) int { return cmp.Compare(a.first, b.first) })
	text := roads[0].name
	if len(roads) > 1 {
		text += ", " + roads[1].name
	}
	return text
}
