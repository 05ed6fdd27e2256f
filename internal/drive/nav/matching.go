package nav

import (
	"context"
	"math"
	"slices"

	"wayside/internal/ground/geo"
)

// finish makes a matching from the columns: the most probable states from its beginning to its end.
func (t *trace) finish(ctx context.Context, a *TraceAnswer) error {
	chosen := t.mostProbable()
	t.markLasting()
	spots, ways, err := t.ways(ctx, chosen)
	if err != nil {
		return err
	}
	a.Matchings = append(a.Matchings, Matching{})
	m := &a.Matchings[len(a.Matchings)-1]
	m.Confidence = t.confidence(chosen)
	q := &RouteRequest{Places: t.q.Places, Steps: t.q.Steps, JoinExits: t.q.JoinExits}
	waypoint := 0
	for k := range t.columns {
		c := &t.columns[k]
		point := Tracepoint{Matched: true, Place: spots[k].Places[0], Matching: len(a.Matchings) - 1, Waypoint: -1, Alternatives: c.lasting() - 1}
		if len(t.q.Waypoints) == 0 || slices.Contains(t.q.Waypoints, c.coordinate) {
			q.Waypoints = append(q.Waypoints, k)
			point.Waypoint = waypoint
			waypoint++
		}
		a.Tracepoints[c.coordinate] = point
	}
	t.assemble(&m.Route, ways, spots, q)
	return nil
}

// mostProbable returns the state of each column on the most probable way.
func (t *trace) mostProbable() []int {
	chosen := make([]int, len(t.columns))
	last := len(t.columns) - 1
	for i := range t.columns[last].states {
		if t.columns[last].states[i].probability > t.columns[last].states[chosen[last]].probability {
			chosen[last] = i
		}
	}
	for k := last; k > 0; k-- {
		chosen[k-1] = t.columns[k].states[chosen[k]].parent
	}
	return chosen
}

// markLasting marks the states from which a way leads to the end.
func (t *trace) markLasting() {
	for k := len(t.columns) - 1; k >= 0; k-- {
		for i := range t.columns[k].states {
			s := &t.columns[k].states[i]
			s.lasts = s.lasts || k == len(t.columns)-1 && s.alive
			if s.lasts && k > 0 {
				t.columns[k-1].states[s.parent].lasts = true
			}
		}
	}
}

// lasting returns how many states of a column lead to the end, at least 1.
func (c *column) lasting() (count int) {
	for i := range c.states {
		if c.states[i].lasts {
			count++
		}
	}
	return max(1, count)
}

// ways returns the ways between the chosen states, and their spots with one candidate each.
func (t *trace) ways(ctx context.Context, chosen []int) ([]Spot, []way, error) {
	spots, ways := make([]Spot, len(chosen)), make([]way, len(chosen)-1)
	for k := range chosen {
		c := &t.columns[k]
		candidate := c.states[chosen[k]].Candidate
		spots[k] = Spot{Input: c.spot.Input, Places: c.spot.Places[candidate.Place : candidate.Place+1], Candidates: []Candidate{candidate}}
		spots[k].Candidates[0].Place = 0
	}
	for k := range ways {
		from, to := &spots[k].Candidates[0], &spots[k+1].Candidates[0]
		t.clearWay(&ways[k], from.Arc)
		if _, same := t.direct(from, to); same {
			ways[k].weight, _ = t.direct(from, to)
			if t.columns[k+1].states[chosen[k+1]].length <= (to.Share-from.Share)*float64(t.Graph.Pieces[t.Graph.Arcs[from.Arc].Piece].Length)/1000+1 {
				continue
			}
		}
		t.tree.clearAim()
		t.tree.addAim(t.appendEnds(nil, to))
		if err := t.tree.grow(ctx, t.weights, t.tree.one(t.begin(from)), unreached); err != nil {
			return nil, nil, err
		}
		if t.tree.found[0].weight == unreached { // impossible, because a way was found before
			return nil, nil, &Error{NoMatch, "Could not match the trace."}
		}
		path := t.tree.path(0)
		ways[k].weight, ways[k].arcs = path.Weight, path.Arcs
	}
	return spots, ways, nil
}

func (t *trace) clearWay(w *way, arc uint32) { *w = way{arcs: []uint32{arc}} }

// confidence returns the probability that the matching is right, from how much longer it is than the trace. The figures
// are those that OSRM fitted to traces judged by people: two Laplace distributions, and the share of correct ones.
func (t *trace) confidence(chosen []int) float64 {
	var straight, matched float64
	for k := 1; k < len(chosen); k++ {
		straight += geo.Distance(t.columns[k-1].spot.Input, t.columns[k].spot.Input)
		matched += t.columns[k].states[chosen[k]].length
	}
	feature := math.Log(matched) - math.Log(straight)
	if math.IsNaN(feature) || math.IsInf(feature, 0) {
		return 0
	}
	laplace := func(middle, scale float64) float64 { return math.Exp(-math.Abs(feature-middle)/scale) / (2 * scale) }
	const right = 0.696774
	good, bad := laplace(0.005986, 0.016646)*right, laplace(0.054385, 0.458432)*(1-right)
	return good / (good + bad)
}
