package session

import (
	"iter"
	"math"
	"slices"
	"time"

	"wayside/internal/geo"
	"wayside/internal/nav"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// way is a route without what is written of it, and how far it was driven. What can be read from the network is not kept.
type way struct {
	dataVersion string
	arcs        []uint32
	spans       []span
	legs        []uint32 // the first arc of each leg but the first, in order
	at          int      // the arc that the driver is on, as an index of arcs
	share       float64
}

// span is arcs that follow each other by turns: all of the first but a part at its beginning, to a part of the last.
type span struct {
	first    uint32  // index of way.arcs
	from, to float32 // shares of the length of the first and the last arc
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

// bytes is what the way keeps.
func (w *way) bytes() int64 {
	const perArc, perSpan, perLeg = 4, 12, 4
	return int64(cap(w.arcs))*perArc + int64(cap(w.spans))*perSpan + int64(cap(w.legs))*perLeg
}

// stretch is an arc of a way, or what of it is on the way.
type stretch struct {
	arc      uint32
	from, to float64 // shares of the arc's length
	turn     bool    // another arc follows by a turn
}

// ahead gives the stretches from the driver's on, with their indexes.
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

// rest is what lies ahead on a way, on the network of this moment.
type rest struct {
	left       time.Duration
	closed     []string // what closes it
	conditions []string // what is on it, in order
}

// rest judges what lies ahead. Arcs on which the way begins and ends may be closed (D15.16).
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
	slices.Sort(r.conditions)
	r.conditions = slices.Compact(r.conditions)
	return r
}

// Where positions count as on the way, in metres.
const (
	onWay     = 35  // as near as that to a stretch ahead: on it
	nearWay   = 100 // not farther: perhaps still on it
	lookAhead = 5_000.0
	// maxStrayed is how many positions in a row may lie between onWay and nearWay.
	maxStrayed = 2
)

// progress finds the driver on what lies ahead, and says how far the way is, in metres; +Inf: it is farther than nearWay.
func (w *way) progress(n *nav.Network, at geo.Point) float64 {
	pieces := make(map[uint32]int) // the first stretch ahead on each piece
	ahead := 0.0
	for i, s := range w.ahead() {
		if ahead >= lookAhead {
			break
		}
		piece := n.Graph.Arcs[s.arc].Piece
		if _, ok := pieces[piece]; !ok {
			pieces[piece] = i
		}
		ahead += (s.to - s.from) * float64(n.Graph.Pieces[piece].Length) / 1000
	}
	places := n.Index.Nearest(nil, at, match.Nearest{Within: nearWay, Count: 1, Accept: func(piece uint32) bool {
		_, ok := pieces[piece]
		return ok
	}})
	if len(places) == 0 {
		return math.Inf(1)
	}
	i := pieces[places[0].Piece]
	share := places[0].Share
	if n.Graph.Arcs[w.arcs[i]].Flags&graph.Backward != 0 {
		share = 1 - share
	}
	if i > w.at || share > w.share { // positions jitter, and nobody drives backwards
		w.at, w.share = i, share
	}
	return places[0].Distance
}

// passed is how many waypoints behind the first one were passed.
func (w *way) passed() int {
	count := 0
	for _, first := range w.legs {
		if w.at >= int(first) {
			count++
		}
	}
	return count
}
