package nav

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// Stretch is a part of a line, in metres from its beginning. Parts beyond the ends of the line are ignored.
type Stretch struct{ Begin, End float64 }

// Via is a place on a road, and the direction in which a route passes it.
type Via struct {
	At      geo.Point
	Bearing float64 // degrees
}

// detourRange is the maximum angle between a line and the ends of its detour, in degrees.
const detourRange = 45

// leftMetres is the distance in metres from a line at which its detour is certainly another road.
const leftMetres = 30.0

// Detour finds the best way from the beginning of a stretch of a line to its end under the current conditions. It
// returns up to count places, in order, on the parts of it beside the line: a route that passes them avoids the closures
// on the stretch. It returns none if there is no such way, or the way is the line.
func (n *Network) Detour(ctx context.Context, line []graph.Position, s Stretch, count int) ([]Via, error) {
	length := lengthOfLine(line)
	s.Begin, s.End = max(0, s.Begin), min(length, s.End)
	if s.End-s.Begin < endMetres {
		return nil, nil
	}
	leg, err := n.detourLeg(ctx, line, s)
	if leg == nil {
		return nil, err
	}
	along := cutLine(line, s.Begin, s.End, usualStep)
	for _, least := range [...]float64{leftMetres, 10, 3} { // around a square, or on the other carriageway, the detour is near
		if vias := n.viasBeside(leg, along, least, count); len(vias) > 0 {
			return vias, nil
		}
	}
	return nil, nil
}

// detourLeg returns the best way from the beginning of a stretch to its end, in the direction of the line if possible,
// or nil if there is none.
func (n *Network) detourLeg(ctx context.Context, line []graph.Position, s Stretch) (*Leg, error) {
	const ahead = 5.0 // metres over which the direction of the line is measured
	along := Places{
		Coordinates: []geo.Point{pointAlong(line, s.Begin), pointAlong(line, s.End)},
		Bearings: []Bearing{
			{true, geo.Bearing(pointAlong(line, s.Begin), pointAlong(line, s.Begin+ahead)), detourRange},
			{true, geo.Bearing(pointAlong(line, max(0, s.End-ahead)), pointAlong(line, s.End)), detourRange},
		},
		Radiuses: []float64{leftMetres, leftMetres},
	}
	for _, places := range [...]Places{along, {Coordinates: along.Coordinates}} {
		a := new(RouteAnswer)
		err := n.route(ctx, &RouteRequest{Places: places}, a)
		if err == nil {
			return &a.Routes[0].Legs[0], nil
		}
		if refused := new(Error); !errors.As(err, &refused) {
			return nil, err
		}
	}
	return nil, nil //nolint:nilnil // having no such way is not an error
}

// viasBeside returns middles of arcs of a leg, evenly spread over the parts that are farther from a line than the given
// distance.
func (n *Network) viasBeside(l *Leg, line []geo.Point, metres float64, count int) (vias []Via) {
	type beside struct {
		middle
		until float64 // metres of the arcs up to this one
	}
	var arcs []beside
	whole := 0.0
	for i := range l.Parts {
		p := &l.Parts[i]
		if m := n.middle(p.Arc); p.From == 0 && p.To == 1 && distanceTo(line, m.at) > metres {
			whole += m.metres
			arcs = append(arcs, beside{m, whole})
		}
	}
	next := 1
	for i := range arcs {
		if next > count || arcs[i].until < whole*float64(next)/float64(count+1) {
			continue
		}
		vias = append(vias, Via{arcs[i].at, arcs[i].bearing})
		for next <= count && arcs[i].until >= whole*float64(next)/float64(count+1) {
			next++
		}
	}
	return vias
}

// distanceTo returns the distance of a place from a line, in metres.
func distanceTo(line []geo.Point, at geo.Point) float64 {
	least := geo.Distance(line[0], at)
	for k := 1; k < len(line); k++ {
		least = min(least, geo.Distance(at, geo.NearestOnSegment(at, line[k-1], line[k])))
	}
	return least
}

// ClosedNear returns the middles of closed roads near some closures, beginning with the closures themselves, then the
// nearest first, for engines to leave out. It skips roads at one of the places, because a route may begin and end on a
// closed road (D15.16).
func (n *Network) ClosedNear(closures []Closure, metres float64, places []geo.Point, most int) []Via {
	type near struct {
		Via
		metres float64
	}
	var found []near
	if n.Conditions == nil || len(closures) == 0 {
		return nil
	}
	of := make([]geo.Point, len(closures))
	for i := range closures {
		of[i] = n.middle(closures[i].Arc).at
	}
	for arc := range n.Conditions.Arcs() {
		if c, _ := n.condition(arc); !c.Closed || n.Graph.Arcs[arc].CopyOf != arc {
			continue
		}
		m := n.middle(arc)
		least := distanceToNearest(of, m.at)
		line := pointsOf(n.lineOf(arc))
		atPlace := slices.ContainsFunc(places, func(p geo.Point) bool { return distanceTo(line, p) < leftMetres })
		if least <= metres && !atPlace {
			found = append(found, near{Via{m.at, m.bearing}, least})
		}
	}
	slices.SortFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.metres, b.metres), cmp.Compare(a.At.Lat, b.At.Lat), cmp.Compare(a.At.Lng, b.At.Lng))
	})
	var vias []Via
	for _, f := range found {
		if len(vias) < most && !slices.ContainsFunc(vias, func(v Via) bool { return samePosition(v.At, f.At) }) {
			vias = append(vias, f.Via)
		}
	}
	return vias
}

func distanceToNearest(of []geo.Point, at geo.Point) float64 {
	least := math.Inf(1)
	for _, p := range of {
		least = min(least, geo.Distance(p, at))
	}
	return least
}

func pointsOf(line []graph.Position) []geo.Point {
	points := make([]geo.Point, len(line))
	for i, p := range line {
		points[i] = p.Point()
	}
	return points
}
