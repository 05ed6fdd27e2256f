package httpapi_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"wayside/internal/catalog"
	"wayside/internal/geo"
	"wayside/internal/httpapi"
	"wayside/internal/index"
	"wayside/internal/mapdata"
	"wayside/internal/nearby"
	"wayside/internal/ratelimit"
	"wayside/internal/wire"
)

// nowhere is a ResponseWriter that discards the response.
type nowhere struct {
	header http.Header
	bytes  int
}

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) WriteHeader(int)             {}
func (n *nowhere) Write(p []byte) (int, error) { n.bytes += len(p); return len(p), nil }

// BenchmarkNearby measures a complete read without the network, among a million entities in clusters.
func BenchmarkNearby(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	ix, catalogue := index.New(wire.EncodeEntity), catalog.New(nil)
	feeds := make([]*mapdata.Feed, 20)
	for i := range feeds {
		feeds[i] = testFeed(byte(i), nil)
		catalogue.Apply([]mapdata.FeedChange{{Feed: feeds[i], FeedID: feeds[i].ID}}).Publish()
	}
	towns := make([]geo.Point, 300)
	for i := range towns {
		towns[i] = geo.Point{Lat: 44 + rng.Float64()*10, Lng: -1 + rng.Float64()*16}
	}
	loader := ix.Load(feeds, 1)
	var places []geo.Point
	for i := range 1_000_000 {
		at := geo.Point{Lat: 44 + rng.Float64()*10, Lng: -1 + rng.Float64()*16}
		if i%5 != 0 {
			t := towns[rng.IntN(len(towns))]
			at = geo.Point{Lat: t.Lat + rng.NormFloat64()*0.067, Lng: t.Lng + rng.NormFloat64()*0.1}
		}
		if i%5000 == 1 {
			places = append(places, at)
		}
		loader.Part(0).Add(&mapdata.Entity{
			Feed: feeds[i/50_000].ID, ExternalID: fmt.Sprintf("bench%02d:%07d", i/50_000, i%50_000), Kind: mapdata.Kind(i % 12), Point: at,
			Properties:  fmt.Appendf(nil, `{"street":"Street %d","city":"Town %d","maxspeed_kmh":%d,"version":0}`, i%977, i%300, 30+i%10*10),
			FirstSeenAt: start, SeenAt: start.Add(time.Duration(i) * time.Millisecond), ChangedAt: start, Lifetime: 24 * time.Hour,
		})
	}
	loader.Finish(nil)
	now := func() time.Time { return start }
	handler := httpapi.New(httpapi.Deps{
		BaseURL: "http://wayside.test", Now: now, Log: slog.New(slog.DiscardHandler), Ready: func() error { return nil },
		Nearby: nearby.New(nearby.Config{Index: ix, Catalog: catalogue, Primary: "tesla", Now: now}), Sources: catalogue,
		Limits: httpapi.Limits{GuestReads: 1_000_000_000}, Buckets: ratelimit.NewMemory(10),
	})
	for _, wanted := range []int{20, 100} {
		var requests []*http.Request
		for _, p := range places {
			for radius := 100.0; radius < 20_000; radius *= 1.15 {
				hits, _ := ix.Search(&mapdata.Search{Center: p, Radius: radius, Kinds: mapdata.AllKinds, Served: true, Now: start, Limit: 1000}, nil)
				if len(hits) >= wanted {
					requests = append(requests, httptest.NewRequest(http.MethodGet, fmt.Sprintf("/v2/entities/nearby?lat=%.5f&lng=%.5f&radius=%.0f", p.Lat, p.Lng, radius), nil))
					break
				}
			}
		}
		b.Run(fmt.Sprintf("entities=%d", wanted), func(b *testing.B) {
			w := &nowhere{header: http.Header{}}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				clear(w.header)
				handler.ServeHTTP(w, requests[i%len(requests)])
				i++
			}
			b.SetBytes(int64(w.bytes / i))
		})
	}
}
