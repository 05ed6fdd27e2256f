package session

import (
	"math"
	"slices"
	"time"

	"wayside/internal/geo"
	"wayside/internal/nav"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// way is a route without what is written of it, and how far it was driven.
type way struct {
	dataVersion string
	stretches   []stretch
	legs        []int // the first stretch of each leg but the first, in order
	at          int   // the stretch that the driver is on
	share       float64
}

// stretch is an arc of a way, or what of it is on the way.
type stretch struct {
	arc      uint32
	from, to float32 // shares of the arc's length
	turn     uint32  // ms at its end
}

func newWay(a *nav.RouteAnswer, route int) way {
	w := way{dataVersion: a.Network.DataVersion}
	legs := a.Routes[route].Legs
	count := 0
	for i := range legs {
		count += len(legs[i].Parts)
	}
	w.stretches = make([]stretch, 0, count)
	for i := range legs {
		if i > 0 {
			w.legs = append(w.legs, len(w.stretches))
		}
		for k := range legs[i].Parts {
			p := &legs[i].Parts[k]
			w.stretches = append(w.stretches, stretch{arc: p.Arc, from: float32(p.From), to: float32(p.To), turn: p.TurnTime})
		}
	}
	if len(w.stretches) > 0 {
		w.share = float64(w.stretches[0].from)
	}
	return w
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
	for i := w.at; i < len(w.stretches); i++ {
		s := &w.stretches[i]
		from := float64(s.from)
		if i == w.at {
			from = max(from, w.share)
		}
		duration := n.Graph.Arcs[s.arc].Duration
		if n.Conditions != nil {
			if c, ok := n.Conditions.On(s.arc); ok {
				duration = c.Duration
				before := len(r.conditions)
				n.Conditions.Events(s.arc, func(e nav.Event) { r.conditions = append(r.conditions, e.EntityID) })
				if c.Closed && i != w.at && i != len(w.stretches)-1 {
					r.closed = append(r.closed, r.conditions[before:]...)
				}
			}
		}
		r.left += time.Duration(max(0, float64(s.to)-from)*float64(duration))*time.Millisecond + time.Duration(s.turn)*time.Millisecond
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
	for i := w.at; i < len(w.stretches) && ahead < lookAhead; i++ {
		s := &w.stretches[i]
		piece := n.Graph.Arcs[s.arc].Piece
		if _, ok := pieces[piece]; !ok {
			pieces[piece] = i
		}
		ahead += float64(s.to-s.from) * float64(n.Graph.Pieces[piece].Length) / 1000
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
	if n.Graph.Arcs[w.stretches[i].arc].Flags&graph.Backward != 0 {
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
		if w.at >= first {
			count++
		}
	}
	return count
}
