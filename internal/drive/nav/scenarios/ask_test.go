package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/geo"
)

// answer is the part of an answer of any service that tables compare.
type answer struct {
	Code        string       `json:"code"`
	Message     string       `json:"message"`
	DataVersion string       `json:"data_version"`
	Routes      []route      `json:"routes"`
	Waypoints   []waypoint   `json:"waypoints"`
	Matchings   []route      `json:"matchings"`
	Tracepoints []*waypoint  `json:"tracepoints"`
	Durations   [][]*float64 `json:"durations"`
	Distances   [][]*float64 `json:"distances"`
	Estimated   [][2]int     `json:"fallback_speed_cells"`
}

type waypoint struct {
	Location       [2]float64 `json:"location"`
	Name           string     `json:"name"`
	Distance       float64    `json:"distance"`
	Nodes          [2]int64   `json:"nodes"`
	MatchingsIndex int        `json:"matchings_index"`
	WaypointIndex  *int       `json:"waypoint_index"`
	Alternatives   int        `json:"alternatives_count"`
}

type route struct {
	Geometry   json.RawMessage `json:"geometry"`
	Distance   float64         `json:"distance"`
	Duration   float64         `json:"duration"`
	Weight     float64         `json:"weight"`
	Confidence float64         `json:"confidence"`
	WeightName string          `json:"weight_name"`
	Legs       []leg           `json:"legs"`
}

type leg struct {
	Summary    string                     `json:"summary"`
	Steps      []step                     `json:"steps"`
	Annotation map[string]json.RawMessage `json:"annotation"`
}

type step struct {
	Name          string         `json:"name"`
	Ref           string         `json:"ref"`
	Pronunciation string         `json:"pronunciation"`
	Destinations  string         `json:"destinations"`
	Exits         string         `json:"exits"`
	Mode          string         `json:"mode"`
	Side          string         `json:"driving_side"`
	Rotary        *string        `json:"rotary_name"`
	Duration      float64        `json:"duration"`
	Distance      float64        `json:"distance"`
	Weight        float64        `json:"weight"`
	Maneuver      maneuver       `json:"maneuver"`
	Intersections []intersection `json:"intersections"`
}

type maneuver struct {
	Type     string     `json:"type"`
	Modifier string     `json:"modifier"`
	Exit     *int       `json:"exit"`
	Location [2]float64 `json:"location"`
}

type intersection struct {
	In       *int     `json:"in"`
	Out      *int     `json:"out"`
	Entry    []bool   `json:"entry"`
	Bearings []int    `json:"bearings"`
	Classes  []string `json:"classes"`
	Lanes    []lane   `json:"lanes"`
}

type lane struct {
	Indications []string `json:"indications"`
	Valid       bool     `json:"valid"`
}

// asker sends requests in the form of URLs of OSRM's API.
type asker struct {
	service *nav.Service
	letters map[int64]string
}

// options are the options of a URL.
type options map[string]string

func (o options) text() string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(o)) {
		parts = append(parts, key+"="+o[key])
	}
	return strings.Join(parts, "&")
}

// ask sends a request about places of a scenario.
func (k *asker) ask(ctx context.Context, service osrm.Service, places []geo.Point, o options) (*answer, error) {
	var coordinates []string
	for _, p := range places {
		coordinates = append(coordinates, degrees(p.Lng)+","+degrees(p.Lat))
	}
	target := strings.Join(coordinates, ";")
	if len(o) > 0 {
		target += "?" + o.text()
	}
	text, err := url.PathUnescape(target)
	if err != nil {
		return nil, err
	}
	q, err := osrm.ParseURL(service, text, 0)
	if service != osrm.Nearest { // OSRM's service nearest has no POST
		if err := samePost(service, places, o, q, err); err != nil {
			return nil, err
		}
	}
	var body []byte
	if err == nil {
		body, err = k.body(ctx, service, q)
	}
	if refused := new(nav.Error); errors.As(err, &refused) {
		body = osrm.AppendError(nil, refused)
	} else if err != nil {
		return nil, err
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("%s: %w", body, err)
	}
	return &a, nil
}

func (k *asker) body(ctx context.Context, service osrm.Service, q *osrm.Request) ([]byte, error) {
	switch service {
	case osrm.Table:
		var a nav.TableAnswer
		if err := k.service.Table(ctx, q.TableRequest(), &a); err != nil {
			return nil, err
		}
		return q.AppendTable(nil, &a), nil
	case osrm.Nearest:
		var a nav.NearestAnswer
		if err := k.service.Nearest(ctx, q.NearestRequest(), &a); err != nil {
			return nil, err
		}
		return q.AppendNearest(nil, &a), nil
	case osrm.Match:
		var a nav.TraceAnswer
		if err := k.service.Match(ctx, q.TraceRequest(), &a); err != nil {
			return nil, err
		}
		return q.AppendMatch(nil, &a), nil
	}
	var a nav.RouteAnswer
	if err := k.service.Route(ctx, q.RouteRequest(), &a); err != nil {
		return nil, err
	}
	return q.AppendRoute(nil, &a), nil
}
