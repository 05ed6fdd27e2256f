package navigation_test

import (
	"encoding/json"
	"iter"
	"net/http"
	"testing"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/engine"
	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
	"wayside/internal/roads/match"
)

// everywhere is conditions on each road with a name.
type everywhere struct {
	roads  *nav.Roads
	events map[string]nav.Event
}

func (e *everywhere) on(arc uint32) (nav.Event, bool) {
	found, ok := e.events[e.roads.NameOf(e.roads.Graph.Arcs[arc].Piece)]
	return found, ok
}

func (*everywhere) Version() uint64 { return 7 }

func (*everywhere) None() bool { return false }

func (e *everywhere) On(arc uint32) (nav.Condition, bool) {
	event, ok := e.on(arc)
	a := &e.roads.Graph.Arcs[arc]
	return nav.Condition{Weight: a.Weight, Duration: a.Duration, Closed: event.Closed}, ok
}

func (e *everywhere) Events(arc uint32, each func(nav.Event)) {
	if event, ok := e.on(arc); ok {
		each(event)
	}
}

func (e *everywhere) Arcs() iter.Seq[uint32] {
	return func(yield func(arc uint32) bool) {
		for arc := range e.roads.Graph.Arcs {
			if _, ok := e.on(uint32(arc)); ok && !yield(uint32(arc)) {
				return
			}
		}
	}
}

// TestNavigationIncidents checks the shape of incidents (D15.18).
func TestNavigationIncidents(t *testing.T) {
	seen := time.Date(2026, 5, 1, 12, 30, 0, 0, time.UTC)
	g := httpapitest.DrawnTown(t).Graph(t)
	roads := nav.NewRoads(g, match.NewIndex(g), "drawn")
	n := &nav.Network{Roads: roads, Search: nav.NewPlain(g, nil, nil), Conditions: &everywhere{roads, map[string]nav.Event{
		"Main Street": {
			EntityID: "feed:x:\"1\"", KindID: "alert.road_closed", Type: nav.RoadClosure, Description: "A \"fair\"", Created: seen,
			Starts: seen.Add(time.Hour), Ends: seen.Add(2 * time.Hour), Closed: true, Factor: 1,
		},
		"Ring": {EntityID: "feed:x:2", KindID: "traffic.jam", Type: nav.Congestion, Description: "Traffic jam", Created: seen, Factor: 0.5},
	}}}
	s := httpapitest.NewNavigationService(t, func(d *public.Deps) {
		d.Engine = engine.NewEmbedded(nav.New(func() *nav.Network { return n }))
	})
	resp, got := s.Get("/v2/navigation/route/v1/driving/" + httpapitest.PathOf(t, "1h") + "?overview=by_legs&geometries=geojson")
	httpapitest.CheckAgainstSchema(t, http.MethodGet, "/v2/navigation/route/v1/{profile}/{coordinates}", resp.StatusCode, got)
	var answer struct {
		Routes []struct {
			Legs []struct{ Incidents json.RawMessage }
		}
	}
	if err := json.Unmarshal(got, &answer); err != nil || len(answer.Routes) == 0 {
		t.Fatalf("%v: %s", err, got)
	}
	const want = `[{"id":"feed:x:\"1\"","type":"road_closure","kind_id":"alert.road_closed","description":"A \"fair\"",` +
		`"creation_time":"2026-05-01T12:30:00.000Z","start_time":"2026-05-01T13:30:00.000Z","end_time":"2026-05-01T14:30:00.000Z","impact":"critical","closed":true,` +
		`"length":1200,"affected_road_names":["Main Street"],"geometry_index_start":0,"geometry_index_end":3},` +
		`{"id":"feed:x:2","type":"congestion","kind_id":"traffic.jam","description":"Traffic jam","creation_time":"2026-05-01T12:30:00.000Z","impact":"minor","closed":false,` +
		`"length":200,"affected_road_names":["Ring"],"geometry_index_start":3,"geometry_index_end":4}]`
	if incidents := string(answer.Routes[0].Legs[0].Incidents); incidents != want {
		t.Errorf("got  %s\nwant %s", incidents, want)
	}
}
