package nav

import (
	"context"
	"math"
	"slices"

	"wayside/internal/roads/graph"
)

// way is a way between two spots: over arcs, or on one arc alone.
type way struct {
	weight   uint64
	from, to int      // indexes of candidates
	arcs     []uint32 // only one if the way takes no turn
}

// part returns the cost of a share of an arc, rounded once (D15.11). Shares lie within 0 and 1.
func part(share float64, cost uint32) uint32 { return uint32(math.Round(share * float64(cost))) }

// begin returns the end of a route that begins at a candidate.
func (n *Network) begin(c *Candidate) graph.End {
	now, _ := n.condition(c.Arc)
	return graph.End{Arc: c.Arc, Cost: part(1-c.Share, now.Weight)}
}

// appendEnds appends the ends of a route that ends at a candidate: on the arc, or on one of its copies.
func (n *Network) appendEnds(to []graph.End, c *Candidate) []graph.End {
	now, _ := n.condition(c.Arc)
	cost := part(c.Share, now.Weight)
	to = append(to, graph.End{Arc: c.Arc, Cost: cost})
	for _, copied := range n.copies[c.Arc] {
		to = append(to, graph.End{Arc: copied, Cost: cost})
	}
	return to
}

// direct returns the weight of the way on one arc, and false unless the second candidate lies ahead of the first on the
// same arc.
func (n *Network) direct(from, to *Candidate) (weight uint64, ok bool) {
	if from.Arc != to.Arc || to.Share < from.Share {
		return 0, false
	}
	now, _ := n.condition(from.Arc)
	return uint64(part(to.Share-from.Share, now.Weight)), true
}

// leg finds the best way from the candidates of a spot to those of the next, or to one of them if only is not negative.
// spent is the cost so far of each of the first, unreached for those not to be used; nil means none.
func (n *Network) leg(ctx context.Context, q *Query, from, to *Spot, spent []uint64, only int) (best way, found bool, err error) {
	q.From, q.To = q.From[:0], q.To[:0]
	least := unreached // subtracted so that costs stay small, because ends have 32 bits
	for i := range from.Candidates {
		least = min(least, spentOn(spent, i))
	}
	if least == unreached {
		return way{}, false, nil
	}
	best.weight = unreached
	for i := range from.Candidates {
		already := spentOn(spent, i)
		if already == unreached {
			continue
		}
		end := n.begin(&from.Candidates[i])
		if more := already - least + uint64(end.Cost); more < graph.Closed {
			end.Cost = uint32(more)
			q.From = append(q.From, end)
		}
		for j := range to.Candidates {
			if only >= 0 && j != only {
				continue
			}
			if weight, ok := n.direct(&from.Candidates[i], &to.Candidates[j]); ok && already+weight < best.weight {
				best = way{already + weight, i, j, []uint32{from.Candidates[i].Arc}}
			}
		}
	}
	for j := range to.Candidates {
		if only < 0 || j == only {
			q.To = n.appendEnds(q.To, &to.Candidates[j])
		}
	}
	if best.weight == least { // no way can be shorter
		return best, true, nil
	}
	path, ok, err := n.Search.Route(ctx, q)
	if err != nil {
		return way{}, false, err
	}
	if ok && path.Weight+least < best.weight {
		best = n.wayOf(path, from, to, only)
		best.weight = path.Weight + least
	}
	return best, best.weight != unreached, nil
}

func spentOn(spent []uint64, candidate int) uint64 {
	if spent == nil {
		return 0
	}
	return spent[candidate]
}

// wayOf determines the candidates between which a path leads. If several candidates are on one arc, the path uses the
// one that costs least: the last for the beginning, the first for the end.
func (n *Network) wayOf(path graph.Path, from, to *Spot, only int) way {
	w := way{weight: path.Weight, from: -1, to: -1, arcs: path.Arcs}
	first, last := path.Arcs[0], n.Graph.Arcs[path.Arcs[len(path.Arcs)-1]].CopyOf
	for i := range from.Candidates {
		if c := &from.Candidates[i]; c.Arc == first && (w.from < 0 || c.Share > from.Candidates[w.from].Share) {
			w.from = i
		}
	}
	for j := range to.Candidates {
		if c := &to.Candidates[j]; (only < 0 || j == only) && c.Arc == last && (w.to < 0 || c.Share < to.Candidates[w.to].Share) {
			w.to = j
		}
	}
	return w
}

// trim removes arcs with no driven part from the ends of a route, if leaving them costs nothing, so that the route
// begins on the road that it takes. If a route may turn at waypoints, each of its ways is trimmed separately.
func (n *Network) trim(ways []way, spots []Spot, straight bool) {
	for i := range ways {
		if i == 0 || !straight {
			n.trimBegin(&ways[i], &spots[i])
		}
		if i == len(ways)-1 || !straight {
			n.trimEnd(&ways[i], &spots[i+1])
		}
	}
}

