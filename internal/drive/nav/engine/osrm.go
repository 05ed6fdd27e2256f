package engine

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// osrmDialect is the HTTP API of OSRM 5.
type osrmDialect struct{}

// attempts returns the ways in which OSRM avoids closures. OSRM can only leave out classes of roads, so routes are led
// around closures by places to pass, first close to each closure, then farther away.
func (osrmDialect) attempts() []attempt {
	return []attempt{{vias: 1, margin: 500}, {vias: 3, margin: 1000}, {vias: 5, margin: 4000}}
}

func (osrmDialect) lacks(q *question) string {
	if len(q.Avoid.Places) > 0 || len(q.Avoid.Rings) > 0 {
		return "way to leave out places or areas"
	}
	return ""
}

func (osrmDialect) guides() bool { return false }

// probe requests the nearest road to a place without any, which OSRM refuses in a form of its own.
func (osrmDialect) probe(ctx context.Context, c *caller) (string, error) {
	_, body, err := c.get(ctx, "nearest/v1/driving/0,0", nil)
	if err != nil {
		return "", err
	}
	if a, err := decode(body); err != nil || a.Code == "" {
		return "", errUnreadable
	}
	return "", nil
}

func (osrmDialect) route(ctx context.Context, c *caller, q *question) (*answer, error) {
	places, waypoints := withVias(q)
	options := placeOptions(&places)
	options.Set("overview", "full")
	options.Set("geometries", "polyline6")
	options.Set("steps", strconv.FormatBool(q.Steps || len(places.Coordinates) > 2))
	if q.alternatives > 0 && len(q.vias) == 0 {
		options.Set("alternatives", strconv.Itoa(q.alternatives))
	}
	if len(waypoints) > 0 {
		options.Set("waypoints", joined(waypoints, ";", strconv.Itoa))
	}
	switch q.Straight {
	case nav.AlwaysStraight:
		options.Set("continue_straight", "true")
	case nav.TurnsAllowed:
		options.Set("continue_straight", "false")
	case nav.StraightByDefault:
	}
	setAnnotations(options, q.Annotations)
	return askOSRM(ctx, c, "route", places.Coordinates, options)
}

func (osrmDialect) other(ctx context.Context, c *caller, q *osrm.Request) (*answer, error) {
	options := placeOptions(&q.Places)
	switch q.Service {
	case osrm.Nearest:
		options.Set("number", strconv.Itoa(q.Number))
		return askOSRM(ctx, c, "nearest", q.Places.Coordinates, options)
	case osrm.Table:
		setTable(options, q)
		return askOSRM(ctx, c, "table", q.Places.Coordinates, options)
	case osrm.Match:
		setMatch(options, q)
		return askOSRM(ctx, c, "match", q.Places.Coordinates, options)
	case osrm.Route:
	}
	return nil, notOffered("such service")
}

func setTable(options url.Values, q *osrm.Request) {
	if q.Sources != nil {
		options.Set("sources", joined(q.Sources, ";", strconv.Itoa))
	}
	if q.Destinations != nil {
		options.Set("destinations", joined(q.Destinations, ";", strconv.Itoa))
	}
	var wanted []string
	if q.Annotations&osrm.Duration != 0 {
		wanted = append(wanted, "duration")
	}
	if q.Annotations&osrm.Distance != 0 {
		wanted = append(wanted, "distance")
	}
	options.Set("annotations", strings.Join(wanted, ","))
	if q.FallbackSpeed > 0 {
		options.Set("fallback_speed", decimal(q.FallbackSpeed))
		if q.FallbackSnapped {
			options.Set("fallback_coordinate", "snapped")
		}
	}
	if q.Scale != 1 {
		options.Set("scale_factor", decimal(q.Scale))
	}
}

func setMatch(options url.Values, q *osrm.Request) {
	options.Set("overview", "full")
	options.Set("geometries", "polyline6")
	options.Set("steps", "true")
	setAnnotations(options, q.Annotations)
	if len(q.Timestamps) > 0 {
		options.Set("timestamps", joined(q.Timestamps, ";", func(t int64) string { return strconv.FormatInt(t, 10) }))
	}
	if q.IgnoreGaps {
		options.Set("gaps", "ignore")
	}
	if q.Tidy {
		options.Set("tidy", "true")
	}
	if len(q.Waypoints) > 0 {
		options.Set("waypoints", joined(q.Waypoints, ";", strconv.Itoa))
	}
}

// askOSRM calls a service of OSRM. It returns a refusal as an error with OSRM's code.
func askOSRM(ctx context.Context, c *caller, service string, places []geo.Point, options url.Values) (*answer, error) {
	path := service + "/v1/driving/" + joined(places, ";", func(p geo.Point) string { return decimal(p.Lng) + "," + decimal(p.Lat) })
	status, body, err := c.get(ctx, path, options)
	if err != nil {
		return nil, err
	}
	a, err := decode(body)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK || a.Code != "Ok" {
		return nil, refused(a)
	}
	return a, nil
}

