package session

import (
	"iter"
	"math"
	"slices"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// way is a route without its rendered form, and the driver's progress on it. It keeps nothing that can be read from the
// network.
type way struct {
	dataVersion string
	arcs        []uint32
	spans       []span
	legs        []uint32 // the index of the first arc of each leg except the first, sorted
	at          int      // index in arcs of the arc that the driver is on
	share       float64
}

// span is a sequence of arcs joined by turns: the first without a part at its beginning, the last up to a share of its
// length.
type span struct {
	first    uint32  // index in way.arcs
	from, to float32 // shares of the lengths of the first and the last arc
}

func newWay(a *nav.RouteAnswer, route int) way {
	w := way{dataVersion: a.Network.DataVersion}
	legs := a.Routes[route].Legs
	count, spans := 0, 0
	for i := range legs {
		count += len(legs[i].Parts)
		for k := range legs[i].Parts {
			if !legs[i].Parts[k].Turned {
				spans++
			}
		}
	}
	w.arcs, w.spans = make([]uint32, 0, count), make([]span, 0, spans)
	begins := true
	for i := range legs {
		if i > 0 {
			w.legs = append(w.legs, uint32(len(w.arcs)))
		}
		for k := range legs[i].Parts {
			p := &legs[i].Parts[k]
			if begins {
				w.spans = append(w.spans, span{first: uint32(len(w.arcs)), from: float32(p.From)})
			}
			w.arcs = append(w.arcs, p.Arc)
			w.spans[len(w.spans)-1].to = float32(p.To)
			begins = !p.Turned
		}
	}
	if len(w.spans) > 0 {
		w.share = float64(w.spans[0].from)
	}
	return w
}

// bytes returns the memory that the way takes.
func (w *way) bytes() int64 {
	const perArc, perSpan, perLeg = 4, 12, 4
	return int64(cap(w.arcs))*perArc + int64(cap(w.spans))*perSpan + int64(cap(w.legs))*perLeg
}

// stretch is an arc of a way, or the part of it that is on the way.
type stretch struct {
	arc      uint32
	from, to float64 // shares of the arc's length
	turn     bool    // another arc follows, by a turn
}

// ahead yields the stretches from the driver's position on, with their indexes.
func (w *way) ahead() iter.Seq2[int, stretch] {
	return func(yield func(int, stretch) bool) {
		for k := range w.spans {
			end := len(w.arcs)
			if k+1 < len(w.spans) {
				end = int(w.spans[k+1].first)
			}
			first := int(w.spans[k].first)
			for i := max(w.at, first); i < end; i++ {
				s := stretch{arc: w.arcs[i], to: 1, turn: i+1 < end}
				if i == first {
					s.from = float64(w.spans[k].from)
				}
				if i+1 == end {
					s.to = float64(w.spans[k].to)
				}
				if !yield(i, s) {
					return
				}
			}
		}
	}
}

// rest describes the way ahead of the driver on the current network.
type rest struct {
	left       time.Duration
	closed     []string // entities that close it, sorted
	blocked    bool     // another route was searched, and there is none
	conditions []string // entities of the conditions on it, sorted
}

// rest judges the way ahead. The arcs at which the way begins and ends may be closed (D15.16).
func (w *way) rest(n *nav.Network) rest {
	var r rest
	for i, s := range w.ahead() {
		from := s.from
		if i == w.at {
			from = max(from, w.share)
		}
		duration := n.Graph.Arcs[s.arc].Duration
		if n.Conditions != nil {
			if c, ok := n.Conditions.On(s.arc); ok {
				duration = c.Duration
				before := len(r.conditions)
				n.Conditions.Events(s.arc, func(e nav.Event) { r.conditions = append(r.conditions, e.EntityID) })
				if c.Closed && i != w.at && i != len(w.arcs)-1 {
					r.closed = append(r.closed, r.conditions[before:]...)
				}
			}
		}
		r.left += time.Duration(max(0, s.to-from)*float64(duration)) * time.Millisecond
		if s.turn {
			r.left += time.Duration(n.TurnTime(s.arc, w.arcs[i+1])) * time.Millisecond
		}
	}
	r.conditions, r.closed = inOrder(r.conditions), inOrder(r.closed)
	return r
}

// inOrder sorts entities and removes duplicates, because a closure of two kilometres is on fifty arcs.
func inOrder(entities []string) []string {
	slices.Sort(entities)
	return slices.Compact(entities)
}

// Distances in metres that decide whether a position is on the way.
const (
	onWay     = 35  // up to this distance from a stretch ahead, the driver is on it
	nearWay   = 100 // up to this distance, the driver may still be on it
	lookAhead = 5_000.0
	// maxStrayed is how many consecutive positions may lie between onWay and nearWay.
	maxStrayed = 2
)

// Constants for finding the driver where a route passes itself, such as on both carriageways of a road.
const (
	maxStretches  = 8    // that are compared
	aheadPerMetre = 0.02 // penalty for each metre along the way, as metres beside the way: nearer stretches are more probable
	oppositeCosts = 30.0 // penalty for a stretch against the heading, as metres beside the way
	opposite      = 90.0 // degrees
)

// lookBehind is how far back along the way, in metres, a driver is searched who is not found ahead. One wrong position
// may have been matched to a later part of the way that passes nearby, such as the other end of a ramp.
const lookBehind = 1_000.0

// progress updates the driver's place on the way, looking ahead first, and returns the distance from the way in metres,
// or +Inf if it exceeds nearWay.
func (w *way) progress(n *nav.Network, at geo.Point, heading float64) float64 {
	found := w.locate(n, at, heading)
	if found.distance > onWay && heading >= 0 {
		behind := *w
		behind.at, behind.share = w.behind(n), 0
		if back := behind.locate(n, at, heading); back.distance <= onWay && !back.isOpposite {
			w.at, w.share = back.index, back.share
			return back.distance
		}
	}
	if math.IsInf(found.distance, 1) {
		return found.distance
	}
	if found.index > w.at || found.share > w.share { // positions jitter, and the driver does not go backwards
		w.at, w.share = found.index, found.share
	}
	return found.distance
}

// behind returns the index of the stretch that lies lookBehind metres behind the driver.
func (w *way) behind(n *nav.Network) int {
	i := w.at
	for metres := 0.0; i > 0 && metres < lookBehind; i-- {
		metres += float64(n.Graph.Pieces[n.Graph.Arcs[w.arcs[i-1]].Piece].Length) / 1000
	}
	return i
}

// located is a driver's place on a way.
type located struct {
	index      int
	share      float64
	distance   float64 // metres beside the way; +Inf if more than nearWay
	isOpposite bool    // the way leads against the heading there
}

// locate finds the driver on the way ahead of the current place.
func (w *way) locate(n *nav.Network, at geo.Point, heading float64) located {
	type first struct {
		index  int
		metres float64 // along the way to its beginning
		from   float64
	}
	pieces := make(map[uint32]first) // the first stretch ahead on each piece
	ahead := 0.0
	for i, s := range w.ahead() {
		if ahead >= lookAhead {
			break
		}
		piece := n.Graph.Arcs[s.arc].Piece
		if _, ok := pieces[piece]; !ok {
			pieces[piece] = first{i, ahead, s.from}
		}
		ahead += (s.to - s.from) * float64(n.Graph.Pieces[piece].Length) / 1000
	}
	places := n.Index.Nearest(nil, at, match.Nearest{Within: nearWay, Count: maxStretches, Accept: func(piece uint32) bool {
		_, ok := pieces[piece]
		return ok
	}})
	best, found := math.Inf(1), located{distance: math.Inf(1)}
	for _, place := range places {
		one := pieces[place.Piece]
		arc := w.arcs[one.index]
		along := place.Share
		if n.Graph.Arcs[arc].Flags&graph.Backward != 0 {
			along = 1 - along
		}
		score := place.Distance + aheadPerMetre*(one.metres+max(0, along-one.from)*float64(n.Graph.Pieces[place.Piece].Length)/1000)
		isOpposite := heading >= 0 && geo.AngleBetween(heading, n.Index.Bearing(place, arc)) > opposite
		if isOpposite {
			score += oppositeCosts
		}
		if score < best {
			best, found = score, located{one.index, along, place.Distance, isOpposite}
		}
	}
	return found
}

// passed returns how many waypoints, not counting the first place, the driver has passed.
func (w *way) passed() int {
	count := 0
	for _, first := range w.legs {
		if w.at >= int(first) {
			count++
		}
	}
	return count
}