func (n *Network) trimBegin(w *way, from *Spot) {
	for len(w.arcs) > 1 && isNothing(1-from.Candidates[w.from].Share, n.lengthOf(w.arcs[0])) && n.isFree(w.arcs[0], w.arcs[1]) {
		at := n.candidate(from, w.arcs[1], false) // -1 for a copy too, because routes do not begin on copies
		if at < 0 {
			return
		}
		w.from, w.arcs = at, w.arcs[1:]
	}
}

func (n *Network) trimEnd(w *way, to *Spot) {
	for last := len(w.arcs) - 1; last > 0 && isNothing(to.Candidates[w.to].Share, n.lengthOf(w.arcs[last])) && n.isFree(w.arcs[last-1], w.arcs[last]); last-- {
		at := n.candidate(to, n.Graph.Arcs[w.arcs[last-1]].CopyOf, true)
		if at < 0 {
			return
		}
		w.to, w.arcs = at, w.arcs[:last]
	}
}

// isFree reports whether a turn costs nothing.
func (n *Network) isFree(from, to uint32) bool {
	turn := n.turn(from, to)
	return turn.Weight == 0 && turn.Duration == 0
}

func (n *Network) lengthOf(arc uint32) uint32 { return n.Graph.Pieces[n.Graph.Arcs[arc].Piece].Length }

// isNothing reports whether a share of a length in millimetres is zero, up to rounding.
func isNothing(share float64, length uint32) bool { return share*float64(length) < 1 }

// candidate returns the index of the candidate at the beginning or the end of an arc, or -1 if there is none.
func (n *Network) candidate(spot *Spot, arc uint32, atEnd bool) int {
	return slices.IndexFunc(spot.Candidates, func(c Candidate) bool {
		share := c.Share
		if atEnd {
			share = 1 - share
		}
		return c.Arc == arc && isNothing(share, n.lengthOf(arc))
	})
}

// chain finds the best way over all spots in their order, with the best combination of candidates (D15.10).
func (n *Network) chain(ctx context.Context, spots []Spot, q *Query, straight bool) ([]way, error) {
	if !straight || len(spots) == 2 {
		return n.chainOfLegs(ctx, spots, q)
	}
	legs := make([][]way, len(spots)-1) // for each leg, the best way to each candidate of its end, including the cost before
	spent := make([]uint64, len(spots[0].Candidates))
	for i := range legs {
		last := i == len(legs)-1
		next := make([]uint64, len(spots[i+1].Candidates))
		legs[i] = make([]way, len(next))
		reached := false
		for j := range next {
			next[j] = unreached
		}
		for j := range next {
			only := j
			if last {
				if only = -1; j > 0 {
					continue // a single search finds the best of all
				}
			}
			w, found, err := n.leg(ctx, q, &spots[i], &spots[i+1], spent, only)
			if err != nil {
				return nil, err
			}
			if found {
				next[w.to], legs[i][w.to], reached = w.weight, w, true
			}
		}
		if !reached {
			return nil, noRoute(n, spots)
		}
		spent = next
	}
	at := 0
	for j := range spent {
		if spent[j] < spent[at] {
			at = j
		}
	}
	ways := make([]way, len(legs))
	for i := len(legs) - 1; i >= 0; i-- {
		ways[i] = legs[i][at]
		at = ways[i].from
	}
	for i := len(ways) - 1; i > 0; i-- {
		ways[i].weight -= ways[i-1].weight
	}
	return ways, nil
}

// chainOfLegs finds the best way of each leg separately, for routes that may turn at waypoints.
func (n *Network) chainOfLegs(ctx context.Context, spots []Spot, q *Query) ([]way, error) {
	ways := make([]way, len(spots)-1)
	for i := range ways {
		w, found, err := n.leg(ctx, q, &spots[i], &spots[i+1], nil, -1)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, noRoute(n, spots)
		}
		ways[i] = w
	}
	return ways, nil
}

// keep restores the spots that need not have been moved: those with a way to their moved place, and back. A route needs
// no way to its first coordinate, nor from its last.
func (n *Network) keep(ctx context.Context, moved, spots []Spot, exclude graph.Flags) error {
	q := Query{Exclude: exclude}
	for i := range spots {
		kept := true
		var err error
		if i < len(spots)-1 {
			_, kept, err = n.leg(ctx, &q, &spots[i], &moved[i], nil, -1)
		}
		if kept && err == nil && i > 0 {
			_, kept, err = n.leg(ctx, &q, &moved[i], &spots[i], nil, -1)
		}
		if err != nil {
			return err
		}
		if kept {
			moved[i] = spots[i]
		}
	}
	return nil
}

// noRoute returns the reason why there is no route, in OSRM's words.
func noRoute(n *Network, spots []Spot) error {
	s := snapper{Roads: n.Roads}
	if !s.hangTogether(spots) {
		return &Error{NoRoute, "Impossible route between points"}
	}
	return &Error{NoRoute, "No route found between points"}
}
