package cluster_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/nodes/cluster"
	"wayside/internal/nodes/valkey"
	"wayside/internal/proof/testenv"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// node records the messages that it received.
type node struct {
	*cluster.Peers
	here       *signal.Moved // where live incidents moved at this node
	calls      *cluster.Calls
	mu         sync.Mutex
	everywhere int
	moved      []geo.Circle
	heard      map[string]mapdata.UpstreamCall
}

func start(t *testing.T, s *testenv.CacheServer) *node {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	cache, err := valkey.Open(s.URL(), valkey.Options{Log: log})
	must(t, err)
	n := &node{here: signal.NewMoved(), calls: cluster.NewCalls(), heard: make(map[string]mapdata.UpstreamCall)}
	others := signal.NewMoved()
	n.Peers = cluster.New(cluster.Config{
		Cache: cache, Log: log, Moved: others, MovedLive: n.here, Calls: n.calls,
		Heard: func(upstream string, c mapdata.UpstreamCall) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.heard[upstream] = c
		},
	})
	for _, run := range []func(context.Context) error{cache.Run, n.follow(others), n.Run} {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- run(ctx) }()
		t.Cleanup(func() { cancel(); must(t, <-done) })
	}
	n.until(t, "it listens", func() bool { return n.everywhere == 1 })
	return n
}

// follow records notifications until ctx ends.
func (n *node) follow(moved *signal.Moved) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-moved.C():
			}
			touched := moved.Take()
			n.mu.Lock()
			n.moved = append(n.moved, touched.Areas...)
			if touched.Everywhere {
				n.everywhere++
			}
			n.mu.Unlock()
		}
	}
}

// until waits until a condition holds, for a minute at most, and returns how long that took on a quiet machine.
func (n *node) until(t *testing.T, what string, is func() bool) time.Duration {
	t.Helper()
	watch := testenv.StartStopwatch()
	for tick := time.Tick(2 * time.Millisecond); ; <-tick {
		n.mu.Lock()
		ok := is()
		n.mu.Unlock()
		if ok {
			return watch.Took()
		}
		if watch.Clock() > time.Minute {
			t.Fatalf("not after a minute: %s", what)
		}
	}
}

func TestNodesTellEachOther(t *testing.T) {
	s := servers.Cache(t)
	a, b := start(t, s), start(t, s)
	pin := geo.Circle{Center: geo.Point{Lat: 52.1234, Lng: 5.4321}, Radius: 1}
	a.here.NotifyAreas([]geo.Circle{pin})
	a.calls.Add("north", mapdata.UpstreamCall{Refused: true})
	a.calls.Add("north", mapdata.UpstreamCall{OK: true})
	if took := b.until(t, "it moved", func() bool { return len(b.moved) == 1 && b.moved[0] == pin }); took > time.Second {
		t.Errorf("told after %v", took)
	}
	b.until(t, "the call", func() bool { return b.heard["north"] == mapdata.UpstreamCall{OK: true, Refused: true} })
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.moved) > 0 || len(a.heard) > 0 {
		t.Error("a node hears itself")
	}
}

// TestMuchAtOnce checks that no place is lost, and that the places that wait are bounded.
func TestMuchAtOnce(t *testing.T) {
	s := servers.Cache(t)
	a, b := start(t, s), start(t, s)
	many := make([]geo.Circle, 5000)
	for i := range many {
		many[i] = geo.Circle{Center: geo.Point{Lat: float64(i) / 100, Lng: 5}, Radius: 1}
	}
	a.here.NotifyAreas(many)
	b.until(t, "all of it", func() bool { return len(b.moved) == 5000 })
	for range 4 {
		a.here.NotifyAreas(many)
	}
	b.until(t, "everywhere", func() bool { return b.everywhere == 2 || len(b.moved) == 25_000 })
}

// TestABreakMeansEverywhere checks that after the cache was unreachable, each node counts every place as moved, because messages of
// that time are lost.
func TestABreakMeansEverywhere(t *testing.T) {
	for name, failure := range map[string][2]func(*testenv.CacheServer) error{
		"dead":    {(*testenv.CacheServer).Stop, (*testenv.CacheServer).Start},
		"hanging": {(*testenv.CacheServer).Pause, (*testenv.CacheServer).Resume},
	} {
		t.Run(name, func(t *testing.T) {
			s := testenv.Cache(t)
			a, b := start(t, s), start(t, s)
			must(t, failure[0](s))
			a.here.NotifyAreas([]geo.Circle{{Radius: 1}})
			<-time.After(700 * time.Millisecond) // until the message could not be published
			must(t, failure[1](s))
			b.until(t, "everywhere", func() bool { return b.everywhere > 1 })
			// Until the first node reaches the cache too, and has published that anything may have moved, its areas are part of
			// that message.
			b.until(t, "it moved", func() bool {
				a.here.NotifyAreas([]geo.Circle{{Center: geo.Point{Lat: 1}, Radius: 1}})
				return len(b.moved) > 0 && b.moved[len(b.moved)-1].Center.Lat == 1
			})
		})
	}
}
