package httpapi

import (
	"context"
	"hash/fnv"
	"io"
	"math"
	"time"

	"wayside/internal/drive/alerts"
	"wayside/internal/drive/alerts/ahead"
	"wayside/internal/drive/nav"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// pinMargin is how near a pin must be to the way ahead for its properties to be read, in metres.
const pinMargin = 60

// sectionSeen is how far ahead an average-speed section may begin to be recorded, in metres.
const sectionSeen = 1000

// lookedAhead is the result of looking along the roads.
type lookedAhead struct {
	along  string // route, probable; empty: no road is near, and all pins are judged by the cone
	places []alerts.Ahead
	state  ahead.State
	at     geo.Point
	now    time.Time
}

// SessionWays finds the way ahead of the sessions of drivers, which other nodes may have.
type SessionWays interface {
	// Ahead returns the way ahead of a session, and the version of the roads that have its arcs; nil: there is no such session.
	// client is the address of the client.
	Ahead(ctx context.Context, id, client string) (dataVersion string, route func(yield func(arc uint32, from, to float64) bool))
}

// wayAhead is the way ahead of a session.
type wayAhead struct {
	dataVersion string                                              // of the roads that have its arcs
	route       func(yield func(arc uint32, from, to float64) bool) // nil: there is no such session
}

// lookAhead looks along the roads for each pin of the scratch: along the route of the request's session if the car is on it,
// otherwise on the most probable way (D15.22). It takes no lock, and stores nothing. If another node has the session, it asks that
// node.
func (a *API) lookAhead(ctx context.Context, q *alertsQuery, s *alertsScratch) lookedAhead {
	looked := lookedAhead{at: q.car.At, now: s.answer.At}
	if a.Navigation == nil || !q.car.Directed {
		return looked
	}
	var way wayAhead
	way.dataVersion, way.route = a.Ways.Ahead(ctx, q.session, q.client) // before the network is held, because another node may take long
	n, err := a.Navigation.Current()
	if err != nil {
		return looked // there is no region
	}
	defer n.Release()
	if looked.along = a.walkAhead(n, q, &way, &s.walk, &looked); looked.along == "" {
		return looked
	}
	s.places = s.places[:0]
	for i := range s.pins {
		s.places = append(s.places, q.placeAhead(&s.walk, &s.pins[i], &s.answer.Hits[i], &looked.state))
	}
	looked.places = s.places
	return looked
}

// walkAhead fills the walk, and returns along which way; way is that of the request's session.
func (a *API) walkAhead(n *nav.Network, q *alertsQuery, way *wayAhead, w *ahead.Walk, looked *lookedAhead) (along string) {
	roads := ahead.Roads{Graph: n.Graph, Index: n.Index, Version: roadsVersion(n.DataVersion)}
	fix := ahead.Fix{At: q.car.At, Heading: q.car.Heading, Speed: q.car.Speed, Now: looked.now}
	ok := false
	if way.route != nil && way.dataVersion == n.DataVersion {
		if looked.state, ok = w.Along(roads, fix, way.route, q.state, alerts.DetourRange); ok {
			return "route"
		}
	}
	if looked.state, ok = w.Probable(roads, fix, q.state, alerts.DetourRange); ok {
		return "probable"
	}
	return ""
}

// roadsVersion returns a number for a version of the roads.
func roadsVersion(dataVersion string) uint32 {
	h := fnv.New32a()
	_, _ = io.WriteString(h, dataVersion) // never fails
	return h.Sum32()
}

// placeAhead returns where on a walk a pin lies. It records average-speed sections that begin there.
func (q *alertsQuery) placeAhead(w *ahead.Walk, pin *alerts.Pin, h *mapdata.Hit, state *ahead.State) alerts.Ahead {
	if pin.Kind.Charger() {
		return alerts.Ahead{Match: alerts.ByCone} // drivers leave the road for them
	}
	if len(pin.Line) < 2 && !w.Near(pin.At, math.Max(pinMargin, pin.Zone/2)) {
		return alerts.Ahead{}
	}
	d := alertDetails(h)
	p := ahead.Pin{At: pin.At, Line: pin.Line, Zone: pin.Zone, Street: d.street, Bearing: d.Bearing, Directed: d.Directed}
	if len(pin.Line) > 1 {
		p.Directed = !d.bothDirections // a line has the direction of the traffic (D15.15)
	}
	place, ok := w.Find(&p)
	if !ok {
		return alerts.Ahead{}
	}
	if d.measured && pin.Zone == 0 && place.Distance <= sectionSeen {
		state.Comes(d.section, d.MaxSpeed, place.Distance)
	}
	return alerts.Ahead{Match: alerts.ByRoad, Distance: place.Distance, Reached: place.Reached, Unsure: place.Unsure()}
}

const kmhPerMetreSecond = 3.6

// append appends the members of an answer about the way and its sections.
func (l *lookedAhead) append(dst []byte) []byte {
	if l.along == "" {
		return append(dst, `,"along":null,"state":null,"sections":[]`...)
	}
	dst = append(append(append(dst, `,"along":"`...), l.along...), `","state":"`...)
	dst = append(l.state.Append(dst), `","sections":[`...)
	first := true
	for _, s := range l.state.Sections() {
		mean, ok := s.Mean(l.now)
		if !ok {
			continue
		}
		dst = wire.AppendComma(dst, !first)
		first = false
		dst = appendTenths(append(dst, `{"mean_kmh":`...), mean*kmhPerMetreSecond)
		if dst = append(dst, `,"maxspeed_kmh":`...); s.Limit > 0 {
			dst = appendTenths(dst, s.Limit)
		} else {
			dst = append(dst, "null"...)
		}
		dst = appendTenths(append(dst, `,"driven_m":`...), s.Driven)
		dst = appendTenths(append(dst, `,"left_m":`...), geo.Distance(l.at, s.To))
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
