package relay_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/live"
	"wayside/internal/entities/live/memory"
	"wayside/internal/feeds/provider/relay"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
	"wayside/internal/proof/testenv"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// clock is a clock that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = start.Add(after)
}

// provider is a real server with a configurable answer that records its requests.
type provider struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []*http.Request
	answer http.HandlerFunc
}

func newProvider(t *testing.T, answer http.HandlerFunc) *provider {
	t.Helper()
	p := &provider{answer: answer}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked = append(p.asked, r)
		answer := p.answer
		p.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) set(answer http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer
}

func (p *provider) calls() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

func (p *provider) query(i int) url.Values {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[i].URL.Query()
}

// rows answers with police at 52, 5 under the given ids.
func rows(ids ...string) http.HandlerFunc { return stamped("", ids...) }

func stamped(at string, ids ...string) http.HandlerFunc {
	var entities []string
	for _, id := range ids {
		entities = append(entities, fmt.Sprintf(`{"external_id":%q,"kind":"alert.police","lat":52,"lng":5,"properties":{}}`, id))
	}
	return text(fmt.Sprintf(`{"entities":[%s],"fetched_at_utc":%q}`, strings.Join(entities, ","), at))
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// source is the built-in source under test.
type source struct {
	t *testing.T
	*relay.Service
	clock   *clock
	dropped sync.Map // what → *atomic.Int64
	stop    func()
}

func upstream(t *testing.T, name string, p *provider, priority int) relay.Upstream {
	t.Helper()
	u, err := safehttp.OperatorURL(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	return relay.Upstream{Name: name, URL: u, Secret: "the secret of " + name, Priority: priority}
}

func newSource(t *testing.T, driver func(live.Driver) live.Driver, upstreams ...relay.Upstream) *source {
	t.Helper()
	s := &source{t: t, clock: &clock{now: start}}
	web, err := safehttp.New(safehttp.Options{UserAgent: "wayside/test", Timeout: 2 * time.Second, MaxBody: 1 << 20, PerHost: 64})
	if err != nil {
		t.Fatal(err)
	}
	cache := memory.New(s.clock.time)
	var pins live.Driver = cache
	if driver != nil {
		pins = driver(cache)
	}
	encode := func(dst []byte, e *mapdata.Entity) []byte { return append(dst, e.Properties...) }
	s.Service = relay.New(relay.Config{
		Upstreams: upstreams, Web: web, Windows: cache, Pins: live.New(pins, relay.Prepare(encode), s.clock.time), Key: []byte("key"),
		Now: s.clock.time, Log: slog.New(slog.DiscardHandler),
		Dropped: func(_, what string) {
			n, _ := s.dropped.LoadOrStore(what, new(atomic.Int64))
			n.(*atomic.Int64).Add(1)
		},
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	s.stop = sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	return s
}

var here = geo.Point{Lat: 52.0003, Lng: 5.0003}

// near reads the incidents around the test's position as a driver, and returns their external ids, sorted.
func (s *source) near(driver string) ([]string, mapdata.Health) {
	s.t.Helper()
	hits, health := s.Near(s.t.Context(), &mapdata.Search{Center: here, Radius: 1000, Kinds: mapdata.AllKinds, Now: s.clock.time()}, driver, nil)
	ids := []string{}
	for _, h := range hits {
		ids = append(ids, string(h.ExternalID))
	}
	slices.Sort(ids)
	return ids, health
}

func (s *source) want(driver, what string, want ...string) mapdata.Health {
	s.t.Helper()
	ids, health := s.near(driver)
	if diff := cmp.Diff(append([]string{}, want...), ids); diff != "" {
		s.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
	return health
}

// eventually asks again until it is so, for at most a minute.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("not after a minute: " + what)
		}
	}
}

// TestCall checks the requests to an upstream (Provider-hosted: relay mode; D8.2).
func TestCall(t *testing.T) {
	a, b := newProvider(t, rows("x")), newProvider(t, rows("x"))
	s := newSource(t, nil, upstream(t, "a", a, 1), upstream(t, "b", b, 2))
	s.want("session 1", "both say the same", "x", "x")
	r := a.asked[0]
	if r.Method != http.MethodGet || r.URL.Path != "/relay/incidents" || r.Header.Get("X-Service-Auth") != "the secret of a" {
		t.Errorf("asked %s %s with %v", r.Method, r.URL.Path, r.Header)
	}
	q := a.query(0)
	if len(q) != 4 || q.Get("radius") != "1100" || !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(q.Get("tenant")) {
		t.Errorf("parameters %v", q)
	}
	if q.Get("lat") == "52.00030" || q.Get("lng") == "5.00030" {
		t.Error("the place is not rounded")
	}
	for name, values := range r.Header {
		if !slices.Contains([]string{"User-Agent", "Accept", "Accept-Encoding", "X-Service-Auth"}, name) {
			t.Errorf("header %s: %v", name, values)
		}
	}
	tenant := q.Get("tenant")
	if b.query(0).Get("tenant") == tenant {
		t.Error("two upstreams can join a driver")
	}
	s.clock.set(time.Minute)
	s.near("session 1")
	if a.query(1).Get("tenant") != tenant {
		t.Error("a tenant does not last a day")
	}
	s.near("client 192.0.2.1")
	if a.query(2).Get("tenant") == tenant {
		t.Error("two drivers are one tenant")
	}
	s.clock.set(24 * time.Hour)
	s.near("session 1")
	if a.query(3).Get("tenant") == tenant {
		t.Error("a driver can be followed from day to day")
	}
	s.near("")
	if a.calls() != 4 {
		t.Error("an upstream is asked on nobody's behalf")
	}
}

// TestWindows checks the bounds of 4 s and 30 s (D8.3).
func TestWindows(t *testing.T) {
	p := newProvider(t, rows("first"))
	s := newSource(t, nil, upstream(t, "a", p, 1))
	s.want("d", "nothing is cached", "first")
	p.set(rows("second"))
	s.clock.set(4*time.Second - time.Millisecond)
	s.want("d", "within 4 s", "first")
	if p.calls() != 1 {
		t.Fatalf("%d calls within 4 s", p.calls())
	}
	s.clock.set(4 * time.Second)
	if ids, _ := s.near("d"); len(ids) != 1 {
		t.Errorf("at 4 s: %v", ids)
	}
	eventually(t, "a refresh in the background", func() bool { ids, _ := s.near("d"); return slices.Equal(ids, []string{"second"}) })
	if p.calls() != 2 {
		t.Errorf("%d calls: not one refresh", p.calls())
	}
	p.set(rows("third"))
	s.clock.set(34 * time.Second)
	release := make(chan struct{})
	p.set(func(w http.ResponseWriter, r *http.Request) { <-release; rows("third")(w, r) })
	s.want("d", "at 30 s, while the refresh is under way", "second")
	close(release)
	eventually(t, "the refresh", func() bool { ids, _ := s.near("d"); return slices.Equal(ids, []string{"third"}) })
	p.set(rows("fourth"))
	s.clock.set(64*time.Second + time.Millisecond)
	s.want("d", "after 30 s the reader waits", "fourth")
	if p.calls() != 4 {
		t.Errorf("%d calls", p.calls())
	}
}

// TestOneCallForAll checks that a thousand drivers of one key cause one call, at first and on a refresh.
func TestOneCallForAll(t *testing.T) {
	release := make(chan struct{})
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) { <-release; rows("x")(w, r) })
	s := newSource(t, nil, upstream(t, "a", p, 1))
	all := func(n int) {
		var drivers sync.WaitGroup
		for range n {
			drivers.Go(func() {
				if ids, _ := s.near("d"); len(ids) != 1 {
					t.Errorf("read %v", ids)
				}
			})
		}
		eventually(t, "the call", func() bool { return p.calls() > 0 })
		select {
		case <-release:
		default:
			close(release)
		}
		drivers.Wait()
	}
	all(1000)
	if p.calls() != 1 {
		t.Errorf("%d calls for the first answer", p.calls())
	}
	s.clock.set(10 * time.Second)
	all(1000)
	eventually(t, "the refresh", func() bool { return p.calls() == 2 })
	all(1000)
	if p.calls() != 2 {
		t.Errorf("%d calls in all", p.calls())
	}
}

