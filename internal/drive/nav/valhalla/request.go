package valhalla

import (
	"encoding/json"
	"errors"
	"strings"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// Request is a request for a route.
type Request struct {
	*osrm.Request // the form of the answer, and everything that requests to OSRM have too
	Avoid         nav.Avoid
}

// RouteRequest returns the request for the network.
func (r *Request) RouteRequest() *nav.RouteRequest {
	q := r.Request.RouteRequest()
	q.Avoid = r.Avoid
	return q
}

// body is the used part of Valhalla's request. As in Valhalla, other members are ignored.
type body struct {
	Locations      []location `json:"locations"`
	Costing        string     `json:"costing"`
	CostingOptions struct {
		Auto auto `json:"auto"`
	} `json:"costing_options"`
	DirectionsOptions directions `json:"directions_options"`
	directions                   // the same at the top level, as sent by newer clients

	ExcludeLocations []location        `json:"exclude_locations"`
	AvoidLocations   []location        `json:"avoid_locations"` // its older name
	ExcludePolygons  []json.RawMessage `json:"exclude_polygons"`
	AvoidPolygons    []json.RawMessage `json:"avoid_polygons"` // its older name

	Alternates         int    `json:"alternates"`
	Format             string `json:"format"`
	ShapeFormat        string `json:"shape_format"`
	BannerInstructions bool   `json:"banner_instructions"`
	VoiceInstructions  bool   `json:"voice_instructions"`
	RoundaboutExits    *bool  `json:"roundabout_exits"`
}

// directions is the form of the instructions.
type directions struct {
	Units          string `json:"units"`
	Language       string `json:"language"`
	DirectionsType string `json:"directions_type"`
}

// location is a place of the route.
type location struct {
	Lat              *float64 `json:"lat"`
	Lon              *float64 `json:"lon"`
	Type             string   `json:"type"`
	Heading          *float64 `json:"heading"`
	HeadingTolerance *float64 `json:"heading_tolerance"`
	PreferredSide    string   `json:"preferred_side"`
	Radius           *float64 `json:"radius"`
	SearchCutoff     *float64 `json:"search_cutoff"`
}

// auto is the preferences of a driver. Valhalla's preferences between 0 and 1 only count here if they are 0: never.
type auto struct {
	UseTolls    *float64 `json:"use_tolls"`
	UseHighways *float64 `json:"use_highways"`
	UseFerry    *float64 `json:"use_ferry"`

	ExcludeTolls    bool `json:"exclude_tolls"`
	ExcludeHighways bool `json:"exclude_highways"`
	ExcludeFerries  bool `json:"exclude_ferries"`

	ExcludeUnpaved       bool `json:"exclude_unpaved"`
	ExcludeBridges       bool `json:"exclude_bridges"`
	ExcludeTunnels       bool `json:"exclude_tunnels"`
	ExcludeCashOnlyTolls bool `json:"exclude_cash_only_tolls"`

	Height float64 `json:"height"`
	Width  float64 `json:"width"`
	Length float64 `json:"length"`
	Weight float64 `json:"weight"`
}

// Parse reads a request.
func Parse(text []byte) (*Request, error) {
	var b body
	if err := json.Unmarshal(text, &b); err != nil {
		wrong := "The request must be a JSON object as Valhalla's route takes it."
		if of := new(json.UnmarshalTypeError); errors.As(err, &of) && of.Field != "" {
			wrong = "The value of " + of.Field + " is of the wrong type."
		}
		return nil, &nav.Error{Code: nav.InvalidQuery, Message: wrong}
	}
	r := &Request{Request: &osrm.Request{Service: osrm.Route, Hints: true, Number: 1, Scale: 1, Steps: true, Overview: osrm.Full, Geometries: osrm.Polyline6}}
	for _, read := range []func(*body) error{r.readCosting, r.readForm, r.readDirections, r.readLocations, r.readAvoid} {
		if err := read(&b); err != nil {
			return nil, err
		}
	}
	r.Unprepared = len(r.Avoid.Places)+len(r.Avoid.Rings) > 0
	return r, r.Check()
}

func invalid(message string) error { return &nav.Error{Code: nav.InvalidValue, Message: message} }

// readCosting reads the vehicle, and what it avoids.
func (r *Request) readCosting(b *body) error {
	if b.Costing != "auto" {
		return invalid("costing must be auto: routes are for cars.")
	}
	a := &b.CostingOptions.Auto
	isNever := func(use *float64) bool { return use != nil && *use <= 0 }
	for _, one := range []struct {
		excluded bool
		flag     graph.Flags
	}{{a.ExcludeTolls || isNever(a.UseTolls), graph.Toll}, {a.ExcludeHighways || isNever(a.UseHighways), graph.Motorway}, {a.ExcludeFerries || isNever(a.UseFerry), graph.Ferry}} {
		if one.excluded {
			r.Places.Exclude |= one.flag
		}
	}
	for _, one := range []struct {
		asked bool
		name  string
	}{{a.ExcludeUnpaved, "exclude_unpaved"}, {a.ExcludeBridges, "exclude_bridges"}, {a.ExcludeTunnels, "exclude_tunnels"}, {a.ExcludeCashOnlyTolls, "exclude_cash_only_tolls"}} {
		if one.asked {
			return invalid("costing_options.auto." + one.name + " is not offered; exclude_tolls, exclude_highways and exclude_ferries are.")
		}
	}
	// The car for which the roads were imported (D15.4).
	if a.Height > 2.0 || a.Width > 1.9 || a.Length > 4.8 || a.Weight > 2.0 {
		return invalid("Routes are for a car 2 m high, 1.9 m wide, 4.8 m long, of 2 t: those of a larger vehicle are not offered.")
	}
	return nil
}

// readForm reads the form of the answer.
func (r *Request) readForm(b *body) error {
	switch b.Format {
	case "", "osrm":
	default:
		return invalid("format must be osrm.")
	}
	switch b.ShapeFormat {
	case "", "polyline6":
	case "polyline5":
		r.Geometries = osrm.Polyline
	case "geojson":
		r.Geometries = osrm.GeoJSON
	case "no_shape":
		r.Overview = osrm.NoOverview
	default:
		return invalid("shape_format must be polyline6, polyline5, geojson or no_shape.")
	}
	if b.Alternates < 0 {
		return invalid("alternates must be 0 or more.")
	}
	r.Alternatives = b.Alternates
	r.Banners, r.Voice = b.BannerInstructions, b.VoiceInstructions
	r.JoinExits = b.RoundaboutExits != nil && !*b.RoundaboutExits
	return nil
}

// readDirections reads the form of the instructions. Members at the top level take precedence.
func (r *Request) readDirections(b *body) error {
	first := func(top, below string) string {
		if top != "" {
			return top
		}
		return below
	}
	switch first(b.Units, b.DirectionsOptions.Units) {
	case "", "km", "kilometers":
	case "mi", "miles":
		r.Imperial = true
	default:
		return invalid("units must be kilometers or miles.")
	}
	switch first(b.DirectionsType, b.DirectionsOptions.DirectionsType) {
	case "", "instructions", "maneuvers":
	case "none":
		r.Steps = false
	default:
		return invalid("directions_type must be none, maneuvers or instructions.")
	}
	r.Language = first(b.Language, b.DirectionsOptions.Language)
	return nil
}

// readLocations reads the places, and how each is passed.
func (r *Request) readLocations(b *body) error {
	p := &r.Places
	r.Straight = nav.TurnsAllowed
	for i := range b.Locations {
		l := &b.Locations[i]
		at, err := l.point("locations")
		if err != nil {
			return err
		}
		p.Coordinates = append(p.Coordinates, at)
		isEnd := i == 0 || i == len(b.Locations)-1
		switch l.Type {
		case "", "break", "break_through":
			r.Waypoints = append(r.Waypoints, i)
		case "through", "via":
			if isEnd {
				return invalid("The first and the last of locations must be of the type break.")
			}
		default:
			return invalid("The type of a location must be break, through, via or break_through.")
		}
		if strings.HasSuffix(l.Type, "through") && !isEnd {
			r.Straight = nav.AlwaysStraight
		}
		if err := r.readSnapping(l); err != nil {
			return err
		}
	}
	return nil
}

// usualTolerance is the default tolerance of a heading, in degrees.
const usualTolerance = 60

// readSnapping reads to which roads a location may snap.
func (r *Request) readSnapping(l *location) error {
	p := &r.Places
	var bearing nav.Bearing
	if l.Heading != nil {
		bearing = nav.Bearing{Given: true, Value: *l.Heading, Range: usualTolerance}
		if l.HeadingTolerance != nil {
			bearing.Range = *l.HeadingTolerance
		}
	}
	p.Bearings = append(p.Bearings, bearing)
	if l.Radius != nil && *l.Radius < 0 {
		return invalid("The radius of a location takes 0 or more metres.")
	}
	radius := nav.Unlimited
	if l.SearchCutoff != nil {
		if radius = *l.SearchCutoff; radius < 0 {
			return invalid("The search_cutoff of a location takes 0 or more metres.")
		}
	}
	p.Radiuses = append(p.Radiuses, radius)
	approach := nav.Unrestricted
	switch l.PreferredSide {
	case "", "either":
	case "same":
		approach = nav.Curb
	case "opposite":
		approach = nav.Opposite
	default:
		return invalid("The preferred_side of a location must be same, opposite or either.")
	}
	p.Approaches = append(p.Approaches, approach)
	return nil
}

// readAvoid reads the places and polygons whose roads are left out.
func (r *Request) readAvoid(b *body) error {
	for _, list := range [][]location{b.ExcludeLocations, b.AvoidLocations} {
		for i := range list {
			at, err := list[i].point("exclude_locations")
			if err != nil {
				return err
			}
			r.Avoid.Places = append(r.Avoid.Places, at)
		}
	}
	for _, list := range [][]json.RawMessage{b.ExcludePolygons, b.AvoidPolygons} {
		for _, text := range list {
			var pairs [][]float64
			if err := json.Unmarshal(text, &pairs); err != nil {
				return invalid("exclude_polygons must be an array of rings, each an array of [longitude, latitude] pairs.")
			}
			ring := make([]geo.Point, 0, len(pairs))
			for _, pair := range pairs {
				if len(pair) != 2 {
					return invalid("exclude_polygons must be an array of rings, each an array of [longitude, latitude] pairs.")
				}
				ring = append(ring, geo.Point{Lng: pair[0], Lat: pair[1]})
			}
			r.Avoid.Rings = append(r.Avoid.Rings, ring)
		}
	}
	return nil
}

func (l *location) point(list string) (geo.Point, error) {
	if l.Lat == nil || l.Lon == nil {
		return geo.Point{}, invalid("Each of " + list + " takes lat and lon in degrees.")
	}
	return geo.Point{Lat: *l.Lat, Lng: *l.Lon}, nil
}
