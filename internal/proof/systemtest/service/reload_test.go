package service

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
)

// watchStream writes the events of a stream to events until it ends with the service.
func watchStream(base string, events *testenv.Output) {
	resp, err := http.Get(fmt.Sprintf("%s/v2/stream?lat=%f&lng=%f&radius=1000", base, systemtest.SceneLat, systemtest.SceneLng))
	if err != nil {
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(events, resp.Body)
}

// TestReload changes limits, law, upstreams and map of a running service by SIGHUP under constant reads, and checks that no request
// fails, and that each change is in force immediately, on open streams too.
func TestReload(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-time.After(5 * time.Millisecond) // so that calls are under way at each reload
		_, _ = w.Write([]byte(`{"entities":[` + systemtest.Incident("live", "alert.police", 100, "") + `]}`))
	}))
	t.Cleanup(upstream.Close)
	lawFile := filepath.Join(t.TempDir(), "law.geojson")
	hide := `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"here","hide":["camera.speed"]},"geometry":` +
		`{"type":"Polygon","coordinates":[[[-180,-90],[0,-90],[180,-90],[180,90],[0,90],[-180,90],[-180,-90]]]}}]}`
	if err := os.WriteFile(lawFile, []byte(hide), 0o600); err != nil {
		t.Fatal(err)
	}
	s := systemtest.StartService(t, systemtest.Unlimited)
	owner := s.SignIn("owner@example.org")
	f := owner.Register("Cameras")
	if resp, body := owner.Do(http.MethodPost, "/v2/feeds/"+f.Token+"/entities", systemtest.RowsAt(systemtest.SceneLat, systemtest.SceneLng, "a", 3)); resp.StatusCode != http.StatusOK {
		t.Fatalf("push: %d %s", resp.StatusCode, body)
	}
	guest := &systemtest.Client{Service: s}
	near := func() string {
		ids, err := guest.Near(systemtest.SceneLat, systemtest.SceneLng)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(ids, ",")
	}
	systemtest.Eventually(t, "guests see the cameras", func() bool { return near() == "a-0,a-1,a-2" })

	var stopped atomic.Bool
	var readers sync.WaitGroup
	var reads atomic.Int64
	for range 4 {
		readers.Go(func() {
			c := &systemtest.Client{Service: s, HTTP: http.Client{Timeout: time.Minute, Transport: &http.Transport{}}}
			for !stopped.Load() {
				if _, err := c.Near(systemtest.SceneLat, systemtest.SceneLng); err != nil {
					t.Errorf("a read during reloads: %v", err)
					return
				}
				reads.Add(1)
			}
		})
	}
	var events testenv.Output
	go watchStream(s.Base, &events)
	systemtest.Eventually(t, "the stream begins", func() bool { return strings.Contains(events.String(), "event: snapshot") })
	withUpstream := systemtest.Unlimited + systemtest.UpstreamTable("city", upstream.URL, "s", "incidents")
	s.Configure(withUpstream)
	s.Logged(systemtest.ReloadedLine, 1)
	systemtest.Eventually(t, "the new upstream is read", func() bool { return strings.Contains(near(), "live") })
	s.Configure(withUpstream + fmt.Sprintf("\n[law]\nfile = %q\n", lawFile))
	s.Logged(systemtest.ReloadedLine, 2)
	systemtest.Eventually(t, "the law hides the cameras", func() bool { return near() == "live" })
	systemtest.Eventually(t, "the open stream loses the cameras", func() bool { return strings.Count(events.String(), "event: gone") == 3 })
	for n := 3; n < 10; n++ {
		s.Configure(withUpstream)
		s.Logged(systemtest.ReloadedLine, n)
	}
	systemtest.Eventually(t, "the cameras are back", func() bool { return strings.Contains(near(), "a-0") })
	s.Configure(systemtest.Unlimited)
	s.Logged(systemtest.ReloadedLine, 10)
	systemtest.Eventually(t, "the upstream is gone", func() bool { return near() == "a-0,a-1,a-2" })
	stopped.Store(true)
	readers.Wait()
	if reads.Load() < 20 { // a busy machine answers few
		t.Errorf("only %d reads were made meanwhile", reads.Load())
	}
	s.Configure(strings.Replace(systemtest.Unlimited, "guest_reads_per_minute = 1000000", "guest_reads_per_minute = 1", 1) + "\n[mail]\nfrom = \"new@example.org\"\n")
	s.Logged(systemtest.ReloadedLine, 11)
	systemtest.Eventually(t, "the new limit holds", func() bool {
		resp, _ := guest.Do(http.MethodGet, fmt.Sprintf("/v2/entities/nearby?lat=%f&lng=%f&radius=1000", systemtest.SceneLat, systemtest.SceneLng), nil)
		return resp.StatusCode == http.StatusTooManyRequests
	})
	s.Logged(`"keys":["mail.from"]`, 1)
	if err := s.Terminate(); err != nil {
		t.Errorf("exit: %v\n%s", err, s.Log)
	}
}

