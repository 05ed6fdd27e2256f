package cluster

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
)

func cacheTable(s *testenv.CacheServer) string {
	return fmt.Sprintf("\n[cache]\nurl = %q\n", s.URL())
}

// TestSharedCacheFails stops the cache of a running service, and checks that durable entities are read as before, and that live
// incidents are offline within two seconds and back within five, also on streams.
func TestSharedCacheFails(t *testing.T) {
	t.Parallel()
	cache := testenv.Cache(t)
	systemtest.Must(t, cache.Stop()) // the service starts without it
	one := systemtest.StartProvider(t, "one", `{"external_id":"live","kind":"alert.police","lat":52,"lng":5,"properties":{}}`)
	s := systemtest.StartService(t, systemtest.Unlimited+cacheTable(cache)+one.AsUpstream("incidents"))
	feed := s.SignIn("owner@example.org").Register("Cameras")
	guest := &systemtest.Client{Service: s, HTTP: http.Client{Timeout: time.Minute}}
	if resp, body := guest.Do(http.MethodPost, "/v2/feeds/"+feed.Token+"/entities", systemtest.RowsAt(52, 5, "durable", 3)); resp.StatusCode != http.StatusOK {
		t.Fatalf("push: %d %s", resp.StatusCode, body)
	}
	look := func() *systemtest.Seen {
		resp, body := guest.Do(http.MethodGet, "/v2/entities/nearby?lat=52&lng=5&radius=1000", nil)
		return systemtest.AsSeen(t, resp, body)
	}
	// reads repeats a read until the incidents are as expected; every read must contain the durable entities.
	reads := func(what, status, ids string, within time.Duration) {
		t.Helper()
		watch := systemtest.Stopwatch([]*systemtest.Service{s}, cache.PID())
		var longest time.Duration
		for {
			asked := s.Watch()
			v := look()
			longest = max(longest, asked.Took())
			for i := range 3 {
				if _, there := v.Pins[fmt.Sprint("durable-", i)]; !there {
					t.Fatalf("%s: the read lacks durable entities: %s", what, v.IDs())
				}
			}
			if v.Status == status && v.IDs() == ids {
				break
			}
			if watch.Took() > within {
				t.Fatalf("%s: after %v incidents are %s, pins %s", what, within, v.Status, v.IDs())
			}
			<-time.After(10 * time.Millisecond)
		}
		t.Logf("%s: %s after %v, the longest read took %v", what, status, watch.Took().Round(time.Millisecond), longest.Round(time.Millisecond))
		if longest > time.Second {
			t.Errorf("%s: a read took %v", what, longest)
		}
	}
	const all, durable = "durable-0 durable-1 durable-2 live", "durable-0 durable-1 durable-2"
	systemtest.Eventually(t, "the index has the rows", func() bool { return len(look().Pins) == 3 })
	reads("never there", "offline", durable, 2*time.Second)
	if resp, _ := guest.Do(http.MethodGet, "/readyz", nil); resp.StatusCode != http.StatusOK {
		t.Errorf("not ready without the cache: %s", resp.Status)
	}
	systemtest.Must(t, cache.Start())
	reads("started", "online", all, 5*time.Second)

	events, _ := s.ListenTo()
	systemtest.WaitFor(t, events, "snapshot", `"live"`)
	for _, failure := range []struct {
		name       string
		begin, end func() error
	}{{"dead", cache.Stop, cache.Start}, {"hanging", cache.Pause, cache.Resume}} {
		watch := systemtest.Stopwatch([]*systemtest.Service{s}, cache.PID())
		systemtest.Must(t, failure.begin())
		reads(failure.name, "offline", durable, 2*time.Second)
		systemtest.WaitFor(t, events, "gone", "incident:v1:")
		if took := watch.Took(); took > 2*time.Second {
			t.Errorf("%s: the stream reported the failure after %v", failure.name, took)
		}
		systemtest.Must(t, failure.end())
		watch = systemtest.Stopwatch([]*systemtest.Service{s}, cache.PID())
		reads(failure.name+", back", "online", all, 5*time.Second)
		systemtest.WaitFor(t, events, "entity", `"live"`)
		if took := watch.Took(); took > 5*time.Second {
			t.Errorf("%s: the stream reported the recovery after %v", failure.name, took)
		}
	}
	systemtest.Must(t, cache.Empty())
	reads("emptied", "online", all, 2*time.Second)

	systemtest.Must(t, s.Terminate())
	u, err := url.Parse(cache.URL())
	systemtest.Must(t, err)
	password, _ := u.User.Password()
	if log := s.Log.String(); strings.Contains(log, password) || !strings.Contains(log, "the shared cache does not answer") || !strings.Contains(log, "the shared cache is back") {
		t.Errorf("the log says\n%s", log)
	}
}

// TestDifferentSecretKeysAreLogged checks that a node logs that its key differs from that of the others.
func TestDifferentSecretKeysAreLogged(t *testing.T) {
	cache := servers.Cache(t)
	systemtest.StartService(t, cacheTable(cache))
	second := systemtest.StartService(t, cacheTable(cache))
	systemtest.Eventually(t, "the difference is logged", func() bool { return strings.Contains(second.Log.String(), "secret.key is not that of the other nodes") })
}
