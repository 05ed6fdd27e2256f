package valhalla_test

import (
	"errors"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/drive/nav/valhalla"
	"wayside/internal/roads/graph"
)

const ends = `"costing":"auto","locations":[{"lat":1,"lon":2},{"lat":3,"lon":4}]`

// TestParse checks each member.
func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		is   func(r *valhalla.Request) bool
	}{
		"plain": {ends, func(r *valhalla.Request) bool {
			at := r.Places.Coordinates
			return len(at) == 2 && at[0].Lat == 1 && at[1].Lng == 4 && r.Steps && r.Overview == osrm.Full && r.Geometries == osrm.Polyline6 && !r.Banners && !r.Voice
		}},
		"tolls": {
			ends + `,"costing_options":{"auto":{"use_tolls":0,"use_highways":0.5,"use_ferry":0.0,"toll_booth_cost":3}}`,
			func(r *valhalla.Request) bool { return r.Places.Exclude == graph.Toll|graph.Ferry },
		},
		"highways":      {ends + `,"costing_options":{"auto":{"use_highways":0}}`, func(r *valhalla.Request) bool { return r.Places.Exclude == graph.Motorway }},
		"exclude":       {ends + `,"costing_options":{"auto":{"exclude_tolls":true,"exclude_highways":true,"exclude_ferries":true}}`, func(r *valhalla.Request) bool { return r.Places.Exclude == graph.Toll|graph.Motorway|graph.Ferry }},
		"miles":         {ends + `,"directions_options":{"units":"miles","language":"de-DE"}`, func(r *valhalla.Request) bool { return r.Imperial && r.Language == "de-DE" }},
		"the top first": {ends + `,"units":"kilometers","language":"fr","directions_options":{"units":"miles","language":"de-DE"}`, func(r *valhalla.Request) bool { return !r.Imperial && r.Language == "fr" }},
		"no directions": {ends + `,"directions_options":{"directions_type":"none"}`, func(r *valhalla.Request) bool { return !r.Steps }},
		"alternates":    {ends + `,"alternates":2`, func(r *valhalla.Request) bool { return r.RouteRequest().Alternatives == 2 }},
		"polyline5":     {ends + `,"shape_format":"polyline5"`, func(r *valhalla.Request) bool { return r.Geometries == osrm.Polyline }},
		"geojson":       {ends + `,"shape_format":"geojson"`, func(r *valhalla.Request) bool { return r.Geometries == osrm.GeoJSON }},
		"no shape":      {ends + `,"shape_format":"no_shape"`, func(r *valhalla.Request) bool { return r.Overview == osrm.NoOverview }},
		"instructions":  {ends + `,"banner_instructions":true,"voice_instructions":true,"roundabout_exits":false`, func(r *valhalla.Request) bool { return r.Banners && r.Voice && r.JoinExits }},
		"avoided": {ends + `,"exclude_locations":[{"lat":1.5,"lon":2.5}],"exclude_polygons":[[[0,0],[0,1],[1,1]]],"avoid_polygons":[[[5,5],[5,6],[6,6]]]`, func(r *valhalla.Request) bool {
			a := r.RouteRequest().Avoid
			return len(a.Places) == 1 && a.Places[0].Lng == 2.5 && len(a.Rings) == 2 && len(a.Rings[0]) == 3 && a.Rings[0][1].Lat == 1
		}},
		"headings": {`"costing":"auto","locations":[{"lat":1,"lon":2,"heading":90,"heading_tolerance":20},{"lat":3,"lon":4,"heading":10,"preferred_side":"same","radius":50,"search_cutoff":30}]`, func(r *valhalla.Request) bool {
			p := r.Places
			return p.Bearings[0] == nav.Bearing{Given: true, Value: 90, Range: 20} && p.Bearings[1].Range == 60 && p.Approaches[1] == nav.Curb && p.Radiuses[0] == nav.Unlimited && p.Radiuses[1] == 30
		}},
		"types": {`"costing":"auto","locations":[{"lat":1,"lon":2},{"lat":1,"lon":3,"type":"via"},{"lat":1,"lon":4,"type":"break"},{"lat":3,"lon":4,"type":"break"}]`, func(r *valhalla.Request) bool {
			return len(r.Waypoints) == 3 && r.Waypoints[1] == 2 && r.Straight == nav.TurnsAllowed
		}},
		"through": {`"costing":"auto","locations":[{"lat":1,"lon":2},{"lat":1,"lon":3,"type":"through"},{"lat":3,"lon":4}]`, func(r *valhalla.Request) bool {
			return len(r.Waypoints) == 2 && r.Straight == nav.AlwaysStraight
		}},
	} {
		r, err := valhalla.Parse([]byte("{" + c.body + "}"))
		if err != nil || !c.is(r) {
			t.Errorf("%s: %+v (%v)", name, r, err)
		}
	}
}

