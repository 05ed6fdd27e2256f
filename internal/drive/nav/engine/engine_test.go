package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/engine"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/safehttp"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/roads/roadtest"
)

// town is a drawn map with a closed bridge, as this service knows it, and as an engine without conditions does.
type town struct {
	t     *testing.T
	drawn *roadtest.Network
	graph *graph.Graph
	known *nav.Network // with conditions
	blind *nav.Service // without conditions
	conditions
	calls atomic.Int32
}

// conditions are closed arcs.
type conditions struct {
	version uint64
	closed  map[uint32]nav.Condition
}

func (c *conditions) Version() uint64 { return c.version }

func (c *conditions) None() bool { return len(c.closed) == 0 }

func (c *conditions) On(arc uint32) (nav.Condition, bool) { one, ok := c.closed[arc]; return one, ok }

func (c *conditions) Events(arc uint32, each func(nav.Event)) {
	if _, ok := c.closed[arc]; ok {
		each(nav.Event{EntityID: "works", Closed: true, Factor: 1, Created: time.Date(2026, 5, 1, 12, 30, 0, 0, time.UTC)})
	}
}

func (c *conditions) Arcs() iter.Seq[uint32] { return maps.Keys(c.closed) }

// newTown returns a town with a short way over one bridge, a longer one over another, and a third one farther away. No
// detour is an alternative of the first way, because each is more than a quarter longer.
func newTown(t *testing.T) *town {
	t.Helper()
	w := &town{t: t, drawn: roadtest.Map(t, 100, `
		a-1---b----c---2-d
		      |    |
		      |    |
		      e----f
		      |    |
		      |    |
		      |    |
		      g----h
	`,
		roadtest.Ways("ab cd be fc", "highway=residential, name=Road"),
		roadtest.Way("bc", "highway=residential, name=Short Bridge"),
		roadtest.Way("ef", "highway=residential, name=Long Bridge"),
		roadtest.Ways("eg gh hf", "highway=residential, name=Far Bridge"),
	)}
	w.graph = w.drawn.Graph(t)
	roads := nav.NewRoads(w.graph, match.NewIndex(w.graph), "drawn")
	blind := &nav.Network{Roads: roads, Search: nav.NewPlain(w.graph, nil, nil)}
	w.blind = nav.New(func() *nav.Network { return blind })
	w.closed = make(map[uint32]nav.Condition)
	w.known = &nav.Network{Roads: roads, Search: blind.Search, Conditions: &w.conditions}
	return w
}

// close closes the roads between pairs of nodes.
func (w *town) close(pairs ...string) {
	for i := range w.graph.Arcs {
		a := &w.graph.Arcs[i]
		from, to := string(rune(w.graph.Nodes[a.From].OSM)), string(rune(w.graph.Nodes[a.To].OSM))
		if slices.Contains(pairs, from+to) || slices.Contains(pairs, to+from) {
			w.closed[uint32(i)] = nav.Condition{Weight: a.Weight, Duration: a.Duration, Closed: true}
		}
	}
	w.version++
	weights := w.graph.Weights()
	for arc := range w.closed {
		weights[arc] = graph.Closed
	}
	w.known.Search = nav.NewPlain(w.graph, weights, nil)
}

// serve runs the server of an engine, and returns the engine that calls it.
func (w *town) serve(name string, handle http.HandlerFunc) *engine.Remote {
	w.t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.calls.Add(1)
		handle(rw, r)
	}))
	w.t.Cleanup(s.Close)
	return w.engineAt(name, s.URL, slog.New(slog.DiscardHandler))
}

