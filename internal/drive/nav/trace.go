package nav

import (
	"context"
	"math"
	"slices"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/match"
)

// TraceRequest asks where a trace was driven.
type TraceRequest struct {
	Places             // Radiuses are the standard deviations of the coordinates
	Timestamps []int64 // seconds; none, or one for each coordinate
	IgnoreGaps bool    // a gap in time does not split the trace
	Tidy       bool    // coordinates that are close together may be left out
	Waypoints  []int   // as in RouteRequest
	Steps      bool
	JoinExits  bool // as in RouteRequest
}

// TraceAnswer is the result of matching a trace.
type TraceAnswer struct {
	Network     *Network
	Matchings   []Matching
	Tracepoints []Tracepoint // one for each coordinate
}

// Matching is a part of the trace as a route.
type Matching struct {
	Route
	Confidence float64 // 0 to 1
}

// Tracepoint is the place to which one coordinate was matched.
type Tracepoint struct {
	Matched      bool
	Place        match.Place
	Matching     int // index
	Waypoint     int // index in the matching; -1: the coordinate is not a waypoint
	Alternatives int // number of other places at which the coordinate may be
}

// Parameters of the hidden Markov model: those of OSRM, which follow Newson and Krumm (2009).
const (
	usualDeviation = 5.0 // metres, of a coordinate without a radius
	minDeviation   = 1.0
	searchFactor   = 3 // number of deviations within which roads are candidates
	maxSearch      = 500.0
	maxTraceRoads  = 12 // candidates of a coordinate
	detourScale    = 10.0
	maxDetour      = 500.0 // metres by which a way may be longer than the straight line
	fastest        = 50.0  // m/s, for the same bound if times are given
	slowest        = 4.0   // m/s, for the bound of the search
	maxBroken      = 10    // maximum number of consecutive coordinates that may be left out, and of median intervals in a gap
)

// maxTraceArcs bounds the arcs that are searched for one trace: one to two seconds. 500 random places in Monaco take up
// to 6 million; 20 random places in Milan, ten kilometres from each other, took seven seconds.
const maxTraceArcs = 10_000_000

// state is one candidate of one coordinate in the model.
type state struct {
	Candidate
	probability float64 // logarithm, of the best way here
	parent      int     // the state of the previous coordinate; -1: none
	length      float64 // metres from there
	alive       bool    // a way leads to it
	lasts       bool    // it leads to the end
}

// column is a coordinate that was not left out.
type column struct {
	coordinate int
	spot       Spot
	states     []state
}

// trace matches the coordinates of one request.
type trace struct {
	*Network
	q       *TraceRequest
	median  int64
	columns []column
	tree    *tree
	weights []uint32
}

// Check refuses requests beyond the bounds, before any work.
func (q *TraceRequest) Check() error {
	if len(q.Coordinates) > MaxTrace {
		return &Error{TooBig, "Too many trace coordinates"}
	}
	if err := q.Places.check(); err != nil {
		return err
	}
	if err := checkWaypoints(q.Waypoints, len(q.Coordinates)); err != nil {
		return err
	}
	if !slices.IsSorted(q.Timestamps) {
		return &Error{InvalidValue, "Timestamps need to be monotonically increasing."}
	}
	return nil
}

// Match finds the roads on which a trace was driven.
func (s *Service) Match(ctx context.Context, q *TraceRequest, a *TraceAnswer) error {
	if err := q.Check(); err != nil {
		return err
	}
	n, err := s.Current()
	if err != nil {
		return err
	}
	defer n.Release()
	free := *n
	free.Conditions = nil // the driven way does not depend on current closures
	a.Network, a.Matchings, a.Tracepoints = n, a.Matchings[:0], make([]Tracepoint, len(q.Coordinates))
	t := &trace{Network: &free, q: q, median: medianInterval(q.Timestamps)}
	local := n.local()
	return local.search(ctx, func(tree *tree) error {
		t.tree, t.weights = tree, local.metric(q.Exclude, true)
		tree.left = maxTraceArcs
		defer func() { tree.left = -1 }()
		return t.match(ctx, a)
	})
}