// TestParseRefuses checks that invalid and unsupported requests are refused.
func TestParseRefuses(t *testing.T) {
	for body, code := range map[string]string{
		``:                                nav.InvalidQuery,
		`[]`:                              nav.InvalidQuery,
		`{` + ends + `,"alternates":"x"}`: nav.InvalidQuery,
		`{"locations":[{"lat":1,"lon":2},{"lat":3,"lon":4}]}`:                     nav.InvalidValue,
		`{"costing":"bicycle","locations":[{"lat":1,"lon":2},{"lat":3,"lon":4}]}`: nav.InvalidValue,
		`{"costing":"auto"}`: nav.InvalidOptions,
		`{"costing":"auto","locations":[{"lat":1,"lon":2}]}`:                                           nav.InvalidOptions,
		`{"costing":"auto","locations":[{"lat":1,"lon":2},{"lat":3}]}`:                                 nav.InvalidValue,
		`{"costing":"auto","locations":[{"lat":1,"lon":2,"type":"via"},{"lat":3,"lon":4}]}`:            nav.InvalidValue,
		`{"costing":"auto","locations":[{"lat":1,"lon":2,"type":"x"},{"lat":3,"lon":4}]}`:              nav.InvalidValue,
		`{"costing":"auto","locations":[{"lat":1,"lon":2,"heading":400},{"lat":3,"lon":4}]}`:           nav.InvalidOptions,
		`{"costing":"auto","locations":[{"lat":1,"lon":2,"radius":-1},{"lat":3,"lon":4}]}`:             nav.InvalidValue,
		`{"costing":"auto","locations":[{"lat":1,"lon":2,"search_cutoff":-1},{"lat":3,"lon":4}]}`:      nav.InvalidValue,
		`{"costing":"auto","locations":[{"lat":1,"lon":2,"preferred_side":"left"},{"lat":3,"lon":4}]}`: nav.InvalidValue,
		`{` + ends + `,"format":"json"}`:                                                               nav.InvalidValue,
		`{` + ends + `,"shape_format":"wkt"}`:                                                          nav.InvalidValue,
		`{` + ends + `,"alternates":-1}`:                                                               nav.InvalidValue,
		`{` + ends + `,"units":"leagues"}`:                                                             nav.InvalidValue,
		`{` + ends + `,"directions_type":"all"}`:                                                       nav.InvalidValue,
		`{` + ends + `,"exclude_locations":[{"lat":1}]}`:                                               nav.InvalidValue,
		`{` + ends + `,"exclude_polygons":[[0,0],[0,1]]}`:                                              nav.InvalidValue,
		`{` + ends + `,"exclude_polygons":[[[0,0,0]]]}`:                                                nav.InvalidValue,
		`{` + ends + `,"costing_options":{"auto":{"exclude_unpaved":true}}}`:                           nav.InvalidValue,
		`{` + ends + `,"costing_options":{"auto":{"height":3.5}}}`:                                     nav.InvalidValue,
	} {
		_, err := valhalla.Parse([]byte(body))
		if refused := new(nav.Error); !errors.As(err, &refused) || refused.Code != code {
			t.Errorf("%s: %v, want %s", body, err, code)
		}
	}
}

// FuzzParse checks that any text becomes a request with a value for each location, or one of our errors.
func FuzzParse(f *testing.F) {
	f.Add("{" + ends + "}")
	f.Add("{" + ends + `,"exclude_polygons":[[[0,0],[0,1],[1,1]]],"exclude_locations":[{"lat":1,"lon":2}],"alternates":2}`)
	f.Add(`{"costing":"auto","locations":[{"lat":1,"lon":2,"heading":90},{"lat":1,"lon":3,"type":"through","radius":5},{"lat":3,"lon":4}],"directions_options":{"units":"mi"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := valhalla.Parse([]byte(text))
		if err != nil {
			if refused := new(nav.Error); !errors.As(err, &refused) {
				t.Errorf("%v is no error of an answer", err)
			}
			return
		}
		p := &r.Places
		if n := len(p.Coordinates); n < 2 || len(p.Bearings) != n || len(p.Radiuses) != n || len(p.Approaches) != n {
			t.Errorf("lists of other lengths: %+v", p)
		}
	})
}
