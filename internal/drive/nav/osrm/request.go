package osrm

import (
	"fmt"
	"math"

	"wayside/internal/drive/nav"
	"wayside/internal/roads/graph"
)

// Service is one of the services.
type Service uint8

// The services.
const (
	Route Service = iota
	Nearest
	Table
	Match
)

// Request is a request to one of the services, with its options, as parsed by ParseURL or ParseBody.
type Request struct {
	Service Service
	Places  nav.Places

	Hints         bool // generate_hints
	SkipWaypoints bool

	Alternatives int
	Straight     nav.Straight
	Waypoints    []int
	Steps        bool
	JoinExits    bool // roundabout_exits=false
	Banners      bool // banner_instructions
	Voice        bool // voice_instructions
	Imperial     bool // voice_units
	// Clip returns the URL of an announcement as sound, or "" if there is none. It may be nil.
	Clip        func(language, text string) string
	Language    string
	Geometries  Geometries
	Overview    Overview
	Annotations Annotations

	Number int // of results of Nearest

	Sources, Destinations []int // nil: all
	FallbackSpeed         float64
	FallbackSnapped       bool
	Scale                 float64

	Timestamps []int64
	IgnoreGaps bool
	Tidy       bool

	// Unprepared means that the roads are searched without preparation, because some of them are left out: Valhalla's
	// exclusions.
	Unprepared bool

	hints int // number of given hints
}

// Geometries is the form of lines.
type Geometries uint8

// The forms of lines.
const (
	Polyline Geometries = iota
	Polyline6
	GeoJSON
)

// Overview selects how much of the line of a route is wanted.
type Overview uint8

// The values of Overview.
const (
	Simplified Overview = iota
	Full
	NoOverview
	ByLegs
)

// Annotations are the requested values for each stretch of a route, or for a table.
type Annotations uint16

// The annotations.
const (
	Duration Annotations = 1 << iota
	NodeIDs
	Distance
	Weight
	Datasources
	Speed
	MaxSpeed
	Congestion

	allOfRoutes = Duration | NodeIDs | Distance | Weight | Datasources | Speed
)

func newRequest(s Service) *Request {
	r := &Request{Service: s, Hints: true, Number: 1, Scale: 1}
	if s == Table {
		r.Annotations = Duration
	}
	return r
}

func invalidOptions(message string) error {
	return &nav.Error{Code: nav.InvalidOptions, Message: message}
}

// maxMatchRadius bounds the radiuses of a trace, in metres. Fixes of phones are off by 5 to 50; roads are searched
// within three times the radius.
const maxMatchRadius = 100

// Check checks options against each other.
func (r *Request) Check() error {
	p := &r.Places
	count := len(p.Coordinates)
	for _, list := range []struct {
		name string
		size int
	}{{"hints", r.hints}, {"bearings", len(p.Bearings)}, {"radiuses", len(p.Radiuses)}, {"approaches", len(p.Approaches)}, {"timestamps", len(r.Timestamps)}} {
		if list.size > 0 && list.size != count {
			return invalidOptions(fmt.Sprintf("Number of elements in %s size %d does not match coordinate size %d", list.name, list.size, count))
		}
	}
	for _, b := range p.Bearings {
		if b.Value < 0 || b.Value > 360 || b.Range < 0 || b.Range > 180 {
			return invalidOptions("A bearing takes 0 to 360 degrees, and a range of 0 to 180.")
		}
	}
	for _, radius := range p.Radiuses {
		if radius != nav.Unlimited && radius < 0 {
			return invalidOptions("A radius takes 0 or more metres.")
		}
		if r.Service == Match && radius > maxMatchRadius {
			return &nav.Error{Code: nav.TooBig, Message: fmt.Sprintf("A radius of a trace takes at most %d metres.", maxMatchRadius)}
		}
	}
	switch {
	case r.Service == Nearest && count != 1:
		return invalidOptions("Only one input coordinate is supported")
	case r.Service != Nearest && count < 2:
		return invalidOptions("Number of coordinates needs to be at least two.")
	case r.Number < 1:
		return invalidOptions("number must be 1 or more.")
	case r.FallbackSpeed < 0:
		return invalidOptions("fallback_speed must be > 0")
	case r.Scale <= 0:
		return invalidOptions("scale_factor must be > 0")
	}
	for _, indexes := range [...][]int{r.Waypoints, r.Sources, r.Destinations} {
		for _, i := range indexes {
			if i >= count {
				return invalidOptions("An index is not that of a coordinate.")
			}
		}
	}
	return nil
}

// RouteRequest returns the request of the service route.
func (r *Request) RouteRequest() *nav.RouteRequest {
	return &nav.RouteRequest{Places: r.Places, Alternatives: r.Alternatives, Straight: r.Straight, Waypoints: r.Waypoints, Steps: r.Steps, JoinExits: r.JoinExits}
}

// classFlag returns the flag of a class that can be excluded.
func classFlag(name string) (graph.Flags, bool) {
	switch name {
	case "toll":
		return graph.Toll, true
	case "motorway":
		return graph.Motorway, true
	case "ferry":
		return graph.Ferry, true
	case "none":
		return 0, true
	}
	return 0, false
}

func (r *Request) exclude(name string) error {
	flag, ok := classFlag(name)
	if !ok {
		return &nav.Error{Code: nav.InvalidValue, Message: "Exclude flag combination is not supported."}
	}
	r.Places.Exclude |= flag
	return nil
}

// approachOf returns the approach for a word.
func approachOf(word string) (nav.Approach, bool) {
	return find(word, []string{"unrestricted", "curb", "opposite"}, nav.Unrestricted, nav.Curb, nav.Opposite)
}

func geometriesOf(word string) (Geometries, bool) {
	return find(word, []string{"polyline", "polyline6", "geojson"}, Polyline, Polyline6, GeoJSON)
}

func overviewOf(word string) (Overview, bool) {
	return find(word, []string{"simplified", "full", "false", "by_legs"}, Simplified, Full, NoOverview, ByLegs)
}

func (r *Request) annotationOf(word string) (Annotations, bool) {
	if r.Service == Table {
		return find(word, []string{"duration", "distance"}, Duration, Distance)
	}
	return find(word, []string{"duration", "nodes", "distance", "weight", "datasources", "speed", "maxspeed", "congestion"},
		Duration, NodeIDs, Distance, Weight, Datasources, Speed, MaxSpeed, Congestion)
}

// find returns the value for a word.
func find[T any](word string, words []string, values ...T) (T, bool) {
	for i := range words {
		if words[i] == word {
			return values[i], true
		}
	}
	var none T
	return none, false
}

// inRange reports whether a coordinate can be represented in OSRM's fixed-point numbers.
func inRange(degrees float64) bool { return math.Abs(degrees) <= math.MaxInt32/1e6 }
