package valkey_test

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"wayside/internal/entities/live"
	"wayside/internal/entities/live/livetest"
	"wayside/internal/ground/mapdata"
	"wayside/internal/nodes/valkey"
	"wayside/internal/proof/testenv"
)

func TestContract(t *testing.T) {
	s := servers.Cache(t)
	livetest.Run(t, func(t *testing.T) live.Driver {
		must(t, s.Empty())
		return open(t, s.URL(), valkey.Options{})
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens a connection that lives as long as the test.
func open(t *testing.T, url string, o valkey.Options) *valkey.Conn {
	t.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c, err := valkey.Open(url, o)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-done)
	})
	return c
}

// until waits until ok returns true, and fails the test if that takes longer than may on a quiet machine.
func until(t *testing.T, s *testenv.CacheServer, may time.Duration, what string, ok func() bool) {
	t.Helper()
	watch := testenv.StartStopwatch(s.PID())
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !ok() {
		<-look.C
		if watch.Took() > may {
			t.Fatalf("%s: not within %v", what, may)
		}
	}
	t.Logf("%s: after %v", what, watch.Took().Round(time.Millisecond))
}

func works(t *testing.T, c *valkey.Conn) func() bool {
	return func() bool {
		_, err := c.Get(t.Context(), []string{"a"})
		return err == nil
	}
}

// TestFailures checks that every failure of the server makes calls fail soon, with the one error that callers know, and that calls
// work again once the server is back.
func TestFailures(t *testing.T) {
	for _, failure := range []struct {
		name        string
		begin, end  func(*testenv.CacheServer) error
		firstCalls  time.Duration // for calls under way when the failure begins
		mayTakeBack time.Duration
	}{
		{"dead", (*testenv.CacheServer).Stop, (*testenv.CacheServer).Start, 600 * time.Millisecond, 5 * time.Second},
		{"hanging", (*testenv.CacheServer).Pause, (*testenv.CacheServer).Resume, 600 * time.Millisecond, 5 * time.Second},
	} {
		t.Run(failure.name, func(t *testing.T) {
			s := testenv.Cache(t)
			var mu sync.Mutex
			var changes []bool
			c := open(t, s.URL(), valkey.Options{Changed: func(up bool) {
				mu.Lock()
				defer mu.Unlock()
				changes = append(changes, up)
			}})
			if !c.Up() || !works(t, c)() {
				t.Fatal("it does not work at first")
			}
			must(t, failure.begin(s))
			watch := testenv.StartStopwatch()
			_, err := c.Get(t.Context(), []string{"a"})
			if took := watch.Took(); !errors.Is(err, mapdata.ErrUnavailable) || took > failure.firstCalls {
				t.Errorf("the first call: %v after %v", err, took)
			}
			until(t, s, 2*time.Second, "found out", func() bool { return !c.Up() })
			watch = testenv.StartStopwatch()
			for range 1000 {
				if _, err := c.Get(t.Context(), []string{"a"}); !errors.Is(err, valkey.ErrDown) {
					t.Fatal(err)
				}
				if _, err := c.Swap(t.Context(), "a", nil, []byte("1"), time.Minute); !errors.Is(err, mapdata.ErrUnavailable) {
					t.Fatal(err)
				}
			}
			if took := watch.Took(); took > time.Second {
				t.Errorf("2 000 calls that cannot be made took %v", took)
			}
			must(t, failure.end(s))
			until(t, s, failure.mayTakeBack, "back", works(t, c))
			mu.Lock()
			defer mu.Unlock()
			if len(changes) != 2 || changes[0] || !changes[1] {
				t.Errorf("told of %v", changes)
			}
		})
	}
}

