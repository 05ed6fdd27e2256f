package nav

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"wayside/internal/roads/graph"
)

// Service answers requests on the current network.
type Service struct {
	current func() *Network
}

// New returns a service. current returns the current network, or nil if there is none. The service calls it once for
// each request, and releases the result.
func New(current func() *Network) *Service { return &Service{current: current} }

// Current returns the current network, for one request. The caller must release it when no search uses it any more.
func (s *Service) Current() (*Network, error) {
	if n := s.current(); n != nil {
		return n, nil
	}
	return nil, ErrNoRegion()
}

// ErrNoRegion returns the error of every request while no region is served.
func ErrNoRegion() *Error {
	return &Error{NoRegion, "No region is served: an operator makes one with «wayside region import»"}
}

// Route is a way over all waypoints.
type Route struct {
	Legs                   []Leg
	Distance               float64  // metres
	Weight, Duration, Free uint64   // ms; Free is the duration without conditions
	Conditions             []string // entities on the way
	Avoided                []string // entities that would be on the way without conditions
	Warnings               []string

	line       []graph.Position // memory of Overview
	simplifier simplifier
}

// RouteAnswer is the routes, the best first. It can be refilled many times.
type RouteAnswer struct {
	Network *Network // for reading: it was released, and must not be searched
	Spots   []Spot
	Used    []Candidate // where the best route begins, passes and ends at the spots
	Routes  []Route
}

// next adds a route, reusing the memory of an earlier one.
func (a *RouteAnswer) next() *Route {
	if len(a.Routes) < cap(a.Routes) {
		a.Routes = a.Routes[:len(a.Routes)+1]
	} else {
		a.Routes = append(a.Routes, Route{})
	}
	r := &a.Routes[len(a.Routes)-1]
	*r = Route{Legs: r.Legs[:0], line: r.line, simplifier: r.simplifier}
	return r
}

// next adds a leg, reusing the memory of an earlier one.
func (r *Route) next() *Leg {
	if len(r.Legs) < cap(r.Legs) {
		r.Legs = r.Legs[:len(r.Legs)+1]
	} else {
		r.Legs = append(r.Legs, Leg{})
	}
	return &r.Legs[len(r.Legs)-1]
}

// Route finds the best route, and alternatives to it.
func (s *Service) Route(ctx context.Context, q *RouteRequest, a *RouteAnswer) error {
	if err := q.Check(); err != nil {
		return err
	}
	n, err := s.Current()
	if err != nil {
		return err
	}
	defer n.Release()
	if !q.Avoid.none() {
		without, done, err := n.without(ctx, &q.Avoid)
		if err != nil {
			return err
		}
		defer done()
		err = without.route(ctx, q, a)
		a.Network = n // an answer is kept for longer than the weights of a request may be
		return err
	}
	return n.route(ctx, q, a)
}

// route finds the best route on this network.
func (n *Network) route(ctx context.Context, q *RouteRequest, a *RouteAnswer) (err error) {
	a.Network, a.Routes = n, a.Routes[:0]
	if a.Spots, err = n.snap(&q.Places); err != nil {
		return err
	}
	search := Query{Exclude: q.Exclude}
	ways, err := n.chain(ctx, a.Spots, &search, q.Straight != TurnsAllowed)
	if refused := new(Error); errors.As(err, &refused) && refused.Code == NoRoute {
		if moved := n.join(&q.Places, a.Spots); moved != nil {
			if err := n.keep(ctx, moved, a.Spots, q.Exclude); err != nil {
				return err
			}
			a.Spots = moved
			ways, err = n.chain(ctx, a.Spots, &search, q.Straight != TurnsAllowed)
		}
	}
	if err != nil {
		return err
	}
	onOne := len(ways[0].arcs) == 1
	n.assemble(a.next(), ways, a.Spots, q)
	a.Used = n.used(a.Used[:0], ways, a.Spots)
	if q.Alternatives > 0 && len(a.Spots) == 2 && !onOne {
		if err := n.addAlternatives(ctx, q, a, &search); err != nil {
			return err
		}
	}
	return n.findAvoided(ctx, q, a)
}

// Check refuses requests beyond the bounds, before any work.
func (q *RouteRequest) Check() error {
	if len(q.Coordinates) > MaxCoordinates {
		return &Error{TooBig, "Number of entries " + strconv.Itoa(len(q.Coordinates)) + " is higher than current maximum (" + strconv.Itoa(MaxCoordinates) + ")"}
	}
	if q.Alternatives > MaxAlternatives {
		return &Error{TooBig, "Requested number of alternatives is higher than current maximum (" + strconv.Itoa(MaxAlternatives) + ")"}
	}
	if err := q.Places.check(); err != nil {
		return err
	}
	if err := q.Avoid.check(); err != nil {
		return err
	}
	return checkWaypoints(q.Waypoints, len(q.Coordinates))
}

// checkWaypoints refuses waypoints without the first or the last coordinate.
func checkWaypoints(w []int, coordinates int) error {
	if len(w) > 0 && (w[0] != 0 || w[len(w)-1] != coordinates-1) {
		return &Error{InvalidValue, "First and last coordinates must be specified as waypoints."}
	}
	return nil
}

func (p *Places) check() error {
	for _, at := range p.Coordinates {
		if !at.Valid() {
			return &Error{InvalidValue, "Invalid coordinate value."}
		}
	}
	return nil
}

// used returns the candidates between which ways lead, one for each spot.
func (n *Network) used(to []Candidate, ways []way, spots []Spot) []Candidate {
	to = append(to, spots[0].Candidates[ways[0].from])
	for i := range ways {
		to = append(to, spots[i+1].Candidates[ways[i].to])
	}
	return to
}

// assemble makes a route from ways, with a leg between each two waypoints.
func (n *Network) assemble(r *Route, ways []way, spots []Spot, q *RouteRequest) {
	n.trim(ways, spots, q.Straight != TurnsAllowed)
	begin := 0
	for i := range ways {
		if i+1 < len(ways) && len(q.Waypoints) > 0 && !slices.Contains(q.Waypoints, i+1) {
			continue
		}
		leg := r.next()
		n.build(leg, ways[begin:i+1], spots[begin:i+2])
		if q.Steps {
			n.describe(leg, &spots[begin], &spots[i+1], !q.JoinExits)
		}
		r.Distance += leg.Distance
		r.Weight += leg.Weight
		r.Duration += leg.Duration
		r.Free += leg.Free
		begin = i + 1
	}
	n.note(r)
	r.Warnings = n.appendMoved(r.Warnings, ways, spots)
}

// addAlternatives adds routes between two spots that differ from the best one.
func (n *Network) addAlternatives(ctx context.Context, q *RouteRequest, a *RouteAnswer, search *Query) error {
	paths, err := n.Search.Alternatives(ctx, search, q.Alternatives)
	if err != nil {
		return err
	}
	for _, path := range paths[min(1, len(paths)):] {
		w := n.wayOf(path, &a.Spots[0], &a.Spots[1], -1)
		n.assemble(a.next(), []way{w}, a.Spots, q)
	}
	return nil
}
