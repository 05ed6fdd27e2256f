package relay_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	raw "github.com/valkey-io/valkey-go"

	"wayside/internal/entities/live"
	"wayside/internal/feeds/provider/relay"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
	"wayside/internal/nodes/valkey"
	"wayside/internal/proof/testenv"
)

// node is the source at one node, with its own connection to the cache that all share.
type node struct {
	*relay.Service
	t *testing.T
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newNode(t *testing.T, s *testenv.CacheServer, called func(string, mapdata.UpstreamCall), upstreams ...relay.Upstream) *node {
	t.Helper()
	web, err := safehttp.New(safehttp.Options{UserAgent: "wayside/test", Timeout: 2 * time.Second, MaxBody: 1 << 20, PerHost: 64})
	must(t, err)
	cache, err := valkey.Open(s.URL(), valkey.Options{Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	encode := func(dst []byte, e *mapdata.Entity) []byte { return append(dst, e.Properties...) }
	n := &node{relay.New(relay.Config{
		Upstreams: upstreams, Web: web, Windows: cache, Pins: live.New(cache, relay.Prepare(encode), time.Now), Key: []byte("key"),
		Now: time.Now, Log: slog.New(slog.DiscardHandler), Reachable: cache.Up, Called: called,
	}), t}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	t.Cleanup(func() { // closes the cache after its users have stopped
		stop()
		must(t, <-ended)
		web.Close()
	})
	cacheCtx, stopCache := context.WithCancel(context.Background())
	go func() { ended <- cache.Run(cacheCtx) }()
	t.Cleanup(func() { stopCache(); must(t, <-ended) })
	return n
}

func (n *node) near(driver string) (int, mapdata.Health) {
	hits, health := n.Near(n.t.Context(), &mapdata.Search{Center: here, Radius: 1000, Kinds: mapdata.AllKinds, Now: time.Now()}, driver, nil)
	return len(hits), health
}

// sees fails the test unless the driver gets the one pin. A driver whom the shared cache did not answer in time, because the machine is
// busy, retries after a moment: immediate retries would keep the machine busy.
func (n *node) sees(driver string) {
	for deadline := time.Now().Add(time.Minute); ; <-time.After(time.Duration(100+rand.IntN(400)) * time.Millisecond) {
		asked := time.Now()
		pins, health := n.near(driver)
		if pins == 1 {
			return
		}
		inTime := health.Status != mapdata.Offline && time.Since(asked) < 400*time.Millisecond
		if inTime || time.Now().After(deadline) {
			n.t.Errorf("%d pins after %v, %+v", pins, time.Since(asked), health)
			return
		}
	}
}

// TestOneCallForAllNodes checks that a thousand drivers of one key at two nodes cause one call, at first and on a refresh, and that drivers
// at the node that does not call get the answer too (D8.3).
func TestOneCallForAllNodes(t *testing.T) {
	s := servers.Cache(t)
	release := make(chan struct{})
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) { <-release; rows("x")(w, r) })
	nodes := []*node{newNode(t, s, nil, upstream(t, "a", p, 1)), newNode(t, s, nil, upstream(t, "a", p, 1))}
	start := time.Now()
	all := func() {
		var drivers sync.WaitGroup
		for i := range 1000 {
			drivers.Go(func() { nodes[i%2].sees("d") })
		}
		eventually(t, "the call", func() bool { return p.calls() > 0 })
		select {
		case <-release:
		default:
			close(release)
		}
		drivers.Wait()
	}
	callsOf := func(tenant string) (n int) {
		for i := range p.calls() {
			if p.query(i).Get("tenant") == tenant {
				n++
			}
		}
		return n
	}
	// A busy machine may take longer than four seconds for all drivers, and then another call is due.
	check := func(tenant string) {
		t.Helper()
		if n, most := callsOf(tenant), 1+int(time.Since(start)/(4*time.Second)); n > most {
			t.Errorf("%d calls of %s within %v, want at most %d", n, tenant, time.Since(start), most)
		}
	}
	all()
	called := time.Now()
	all()
	first := p.query(0).Get("tenant")
	check(first)
	if n := p.calls() - callsOf(first); n != 0 {
		t.Errorf("%d calls of another driver, who never asked", n)
	}
	// The result of the first driver's call may answer, if the other's takes long.
	began := time.Now()
	eventually(t, "a call of another driver, as another tenant", func() bool {
		nodes[0].sees("another driver")
		return p.calls() > callsOf(first)
	})
	if n, most := p.calls()-callsOf(first), 1+int(time.Since(began)/(4*time.Second)); n > most {
		t.Errorf("%d calls of another driver within %v, want at most %d", n, time.Since(began), most)
	}
	eventually(t, "four seconds", func() bool { return time.Since(called) > 4100*time.Millisecond })
	all()
	eventually(t, "the refresh", func() bool {
		nodes[0].near("d")
		return callsOf(first) > 1
	})
	all()
	check(first)
}

// TestSharedCacheHoldsNoDriverPosition checks that the cache's keys and values reveal neither the position nor the identity of a driver,
// and that they expire after 30 s (D13.1).
func TestSharedCacheHoldsNoDriverPosition(t *testing.T) {
	s := servers.Cache(t)
	p := newProvider(t, rows("x"))
	n := newNode(t, s, nil, upstream(t, "a", p, 1))
	if pins, _ := n.near("session 1"); pins != 1 {
		t.Fatalf("%d pins", pins)
	}
	u, err := url.Parse(s.URL())
	must(t, err)
	password, _ := u.User.Password()
	client, err := raw.NewClient(raw.ClientOption{InitAddress: []string{u.Host}, Password: password, DisableCache: true})
	must(t, err)
	defer client.Close()
	keys, err := client.Do(t.Context(), client.B().Keys().Pattern("*").Build()).AsStrSlice()
	must(t, err)
	asked := p.query(0)
	windows := 0
	for _, key := range keys {
		value, err := client.Do(t.Context(), client.B().Get().Key(key).Build()).ToString()
		must(t, err)
		for _, told := range []string{asked.Get("tenant"), asked.Get("lat"), asked.Get("lng"), "session 1"} {
			if strings.Contains(key, told) || strings.Contains(value, told) {
				t.Errorf("%q tells %q", key, told)
			}
		}
		left, err := client.Do(t.Context(), client.B().Pttl().Key(key).Build()).AsInt64()
		must(t, err)
		most := 2*live.Freshness + time.Minute
		if !strings.HasPrefix(key, "wayside:pins/") && !strings.HasPrefix(key, "wayside:at/") {
			windows++
			most = 31 * time.Second
		}
		if left <= 0 || left > most.Milliseconds() {
			t.Errorf("%q is kept for %d ms", key, left)
		}
	}
	if windows != 2 || len(keys) < 4 {
		t.Errorf("keys %q: want two windows beside the pins", keys)
	}
}

// TestSharedCacheFails checks that a failing shared cache ends the incidents within two seconds, and nothing else, and that they are back
// within five seconds once the cache is (Live incidents, 5).
func TestSharedCacheFails(t *testing.T) {
	for _, failure := range []struct {
		name       string
		begin, end func(*testenv.CacheServer) error
	}{
		{"dead", (*testenv.CacheServer).Stop, (*testenv.CacheServer).Start},
		{"hanging", (*testenv.CacheServer).Pause, (*testenv.CacheServer).Resume},
		{"emptied", (*testenv.CacheServer).Empty, nil},
	} {
		t.Run(failure.name, func(t *testing.T) {
			s := testenv.Cache(t)
			n := newNode(t, s, nil, upstream(t, "a", newProvider(t, rows("x")), 1))
			if pins, h := n.near("d"); pins != 1 || h.Status != mapdata.Online {
				t.Fatalf("%d pins, %+v", pins, h)
			}
			must(t, failure.begin(s))
			began := time.Now()
			if failure.end != nil {
				eventually(t, "offline", func() bool { return n.Health().Status == mapdata.Offline }) // although nothing is read
				took := time.Since(began)
				began = time.Now()
				pins, h := n.near("d")
				if _, err := n.Find(t.Context(), "x"); !errors.Is(err, mapdata.ErrUnavailable) {
					t.Errorf("find: %v", err)
				}
				if read := time.Since(began); pins != 0 || h.Status != mapdata.Offline || took > 2*time.Second || read > 100*time.Millisecond {
					t.Errorf("%d pins, %+v, %v until it is known, %v for a read", pins, h, took, read)
				}
				must(t, failure.end(s))
				began = time.Now()
			}
			eventually(t, "back", func() bool {
				pins, h := n.near("d")
				return pins == 1 && h.Status == mapdata.Online
			})
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("back after %v", took)
			}
		})
	}
}

// TestCallsOfOtherNodesCount checks that all nodes know the result of one node's call, and that all leave an upstream alone that refuses
// the secret (D8.6, D8.8).
func TestCallsOfOtherNodesCount(t *testing.T) {
	s := servers.Cache(t)
	good, bad := newProvider(t, rows("x")), newProvider(t, status(http.StatusUnauthorized))
	upstreams := []relay.Upstream{upstream(t, "good", good, 1), upstream(t, "bad", bad, 2)}
	second := newNode(t, s, nil, upstreams...)
	if h := second.Health(); h.Status != mapdata.Online {
		t.Errorf("before any call: %+v", h)
	}
	first := newNode(t, s, func(name string, c mapdata.UpstreamCall) { second.Heard(name, c) }, upstreams...)
	first.near("d")
	if h := second.Health(); h.Status != mapdata.Degraded || h.OK != 1 || h.Fail != 1 {
		t.Errorf("after another node's calls: %+v", h)
	}
	if second.near("another driver"); bad.calls() != 1 || good.calls() != 2 {
		t.Errorf("%d calls of the upstream that refuses us, want 1", bad.calls())
	}
	second.Heard("nobody", mapdata.UpstreamCall{OK: true})
}