func (w *town) engineAt(name, address string, log *slog.Logger) *engine.Remote {
	w.t.Helper()
	target, err := safehttp.OperatorURL(address)
	if err != nil {
		w.t.Fatal(err)
	}
	web, err := safehttp.New(safehttp.Options{UserAgent: "test", Timeout: engine.CallTimeout, MaxBody: engine.MaxBody, PerHost: engine.MaxCalls})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(web.Close)
	e, err := engine.New(engine.Options{
		Name: name, URL: target, Web: web, Now: time.Now, Log: log, Count: func(string) {},
		Network: func() *nav.Network { return w.known },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// osrmServer answers like OSRM, with the code that writes OSRM's API for this service's own routes.
func (w *town) osrmServer(rw http.ResponseWriter, r *http.Request) {
	parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 4)
	options, err := url.QueryUnescape(r.URL.RawQuery)
	if err != nil || len(parts) != 4 || parts[1] != "v1" || parts[2] != "driving" {
		w.t.Errorf("OSRM is asked %s", r.URL)
		return
	}
	service := osrm.Service(slices.Index([]string{"route", "nearest", "table", "match"}, parts[0]))
	q, err := osrm.ParseURL(service, parts[3]+"?"+options, 0)
	e := engine.NewEmbedded(w.blind)
	var body []byte
	if err == nil {
		switch service {
		case osrm.Route:
			body, err = e.Route(r.Context(), q, nav.Avoid{}, nil)
		case osrm.Nearest:
			body, err = e.Nearest(r.Context(), q, nil)
		case osrm.Table:
			body, err = e.Table(r.Context(), q, nil)
		case osrm.Match:
			body, err = e.Match(r.Context(), q, nil)
		}
	}
	w.write(rw, body, err)
}

func (w *town) write(rw http.ResponseWriter, body []byte, err error) {
	if refused := new(nav.Error); errors.As(err, &refused) {
		rw.WriteHeader(http.StatusBadRequest)
		body = osrm.AppendError(nil, refused)
	} else if err != nil {
		w.t.Error(err)
	}
	_, _ = rw.Write(body)
}

// answered is the part of an answer that tests read.
type answered struct {
	Code   string
	Routes []struct {
		Geometry struct {
			Type        string
			Coordinates [][2]float64
		}
		Distance, Duration float64
		Legs               []struct {
			Summary string
			Steps   []struct {
				Name     string
				Distance float64
				Maneuver struct {
					Type, Modifier string
					Exit           int
				}
				BannerInstructions []struct{ Primary struct{ Text string } }
			}
		}
		Wayside struct {
			Engine              string
			Conditions, Avoided []string
			Warnings            []string
			DurationMS          uint64 `json:"duration_ms"`
		}
	}
	Waypoints   []struct{ Location [2]float64 }
	DataVersion string `json:"data_version"`
}

// request returns a request over letters of the drawing.
func (w *town) request(names, options string) *osrm.Request {
	w.t.Helper()
	var at []string
	for _, name := range strings.Split(names, "") {
		p := w.drawn.Place(w.t, name)
		at = append(at, fmt.Sprintf("%f,%f", p.Lng, p.Lat))
	}
	q, err := osrm.ParseURL(osrm.Route, strings.Join(at, ";")+"?geometries=geojson&overview=full"+options, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return q
}

// route requests routes from an engine.
func (w *town) route(e *engine.Remote, names, options string) answered {
	w.t.Helper()
	body, err := e.Route(w.t.Context(), w.request(names, options), nav.Avoid{}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	var a answered
	if err := json.Unmarshal(body, &a); err != nil || len(a.Routes) == 0 {
		w.t.Fatalf("%v in %s", err, body)
	}
	return a
}

// passes reports whether the best route passes a letter.
func (w *town) passes(a *answered, name string) bool {
	at := w.drawn.Place(w.t, name)
	return slices.ContainsFunc(a.Routes[0].Geometry.Coordinates, func(p [2]float64) bool {
		return abs(p[0]-at.Lng) < 2e-6 && abs(p[1]-at.Lat) < 2e-6
	})
}

func abs(v float64) float64 { return max(v, -v) }

const drivesClosed = "The route drives a road that is closed: Short Bridge, since 2026-05-01 12:30 UTC."

// TestEnginesGoRoundClosures checks that each engine avoids a closed road in its own way, with no more calls than it has
// ways.
func TestEnginesGoRoundClosures(t *testing.T) {
	for name, server := range map[string]func(w *town) http.HandlerFunc{
		"osrm":        func(w *town) http.HandlerFunc { return w.osrmServer },
		"valhalla":    func(w *town) http.HandlerFunc { return w.valhallaServer },
		"graphhopper": func(w *town) http.HandlerFunc { return w.graphhopperServer },
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			e := w.serve(name, server(w))
			free := w.route(e, "12", "&steps=true")
			if r := &free.Routes[0]; w.passes(&free, "e") || w.calls.Load() != 1 || len(r.Wayside.Warnings) > 0 || r.Wayside.Engine != name || r.Legs[0].Summary == "" {
				t.Errorf("without conditions, by %d calls: %+v", w.calls.Load(), r)
			}
			if len(free.Waypoints) != 2 || free.DataVersion != "drawn" {
				t.Errorf("waypoints %v, of %q", free.Waypoints, free.DataVersion)
			}
			w.close("bc")
			w.calls.Store(0)
			around := w.route(e, "12", "&steps=true")
			r := &around.Routes[0]
			if !w.passes(&around, "e") || len(r.Wayside.Warnings) > 0 || w.calls.Load() > 3 {
				t.Errorf("around, by %d calls: %+v", w.calls.Load(), r)
			}
			if !slices.Equal(r.Wayside.Avoided, []string{"works"}) || len(r.Wayside.Conditions) > 0 {
				t.Errorf("avoided %v, on the way %v", r.Wayside.Avoided, r.Wayside.Conditions)
			}
			if steps := r.Legs[0].Steps; steps[0].Maneuver.Type != "depart" || steps[len(steps)-1].Maneuver.Type != "arrive" || len(r.Legs) != 1 {
				t.Errorf("steps %+v", steps)
			}

			w.close("ef", "gh") // no way is left
			closed := w.route(e, "12", "")
			if r := &closed.Routes[0]; w.passes(&closed, "e") || !slices.Equal(r.Wayside.Warnings, []string{drivesClosed}) || !slices.Equal(r.Wayside.Conditions, []string{"works"}) {
				t.Errorf("with all bridges closed: %+v", r)
			}
		})
	}
}

// TestEnginesKeepLegs checks that a route over several waypoints avoids closures on its legs, and has the requested
// legs.
func TestEnginesKeepLegs(t *testing.T) {
	w := newTown(t)
	w.close("bc")
	e := w.serve("osrm", w.osrmServer)
	a := w.route(e, "12d", "&steps=false")
	if r := &a.Routes[0]; len(r.Legs) != 2 || !w.passes(&a, "e") || len(r.Wayside.Warnings) > 0 || len(a.Waypoints) != 3 || len(r.Legs[0].Steps) > 0 {
		t.Errorf("%d waypoints, %+v", len(a.Waypoints), r)
	}
}

// TestEngineWithoutRegion checks that a route without a region has a warning that closures were not checked.
func TestEngineWithoutRegion(t *testing.T) {
	w := newTown(t)
	e := w.serve("osrm", w.osrmServer)
	w.known = nil
	a := w.route(e, "12", "")
	if got := a.Routes[0].Wayside.Warnings; len(got) != 1 || !strings.Contains(got[0], "not checked") {
		t.Errorf("warnings %q", got)
	}
}

// TestOtherServices checks that the other services answer in OSRM's form if the engine has them, and with NotImplemented
// otherwise.
func TestOtherServices(t *testing.T) {
	w := newTown(t)
	places := strings.Split(strings.TrimSuffix(coordinates(w, "12"), ";"), "?")[0]
	ask := func(e *engine.Remote, service osrm.Service, text string) (string, error) {
		q, err := osrm.ParseURL(service, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		call := map[osrm.Service]func(context.Context, *osrm.Request, []byte) ([]byte, error){osrm.Nearest: e.Nearest, osrm.Table: e.Table, osrm.Match: e.Match}[service]
		body, err := call(t.Context(), q, nil)
		return string(body), err
	}
	one := strings.Split(places, ";")[0]
	o, v, g := w.serve("osrm", w.osrmServer), w.serve("valhalla", w.valhallaServer), w.serve("graphhopper", w.graphhopperServer)
	for _, tt := range []struct {
		e       *engine.Remote
		service osrm.Service
		text    string
		want    string // part of the answer; empty: NotImplemented
	}{
		{o, osrm.Nearest, one + "?number=2", `"waypoints":[{"location":[`},
		{o, osrm.Table, places + "?annotations=duration,distance", `"durations":[[0,`},
		{o, osrm.Match, places + "?geometries=geojson&overview=full", `"matchings":[{"geometry":{"coordinates":[[`},
		{v, osrm.Table, places + "?annotations=duration,distance", `"durations":[[0,70],[70,0]],"distances":[[0,1400],[1400,0]]`},
		{v, osrm.Nearest, one, ""},
		{v, osrm.Match, places, ""},
		{g, osrm.Table, places, ""},
	} {
		body, err := ask(tt.e, tt.service, tt.text)
		refused := new(nav.Error)
		switch {
		case tt.want != "" && (err != nil || !strings.Contains(body, tt.want) || !json.Valid([]byte(body))):
			t.Errorf("%s %v: %v in %s, want %s", tt.e.State().Name, tt.service, err, body, tt.want)
		case tt.want == "" && (!errors.As(err, &refused) || refused.Code != nav.NotImplemented || !strings.Contains(refused.Message, tt.e.State().Name)):
			t.Errorf("%s %v: %s, %v", tt.e.State().Name, tt.service, body, err)
		}
	}
}

func coordinates(w *town, names string) string {
	var at []string
	for _, name := range strings.Split(names, "") {
		p := w.drawn.Place(w.t, name)
		at = append(at, fmt.Sprintf("%f,%f", p.Lng, p.Lat))
	}
	return strings.Join(at, ";")
}

// TestEngineFails checks that an engine's refusals keep their codes, that unreadable and missing answers are NoEngine,
// and that each change is logged once.
func TestEngineFails(t *testing.T) {
	w := newTown(t)
	for _, tt := range []struct {
		status int
		body   string
		code   string
	}{
		{400, `{"code":"NoRoute","message":"Impossible route between points"}`, nav.NoRoute},
		{400, `{"code":"NoSegment","message":"x"}`, nav.NoSegment},
		{400, `{"code":"<script>","message":"x"}`, nav.NoEngine},
		{200, `{"code":"Ok","routes":[]}`, nav.NoEngine},
		{200, `<html>a page</html>`, nav.NoEngine},
		{200, `{"code":"Ok","routes":[{"geometry":"????","legs":[{},{}]}]}`, nav.NoEngine},
		{200, `{"code":"Ok","routes":[{"geometry":"_p~iF~ps|U_ulLnnqC","legs":[{"distance":"far"}]}]}`, nav.NoEngine},
		{200, `{"code":"Ok","routes":[{"geometry":{"type":"LineString","coordinates":[[1,91],[2,2]]},"legs":[{}]}]}`, nav.NoEngine},
		{500, `{"code":"Ok"}`, nav.NoEngine},
		{302, ``, nav.NoEngine},
	} {
		e := w.serve("osrm", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Location", "http://127.0.0.1:1/")
			rw.WriteHeader(tt.status)
			_, _ = io.WriteString(rw, tt.body)
		})
		_, err := e.Route(t.Context(), w.request("12", ""), nav.Avoid{}, nil)
		refused := new(nav.Error)
		if !errors.As(err, &refused) || refused.Code != tt.code || e.State().Down() != (tt.code == nav.NoEngine) {
			t.Errorf("%d %.60s: %v, down %t", tt.status, tt.body, err, e.State().Down())
		}
	}
}

// TestAnswersAreCutOff checks that an answer of more than 8 MiB is none.
func TestAnswersAreCutOff(t *testing.T) {
	w := newTown(t)
	for mebibytes, want := range map[int]bool{7: true, 9: false} {
		e := w.serve("osrm", func(rw http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(rw, strings.Repeat(" ", mebibytes<<20))
			w.osrmServer(rw, r)
		})
		if _, err := e.Route(t.Context(), w.request("12", ""), nav.Avoid{}, nil); (err == nil) != want {
			t.Errorf("%d MiB: %v", mebibytes, err)
		}
	}
}

// TestEngineRests checks that an engine that does not answer is called at most once a second, and that only the change
// is logged.
func TestEngineRests(t *testing.T) {
	w := newTown(t)
	var log strings.Builder
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	e := w.engineAt("osrm", s.URL, slog.New(slog.NewTextHandler(&log, nil)))
	for range 50 {
		_, err := e.Route(t.Context(), w.request("12", ""), nav.Avoid{}, nil)
		if refused := new(nav.Error); !errors.As(err, &refused) || refused.Code != nav.NoEngine {
			t.Fatal(err)
		}
	}
	if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), "outcome=connection_error") || strings.Contains(log.String(), "driving") {
		t.Errorf("the log: %s", log.String())
	}
}
