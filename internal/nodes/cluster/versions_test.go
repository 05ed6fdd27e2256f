package cluster_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/nodes/cluster"
	"wayside/internal/nodes/valkey"
	"wayside/internal/proof/testenv"
)

// versionNode is a node with its data version and a clock that the test sets.
type versionNode struct {
	*cluster.Versions
	own   atomic.Value
	ahead atomic.Int64
	log   testenv.Output
}

func startVersions(t *testing.T, s *testenv.CacheServer, own string) (n *versionNode, stop func()) {
	t.Helper()
	cache, err := valkey.Open(s.URL(), valkey.Options{Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	n = &versionNode{}
	n.own.Store(own)
	n.Versions = cluster.NewVersions(cluster.VersionsConfig{
		Cache: cache, Log: slog.New(slog.NewTextHandler(&n.log, nil)),
		Own: func() string { version, _ := n.own.Load().(string); return version },
		Now: func() time.Time { return time.Now().Add(time.Duration(n.ahead.Load())) },
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{cache.Run, n.Run} {
		running.Go(func() { must(t, run(ctx)) })
	}
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(stop)
	return n, stop
}

// within waits until it is so, a minute at most.
func within(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for tick := time.Tick(5 * time.Millisecond); !is(); {
		select {
		case <-deadline:
			t.Fatalf("not after a minute: %s", what)
		case <-tick:
		}
	}
}

// TestNodesNoticeDifferentRegions checks that both of two nodes learn that their regions differ and that they agree again, that the
// difference is logged once after a minute, and that a node that left is forgotten.
func TestNodesNoticeDifferentRegions(t *testing.T) {
	s := servers.Cache(t)
	a, _ := startVersions(t, s, "one")
	b, stopB := startVersions(t, s, "two")
	within(t, "both differ", func() bool { return a.Differ() && b.Differ() })
	if strings.Contains(a.log.String(), "another node") {
		t.Error("the log warns immediately")
	}
	b.own.Store("one")
	within(t, "both agree", func() bool { return !a.Differ() && !b.Differ() })
	b.own.Store("")
	within(t, "a node without a region differs", func() bool { return a.Differ() && b.Differ() })
	stopB()
	a.ahead.Store(int64(time.Minute))
	if a.Differ() {
		t.Error("a node that left still counts")
	}
}
