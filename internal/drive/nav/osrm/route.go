package osrm

import (
	"strconv"

	"wayside/internal/drive/nav"
	"wayside/internal/entities/wire"
	"wayside/internal/roads/match"
)

// AppendRoute appends the answer of the service route.
func (r *Request) AppendRoute(dst []byte, a *nav.RouteAnswer) []byte {
	dst = append(dst, `{"code":"Ok","routes":[`...)
	for i := range a.Routes {
		dst = r.appendRoute(wire.AppendComma(dst, i > 0), a.Network, &a.Routes[i])
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	if !r.SkipWaypoints {
		dst = append(dst, `,"waypoints":[`...)
		for i := range a.Spots {
			dst = r.appendWaypoint(wire.AppendComma(dst, i > 0), a.Network, placeOf(&a.Spots[i], &a.Used[i]))
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	}
	return appendDataVersion(dst, a.Network)
}

// AppendOneRoute appends one of the routes of an answer.
func (r *Request) AppendOneRoute(dst []byte, a *nav.RouteAnswer, route int) []byte {
	return append(r.appendRoute(dst, a.Network, &a.Routes[route]), '}')
}

// placeOf returns the place of a spot that a route uses.
func placeOf(s *nav.Spot, used *nav.Candidate) *match.Place { return &s.Places[used.Place] }

// appendRoute appends a route, without its closing brace.
func (r *Request) appendRoute(dst []byte, n *nav.Network, route *nav.Route) []byte {
	dst = append(dst, '{')
	if r.Overview == Simplified || r.Overview == Full {
		dst = append(dst, `"geometry":`...)
		dst = AppendGeometry(dst, r.Geometries, route.Overview(r.Overview == Simplified))
		dst = append(dst, ',')
	}
	dst = append(dst, `"legs":[`...)
	for i := range route.Legs {
		dst = r.appendLeg(wire.AppendComma(dst, i > 0), n, &route.Legs[i], i == len(route.Legs)-1)
	}
	dst = append(dst, ']')
	if r.Steps && r.Voice {
		if l := n.Language(r.Language); l != nil {
			dst = wire.AppendString(append(dst, `,"voiceLocale":`...), l.Code)
		}
	}
	dst = append(dst, `,"distance":`...)
	dst = appendMetres(dst, route.Distance)
	dst = append(dst, `,"duration":`...)
	dst = appendSeconds(dst, route.Duration)
	dst = append(dst, `,"weight":`...)
	dst = appendSeconds(dst, route.Weight)
	dst = append(dst, `,"weight_name":"routability","wayside":{"weight_ms":`...)
	dst = strconv.AppendUint(dst, route.Weight, 10)
	dst = append(dst, `,"duration_ms":`...)
	dst = strconv.AppendUint(dst, route.Duration, 10)
	dst = append(dst, `,"free_flow_ms":`...)
	dst = strconv.AppendUint(dst, route.Free, 10)
	dst = append(dst, `,"metric_version":`...)
	dst = strconv.AppendUint(dst, n.Version(), 10)
	dst = appendTexts(append(dst, `,"conditions":`...), route.Conditions)
	dst = appendTexts(append(dst, `,"avoided":`...), route.Avoided)
	dst = appendTexts(append(dst, `,"warnings":`...), route.Warnings)
	return append(dst, '}')
}

func appendTexts(dst []byte, texts []string) []byte {
	dst = append(dst, '[')
	for i, text := range texts {
		dst = wire.AppendString(wire.AppendComma(dst, i > 0), text)
	}
	return append(dst, ']')
}

// appendLeg appends a leg.
func (r *Request) appendLeg(dst []byte, n *nav.Network, leg *nav.Leg, last bool) []byte {
	dst = append(dst, `{"steps":[`...)
	told := r.teller(n, last)
	for i := range leg.Steps {
		dst = r.appendStep(wire.AppendComma(dst, i > 0), n, leg, &leg.Steps[i])
		dst = told.append(dst, leg.Steps, i)
		dst = append(dst, '}')
	}
	dst = append(dst, `],"distance":`...)
	dst = appendMetres(dst, leg.Distance)
	dst = append(dst, `,"duration":`...)
	dst = appendSeconds(dst, leg.Duration)
	dst = append(dst, `,"summary":`...)
	dst = wire.AppendString(dst, leg.Summary)
	dst = append(dst, `,"weight":`...)
	dst = appendSeconds(dst, leg.Weight)
	dst = appendIncidents(append(dst, `,"incidents":`...), leg.Incidents)
	if r.Overview == ByLegs {
		dst = append(dst, `,"geometry":`...)
		dst = AppendGeometry(dst, r.Geometries, leg.Locations)
	}
	if r.Annotations != 0 {
		dst = r.appendAnnotation(append(dst, `,"annotation":`...), n, leg)
	}
	return append(dst, '}')
}