// medianInterval returns the median time between two coordinates, at least a second.
func medianInterval(timestamps []int64) int64 {
	var intervals []int64
	for i := 1; i < len(timestamps); i++ {
		intervals = append(intervals, timestamps[i]-timestamps[i-1])
	}
	if len(intervals) == 0 {
		return 1
	}
	slices.Sort(intervals)
	return max(1, intervals[len(intervals)/2])
}

// match processes the trace, and ends a matching where no way leads on.
func (t *trace) match(ctx context.Context, a *TraceAnswer) error {
	kept := t.kept()
	seen := false
	for begin := 0; begin < len(kept); {
		next, err := t.follow(ctx, kept, begin)
		if err != nil {
			return err
		}
		seen = seen || len(t.columns) > 0
		if len(t.columns) > 1 {
			if err := t.finish(ctx, a); err != nil {
				return err
			}
		}
		begin = next
	}
	switch {
	case !seen:
		return &Error{NoSegment, "Could not find a matching segment for any coordinate."}
	case len(a.Matchings) == 0:
		return &Error{NoMatch, "Could not match the trace."}
	case len(t.q.Waypoints) > 0 && len(a.Matchings) > 1:
		return &Error{NoMatch, "Could not match the trace with the given waypoints."}
	}
	for _, w := range t.q.Waypoints {
		if !a.Tracepoints[w].Matched {
			return &Error{NoMatch, "Requested waypoint parameter could not be matched."}
		}
	}
	return nil
}

// Distances and times within which tidy leaves coordinates out, as OSRM does.
const (
	tidyMetres  = 15.0
	tidySeconds = 5
)

// kept returns the coordinates to match: all, or those of a tidied trace.
func (t *trace) kept() []int {
	var kept []int
	since, metres := int64(0), 0.0
	for i, at := range t.q.Coordinates {
		if i > 0 {
			metres += geo.Distance(t.q.Coordinates[i-1], at)
			if len(t.q.Timestamps) > 0 {
				since += t.q.Timestamps[i] - t.q.Timestamps[i-1]
			}
		}
		far := metres >= tidyMetres && (len(t.q.Timestamps) == 0 || since >= tidySeconds)
		if !t.q.Tidy || i == 0 || i == len(t.q.Coordinates)-1 || far || slices.Contains(t.q.Waypoints, i) {
			kept, since, metres = append(kept, i), 0, 0
		}
	}
	return kept
}

// follow fills the columns of one matching, from a coordinate on, and returns the one at which the next matching begins.
func (t *trace) follow(ctx context.Context, kept []int, begin int) (next int, err error) {
	t.columns = t.columns[:0]
	broken := -1 // the first coordinate left out since the last column
	for k := begin; k < len(kept); k++ {
		c := t.column(kept[k])
		if len(c.states) == 0 {
			if len(t.columns) == 0 {
				begin = k + 1
			}
			continue
		}
		if len(t.columns) == 0 {
			t.columns = append(t.columns, c)
			continue
		}
		last := &t.columns[len(t.columns)-1]
		if t.gap(last.coordinate, c.coordinate) || broken >= 0 && k-broken > maxBroken {
			if broken >= 0 {
				return broken, nil
			}
			return k, nil
		}
		connected, err := t.connect(ctx, last, &c)
		if err != nil {
			return 0, err
		}
		if !connected {
			if broken < 0 {
				broken = k
			}
			continue
		}
		t.columns, broken = append(t.columns, c), -1
	}
	if broken > begin {
		return broken, nil // coordinates left out at the end may be a matching of their own
	}
	return len(kept), nil
}

// gap reports whether the time between two coordinates splits the trace.
func (t *trace) gap(from, to int) bool {
	if len(t.q.Timestamps) == 0 || t.q.IgnoreGaps {
		return false
	}
	return t.q.Timestamps[to]-t.q.Timestamps[from] > maxBroken*t.median
}

