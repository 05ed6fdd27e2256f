package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// graphhopperDialect is the API of GraphHopper, which only has routes. Its answers are converted to OSRM's form.
type graphhopperDialect struct{}

// attempts returns the ways in which GraphHopper avoids closures: areas of a custom model, twice because the way around
// one closure may meet another; and blocked areas for versions without custom models.
func (graphhopperDialect) attempts() []attempt {
	return []attempt{{exclusion: byModel}, {exclusion: byModel}, {exclusion: byBlockAreas}}
}

func (graphhopperDialect) lacks(q *question) string {
	p := &q.Places
	given := 0
	for _, b := range p.Bearings {
		if b.Given {
			given++
		}
	}
	for _, radius := range p.Radiuses {
		if radius != nav.Unlimited {
			return "radiuses"
		}
	}
	for _, approach := range p.Approaches {
		if approach != nav.Unrestricted {
			return "approaches"
		}
	}
	switch {
	case given > 0 && given < len(p.Coordinates) && (given > 1 || !p.Bearings[0].Given):
		return "bearings of some places: it takes that of the first, or all"
	case len(q.Waypoints) > 0 && len(q.Waypoints) < len(p.Coordinates):
		return "coordinates that are no waypoints"
	case q.Annotations != 0:
		return "annotations"
	}
	return ""
}

func (graphhopperDialect) guides() bool { return false }

func (graphhopperDialect) other(context.Context, *caller, *osrm.Request) (*answer, error) {
	return nil, notOffered("service for this")
}

func (graphhopperDialect) probe(ctx context.Context, c *caller) (string, error) {
	return c.version(ctx, "info")
}

// graphhopperRequest is a request for a route.
type graphhopperRequest struct {
	Points       [][2]float64 `json:"points"`
	Profile      string       `json:"profile"`
	Locale       string       `json:"locale,omitempty"`
	Encoded      bool         `json:"points_encoded"`
	Instructions bool         `json:"instructions"`
	Elevation    bool         `json:"elevation"`
	Headings     []int        `json:"headings,omitempty"`
	PassThrough  bool         `json:"pass_through,omitempty"`
	Algorithm    string       `json:"algorithm,omitempty"`
	MaxPaths     int          `json:"alternative_route.max_paths,omitempty"`
	WithoutCH    bool         `json:"ch.disable,omitempty"`
	BlockArea    string       `json:"block_area,omitempty"`
	Model        *customModel `json:"custom_model,omitempty"`
}

// customModel is the part of the network that is left out: classes of roads, and areas.
type customModel struct {
	Priority []rule `json:"priority"`
	Areas    *areas `json:"areas,omitempty"`
}

type rule struct {
	If         string `json:"if"`
	MultiplyBy string `json:"multiply_by"`
}

type areas struct {
	Type     string `json:"type"`
	Features []area `json:"features"`
}

type area struct {
	Type       string   `json:"type"`
	ID         string   `json:"id"`
	Properties struct{} `json:"properties"`
	Geometry   polygon  `json:"geometry"`
}

type polygon struct {
	Type        string         `json:"type"`
	Coordinates [][][2]float64 `json:"coordinates"`
}

// exclude leaves out the roads that meet a condition.
func (m *customModel) exclude(condition string) {
	m.Priority = append(m.Priority, rule{condition, "0"})
}

// excludeArea leaves out the roads that meet a polygon.
func (m *customModel) excludeArea(ring []geo.Point) {
	if m.Areas == nil {
		m.Areas = &areas{Type: "FeatureCollection"}
	}
	id := "closed" + strconv.Itoa(len(m.Areas.Features))
	pairs := pairsOf(ring)
	if last := len(pairs) - 1; pairs[0] != pairs[last] {
		pairs = append(pairs, pairs[0])
	}
	m.Areas.Features = append(m.Areas.Features, area{Type: "Feature", ID: id, Geometry: polygon{"Polygon", [][][2]float64{pairs}}})
	m.exclude("in_" + id)
}

func (graphhopperDialect) route(ctx context.Context, c *caller, q *question) (*answer, error) {
	r := &graphhopperRequest{Points: pairsOf(q.Places.Coordinates), Profile: "car", Locale: q.Language, Instructions: true, PassThrough: q.Straight != nav.TurnsAllowed && len(q.Places.Coordinates) > 2}
	for _, b := range q.Places.Bearings {
		if b.Given {
			r.Headings = append(r.Headings, int(b.Value+0.5)%360)
		}
	}
	if q.alternatives > 0 && len(q.Places.Coordinates) == 2 {
		r.Algorithm, r.MaxPaths = "alternative_route", q.alternatives+1
	}
	r.leaveOut(q)
	r.WithoutCH = len(r.Headings) > 0 || r.PassThrough || r.Algorithm != "" || r.Model != nil || r.BlockArea != ""
	request, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("write a request to GraphHopper: %w", err)
	}
	status, body, err := c.post(ctx, "route", request)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, refusedByGraphhopper(body)
	}
	return routesOfGraphhopper(body, q)
}

// leaveOut adds the roads that the request leaves out, and the closed ones.
func (r *graphhopperRequest) leaveOut(q *question) {
	m := new(customModel)
	for _, class := range [...]struct {
		flag graph.Flags
		name string
	}{{graph.Toll, "toll == ALL"}, {graph.Motorway, "road_class == MOTORWAY"}, {graph.Ferry, "road_environment == FERRY"}} {
		if q.Places.Exclude&class.flag != 0 {
			m.exclude(class.name)
		}
	}
	for _, at := range q.Avoid.Places {
		m.excludeArea(squareAround(at))
	}
	for _, ring := range q.Avoid.Rings {
		m.excludeArea(ring)
	}
	var blocked []string
	for _, closed := range q.around {
		switch q.exclusion {
		case byModel:
			m.excludeArea(squareAround(closed.At))
		case byBlockAreas:
			blocked = append(blocked, decimal(closed.At.Lat)+","+decimal(closed.At.Lng)+","+decimal(squareMetres))
		case notExcluded, byPoints, byPolygons:
		}
	}
	if r.BlockArea = strings.Join(blocked, ";"); len(m.Priority) > 0 {
		r.Model = m
	}
}

// refusedByGraphhopper returns the error for an answer that is not 200.
func refusedByGraphhopper(body []byte) error {
	var wrong struct {
		Message text `json:"message"`
		Hints   []struct {
			Details text `json:"details"`
		} `json:"hints"`
	}
	if json.Unmarshal(body, &wrong) != nil || wrong.Message == "" {
		return errUnreadable
	}
	code := nav.InvalidOptions
	for _, hint := range wrong.Hints {
		switch {
		case strings.Contains(string(hint.Details), "ConnectionNotFound"):
			code = nav.NoRoute
		case strings.Contains(string(hint.Details), "PointNotFound"), strings.Contains(string(hint.Details), "PointOutOfBounds"):
			code = nav.NoSegment
		}
	}
	return &nav.Error{Code: code, Message: string(wrong.Message)}
}
