package httpapi_test

import (
	"bufio"
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"wayside/internal/entities/catalog"
	"wayside/internal/entities/index"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/ground/telemetry"
	"wayside/internal/http/httpapi"
	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
	"wayside/internal/http/httpserver"
)

// nowhere is a ResponseWriter that discards the response.
type nowhere struct {
	header http.Header
	bytes  int
}

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) WriteHeader(int)             {}
func (n *nowhere) Write(p []byte) (int, error) { n.bytes += len(p); return len(p), nil }

// speedEntities is the number of entities among which the benchmarks read.
const speedEntities = 100_000

// speedFixture returns a handler with many entities in towns, and the requests that find about the given number of them.
func speedFixture(b *testing.B) (handler http.Handler, paths func(wanted int) []string) {
	rng := rand.New(rand.NewPCG(1, 2))
	ix, catalogue := index.New(wire.EncodeEntity), catalog.New(nil)
	feeds := make([]*mapdata.Feed, 2)
	for i := range feeds {
		feeds[i] = httpapitest.Feed(byte(i), nil)
		catalogue.Apply([]mapdata.FeedChange{{Feed: feeds[i], FeedID: feeds[i].ID}}).Publish()
	}
	towns := make([]geo.Point, 300)
	for i := range towns {
		towns[i] = geo.Point{Lat: 44 + rng.Float64()*10, Lng: -1 + rng.Float64()*16}
	}
	var places []geo.Point
	var batch []mapdata.FeedChange // in a provider's order: neighbours on the map are not neighbours in memory
	for i := range speedEntities {
		at := geo.Point{Lat: 44 + rng.Float64()*10, Lng: -1 + rng.Float64()*16}
		if i%5 != 0 {
			t := towns[rng.IntN(len(towns))]
			at = geo.Point{Lat: t.Lat + rng.NormFloat64()*0.067, Lng: t.Lng + rng.NormFloat64()*0.1}
		}
		if i%(speedEntities/250) == 1 {
			places = append(places, at)
		}
		feed := feeds[i*len(feeds)/speedEntities]
		batch = append(batch, mapdata.FeedChange{Feed: feed, FeedID: feed.ID, Entities: []mapdata.Entity{{
			Feed: feed.ID, ExternalID: fmt.Sprintf("bench%02d:%07d", i/50_000, i%50_000), Kind: mapdata.Kind(i % 12), Point: at,
			Properties:  fmt.Appendf(nil, `{"street":"Street %d","city":"Town %d","maxspeed_kmh":%d,"version":0}`, i%977, i%300, 30+i%10*10),
			FirstSeenAt: httpapitest.Start, SeenAt: httpapitest.Start.Add(time.Duration(i) * time.Millisecond), ChangedAt: httpapitest.Start, Lifetime: 24 * time.Hour,
		}}})
		if len(batch) == 5000 {
			ix.Apply(batch)
			batch = batch[:0]
		}
	}
	metrics := telemetry.NewMetrics("test")
	clock := func() time.Time { return httpapitest.Start.Add(time.Since(benchmarkBegan)) }
	handler = public.New(public.Deps{
		BaseURL: "http://wayside.test", Now: clock, Log: slog.New(slog.DiscardHandler), Ready: func() error { return nil },
		Nearby: nearby.New(nearby.Config{Index: ix, Catalog: catalogue, Primary: "tesla", Now: clock}), Sources: catalogue,
		Limits: httpapi.Limits{GuestReads: 1_000_000_000}, Buckets: ratelimit.NewMemory(ratelimit.DefaultBuckets), Observe: metrics.Request,
		Loaded: func() bool { return true },
	})
	return handler, func(wanted int) []string {
		var found []string
		for _, p := range places {
			for radius := 100.0; radius < 20_000; radius *= 1.15 {
				hits, _ := ix.Search(&mapdata.Search{Center: p, Radius: radius, Kinds: mapdata.AllKinds, Served: true, Now: httpapitest.Start, Limit: 1000}, nil)
				if len(hits) >= wanted {
					found = append(found, fmt.Sprintf("/v2/entities/nearby?lat=%.5f&lng=%.5f&radius=%.0f", p.Lat, p.Lng, radius))
					break
				}
			}
		}
		return found
	}
}

// benchmarkBegan is the moment at which the benchmarks' clock shows start.
var benchmarkBegan = time.Now()

