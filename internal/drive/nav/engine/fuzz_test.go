package engine

import (
	"encoding/json"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/geo"
)

// FuzzAnswers checks that any bytes from an engine are refused, or become an answer that is valid JSON with places on
// the globe.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		`{"code":"Ok","routes":[{"geometry":"_p~iF~ps|U_ulLnnqC","legs":[{"steps":[{"geometry":"_p~iF~ps|U","maneuver":{"type":"turn","modifier":"left","location":[1,2]},"intersections":[{"out":0,"entry":[true],"bearings":[10],"location":[1,2],"lanes":[{"valid":true,"indications":["left"]}]}],"bannerInstructions":[{"primary":{"text":"x","components":[]}}]}],"annotation":{"speed":[1],"nodes":[7]},"distance":1.5,"duration":2,"weight":3,"summary":"A"}],"distance":1,"duration":2,"weight":3,"weight_name":"routability"}],"waypoints":[{"location":[1,2],"name":"A"}]}`,
		`{"code":"Ok","routes":[{"geometry":{"type":"LineString","coordinates":[[1,2],[1,3,4]]},"legs":[{}]}],"durations":[[null,1e10]],"tracepoints":[null,{"location":[0,0],"matchings_index":0}]}`,
		`{"paths":[{"distance":1,"time":2,"points":{"type":"LineString","coordinates":[[1,2],[1,3]]},"instructions":[{"sign":0,"interval":[0,1],"distance":5,"time":6},{"sign":6,"exit_number":-3,"turn_angle":"NaN","interval":[1,1]},{"sign":4,"interval":[1,1]}]}]}`,
		`{"paths":[{"points":{"type":"LineString","coordinates":[]},"instructions":[{"interval":[-1,5]}]}]}`,
		`{"sources_to_targets":[[{"distance":1,"time":null},{"distance":null,"time":2}],[{},{}]]}`,
		`{"message":"Cannot find point 0","hints":[{"details":"com.graphhopper.util.exceptions.PointNotFoundException"}]}`,
		`{"code":"Ok","routes":[{"geometry":"\u0000\ud800","legs":null}]}`,
	} {
		f.Add([]byte(seed))
	}
	places := nav.Places{Coordinates: []geo.Point{{Lat: 1, Lng: 2}, {Lat: 3, Lng: 4}}}
	f.Fuzz(func(t *testing.T, body []byte) {
		q := &osrm.Request{Service: osrm.Route, Places: places, Steps: true, Banners: true, Voice: true, Overview: osrm.Simplified, Annotations: osrm.Speed | osrm.NodeIDs}
		write := func(a *answer, err error) {
			if err != nil || checkRoutes(a.Routes, 0) != nil || checkRoutes(a.Matchings, 0) != nil {
				return
			}
			for i := range a.Routes {
				for _, p := range a.Routes[i].Geometry.positions {
					if !p.Point().Valid() {
						t.Fatalf("a route at %v", p)
					}
				}
				a.Routes[i].driven = new(nav.Driven)
			}
			j := &judged{Remote: &Remote{caller: new(caller), dialect: osrmDialect{}}, ask: &question{Request: q}, best: a, routes: a.Routes}
			for _, form := range []osrm.Geometries{osrm.Polyline, osrm.Polyline6, osrm.GeoJSON} {
				q.Geometries = form
				if text, err := j.append(nil); err != nil || !json.Valid(text) {
					t.Fatalf("%v: %s", err, text)
				}
			}
			for _, service := range []osrm.Service{osrm.Nearest, osrm.Table, osrm.Match} {
				q.Service = service
				if text, err := appendOther(nil, q, a); err != nil || !json.Valid(text) {
					t.Fatalf("%v: %s", err, text)
				}
			}
		}
		write(decode(body))
		write(routesOfGraphhopper(body, &question{Request: q}))
		write(tableOfValhalla(body, q, []int{0, 1}, []int{0, 1}))
		_ = refusedByGraphhopper(body)
	})
}
