package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// valhallaDialect is the API of Valhalla 3, which returns routes in OSRM's form on request.
type valhallaDialect struct{}

// attempts returns the ways in which Valhalla avoids closures: it leaves out the roads at places, then those that meet
// the edge of a polygon, and is finally led by places to pass.
func (valhallaDialect) attempts() []attempt {
	return []attempt{{exclusion: byPoints}, {exclusion: byPolygons}, {vias: 2, margin: 1000}}
}

func (valhallaDialect) lacks(*question) string { return "" }

func (valhallaDialect) guides() bool { return true }

func (valhallaDialect) probe(ctx context.Context, c *caller) (string, error) {
	return c.version(ctx, "status")
}

// valhallaRequest is a request for a route or a table.
type valhallaRequest struct {
	Locations []valhallaLocation `json:"locations,omitempty"`
	Sources   []valhallaLocation `json:"sources,omitempty"`
	Targets   []valhallaLocation `json:"targets,omitempty"`
	Costing   string             `json:"costing"`
	Options   struct {
		Auto valhallaAuto `json:"auto"`
	} `json:"costing_options"`
	Format      string             `json:"format,omitempty"`
	ShapeFormat string             `json:"shape_format,omitempty"`
	Units       string             `json:"units,omitempty"`
	Language    string             `json:"language,omitempty"`
	Alternates  int                `json:"alternates,omitempty"`
	Banners     bool               `json:"banner_instructions,omitempty"`
	Voice       bool               `json:"voice_instructions,omitempty"`
	Exits       *bool              `json:"roundabout_exits,omitempty"`
	Places      []valhallaLocation `json:"exclude_locations,omitempty"`
	Polygons    [][][2]float64     `json:"exclude_polygons,omitempty"`
}

type valhallaLocation struct {
	Lat       float64  `json:"lat"`
	Lon       float64  `json:"lon"`
	Type      string   `json:"type,omitempty"`
	Heading   *int     `json:"heading,omitempty"`
	Tolerance *int     `json:"heading_tolerance,omitempty"`
	Cutoff    *float64 `json:"search_cutoff,omitempty"`
	Side      string   `json:"preferred_side,omitempty"`
}

// valhallaAuto is what a car leaves out. A server that does not allow hard exclusions
// (service_limits.allow_hard_exclusions) at least avoids it.
type valhallaAuto struct {
	UseTolls        *int `json:"use_tolls,omitempty"`
	UseHighways     *int `json:"use_highways,omitempty"`
	UseFerry        *int `json:"use_ferry,omitempty"`
	ExcludeTolls    bool `json:"exclude_tolls,omitempty"`
	ExcludeHighways bool `json:"exclude_highways,omitempty"`
	ExcludeFerries  bool `json:"exclude_ferries,omitempty"`
}

func newValhalla(exclude graph.Flags) *valhallaRequest {
	r := &valhallaRequest{Costing: "auto"}
	auto, never := &r.Options.Auto, new(int)
	for _, class := range [...]struct {
		flag    graph.Flags
		use     **int
		exclude *bool
	}{{graph.Toll, &auto.UseTolls, &auto.ExcludeTolls}, {graph.Motorway, &auto.UseHighways, &auto.ExcludeHighways}, {graph.Ferry, &auto.UseFerry, &auto.ExcludeFerries}} {
		if exclude&class.flag != 0 {
			*class.use, *class.exclude = never, true
		}
	}
	return r
}

func (valhallaDialect) route(ctx context.Context, c *caller, q *question) (*answer, error) {
	r := newValhalla(q.Places.Exclude)
	r.Format, r.ShapeFormat, r.Language = "osrm", "polyline6", q.Language
	r.Units = "kilometers"
	if q.Imperial {
		r.Units = "miles"
	}
	places, waypoints := withVias(q)
	isVia := func(i int) bool { return len(waypoints) > 0 && !slices.Contains(waypoints, i) }
	for i := range places.Coordinates {
		l := valhallaPlace(&places, i)
		switch {
		case isVia(i):
			l.Type = "through"
		case q.Straight == nav.TurnsAllowed || i == 0 || i == len(places.Coordinates)-1:
			l.Type = "break"
		default:
			l.Type = "break_through"
		}
		r.Locations = append(r.Locations, l)
	}
	if len(places.Coordinates) == 2 {
		r.Alternates = q.alternatives
	}
	if r.Banners, r.Voice = q.Banners && q.Steps, q.Voice && q.Steps; q.JoinExits {
		r.Exits = new(bool)
	}
	r.leaveOut(q)
	return askValhalla(ctx, c, "route", r)
}

// leaveOut adds the roads that the request leaves out, and the closed ones.
func (r *valhallaRequest) leaveOut(q *question) {
	for _, at := range q.Avoid.Places {
		r.Places = append(r.Places, valhallaLocation{Lat: at.Lat, Lon: at.Lng})
	}
	for _, ring := range q.Avoid.Rings {
		r.Polygons = append(r.Polygons, pairsOf(ring))
	}
	for _, closed := range q.around {
		switch q.exclusion {
		case byPoints:
			r.Places = append(r.Places, valhallaLocation{Lat: closed.At.Lat, Lon: closed.At.Lng})
		case byPolygons:
			r.Polygons = append(r.Polygons, pairsOf(squareAround(closed.At)))
		case notExcluded, byModel, byBlockAreas:
		}
	}
}

