package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
)

// append appends the answer in the form that the request asks for.
func (j *judged) append(dst []byte) ([]byte, error) {
	out := answer{Code: "Ok", Routes: j.routes[:min(len(j.routes), j.ask.Alternatives+1)], DataVersion: j.best.DataVersion}
	for i := range out.Routes {
		r := &out.Routes[i]
		r.Wayside = j.about(r)
		shape(j.ask.Request, r)
	}
	if !j.ask.SkipWaypoints {
		out.Waypoints = j.best.Waypoints
	}
	if j.network != nil {
		out.DataVersion = text(j.network.DataVersion)
	}
	return appendJSON(dst, &out)
}

// about returns this service's own data about a route. Its duration includes the delay of conditions, which the engine
// does not know.
func (j *judged) about(r *route) *about {
	a := &about{
		Engine: j.name, WeightMS: r.Weight.milliseconds(), DurationMS: r.milliseconds(), FreeFlowMS: r.Duration.milliseconds(),
		Conditions: []string{}, Avoided: []string{}, Warnings: []string{},
	}
	if j.network != nil {
		a.MetricVersion = j.network.Version()
	}
	a.Conditions = append(a.Conditions, r.driven.Conditions...)
	for _, id := range j.first {
		if !slices.Contains(a.Conditions, id) && !slices.Contains(a.Avoided, id) {
			a.Avoided = append(a.Avoided, id)
		}
	}
	a.Warnings = append(a.Warnings, r.driven.Warnings()...)
	if j.network == nil {
		a.Warnings = append(a.Warnings, "Closed roads are not checked: this service has no region.")
	}
	if j.ask.Steps && (j.ask.Banners || j.ask.Voice) && !j.dialect.guides() {
		a.Warnings = append(a.Warnings, "The engine "+j.name+" has no banners and no announcements.")
	}
	return a
}

// shape reduces a route to what the request asks for.
func shape(q *osrm.Request, r *route) {
	for i := range r.Legs {
		l := &r.Legs[i]
		if !q.Steps || l.Steps == nil {
			l.Steps = []step{}
		}
		for k := range l.Steps {
			shapeStep(q, &l.Steps[k])
		}
		if l.Geometry = nil; q.Overview == osrm.ByLegs {
			l.Geometry = &line{l.line, q.Geometries}
		}
		l.Annotation = shapeAnnotation(q, l.Annotation)
	}
	if !q.Steps || !q.Voice {
		r.VoiceLocale = ""
	}
	switch q.Overview {
	case osrm.Full:
		r.Geometry.form = q.Geometries
	case osrm.Simplified:
		whole := nav.Route{Legs: []nav.Leg{{Locations: r.Geometry.positions}}}
		r.Geometry = &line{whole.Overview(true), q.Geometries}
	case osrm.NoOverview, osrm.ByLegs:
		r.Geometry = nil
	}
}

func shapeStep(q *osrm.Request, s *step) {
	if s.Geometry != nil {
		s.Geometry.form = q.Geometries
	}
	if s.Intersections == nil {
		s.Intersections = []intersection{}
	}
	for i := range s.Intersections {
		at := &s.Intersections[i]
		if at.Entry == nil {
			at.Entry = []bool{}
		}
		if at.Bearings == nil {
			at.Bearings = []number{}
		}
		for k := range at.Lanes {
			if at.Lanes[k].Indications == nil {
				at.Lanes[k].Indications = []word{}
			}
		}
	}
	if !q.Voice {
		s.Voice = nil
	}
	if !q.Banners {
		s.Banners = nil
	}
	for i := range s.Banners {
		for _, of := range []*shown{s.Banners[i].Primary, s.Banners[i].Secondary, s.Banners[i].Sub} {
			if of != nil && of.Components == nil {
				of.Components = []component{}
			}
		}
	}
}

// shapeAnnotation keeps the requested annotations.
func shapeAnnotation(q *osrm.Request, a *annotation) *annotation {
	if q.Annotations == 0 {
		return nil
	}
	if a == nil {
		return &annotation{}
	}
	var kept annotation
	if q.Annotations&osrm.Distance != 0 {
		kept.Distance = a.Distance
	}
	if q.Annotations&osrm.Duration != 0 {
		kept.Duration = a.Duration
	}
	if q.Annotations&osrm.Weight != 0 {
		kept.Weight = a.Weight
	}
	if q.Annotations&osrm.Speed != 0 {
		kept.Speed = a.Speed
	}
	if q.Annotations&osrm.NodeIDs != 0 {
		kept.Nodes = a.Nodes
	}
	if q.Annotations&osrm.Datasources != 0 {
		kept.Datasources, kept.Metadata = a.Datasources, a.Metadata
	}
	return &kept
}

// appendOther appends the answer of a service other than route.
func appendOther(dst []byte, q *osrm.Request, a *answer) ([]byte, error) {
	out := answer{Code: "Ok", DataVersion: a.DataVersion}
	places := func(of []waypoint) []waypoint {
		if q.SkipWaypoints {
			return nil
		}
		return of
	}
	switch q.Service {
	case osrm.Nearest:
		out.Waypoints = places(a.Waypoints)
	case osrm.Table:
		out.Durations, out.Distances, out.Fallback = a.Durations, a.Distances, a.Fallback
		out.Sources, out.Destinations = places(a.Sources), places(a.Destinations)
	case osrm.Match:
		out.Matchings = a.Matchings
		for i := range out.Matchings {
			shape(q, &out.Matchings[i])
		}
		if !q.SkipWaypoints {
			out.Tracepoints = a.Tracepoints
		}
	case osrm.Route: // see judged.append
	}
	return appendJSON(dst, &out)
}

// appendJSON appends a value and the end of a line.
func appendJSON(dst []byte, of *answer) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(of); err != nil {
		return dst, fmt.Errorf("write an engine's answer: %w", err)
	}
	return b.Bytes(), nil
}
