package nav

import (
	"context"
	"math"
	"strconv"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// Avoid is the part of the network that a request leaves out: the roads at some places, and the roads with any part
// inside rings or on them. They are closed for the request: not to be driven from one end to the other. A route that
// begins or ends on one may leave it or reach it.
type Avoid struct {
	Places []geo.Point
	Rings  [][]geo.Point // of three or more positions; the last is joined to the first
}

// The bounds of what a request may avoid.
const (
	MaxAvoidPlaces    = 50
	MaxAvoidRings     = 50
	MaxAvoidPositions = 1000    // in all rings together
	MaxAvoidMetres    = 100_000 // total length of all rings
)

func (a *Avoid) none() bool { return len(a.Places) == 0 && len(a.Rings) == 0 }

// check refuses requests beyond the bounds, before any work.
func (a *Avoid) check() error {
	tooMany := func(what string, most int) error {
		return &Error{TooBig, "There are more than " + strconv.Itoa(most) + " " + what + "."}
	}
	if len(a.Places) > MaxAvoidPlaces {
		return tooMany("places to avoid", MaxAvoidPlaces)
	}
	if len(a.Rings) > MaxAvoidRings {
		return tooMany("polygons to avoid", MaxAvoidRings)
	}
	positions, metres := 0, 0.0
	for _, ring := range a.Rings {
		if positions += len(ring); positions > MaxAvoidPositions {
			return tooMany("positions in the polygons to avoid", MaxAvoidPositions)
		}
		if len(ring) < 3 {
			return &Error{InvalidValue, "A polygon to avoid takes three positions or more."}
		}
		for i, at := range ring {
			if !at.Valid() {
				return &Error{InvalidValue, "Invalid coordinate value."}
			}
			metres += geo.Distance(at, ring[(i+1)%len(ring)])
		}
	}
	if metres > MaxAvoidMetres {
		return tooMany("metres around the polygons to avoid", MaxAvoidMetres)
	}
	return (&Places{Coordinates: a.Places}).check()
}

// without returns the network with roads closed for one request. The caller must call done when finished. Such a network
// is searched without preparation, over its own weights. It takes one of the slots for searches of short ways, which
// bound their memory and work.
func (n *Network) without(ctx context.Context, a *Avoid) (without *Network, done func(), err error) {
	local := n.local()
	select {
	case local.slots <- struct{}{}:
		done = func() { <-local.slots }
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	avoided, err := n.avoidedArcs(ctx, a)
	if err != nil {
		done()
		return nil, nil, err
	}
	search := &Plain{graph: n.Graph, free: n.Graph.Weights(), trees: local.trees, slots: make(chan struct{}, 1), excluded: make(map[excluded][]uint32)}
	search.weights = search.free
	if n.Conditions != nil && !n.Conditions.None() {
		search.weights = n.weightsNow()
	}
	for arc := range avoided {
		search.weights[arc], search.free[arc] = graph.Closed, graph.Closed
	}
	narrowed := *n
	narrowed.Search, narrowed.avoided = search, avoided
	return &narrowed, done, nil
}

// weightsNow returns the current weights of all arcs, including the effect of conditions.
func (n *Network) weightsNow() []uint32 {
	weights := make([]uint32, len(n.Graph.Arcs))
	for arc := range weights {
		c, _ := n.condition(uint32(arc))
		if weights[arc] = c.Weight; c.Closed {
			weights[arc] = graph.Closed
		}
	}
	return weights
}

// avoidedArcs returns the arcs of the roads to avoid, with their copies.
func (n *Network) avoidedArcs(ctx context.Context, a *Avoid) (map[uint32]struct{}, error) {
	arcs := make(map[uint32]struct{})
	add := func(piece uint32) {
		p := &n.Graph.Pieces[piece]
		for _, arc := range [...]uint32{p.Forward, p.Backward} {
			if arc == graph.None {
				continue
			}
			arcs[arc] = struct{}{}
			for _, copied := range n.copies[arc] {
				arcs[copied] = struct{}{}
			}
		}
	}
	var found []match.Place
	for _, at := range a.Places {
		found = n.Index.Nearest(found[:0], at, match.Nearest{Within: maxSnap, Count: usualCandidates})
		for _, place := range found {
			if samePosition(place.Point, found[0].Point) {
				add(place.Piece)
			}
		}
	}
	looked := 0
	for _, positions := range a.Rings {
		r := newRing(positions)
		for piece := range n.Index.In(r.box()) {
			if looked++; looked%polled == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if r.meets(n.Graph.PieceLine(piece)) {
				add(piece)
			}
		}
	}
	return arcs, nil
}

// ring is a polygon in degrees relative to its first position, on the plane of longitudes and latitudes.
type ring struct {
	base   geo.Point
	corner []planar // with the first one repeated at the end
	bounds bounds
	line   []planar // buffer of meets
	near   []int    // buffer of meets: the edges near a line, by their first corner
}

type planar struct{ x, y float64 }

// bounds is the bounding rectangle of some places.
type bounds struct{ west, south, east, north float64 }

func boundsOf(line []planar) bounds {
	b := bounds{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, p := range line {
		b.west, b.east = min(b.west, p.x), max(b.east, p.x)
		b.south, b.north = min(b.south, p.y), max(b.north, p.y)
	}
	return b
}

func (b bounds) meets(o bounds) bool {
	return b.west <= o.east && o.west <= b.east && b.south <= o.north && o.south <= b.north
}

func newRing(positions []geo.Point) *ring {
	r := &ring{base: positions[0]}
	r.corner = make([]planar, 0, len(positions)+1)
	for _, at := range positions {
		r.corner = append(r.corner, r.place(at))
	}
	r.corner = append(r.corner, r.corner[0])
	r.bounds = boundsOf(r.corner)
	return r
}

func (r *ring) place(at geo.Point) planar {
	return planar{math.Remainder(at.Lng-r.base.Lng, 360), at.Lat - r.base.Lat}
}

func (r *ring) box() geo.Box {
	b := r.bounds
	return geo.Box{South: r.base.Lat + b.south, West: r.base.Lng + b.west, North: r.base.Lat + b.north, East: r.base.Lng + b.east}
}

// meets reports whether any part of a line is inside the ring or on it.
func (r *ring) meets(line []graph.Position) bool {
	r.line = r.line[:0]
	for i, p := range line {
		at := r.place(p.Point())
		if i > 0 { // the shorter way around from the previous one
			before := r.line[i-1].x
			at.x = before + math.Remainder(at.x-before, 360)
		}
		r.line = append(r.line, at)
	}
	around := boundsOf(r.line)
	if !around.meets(r.bounds) {
		return false
	}
	r.near = r.near[:0]
	for i := range r.corner[1:] {
		if boundsOf(r.corner[i : i+2]).meets(around) {
			r.near = append(r.near, i)
		}
	}
	for k := range r.line[1:] {
		for _, i := range r.near {
			if cross(r.line[k], r.line[k+1], r.corner[i], r.corner[i+1]) {
				return true
			}
		}
	}
	return r.holds(r.line[0]) // the line crosses no edge, so it is completely inside or outside
}

// holds reports whether a place that is on no edge is inside: whether a ray to the east crosses an odd number of edges.
func (r *ring) holds(p planar) (inside bool) {
	for i := range r.corner[1:] {
		a, b := r.corner[i], r.corner[i+1]
		if (a.y > p.y) != (b.y > p.y) && p.x < a.x+(p.y-a.y)/(b.y-a.y)*(b.x-a.x) {
			inside = !inside
		}
	}
	return inside
}

// cross reports whether two segments have a common point.
func cross(a, b, c, d planar) bool {
	if !boundsOf([]planar{a, b}).meets(boundsOf([]planar{c, d})) {
		return false
	}
	side := func(p, q, of planar) float64 { return (q.x-p.x)*(of.y-p.y) - (q.y-p.y)*(of.x-p.x) }
	return side(a, b, c)*side(a, b, d) <= 0 && side(c, d, a)*side(c, d, b) <= 0
}