// valhallaPlace returns a coordinate with its options for snapping.
func valhallaPlace(p *nav.Places, i int) valhallaLocation {
	l := valhallaLocation{Lat: p.Coordinates[i].Lat, Lon: p.Coordinates[i].Lng}
	if b := valueAt(p.Bearings, i, nav.Bearing{}); b.Given {
		heading, tolerance := int(b.Value+0.5)%360, int(b.Range)
		l.Heading, l.Tolerance = &heading, &tolerance
	}
	if radius := valueAt(p.Radiuses, i, nav.Unlimited); radius >= 0 {
		l.Cutoff = &radius
	}
	switch valueAt(p.Approaches, i, nav.Unrestricted) {
	case nav.Curb:
		l.Side = "same"
	case nav.Opposite:
		l.Side = "opposite"
	case nav.Unrestricted:
	}
	return l
}

// squareMetres is half the side of a square around the middle of a closed road. It is so small that its edges cross that
// road alone.
const squareMetres = 3.0

// squareAround returns a square around a place, counter-clockwise, with its first corner repeated at the end.
func squareAround(at geo.Point) []geo.Point {
	b := geo.Circle{Center: at, Radius: squareMetres}.Box()
	return []geo.Point{{Lat: b.South, Lng: b.West}, {Lat: b.South, Lng: b.East}, {Lat: b.North, Lng: b.East}, {Lat: b.North, Lng: b.West}, {Lat: b.South, Lng: b.West}}
}

func pairsOf(ring []geo.Point) [][2]float64 {
	pairs := make([][2]float64, len(ring))
	for i, p := range ring {
		pairs[i] = [2]float64{p.Lng, p.Lat}
	}
	return pairs
}

// valhallaError returns OSRM's code for one of Valhalla's, or "".
func valhallaError(number int) string {
	switch number {
	case 150, 154, 157: // too many locations, too far
		return nav.TooBig
	case 171: // no suitable edges near a location
		return nav.NoSegment
	case 170, 441, 442: // locations are not connected, no path
		return nav.NoRoute
	}
	return ""
}

// askValhalla posts a request. It returns a refusal as an error with OSRM's code.
func askValhalla(ctx context.Context, c *caller, path string, r *valhallaRequest) (*answer, error) {
	body, err := postValhalla(ctx, c, path, r)
	if err != nil {
		return nil, err
	}
	a, err := decode(body)
	if err != nil {
		return nil, err
	}
	if a.Code != "Ok" {
		return nil, refused(a)
	}
	return a, nil
}

func postValhalla(ctx context.Context, c *caller, path string, r *valhallaRequest) ([]byte, error) {
	request, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("write a request to Valhalla: %w", err)
	}
	status, body, err := c.post(ctx, path, request)
	if err != nil || status == http.StatusOK {
		return body, err
	}
	var wrong struct {
		Code    word `json:"code"` // in OSRM's format
		Message text `json:"message"`
		Number  int  `json:"error_code"`
		Error   text `json:"error"`
	}
	if json.Unmarshal(body, &wrong) != nil {
		return nil, errUnreadable
	}
	if wrong.Code != "" {
		return nil, refused(&answer{Code: wrong.Code, Message: wrong.Message})
	}
	if code := valhallaError(wrong.Number); code != "" {
		return nil, &nav.Error{Code: code, Message: string(wrong.Error)}
	}
	if wrong.Error != "" {
		return nil, &nav.Error{Code: nav.InvalidOptions, Message: string(wrong.Error)}
	}
	return nil, errUnreadable
}

// other returns tables, which Valhalla has in another form. It does not use Valhalla's other services.
func (valhallaDialect) other(ctx context.Context, c *caller, q *osrm.Request) (*answer, error) {
	switch {
	case q.Service != osrm.Table:
		return nil, notOffered("service for this")
	case q.FallbackSpeed > 0 || q.Scale != 1:
		return nil, notOffered("fallback_speed and scale_factor")
	}
	r := newValhalla(q.Places.Exclude)
	sources, destinations := q.Sources, q.Destinations
	if sources == nil {
		sources = upTo(len(q.Places.Coordinates))
	}
	if destinations == nil {
		destinations = upTo(len(q.Places.Coordinates))
	}
	for _, i := range sources {
		r.Sources = append(r.Sources, valhallaPlace(&q.Places, i))
	}
	for _, i := range destinations {
		r.Targets = append(r.Targets, valhallaPlace(&q.Places, i))
	}
	r.Units = "kilometers"
	body, err := postValhalla(ctx, c, "sources_to_targets", r)
	if err != nil {
		return nil, err
	}
	return tableOfValhalla(body, q, sources, destinations)
}

// tableOfValhalla reads a matrix in Valhalla's long form: a row for each source.
func tableOfValhalla(body []byte, q *osrm.Request, sources, destinations []int) (*answer, error) {
	var matrix struct {
		Rows [][]struct {
			Distance *number `json:"distance"` // kilometres
			Time     *number `json:"time"`     // seconds
		} `json:"sources_to_targets"`
	}
	if json.Unmarshal(body, &matrix) != nil || len(matrix.Rows) != len(sources) {
		return nil, errUnreadable
	}
	a := &answer{Code: "Ok"}
	for _, row := range matrix.Rows {
		if len(row) != len(destinations) {
			return nil, errUnreadable
		}
		durations, distances := make([]*number, len(row)), make([]*number, len(row))
		for i := range row {
			durations[i] = row[i].Time
			if km := row[i].Distance; km != nil {
				metres := *km * 1000
				distances[i] = &metres
			}
		}
		if q.Annotations&osrm.Duration != 0 {
			a.Durations = append(a.Durations, durations)
		}
		if q.Annotations&osrm.Distance != 0 {
			a.Distances = append(a.Distances, distances)
		}
	}
	for _, list := range [...]struct {
		of *[]waypoint
		at []int
	}{{&a.Sources, sources}, {&a.Destinations, destinations}} {
		for _, i := range list.at {
			*list.of = append(*list.of, waypoint{Location: position(nav.PositionOf(q.Places.Coordinates[i]))})
		}
	}
	return a, nil
}