// TestFreshness checks that pins last five minutes from a real answer, and that only another answer renews them (Live
// incidents, 1).
func TestFreshness(t *testing.T) {
	at := start.Format(time.RFC3339)
	p := newProvider(t, stamped(at, "x"))
	s := newSource(t, nil, upstream(t, "a", p, 1))
	s.want("d", "at first", "x")
	s.clock.set(4 * time.Minute)
	s.want("d", "a replay", "x")
	if p.calls() != 2 {
		t.Fatalf("%d calls", p.calls())
	}
	s.clock.set(5*time.Minute - time.Millisecond)
	s.want("d", "just fresh", "x")
	s.clock.set(5 * time.Minute)
	s.want("d", "the provider's replay of its own cache renewed it")
	p.set(stamped(start.Add(5*time.Minute).Format(time.RFC3339), "x"))
	s.clock.set(6 * time.Minute)
	s.want("d", "a new answer", "x")
	p.set(status(http.StatusServiceUnavailable))
	s.clock.set(11*time.Minute - time.Millisecond)
	if h := s.want("d", "cached data while the upstream fails", "x"); h.Status != mapdata.Offline || h.Fail == 0 {
		t.Errorf("health %+v", h)
	}
	s.clock.set(11 * time.Minute)
	s.want("d", "stale data")
}

