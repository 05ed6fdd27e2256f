package osrm_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/roads/roadtest"
)

// fixed is a search that always returns one path, so that a benchmark measures everything except the search.
type fixed struct{ path graph.Path }

func (f *fixed) Route(context.Context, *nav.Query) (graph.Path, bool, error) {
	return f.path, true, nil
}

func (f *fixed) Alternatives(context.Context, *nav.Query, int) ([]graph.Path, error) {
	return []graph.Path{f.path}, nil
}

func (f *fixed) Table(context.Context, *nav.TableQuery) error { return nil }

// BenchmarkAnswer reads a request over Milan, assembles its route and appends the answer with its full line, but does
// not search: without steps, with steps, and with banners and announcements.
func BenchmarkAnswer(b *testing.B) {
	g, counts := roadtest.Build(b, graph.BuildOptions{}, roadtest.Open(b, roadtest.Extract(b, "milan-otp.osm.pbf")))
	roads, plain := nav.NewRoads(g, match.NewIndex(g), "milan"), nav.NewPlain(g, nil, nil)
	random := rand.New(rand.NewPCG(1, 1))
	recorder := &recorded{Plain: plain}
	var requests []nav.Places
	var paths []graph.Path
	for len(paths) < 50 {
		within := func(low, high float64) float64 { return low + random.Float64()*(high-low) }
		p := nav.Places{}
		for range 2 {
			p.Coordinates = append(p.Coordinates, geo.Point{Lat: within(counts.Bounds.South, counts.Bounds.North), Lng: within(counts.Bounds.West, counts.Bounds.East)})
		}
		n := &nav.Network{Roads: roads, Search: recorder}
		recorder.calls = 0 // if it is called again, places were moved
		var a nav.RouteAnswer
		if err := nav.New(func() *nav.Network { return n }).Route(b.Context(), &nav.RouteRequest{Places: p}, &a); err == nil && len(recorder.path.Arcs) > 1 && recorder.calls == 1 {
			requests, paths = append(requests, p), append(paths, recorder.path)
		}
	}
	for _, how := range []struct {
		name    string
		request osrm.Request
	}{
		{"line", osrm.Request{Service: osrm.Route, Hints: true, Overview: osrm.Full}},
		{"steps", osrm.Request{Service: osrm.Route, Hints: true, Overview: osrm.Full, Steps: true}},
		{"guidance", osrm.Request{Service: osrm.Route, Hints: true, Overview: osrm.Full, Steps: true, Banners: true, Voice: true, Language: "it"}},
	} {
		b.Run(how.name, func(b *testing.B) { measureAnswers(b, roads, requests, paths, how.request) })
	}
}

func measureAnswers(b *testing.B, roads *nav.Roads, requests []nav.Places, paths []graph.Path, q osrm.Request) {
	b.Helper()
	b.ReportAllocs()
	search := &fixed{}
	n := &nav.Network{Roads: roads, Search: search}
	service := nav.New(func() *nav.Network { return n })
	var a nav.RouteAnswer
	var body []byte
	took := make([]time.Duration, 0, b.N)
	bytes := 0
	for i := 0; b.Loop(); i++ {
		search.path = paths[i%len(paths)]
		q.Places = requests[i%len(requests)]
		began := time.Now()
		if err := service.Route(b.Context(), q.RouteRequest(), &a); err != nil {
			b.Fatal(err)
		}
		body = q.AppendRoute(body[:0], &a)
		took = append(took, time.Since(began))
		bytes += len(body)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(bytes)/float64(len(took)), "bytes/answer")
}

// recorded remembers the last path found.
type recorded struct {
	*nav.Plain
	path  graph.Path
	calls int
}

func (r *recorded) Route(ctx context.Context, q *nav.Query) (path graph.Path, found bool, err error) {
	r.calls++
	r.path, found, err = r.Plain.Route(ctx, q)
	return r.path, found, err
}