func TestEmptied(t *testing.T) {
	s := servers.Cache(t)
	c := open(t, s.URL(), valkey.Options{})
	put := func() {
		t.Helper()
		if done, err := c.Swap(t.Context(), "a", nil, []byte("1"), time.Minute); err != nil || !done {
			t.Fatal(done, err)
		}
		if done, err := c.Swap(t.Context(), "a", []byte("1"), []byte("2"), time.Minute); err != nil || !done {
			t.Fatal(done, err)
		}
	}
	put()
	must(t, s.Empty())
	put() // with the server's memory of scripts, or without it
}

// TestManyCallsOfAHangingServer checks that the time for which all callers wait does not grow with their number, and that abandoned
// calls do no harm.
func TestManyCallsOfAHangingServer(t *testing.T) {
	s := testenv.Cache(t)
	c := open(t, s.URL(), valkey.Options{})
	must(t, s.Pause())
	watch := testenv.StartStopwatch()
	var group sync.WaitGroup
	for range 5000 {
		group.Go(func() {
			if _, err := c.Get(t.Context(), []string{"a"}); err == nil {
				t.Error("an answer of a server that hangs")
			}
		})
	}
	group.Wait()
	// Each call waits for half a second: one after the other, they would take 40 minutes. The rest is the time that the
	// machine needs to run them.
	if took := watch.Took(); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	must(t, s.Resume())
	until(t, s, 5*time.Second, "back", works(t, c))
}

func TestStartWithoutAServer(t *testing.T) {
	s := testenv.Cache(t)
	must(t, s.Stop())
	var log testenv.Output
	c := open(t, s.URL(), valkey.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if c.Up() {
		t.Error("up without a server")
	}
	must(t, s.Start())
	until(t, s, 5*time.Second, "there", works(t, c))
	until(t, s, 5*time.Second, "up", c.Up)
	u, err := url.Parse(s.URL())
	must(t, err)
	password, _ := u.User.Password()
	if text := log.String(); !strings.Contains(text, "does not answer") || strings.Contains(text, password) {
		t.Errorf("the log says %s", text)
	}
}

func TestWrongPassword(t *testing.T) {
	u, err := url.Parse(servers.Cache(t).URL())
	must(t, err)
	u.User = url.UserPassword("", "quite-another")
	c := open(t, u.String(), valkey.Options{})
	if _, err := c.Get(t.Context(), []string{"a"}); err == nil || c.Up() || strings.Contains(err.Error(), "quite-another") {
		t.Errorf("up: %v, %v", c.Up(), err)
	}
}

func TestDatabasesAreApart(t *testing.T) {
	s := servers.Cache(t)
	zero, three := open(t, s.URL(), valkey.Options{}), open(t, s.URL()+"/3", valkey.Options{})
	for _, c := range []*valkey.Conn{zero, three} {
		if done, err := c.Swap(t.Context(), "a", nil, []byte("1"), time.Minute); err != nil || !done {
			t.Error(done, err)
		}
	}
}

func TestFailedCallsAreCounted(t *testing.T) {
	s := testenv.Cache(t)
	var mu sync.Mutex
	failed := make(map[string]int)
	c := open(t, s.URL(), valkey.Options{Failed: func(call string) {
		mu.Lock()
		defer mu.Unlock()
		failed[call]++
	}})
	must(t, s.Stop())
	_, _ = c.Get(t.Context(), []string{"a"})
	_, _ = c.Swap(t.Context(), "a", nil, []byte("1"), time.Minute)
	_, _ = c.Swap(t.Context(), "a", []byte("1"), []byte("1"), time.Minute)
	_ = c.Delete(t.Context(), "a")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = c.Get(ended, []string{"a"}) // a caller who cancels is no failure
	mu.Lock()
	defer mu.Unlock()
	for _, call := range []string{"get", "set", "script", "delete"} {
		if failed[call] != 1 {
			t.Errorf("%s: %d failures, want 1", call, failed[call])
		}
	}
}

func BenchmarkGet(b *testing.B) {
	s := servers.Cache(b)
	c, err := valkey.Open(s.URL(), valkey.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Get(b.Context(), []string{"a", "b", "c", "d"}); err != nil {
			b.Fatal(err)
		}
	}
}