// TestMissingPinIsGone checks that a pin that a new answer lacks is removed (D8.4).
func TestMissingPinIsGone(t *testing.T) {
	p := newProvider(t, rows("x", "y"))
	s := newSource(t, nil, upstream(t, "a", p, 1))
	s.want("d", "at first", "x", "y")
	p.set(rows("y"))
	s.clock.set(time.Minute)
	s.want("d", "one is missing", "y")
	s.want("another driver", "for everybody", "y")
}

// TestFailures checks that an upstream's failures are recorded in the health and change nothing else, and that other
// upstreams continue (D8.6).
func TestFailures(t *testing.T) {
	lies := func(length string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", length)
			_, _ = w.Write([]byte(`{"entities":[],"fetched_at_utc":null}`))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}
	elsewhere := newProvider(t, rows("led elsewhere"))
	many := make([]string, 5001)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for name, answer := range map[string]http.HandlerFunc{
		"500":               status(http.StatusInternalServerError),
		"503":               status(http.StatusServiceUnavailable),
		"no JSON":           text("moose"),
		"half JSON":         text(`{"entities":[{"external_id":`),
		"an array":          text(`[]`),
		"no entities":       text(`{"fetched_at_utc":null}`),
		"entities twice":    text(`{"entities":[],"entities":[]}`),
		"entities a string": text(`{"entities":"x"}`),
		"something follows": text(`{"entities":[]} {}`),
		"null":              text(`null`),
		"bad UTF-8":         text("{\"entities\":[{\"external_id\":\"\xff\"}]}"),
		"too large":         func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2<<20)) },
		"too many rows":     rows(many...),
		"says it is longer": lies("1000"),
		"a redirect":        func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
	} {
		t.Run(name, func(t *testing.T) {
			bad, good := newProvider(t, rows("before")), newProvider(t, rows("good"))
			s := newSource(t, nil, upstream(t, "bad", bad, 1), upstream(t, "good", good, 2))
			if h := s.want("d", "at first", "before", "good"); h.Status != mapdata.Online || h.OK != 2 || h.Fail != 0 {
				t.Errorf("health %+v", h)
			}
			bad.set(answer)
			s.clock.set(time.Minute)
			h := s.want("d", "while one fails", "before", "good")
			if h.Status != mapdata.Degraded || h.OK != 3 || h.Fail != 1 || !h.LastSuccessAt.Equal(start.Add(time.Minute)) {
				t.Errorf("health %+v", h)
			}
			s.clock.set(time.Minute + 4*time.Second - time.Millisecond)
			s.near("d")
			if bad.calls() != 2 {
				t.Error("called again within 4 s")
			}
			bad.set(rows("after"))
			s.clock.set(time.Minute + 4*time.Second)
			if h := s.want("d", "mended", "after", "good"); h.Status != mapdata.Online {
				t.Errorf("health %+v", h)
			}
		})
	}
	if elsewhere.calls() != 0 {
		t.Error("a redirect was followed")
	}
}