// deviation returns the standard deviation of a coordinate.
func (t *trace) deviation(i int) float64 {
	if len(t.q.Radiuses) == 0 || t.q.Radiuses[i] == Unlimited {
		return usualDeviation
	}
	return max(minDeviation, t.q.Radiuses[i])
}

// column finds the candidates of a coordinate. Each direction of a road is a separate one.
func (t *trace) column(i int) column {
	c := column{coordinate: i}
	places := t.q.Places
	places.Radiuses, places.AnyRoad = nil, true
	s := &snapper{Roads: t.Roads, places: &places}
	deviation := t.deviation(i)
	c.spot.Input = t.q.Coordinates[i]
	for _, place := range s.nearest(i, min(maxSearch, searchFactor*deviation), maxTraceRoads, nil) {
		before := len(c.spot.Candidates)
		c.spot.Candidates = s.appendCandidates(c.spot.Candidates, i, &place, len(c.spot.Places))
		if len(c.spot.Candidates) > before {
			c.spot.Places = append(c.spot.Places, place)
		}
	}
	for _, candidate := range c.spot.Candidates {
		z := c.spot.Places[candidate.Place].Distance / deviation
		emission := -0.5*(math.Log(2*math.Pi)+z*z) - math.Log(deviation)
		c.states = append(c.states, state{Candidate: candidate, probability: emission, parent: -1, alive: true})
	}
	return c
}

// connect finds the best way to each state of a column from those of the previous column, and returns false if there is
// none.
func (t *trace) connect(ctx context.Context, from, to *column) (bool, error) {
	straight, longest := geo.Distance(from.spot.Input, to.spot.Input), t.longestDetour(from.coordinate, to.coordinate)
	limit := uint64((straight + longest) / slowest * 1000)
	emissions := make([]float64, len(to.states))
	for j := range to.states {
		emissions[j] = to.states[j].probability
		to.states[j].alive, to.states[j].probability = false, math.Inf(-1)
	}
	t.aimAt(to)
	any := false
	for i := range from.states {
		s := &from.states[i]
		if !s.alive {
			continue
		}
		begin := t.begin(&s.Candidate)
		if err := t.tree.grow(ctx, t.weights, t.tree.one(begin), limit); err != nil {
			return false, err
		}
		for j := range to.states {
			length, ok := t.distance(s, &to.states[j], j)
			detour := math.Abs(length - straight)
			if !ok || detour > longest {
				continue
			}
			p := s.probability + emissions[j] - math.Log(detourScale) - detour/detourScale
			if target := &to.states[j]; p > target.probability {
				target.probability, target.parent, target.length, target.alive = p, i, length, true
				any = true
			}
		}
	}
	return any, nil
}

// longestDetour returns how much longer than the straight line the way between two coordinates may be: at most what a
// car can drive in the time between them.
func (t *trace) longestDetour(from, to int) float64 {
	if len(t.q.Timestamps) == 0 {
		return maxDetour
	}
	return min(maxDetour, fastest*float64(max(t.median, t.q.Timestamps[to]-t.q.Timestamps[from])))
}

// aimAt makes the states of a column the targets of the next searches.
func (t *trace) aimAt(to *column) {
	t.tree.clearAim()
	for j := range to.states {
		t.tree.addAim(t.appendEnds(nil, &to.states[j].Candidate))
	}
}

// distance returns the distance from one state to another, in metres.
func (t *trace) distance(from, to *state, set int) (metres float64, ok bool) {
	length := func(c *Candidate, share float64) float64 {
		return share * float64(t.Graph.Pieces[t.Graph.Arcs[c.Arc].Piece].Length) / 1000
	}
	direct, same := t.direct(&from.Candidate, &to.Candidate)
	found := t.tree.found[set].weight
	switch {
	case same && direct <= found:
		return length(&from.Candidate, to.Share-from.Share), true
	case found == unreached:
		return 0, false
	}
	cell := t.tree.cell(set, nil, nil)
	return length(&from.Candidate, 1-from.Share) + float64(cell.Length)/1000 + length(&to.Candidate, to.Share), true
}
