package ahead

import (
	"cmp"
	"math"
	"slices"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// Fix is a position of a car with its heading and speed.
type Fix struct {
	At      geo.Point
	Heading float64 // degrees clockwise from north
	Speed   float64 // m/s
	Now     time.Time
}

// Parameters of matching a fix to roads.
const (
	maxOff          = 60.0 // metres between a car and its road
	maxRoads        = 24   // number of roads that are considered
	maxHeadingOff   = 60.0 // degrees
	distanceError   = 12.0 // metres, one standard deviation: receivers drift between houses
	headingError    = 18.0 // degrees, one standard deviation
	minCandidate    = 0.02
	unreached       = 0.002 // factor for a road that cannot be reached from the car's previous place
	reachSlack      = 60.0  // metres
	reachFactor     = 1.7   // of the distance that follows from the speed
	maxReach        = 2500.0
	distanceDoubt   = 20.0 // metres plus distanceShare of the distance: the uncertainty of a distance that follows from the speed
	distanceShare   = 0.4
	minReachShare   = 0.005
	maxStateAge     = 45 * time.Second
	minHeadingSpeed = 2.0 // m/s: below it a heading is meaningless
)

// candidate is an arc on which the car may be.
type candidate struct {
	seed
	off    float64 // metres from the car
	driven float64 // metres since the previous fix; NaN: unknown
}

// Probable fills the walk with the most probable ways from a fix, up to the given distance. before is the state from the
// previous answer, or nil. Probable returns the new state, and false if no nearby road leads in the car's direction.
func (w *Walk) Probable(r Roads, f Fix, before *State, metres float64) (State, bool) {
	w.reset(r, f.At)
	w.candidates(f)
	if len(w.located) == 0 {
		return State{}, false
	}
	known := w.knows(before, f)
	if known {
		w.look(f, before)
		w.weigh(f, f.Now.Sub(before.At).Seconds())
	}
	normalize(w.located)
	slices.SortFunc(w.located, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.probability, a.probability), cmp.Compare(a.arc, b.arc))
	})
	w.located = w.located[:min(len(w.located), maxCandidates)]
	state := State{Roads: r.Version, At: f.Now}
	var seeds [maxCandidates]seed
	n := 0
	for i, c := range w.located {
		if i > 0 && c.probability < minCandidate {
			break
		}
		state.seeds[state.count] = c.seed
		state.count++
		if i == 0 || c.probability >= minProbability {
			seeds[n] = c.seed
			n++
		}
	}
	w.expand(seeds[:n], metres, minProbability)
	if known {
		w.remember(&state, f, before, w.located[0].driven)
	}
	return state, true
}

// knows reports whether a state belongs to these roads and is recent.
func (w *Walk) knows(before *State, f Fix) bool {
	if before == nil || before.count == 0 || before.Roads != w.roads.Version {
		return false
	}
	for _, s := range before.arcs() {
		if int64(s.arc) >= int64(len(w.roads.Graph.Arcs)) {
			return false // the token is forged
		}
	}
	elapsed := f.Now.Sub(before.At)
	return elapsed >= 0 && elapsed <= maxStateAge
}

// look computes which arcs can be reached from the car's previous place.
func (w *Walk) look(f Fix, before *State) {
	if w.reach == nil {
		w.reach = new(Walk)
	}
	w.reach.reset(w.roads, f.At)
	w.reach.expand(before.arcs(), min(maxReach, f.Speed*f.Now.Sub(before.At).Seconds()*reachFactor+reachSlack), minReachShare)
}

// remember copies the sections of the previous answer to state. driven is the distance driven since; NaN means that it
// follows from the speed.
func (w *Walk) remember(state *State, f Fix, before *State, driven float64) {
	if math.IsNaN(driven) {
		driven = f.Speed * f.Now.Sub(before.At).Seconds()
	}
	state.sections, state.begun = before.sections, before.begun
	state.drive(driven, f.Speed, f.Now)
	state.leave(w, f.At)
}

func normalize(all []candidate) {
	whole := 0.0
	for i := range all {
		whole += all[i].probability
	}
	for i := range all {
		all[i].probability /= whole
	}
}

