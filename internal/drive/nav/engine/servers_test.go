package engine_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/engine"
	"wayside/internal/drive/nav/valhalla"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// valhallaServer answers as documented by Valhalla: routes in OSRM's format, and matrices.
func (w *town) valhallaServer(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost {
		w.t.Errorf("Valhalla is asked by %s, %v", r.Method, err)
		return
	}
	if r.URL.Path == "/sources_to_targets" {
		_, _ = io.WriteString(rw, `{"algorithm":"timedistancematrix","units":"kilometers","sources_to_targets":[`+
			`[{"distance":0.0,"time":0,"to_index":0,"from_index":0},{"distance":1.4,"time":70,"to_index":1,"from_index":0}],`+
			`[{"distance":1.4,"time":70,"to_index":0,"from_index":1},{"distance":0.0,"time":0,"to_index":1,"from_index":1}]]}`)
		return
	}
	q, err := valhalla.Parse(body)
	if err != nil {
		w.t.Errorf("Valhalla is asked %s: %v", body, err)
		return
	}
	q.Alternatives = 0 // so that closures must be passed to it
	answer, err := engine.NewEmbedded(w.blind).Route(r.Context(), q.Request, q.Avoid, nil)
	if err != nil {
		rw.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(rw, `{"error_code":442,"error":"No path could be found for input","status_code":400,"status":"Bad Request"}`)
		return
	}
	_, _ = rw.Write(answer)
}

// graphhopperServer answers as documented by GraphHopper.
func (w *town) graphhopperServer(rw http.ResponseWriter, r *http.Request) {
	var q struct {
		Points        [][2]float64
		Profile       string
		PointsEncoded *bool  `json:"points_encoded"`
		WithoutCH     bool   `json:"ch.disable"`
		BlockArea     string `json:"block_area"`
		CustomModel   struct {
			Priority []struct {
				If         string
				MultiplyBy string `json:"multiply_by"`
			}
			Areas struct {
				Type     string
				Features []struct {
					ID       string
					Geometry struct {
						Type        string
						Coordinates [][][2]float64
					}
				}
			}
		} `json:"custom_model"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.Profile != "car" || q.PointsEncoded == nil || *q.PointsEncoded || r.URL.Path != "/route" {
		w.t.Errorf("GraphHopper is asked %s: %+v, %v", r.URL, q, err)
		return
	}
	request := &nav.RouteRequest{Steps: true}
	for _, p := range q.Points {
		request.Coordinates = append(request.Coordinates, geo.Point{Lng: p[0], Lat: p[1]})
	}
	for i, f := range q.CustomModel.Areas.Features {
		rule := q.CustomModel.Priority[i]
		if rule.If != "in_"+f.ID || rule.MultiplyBy != "0" || f.Geometry.Type != "Polygon" || !q.WithoutCH || q.CustomModel.Areas.Type != "FeatureCollection" {
			w.t.Errorf("an area %+v by the rule %+v", f, rule)
		}
		var ring []geo.Point
		for _, p := range f.Geometry.Coordinates[0] {
			ring = append(ring, geo.Point{Lng: p[0], Lat: p[1]})
		}
		request.Avoid.Rings = append(request.Avoid.Rings, ring)
	}
	if q.BlockArea != "" {
		w.graphhopperRefuses(rw, "block_area is no longer supported. Use a custom model with areas instead", "java.lang.IllegalArgumentException")
		return
	}
	var a nav.RouteAnswer
	if err := w.blind.Route(r.Context(), request, &a); err != nil {
		w.graphhopperRefuses(rw, "Connection between locations not found", "com.graphhopper.util.exceptions.ConnectionNotFoundException")
		return
	}
	_, _ = io.WriteString(rw, `{"hints":{},"info":{"copyrights":["GraphHopper"],"took":1},"paths":[`+graphhopperPath(&a)+`]}`)
}

func (w *town) graphhopperRefuses(rw http.ResponseWriter, message, details string) {
	rw.WriteHeader(http.StatusBadRequest)
	_, _ = fmt.Fprintf(rw, `{"message":%q,"hints":[{"message":%q,"details":%q}]}`, message, message, details)
}

// graphhopperPath writes a route as GraphHopper does.
func graphhopperPath(a *nav.RouteAnswer) string {
	r := &a.Routes[0]
	leg := &r.Legs[0]
	var points, instructions []string
	pair := func(p graph.Position) string { return fmt.Sprintf("[%.6f,%.6f]", p.Point().Lng, p.Point().Lat) }
	for _, p := range leg.Locations {
		points = append(points, pair(p))
	}
	for i := range leg.Steps {
		s := &leg.Steps[i]
		sign := 2
		switch i {
		case 0:
			sign = 0
		case len(leg.Steps) - 1:
			sign = 4
		}
		instructions = append(instructions, fmt.Sprintf(`{"distance":%f,"heading":90.0,"sign":%d,"interval":[%d,%d],"text":"Drive","time":%d,"street_name":"Road"}`, s.Distance, sign, s.First, s.Last, s.Duration))
	}
	snapped := pair(leg.Locations[0]) + "," + pair(leg.Locations[len(leg.Locations)-1])
	return fmt.Sprintf(`{"distance":%f,"weight":%d.5,"time":%d,"transfers":0,"points_encoded":false,"points":{"type":"LineString","coordinates":[%s]},"instructions":[%s],"legs":[],"details":{},"ascend":0.0,"descend":0.0,"snapped_waypoints":{"type":"LineString","coordinates":[%s]}}`,
		r.Distance, r.Weight, r.Duration, strings.Join(points, ","), strings.Join(instructions, ","), snapped)
}