// TestReloadOfStorageLimits checks that a reload changes the bounds of a feed, for its next push and on its page.
func TestReloadOfStorageLimits(t *testing.T) {
	t.Parallel()
	limits := func(entities int) string {
		return strings.Replace(systemtest.Unlimited, "\nentities_per_feed = 0", fmt.Sprintf("\nentities_per_feed = %d", entities), 1)
	}
	s := systemtest.StartService(t, limits(2))
	owner := s.SignIn("owner@example.org")
	f := owner.Register("Cameras")
	push := func() string {
		t.Helper()
		resp, body := owner.Do(http.MethodPost, "/v2/feeds/"+f.Token+"/entities", systemtest.RowsAt(systemtest.SceneLat, systemtest.SceneLng, "a", 3))
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("push: %d %s", resp.StatusCode, body)
		}
		return string(body)
	}
	if body := push(); !strings.Contains(body, "feed_full") {
		t.Errorf("three rows into a feed that may hold two: %s", body)
	}
	s.Configure(limits(3))
	s.Logged(systemtest.ReloadedLine, 1)
	if body := push(); strings.Contains(body, "feed_full") {
		t.Errorf("three rows into a feed that may hold three: %s", body)
	}
	if _, body := owner.Do(http.MethodGet, "/v2/feeds/"+f.ID, nil); !strings.Contains(string(body), `"entity_limit":3`) {
		t.Errorf("the feed: %s", body)
	}
}

// TestReloadOfWrongFile checks that a wrong file changes nothing, and that the log has the line.
func TestReloadOfWrongFile(t *testing.T) {
	t.Parallel()
	s := systemtest.StartService(t, systemtest.Unlimited)
	lawFile := filepath.Join(t.TempDir(), "law.geojson")
	if err := os.WriteFile(lawFile, []byte(`{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"X","hide":["moose"]}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const refused = "the configuration was not reloaded, and nothing is changed"
	for n, tt := range []struct{ text, want string }{
		{"\n[limits]\nguest_reads_per_minute = \"few\"\n", "wayside.toml:4: limits.guest_reads_per_minute"},
		{"\n[limits]\nguest_reads_per_minute = 1\n[[upstreams]]\nname = \"city\"\n", "url is missing"},
		{"\n[limits]\nguest_reads_per_minute = 1\n[law]\nfile = \"" + lawFile + "\"\n", "properties.hide holds"},
		{"\n[limits]\nguest_reads_per_minute = 1\n[map]\npmtiles = \"/none.pmtiles\"\n", "/none.pmtiles cannot be opened"},
	} {
		s.Configure(tt.text)
		s.Logged(refused, n+1)
		if !strings.Contains(strings.ReplaceAll(s.Log.String(), `\"`, `"`), tt.want) {
			t.Errorf("the log lacks %q:\n%s", tt.want, s.Log)
		}
	}
	guest := &systemtest.Client{Service: s}
	for range 5 {
		if _, err := guest.Near(10, 10); err != nil {
			t.Errorf("a limit of a refused file is in force: %v", err)
		}
	}
	if strings.Contains(s.Log.String(), systemtest.ReloadedLine) {
		t.Errorf("a wrong file was taken:\n%s", s.Log)
	}
}