// TestRefusedSecret checks that an upstream that answers 401 is not called again for five minutes (D8.6).
func TestRefusedSecret(t *testing.T) {
	bad, good := newProvider(t, status(http.StatusUnauthorized)), newProvider(t, rows("good"))
	s := newSource(t, nil, upstream(t, "bad", bad, 1), upstream(t, "good", good, 2))
	if h := s.want("d", "the other one answers", "good"); h.Status != mapdata.Degraded {
		t.Errorf("health %+v", h)
	}
	for _, after := range []time.Duration{time.Minute, 5*time.Minute - time.Millisecond} {
		s.clock.set(after)
		s.near("d")
		s.near("another driver")
	}
	if bad.calls() != 1 {
		t.Errorf("%d calls", bad.calls())
	}
	bad.set(rows("bad"))
	s.clock.set(5 * time.Minute)
	s.want("d", "after five minutes", "bad", "good")
}

// TestReadersDoNotWaitForATimedOutUpstream checks that a reader waits two seconds once, and then no longer (D8.6).
func TestReadersDoNotWaitForATimedOutUpstream(t *testing.T) {
	release := make(chan struct{})
	p := newProvider(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	s := newSource(t, nil, upstream(t, "a", p, 1))
	began, watch := time.Now(), testenv.StartStopwatch()
	s.near("d")
	if took := time.Since(began); took < time.Second || watch.Took() > 3*time.Second {
		t.Errorf("waited for %v", took)
	}
	eventually(t, "the call's end", func() bool { _, h := s.near(""); return h.Fail == 1 })
	watch = testenv.StartStopwatch()
	for i := range 20 {
		s.near(fmt.Sprint(i))
	}
	if took := watch.Took(); took > time.Second {
		t.Errorf("20 reads took %v while the upstream hangs", took)
	}
}

// failing is a live driver that can be made to fail.
type failing struct {
	live.Driver
	off atomic.Bool
}

func (f *failing) Get(ctx context.Context, keys []string) ([][]byte, error) {
	if f.off.Load() {
		return nil, errors.New("out of reach")
	}
	return f.Driver.Get(ctx, keys)
}

// TestCacheOutOfReach checks reads without the live cache (Live incidents, 5).
func TestCacheOutOfReach(t *testing.T) {
	p := newProvider(t, rows("x"))
	var cut *failing
	s := newSource(t, func(d live.Driver) live.Driver { cut = &failing{Driver: d}; return cut }, upstream(t, "a", p, 1))
	s.want("d", "at first", "x")
	cut.off.Store(true)
	if h := s.want("d", "while the cache is gone"); h.Status != mapdata.Offline {
		t.Errorf("health %+v", h)
	}
	if _, err := s.Find(t.Context(), "x"); !errors.Is(err, mapdata.ErrUnavailable) {
		t.Errorf("found with %v", err)
	}
	cut.off.Store(false)
	if h := s.want("d", "when it is back", "x"); h.Status != mapdata.Online {
		t.Errorf("health %+v", h)
	}
	if v, err := s.Find(t.Context(), "x"); err != nil || v.Entity.ExternalID != "x" {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := s.Find(t.Context(), "y"); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("found with %v", err)
	}
}

// TestRowsGoThroughTheDecoder checks that an item that is not an incident, or not a valid row, is dropped and counted
// (D3.13).
func TestRowsGoThroughTheDecoder(t *testing.T) {
	p := newProvider(t, text(`{"more":[1],"entities":[
		{"external_id":"a","kind":"alert.police","lat":52,"lng":5,"properties":{"disputed_until":1,"street":"A"}},
		{"external_id":"b","kind":"camera.speed","lat":52,"lng":5,"properties":{}},
		{"external_id":"c","kind":"alert.moose","lat":52,"lng":5,"properties":{}},
		{"external_id":"d","kind":"alert.police","lat":"52","lng":5,"properties":{}},
		{"external_id":"e","kind":"alert.police","lat":52,"lng":5,"properties":{},"ttl_seconds":1},
		{"external_id":"f","kind":"alert.police","lat":52,"lng":5,"properties":{},"ttl_seconds":60},
		{"external_id":"g","kind":"alert.police","lat":53,"lng":5,"properties":{}},
		7], "fetched_at_utc":"2026-11-21T08:00:00Z"}`))
	s := newSource(t, nil, upstream(t, "a", p, 1))
	s.want("d", "good rows", "a", "f")
	for what, want := range map[string]int64{"not_an_incident": 1, "unknown_kind": 1, "invalid_lat": 1, "not_an_object": 1} {
		n, ok := s.dropped.Load(what)
		if !ok || n.(*atomic.Int64).Load() != want {
			t.Errorf("%s is not counted", what)
		}
	}
	s.clock.set(time.Minute)
	p.set(status(http.StatusServiceUnavailable))
	s.want("d", "a ttl below five minutes", "a")
}

// TestAreaAndPriority checks that an upstream is called within its area only, and is ranked by its priority.
func TestAreaAndPriority(t *testing.T) {
	second, first, far := newProvider(t, rows("x")), newProvider(t, rows("y")), newProvider(t, rows("z"))
	elsewhere := upstream(t, "far", far, 1)
	elsewhere.Area = &relay.Area{West: 100, South: 0, East: 110, North: 10}
	s := newSource(t, nil, elsewhere, upstream(t, "second", second, 2), upstream(t, "first", first, 1))
	hits, health := s.Near(t.Context(), &mapdata.Search{Center: here, Radius: 1000, Kinds: mapdata.AllKinds, Now: start}, "d", nil)
	if len(hits) != 2 || far.calls() != 0 || health.Status != mapdata.Online {
		t.Fatalf("%d hits, %d calls of the one far away, %+v", len(hits), far.calls(), health)
	}
	for _, h := range hits {
		if first := string(h.ExternalID) == "y"; first != (h.Rank < 2) || h.Source != mapdata.Incidents || h.Layer != "incidents" {
			t.Errorf("%+v", h)
		}
	}
}

// TestRunWaitsForItsCalls checks that no call continues after the end of Run.
func TestRunWaitsForItsCalls(t *testing.T) {
	arrived := make(chan struct{}, 1)
	p := newProvider(t, func(_ http.ResponseWriter, r *http.Request) { arrived <- struct{}{}; <-r.Context().Done() })
	s := newSource(t, nil, upstream(t, "a", p, 1))
	done := make(chan struct{})
	go func() { defer close(done); s.near("d") }()
	<-arrived
	watch := testenv.StartStopwatch()
	s.stop()
	<-done
	if took := watch.Took(); took > time.Second {
		t.Errorf("stopping took %v", took)
	}
	if h := s.Health(); h.Fail != 0 {
		t.Error("the end of the service counts against the upstream")
	}
}

// TestCallsAreMadeByRun checks that Run owns all calls: before it runs, and after it has ended, a read is answered from
// the cache and calls no upstream.
func TestCallsAreMadeByRun(t *testing.T) {
	p := newProvider(t, rows("a"))
	s := newSource(t, nil, upstream(t, "a", p, 1))
	s.stop()
	again := relay.New(s.Config)
	near := func(ctx context.Context) int {
		ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		hits, _ := again.Near(ctx, &mapdata.Search{Center: here, Radius: 1000, Kinds: mapdata.AllKinds, Now: start}, "d", nil)
		return len(hits)
	}
	if found := near(t.Context()); found != 0 || p.calls() != 0 {
		t.Errorf("before Run: %d hits, %d calls", found, p.calls())
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- again.Run(ctx) }()
	for deadline := time.Now().Add(10 * time.Second); near(t.Context()) != 1; {
		if time.Now().After(deadline) {
			t.Fatal("the call that waited for Run was not made")
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	calls := p.calls()
	s.clock.set(time.Hour)
	if found := near(t.Context()); found != 0 || p.calls() != calls {
		t.Errorf("after Run: %d hits, %d more calls", found, p.calls()-calls)
	}
}