// candidates finds the arcs around a fix, with probabilities by their distance and direction.
func (w *Walk) candidates(f Fix) {
	w.located = w.located[:0]
	w.places = w.roads.Index.Nearest(w.places[:0], f.At, match.Nearest{Within: maxOff, Count: maxRoads})
	g := w.roads.Graph
	for _, p := range w.places {
		piece := &g.Pieces[p.Piece]
		for _, arc := range [...]uint32{piece.Forward, piece.Backward} {
			if arc == graph.None || g.Arcs[arc].Flags&graph.Ferry != 0 {
				continue
			}
			probability := math.Exp(-0.5 * (p.Distance / distanceError) * (p.Distance / distanceError))
			if f.Speed >= minHeadingSpeed {
				angle := geo.AngleBetween(f.Heading, w.roads.Index.Bearing(p, arc))
				if angle > maxHeadingOff {
					continue
				}
				probability *= math.Exp(-0.5 * (angle / headingError) * (angle / headingError))
			}
			if way := &g.Ways[piece.Way]; way.Use == graph.MinorUse {
				probability *= ontoLocalRoad
			}
			share := p.Share
			if g.Arcs[arc].Flags&graph.Backward != 0 {
				share = 1 - share
			}
			w.located = append(w.located, candidate{seed: seed{arc, share, probability}, off: p.Distance, driven: math.NaN()})
		}
	}
}

// weigh multiplies the probability of each candidate by how probable it is that the car came there from its previous
// place.
func (w *Walk) weigh(f Fix, seconds float64) {
	expected := f.Speed * seconds
	doubt := distanceDoubt + distanceShare*expected
	for i := range w.located {
		c := &w.located[i]
		index, ok := w.reach.first[c.arc]
		if !ok {
			c.probability *= unreached
			continue
		}
		s := &w.reach.steps[index]
		driven := s.start + c.share*s.length
		if driven < -doubt {
			c.probability *= unreached
			continue
		}
		c.driven = max(0, driven)
		c.probability *= max(unreached, s.probability*math.Exp(-math.Abs(c.driven-expected)/doubt))
	}
}

// Route yields the arcs of a route from the driver on, with the share of each arc's length that is on the route.
type Route func(yield func(arc uint32, from, to float64) bool)

// onRoute is how far from its route a car may be, in metres.
const onRoute = 35

// Along fills the walk with the route ahead, up to the given distance. It returns the new state, and false if the car is
// not on the route.
func (w *Walk) Along(r Roads, f Fix, route Route, before *State, metres float64) (State, bool) {
	w.reset(r, f.At)
	at := 0.0
	route(func(arc uint32, from, to float64) bool {
		if int64(arc) >= int64(len(r.Graph.Arcs)) || at > metres+onRouteAhead || len(w.steps) >= maxSteps {
			return false
		}
		length := float64(r.Graph.Pieces[r.Graph.Arcs[arc].Piece].Length) / 1000
		w.add(arc, at-from*length, from, to, 1)
		at += (to - from) * length
		return true
	})
	place, driven, ok := w.onWalk(f)
	if !ok {
		return State{}, false
	}
	for i := range w.steps {
		w.steps[i].start -= driven
	}
	state := State{Roads: r.Version, At: f.Now, count: 1}
	state.seeds[0] = place
	if w.knows(before, f) {
		w.look(f, before)
		metres := math.NaN()
		if index, ok := w.reach.first[place.arc]; ok {
			metres = max(0, w.reach.steps[index].start+place.share*w.reach.steps[index].length)
		}
		w.remember(&state, f, before, metres)
	}
	return state, true
}

// onRouteAhead is how far ahead on its route a car is searched, in metres.
const onRouteAhead = 2000

// onWalk returns the car's place on the walk, and its distance along the walk.
func (w *Walk) onWalk(f Fix) (place seed, metres float64, ok bool) {
	best := math.Inf(1)
	for i := range w.steps {
		s := &w.steps[i]
		if s.start > onRouteAhead {
			break
		}
		if !s.around.near(xy{}, onRoute) {
			continue
		}
		n := w.nearestOn(s, xy{})
		if n.off > onRoute || f.Speed >= minHeadingSpeed && geo.AngleBetween(f.Heading, n.bearing) > maxHeadingOff {
			continue
		}
		share := max(s.from, min(s.to, n.share))
		at := s.start + share*s.length
		if score := n.off + at/50; score < best { // where a route meets itself, prefer the nearer part
			best, metres, ok = score, at, true
			place = seed{s.arc, share, 1}
		}
	}
	return place, metres, ok
}