// BenchmarkNearby measures a whole read without the network. best-ns/request is the mean of each request's shortest time, which
// other programs on the machine disturb least.
func BenchmarkNearby(b *testing.B) {
	handler, paths := speedFixture(b)
	for _, wanted := range []int{20, 100} {
		var requests []*http.Request
		for _, path := range paths(wanted) {
			requests = append(requests, httptest.NewRequest(http.MethodGet, path, nil))
		}
		b.Run(fmt.Sprintf("entities=%d", wanted), func(b *testing.B) {
			w := &nowhere{header: http.Header{}}
			b.ReportAllocs()
			rounds, best := 0, make([]time.Duration, len(requests))
			for b.Loop() {
				for i, r := range requests {
					clear(w.header)
					began := time.Now()
					handler.ServeHTTP(w, r)
					if took := time.Since(began); best[i] == 0 || took < best[i] {
						best[i] = took
					}
				}
				rounds++
			}
			sum := time.Duration(0)
			for _, took := range best {
				sum += took
			}
			b.SetBytes(int64(w.bytes / rounds))
			b.ReportMetric(float64(sum.Nanoseconds())/float64(len(requests)), "best-ns/request")
			b.ReportMetric(float64(w.bytes)/float64(rounds*len(requests)), "B/answer")
		})
	}
}

// BenchmarkServed measures a read over the network, beside a handler that answers with a constant body of the same size: the shares
// of processor time, client included, are about the inverse shares of requests a second on a busy machine.
func BenchmarkServed(b *testing.B) {
	handler, paths := speedFixture(b)
	for _, wanted := range []int{20, 100} {
		found := paths(wanted)
		w := &nowhere{header: http.Header{}}
		for _, path := range found {
			handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		}
		body := bytes.Repeat([]byte("x"), w.bytes/len(found))
		bare := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{"application/json"}
			w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
			_, _ = w.Write(body) // the client may be gone
		})
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		bareServer := &http.Server{Handler: bare}
		go func() { _ = bareServer.Serve(listener) }()
		defer bareServer.Close()
		server, err := httpserver.Listen(b.Context(), "127.0.0.1:0", httpserver.Limits{}, slog.New(slog.DiscardHandler))
		if err != nil {
			b.Fatal(err)
		}
		server.Handle(handler)
		go func() { _ = server.Run(b.Context()) }()
		b.Run(fmt.Sprintf("entities=%d", wanted), func(b *testing.B) {
			clients := [2]*client{newClient(b, listener.Addr().String(), []string{"/"}), newClient(b, server.Addr().String(), found)}
			shares := make([]float64, 0, 1000)
			var best [2]time.Duration
			for b.Loop() {
				var used [2]time.Duration
				for i, c := range clients {
					before := processorTime(b)
					c.round(b, 500)
					used[i] = processorTime(b) - before
					if best[i] == 0 || used[i] < best[i] {
						best[i] = used[i]
					}
				}
				shares = append(shares, float64(used[0])/float64(used[1]))
			}
			slices.Sort(shares)
			b.ReportMetric(100*shares[len(shares)/2], "%-of-bare")
			b.ReportMetric(float64(best[0].Nanoseconds())/500, "best-bare-ns")
			b.ReportMetric(float64(best[1].Nanoseconds())/500, "best-ns")
		})
	}
}

// processorTime returns the processor time that this process has used.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// client sends requests on one connection.
type client struct {
	conn     net.Conn
	reader   *bufio.Reader
	requests [][]byte
	next     int
}

func newClient(b *testing.B, addr string, paths []string) *client {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	c := &client{conn: conn, reader: bufio.NewReaderSize(conn, 128<<10)}
	for _, path := range paths {
		c.requests = append(c.requests, []byte("GET "+path+" HTTP/1.1\r\nHost: "+addr+"\r\n\r\n"))
	}
	return c
}

func (c *client) round(b *testing.B, n int) {
	for range n {
		if _, err := c.conn.Write(c.requests[c.next%len(c.requests)]); err != nil {
			b.Fatal(err)
		}
		c.next++
		length := 0
		for {
			line, err := c.reader.ReadSlice('\n')
			if err != nil {
				b.Fatal(err)
			}
			if len(line) <= 2 {
				break
			}
			if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
				length, _ = strconv.Atoi(string(bytes.TrimSpace(value)))
			}
		}
		if _, err := c.reader.Discard(length); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAlerts measures a whole request of a driver's alerts without the network, at places with many entities around.
func BenchmarkAlerts(b *testing.B) {
	handler, paths := speedFixture(b)
	var requests []*http.Request
	for i, path := range paths(100) {
		place, _, _ := strings.Cut(path[strings.Index(path, "?")+1:], "&radius")
		requests = append(requests, httptest.NewRequest(http.MethodGet, fmt.Sprintf("/v2/alerts?%s&heading=%d&speed=25", place, i%360), nil))
	}
	w := &nowhere{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range requests {
			clear(w.header)
			handler.ServeHTTP(w, r)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(requests)), "ns/request")
}