// refused returns the error for an answer whose code is not Ok.
func refused(a *answer) error {
	codes := []string{
		nav.InvalidOptions, nav.InvalidQuery, nav.InvalidValue, nav.NoSegment, nav.NoRoute, nav.NoTable, nav.NoMatch, nav.TooBig, nav.NotImplemented,
	}
	if !slices.Contains(codes, string(a.Code)) {
		return errUnreadable
	}
	return &nav.Error{Code: string(a.Code), Message: string(a.Message)}
}

// withVias returns the coordinates of a request with the places to pass, and which of them are waypoints.
func withVias(q *question) (nav.Places, []int) {
	if len(q.vias) == 0 {
		return q.Places, q.Waypoints
	}
	waypoints := q.Waypoints
	if len(waypoints) == 0 {
		waypoints = upTo(len(q.Places.Coordinates))
	}
	from := q.Places
	to := nav.Places{Exclude: from.Exclude, AnyRoad: from.AnyRoad}
	var moved []int
	leg := -1
	for i, at := range from.Coordinates {
		if slices.Contains(waypoints, i) {
			moved, leg = append(moved, len(to.Coordinates)), leg+1
		}
		to.Coordinates = append(to.Coordinates, at)
		to.Bearings = append(to.Bearings, valueAt(from.Bearings, i, nav.Bearing{}))
		to.Radiuses = append(to.Radiuses, valueAt(from.Radiuses, i, nav.Unlimited))
		to.Approaches = append(to.Approaches, valueAt(from.Approaches, i, nav.Unrestricted))
		if i+1 == len(from.Coordinates) || !slices.Contains(waypoints, i) {
			continue // on a leg with coordinates that are not waypoints, places come after the first of them
		}
		for _, v := range q.vias[leg] {
			to.Coordinates = append(to.Coordinates, v.At)
			to.Bearings = append(to.Bearings, nav.Bearing{Given: true, Value: v.Bearing, Range: viaRange})
			to.Radiuses = append(to.Radiuses, nav.Unlimited)
			to.Approaches = append(to.Approaches, nav.Unrestricted)
		}
	}
	return to, moved
}

// viaRange is the maximum angle, in degrees, between the direction of a place to pass and the route.
const viaRange = 40

func upTo(count int) []int {
	all := make([]int, count)
	for i := range all {
		all[i] = i
	}
	return all
}

// valueAt returns a value of a list, or absent if the list is too short.
func valueAt[T any](list []T, i int, absent T) T {
	if i < len(list) {
		return list[i]
	}
	return absent
}

// placeOptions returns the options for how coordinates snap. It leaves out lists without values.
func placeOptions(p *nav.Places) url.Values {
	options := url.Values{"generate_hints": {"false"}}
	if slices.ContainsFunc(p.Bearings, func(b nav.Bearing) bool { return b.Given }) {
		options.Set("bearings", joined(p.Bearings, ";", func(b nav.Bearing) string {
			if !b.Given {
				return ""
			}
			return strconv.Itoa(int(b.Value+0.5)%360) + "," + strconv.Itoa(int(b.Range))
		}))
	}
	if slices.ContainsFunc(p.Radiuses, func(r float64) bool { return r != nav.Unlimited }) {
		options.Set("radiuses", joined(p.Radiuses, ";", func(r float64) string {
			if r == nav.Unlimited {
				return "unlimited"
			}
			return decimal(r)
		}))
	}
	if slices.ContainsFunc(p.Approaches, func(a nav.Approach) bool { return a != nav.Unrestricted }) {
		options.Set("approaches", joined(p.Approaches, ";", func(a nav.Approach) string {
			return [...]string{nav.Unrestricted: "unrestricted", nav.Curb: "curb", nav.Opposite: "opposite"}[a]
		}))
	}
	if classes := classesOf(p.Exclude); len(classes) > 0 {
		options.Set("exclude", strings.Join(classes, ","))
	}
	if p.AnyRoad {
		options.Set("snapping", "any")
	}
	return options
}

// classesOf returns the names of the excluded classes.
func classesOf(f graph.Flags) (names []string) {
	for _, class := range [...]struct {
		flag graph.Flags
		name string
	}{{graph.Toll, "toll"}, {graph.Motorway, "motorway"}, {graph.Ferry, "ferry"}} {
		if f&class.flag != 0 {
			names = append(names, class.name)
		}
	}
	return names
}

// setAnnotations requests the annotations that OSRM has.
func setAnnotations(options url.Values, a osrm.Annotations) {
	var names []string
	for _, one := range [...]struct {
		of   osrm.Annotations
		name string
	}{{osrm.Duration, "duration"}, {osrm.NodeIDs, "nodes"}, {osrm.Distance, "distance"}, {osrm.Weight, "weight"}, {osrm.Datasources, "datasources"}, {osrm.Speed, "speed"}} {
		if a&one.of != 0 {
			names = append(names, one.name)
		}
	}
	if len(names) > 0 {
		options.Set("annotations", strings.Join(names, ","))
	}
}

// joined joins a list with a separator.
func joined[T any](list []T, separator string, write func(T) string) string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = write(list[i])
	}
	return strings.Join(texts, separator)
}

// decimal returns the shortest exact form of a number.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
