package ahead

import (
	"math"
	"strings"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// Pin is an entity that may lie ahead.
type Pin struct {
	At       geo.Point
	Line     []geo.Point // in the direction of travel; with fewer than two positions, At counts
	Zone     float64     // metres: the width of the zone around At; 0: the position is exact
	Street   string      // name or reference of its road; empty: unknown
	Bearing  float64     // of the traffic that it concerns; meaningless unless Directed
	Directed bool
}

// Place is a pin's place on a walk.
type Place struct {
	Distance    float64 // metres along the road; to the beginning of a zone or line, and 0 inside
	Probability float64 // that the car comes there
	Reached     bool    // the car is on the pin's line or in its zone
}

// A place is announced if its probability is at least sure. A place within lastMetres is announced in any case, because
// later would be too late.
const (
	sure       = 0.8
	lastMetres = 20.0
)

// Unsure reports whether the driver may well not come to the place.
func (p *Place) Unsure() bool { return p.Probability < sure && p.Distance > lastMetres }

// Parameters of matching a pin to roads (D15.15).
const (
	maxPinOff     = 50.0 // metres between a pin and its road
	maxLineOff    = 25.0
	sameDirection = 60.0 // degrees
	maxPinRoads   = 12
	cornerMetres  = 6.0 // by which a road may be farther than the nearest one if both meet at the pin
	besideMetres  = 2.0 // by which a road may be farther if they do not meet, because positions are too inexact to decide between them
	sampleMetres  = 25.0
	maxSamples    = 240 // of one line
	passedMetres  = 5.0
	planeError    = 0.5 // error of places on the plane
)

// nearby is the place of a step that is nearest to a point.
type nearby struct {
	step    int32
	share   float64 // of the arc's length
	off     float64 // metres
	bearing float64 // of the arc at this place
}

// nearestOn returns the place on a step that is nearest to p.
func (w *Walk) nearestOn(s *step, p xy) nearby {
	line := w.lineOf(s)
	best := nearby{off: math.Inf(1)}
	along, whole := 0.0, 0.0
	for i := 1; i < len(line); i++ {
		length := line[i-1].distance(line[i])
		if share, off := line[i-1].nearestOn(line[i], p); off < best.off {
			along = whole + share*length
			best.off, best.bearing = off, line[i-1].bearing(line[i])
		}
		whole += length
	}
	if whole > 0 {
		best.share = along / whole
	}
	return best
}

// around sets w.near to the places of the walk within a distance of p.
func (w *Walk) around(p xy, metres float64) {
	w.near = w.near[:0]
	for i := range w.steps {
		s := &w.steps[i]
		if !s.around.near(p, metres) {
			continue
		}
		if n := w.nearestOn(s, p); n.off <= metres {
			n.step = int32(i)
			w.near = append(w.near, n)
		}
	}
}

// Find returns a pin's place on the walk, and false if the pin does not lie ahead.
func (w *Walk) Find(p *Pin) (Place, bool) {
	switch {
	case p.Zone > 0:
		return w.findZone(p)
	case len(p.Line) > 1:
		return w.findLine(p)
	}
	at := w.plane.place(p.At)
	w.around(at, maxPinOff)
	if len(w.near) == 0 {
		return Place{}, false
	}
	within := maxPinOff // within this distance, the street that a pin names is searched
	if p.Street == "" {
		within = w.nearestOff() + cornerMetres + planeError
	}
	pieces := w.piecesOf(p, within)
	best, found := Place{Distance: math.Inf(1)}, false
	for _, n := range w.near {
		s := &w.steps[n.step]
		if !pieces.has(w.roads.Graph.Arcs[s.arc].Piece) || n.share < s.from || n.share > s.to {
			continue
		}
		if p.Directed && geo.AngleBetween(p.Bearing, n.bearing) > sameDirection {
			continue
		}
		if metres := s.start + n.share*s.length; metres >= -passedMetres && metres < best.Distance {
			best, found = Place{Distance: max(0, metres), Probability: s.probability}, true
		}
	}
	return best, found
}

// nearestOff returns the distance of the nearest place in w.near. It saves time: roads farther away cannot decide on
// which road a pin is, and searching them takes longest.
func (w *Walk) nearestOff() float64 {
	nearest := maxPinOff
	for _, n := range w.near {
		nearest = min(nearest, n.off)
	}
	return nearest
}

// pieces are the pieces that a pin refers to.
type pieces struct {
	list  [maxPinRoads]uint32
	count int
}

func (p *pieces) has(piece uint32) bool {
	for _, one := range p.list[:p.count] {
		if one == piece {
			return true
		}
	}
	return false
}

// piecesOf returns the pieces within a distance that a pin refers to: the nearest one in its direction, on its street if
// that is there; and the pieces that meet it nearby, because a pin on a corner is on both roads. It leaves out roads
// that only pass above or beside the pin.
func (w *Walk) piecesOf(p *Pin, within float64) pieces {
	w.places = w.roads.Index.Nearest(w.places[:0], p.At, match.Nearest{Within: within, Count: maxPinRoads})
	nearest, named := -1, -1
	for i := range w.places {
		if !w.leads(&w.places[i], p) {
			continue
		}
		if nearest < 0 {
			nearest = i
		}
		if named < 0 && p.Street != "" && w.isNamed(w.places[i].Piece, p.Street) {
			named = i
		}
	}
	var all pieces
	if named >= 0 {
		nearest = named
	}
	if nearest < 0 {
		return all
	}
	first := &w.places[nearest]
	all.list[0], all.count = first.Piece, 1
	for i := range w.places {
		other := &w.places[i]
		apart := other.Distance - first.Distance
		if i == nearest || apart > cornerMetres || !w.leads(other, p) || apart > besideMetres && !w.meet(first, other) || named >= 0 && !w.isNamed(other.Piece, p.Street) {
			continue
		}
		all.list[all.count] = other.Piece
		all.count++
	}
	return all
}

// leads reports whether drivers can pass a place in the direction of the traffic that a pin concerns.
func (w *Walk) leads(place *match.Place, p *Pin) bool {
	piece := &w.roads.Graph.Pieces[place.Piece]
	for _, arc := range [...]uint32{piece.Forward, piece.Backward} {
		if arc != graph.None && (!p.Directed || geo.AngleBetween(p.Bearing, w.roads.Index.Bearing(*place, arc)) <= sameDirection) {
			return true
		}
	}
	return false
}

// meet reports whether the pieces of two places have a common end near them.
func (w *Walk) meet(a, b *match.Place) bool {
	g := w.roads.Graph
	one, other := g.PieceLine(a.Piece), g.PieceLine(b.Piece)
	for _, p := range [...]graph.Position{one[0], one[len(one)-1]} {
		for _, q := range [...]graph.Position{other[0], other[len(other)-1]} {
			if p == q && geo.Distance(p.Point(), a.Point) <= maxPinOff {
				return true
			}
		}
	}
	return false
}

// isNamed reports whether a piece has this name, or has it among its references.
func (w *Walk) isNamed(piece uint32, street string) bool {
	g := w.roads.Graph
	way := &g.Ways[g.Pieces[piece].Way]
	if strings.EqualFold(textOf(g, way.Name), street) {
		return true
	}
	for ref := range strings.SplitSeq(textOf(g, way.Ref), ";") {
		if strings.EqualFold(strings.TrimSpace(ref), street) {
			return true
		}
	}
	return false
}

func textOf(g *graph.Graph, r graph.TextRange) string {
	if r.Length == 0 {
		return ""
	}
	return g.Text(r)
}

// findZone returns where the walk enters a zone. The place of the camera in the zone must not be revealed.
func (w *Walk) findZone(p *Pin) (Place, bool) {
	at, radius := w.plane.place(p.At), p.Zone/2
	w.around(at, radius)
	best, found := Place{Distance: math.Inf(1)}, false
	for _, n := range w.near {
		s := &w.steps[n.step]
		half := math.Sqrt(radius*radius - n.off*n.off)
		middle := s.start + n.share*s.length
		enters, leaves := middle-half, middle+half
		if leaves < 0 || enters > s.start+s.to*s.length {
			continue
		}
		if enters = max(enters, s.start+s.from*s.length); enters < best.Distance {
			best, found = Place{Distance: max(0, enters), Probability: s.probability, Reached: enters <= 0}, true
		}
	}
	return best, found
}

// findLine returns where the walk enters a line in the same direction.
func (w *Walk) findLine(p *Pin) (Place, bool) {
	around := emptyRectangle()
	metres := 0.0
	for i, at := range p.Line {
		around.add(w.plane.place(at))
		if i > 0 {
			metres += w.plane.place(p.Line[i-1]).distance(w.plane.place(at))
		}
	}
	w.near = w.near[:0]
	for i := range w.steps {
		if w.steps[i].around.meets(&around, maxLineOff) {
			w.near = append(w.near, nearby{step: int32(i)})
		}
	}
	if len(w.near) == 0 {
		return Place{}, false
	}
	best, found := Place{Distance: math.Inf(1)}, false
	step := max(sampleMetres, metres/maxSamples)
	next := 0.0
	for i := 1; i < len(p.Line); i++ {
		a, b := w.plane.place(p.Line[i-1]), w.plane.place(p.Line[i])
		length := a.distance(b)
		if length == 0 {
			continue
		}
		for last := i == len(p.Line)-1; next <= length || last; next += step {
			if next >= length && last { // sample the end of the line, too
				next, last = length, false
			}
			sample := xy{a.x + (b.x-a.x)*next/length, a.y + (b.y-a.y)*next/length}
			if place, ok := w.sampleLine(p, geo.Between(p.Line[i-1], p.Line[i], next/length), sample, a.bearing(b), best.Distance); ok {
				best, found = place, true
			}
		}
		next -= length
	}
	return best, found
}

// sampleLine looks for one place of a line on the walk, at less than the given distance along it. The line counts for
// the road that is nearest there and leads the same way.
func (w *Walk) sampleLine(p *Pin, at geo.Point, sample xy, bearing, nearer float64) (best Place, found bool) {
	for _, candidate := range w.near {
		s := &w.steps[candidate.step]
		if !s.around.near(sample, maxLineOff) {
			continue
		}
		n := w.nearestOn(s, sample)
		if n.off > maxLineOff || n.share < s.from || n.share > s.to || p.Directed && geo.AngleBetween(bearing, n.bearing) > sameDirection {
			continue
		}
		metres := s.start + n.share*s.length
		if metres < -sampleMetres || metres >= nearer {
			continue
		}
		pieces := w.piecesOf(&Pin{At: at, Bearing: bearing, Directed: p.Directed}, n.off+cornerMetres+planeError)
		if !pieces.has(w.roads.Graph.Arcs[s.arc].Piece) {
			continue
		}
		best, found, nearer = Place{Distance: max(0, metres), Probability: s.probability, Reached: metres <= sampleMetres}, true, metres
	}
	return best, found
}

// Near reports whether any part of the walk lies within a square of some metres around a place.
func (w *Walk) Near(at geo.Point, metres float64) bool {
	p := w.plane.place(at)
	for i := range w.steps {
		if w.steps[i].around.near(p, metres) {
			return true
		}
	}
	return false
}
