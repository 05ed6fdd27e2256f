package nav

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"wayside/internal/geo"
	"wayside/internal/roads/graph"
)

// Stretch is a part of a line, in metres from its beginning. What lies beyond its ends is cut off.
type Stretch struct{ Begin, End float64 }

// Via is a place on a road, and the direction in which it is passed.
type Via struct {
	At      geo.Point
	Bearing float64 // degrees
}

// detourRange is how far from the direction of a line a detour may begin and end, in degrees.
const detourRange = 45

// leftMetres is how far from a line its detour is surely another road.
const leftMetres = 30.0

// Detour finds the best way from the beginning of a stretch of a line to its end under the conditions now, and gives so many places on
// what of it is beside the line, in their order: a route that passes them goes round what is closed on the stretch. There are none if
// there is no such way, or it is the line.
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
	for _, least := range [...]float64{leftMetres, 10, 3} { // around a square, or on the other carriageway, it is near
		if vias := n.viasBeside(leg, along, least, count); len(vias) > 0 {
			return vias, nil
		}
	}
	return nil, nil
}

// detourLeg is the best way from the beginning of a stretch to its end: in the direction of the line if there is such a way; nil: there
// is none.
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
	return nil, nil //nolint:nilnil // there is no such way, which is no error
}

// viasBeside are the middles of arcs of a leg that are evenly spread over what of it is so far from a line.
func (n *Network) viasBeside(l *Leg, line []geo.Point, metres float64, count int) (vias []Via) {
	type beside struct {
		middle
		until float64 // metres of the arcs so far
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

// distanceTo is how far a place is from a line, in metres.
func distanceTo(line []geo.Point, at geo.Point) float64 {
	least := geo.Distance(line[0], at)
	for k := 1; k < len(line); k++ {
		least = min(least, geo.Distance(at, geo.NearestOnSegment(at, line[k-1], line[k])))
	}
	return least
}

// ClosedNear are the closed roads near some closures, themselves first, by the middle of each, the nearest first: what an engine is told
// to leave out. Those at one of the places are not among them: one may begin and end there (D15.16).
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
