package cli

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
	"syscall"
	"testing"
	"time"

	"wayside/internal/proof/testenv"
)

// configure replaces the configuration of a running service and asks the service to read it.
func (s *serviceProcess) configure(text string) {
	s.t.Helper()
	full := fmt.Sprintf("data_dir = %q\n%s\n[http]\nlisten = \"127.0.0.1:0\"\n", s.dir, text)
	if err := os.WriteFile(s.file, []byte(full), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		s.t.Fatal(err)
	}
}

// logged waits for the n-th occurrence of a text in the log.
func (s *serviceProcess) logged(text string, n int) {
	s.t.Helper()
	eventually(s.t, "the log says "+text, func() bool { return strings.Count(s.log.String(), text) >= n })
}

// watchStream writes the events of a stream to events until it ends with the service.
func watchStream(base string, events *testenv.Output) {
	resp, err := http.Get(fmt.Sprintf("%s/v2/stream?lat=%f&lng=%f&radius=1000", base, sceneLat, sceneLng))
	if err != nil {
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(events, resp.Body)
}

const reloadedLine = "the configuration was reloaded"

// TestReload changes limits, law, upstreams and map of a running service by SIGHUP under constant reads, and checks that no request
// fails, and that each change is in force immediately, on open streams too.
func TestReload(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-time.After(5 * time.Millisecond) // so that calls are under way at each reload
		_, _ = w.Write([]byte(`{"entities":[` + incident("live", "alert.police", 100, "") + `]}`))
	}))
	t.Cleanup(upstream.Close)
	lawFile := filepath.Join(t.TempDir(), "law.geojson")
	hide := `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"here","hide":["camera.speed"]},"geometry":` +
		`{"type":"Polygon","coordinates":[[[-180,-90],[0,-90],[180,-90],[180,90],[0,90],[-180,90],[-180,-90]]]}}]}`
	if err := os.WriteFile(lawFile, []byte(hide), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startService(t, unlimited)
	owner := s.signIn("owner@example.org")
	f := owner.register("Cameras")
	if resp, body := owner.do(http.MethodPost, "/v2/feeds/"+f.token+"/entities", rowsAt(sceneLat, sceneLng, "a", 3)); resp.StatusCode != http.StatusOK {
		t.Fatalf("push: %d %s", resp.StatusCode, body)
	}
	guest := &client{s: s}
	near := func() string {
		ids, err := guest.near(sceneLat, sceneLng)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(ids, ",")
	}
	eventually(t, "guests see the cameras", func() bool { return near() == "a-0,a-1,a-2" })

	var stopped atomic.Bool
	var readers sync.WaitGroup
	var reads atomic.Int64
	for range 4 {
		readers.Go(func() {
			c := &client{s: s, http: http.Client{Timeout: time.Minute, Transport: &http.Transport{}}}
			for !stopped.Load() {
				if _, err := c.near(sceneLat, sceneLng); err != nil {
					t.Errorf("a read during reloads: %v", err)
					return
				}
				reads.Add(1)
			}
		})
	}
	var events testenv.Output
	go watchStream(s.base, &events)
	eventually(t, "the stream begins", func() bool { return strings.Contains(events.String(), "event: snapshot") })
	withUpstream := unlimited + upstreamTable("city", upstream.URL, "s", "incidents")
	s.configure(withUpstream)
	s.logged(reloadedLine, 1)
	eventually(t, "the new upstream is read", func() bool { return strings.Contains(near(), "live") })
	s.configure(withUpstream + fmt.Sprintf("\n[law]\nfile = %q\n", lawFile))
	s.logged(reloadedLine, 2)
	eventually(t, "the law hides the cameras", func() bool { return near() == "live" })
	eventually(t, "the open stream loses the cameras", func() bool { return strings.Count(events.String(), "event: gone") == 3 })
	for n := 3; n < 10; n++ {
		s.configure(withUpstream)
		s.logged(reloadedLine, n)
	}
	eventually(t, "the cameras are back", func() bool { return strings.Contains(near(), "a-0") })
	s.configure(unlimited)
	s.logged(reloadedLine, 10)
	eventually(t, "the upstream is gone", func() bool { return near() == "a-0,a-1,a-2" })
	stopped.Store(true)
	readers.Wait()
	if reads.Load() < 20 { // a busy machine answers few
		t.Errorf("only %d reads were made meanwhile", reads.Load())
	}
	s.configure(strings.Replace(unlimited, "guest_reads_per_minute = 1000000", "guest_reads_per_minute = 1", 1) + "\n[mail]\nfrom = \"new@example.org\"\n")
	s.logged(reloadedLine, 11)
	eventually(t, "the new limit holds", func() bool {
		resp, _ := guest.do(http.MethodGet, fmt.Sprintf("/v2/entities/nearby?lat=%f&lng=%f&radius=1000", sceneLat, sceneLng), nil)
		return resp.StatusCode == http.StatusTooManyRequests
	})
	s.logged(`"keys":["mail.from"]`, 1)
	if err := s.terminate(); err != nil {
		t.Errorf("exit: %v\n%s", err, s.log)
	}
}

// TestReloadOfStorageLimits checks that a reload changes the bounds of a feed, for its next push and on its page.
func TestReloadOfStorageLimits(t *testing.T) {
	t.Parallel()
	limits := func(entities int) string {
		return strings.Replace(unlimited, "\nentities_per_feed = 0", fmt.Sprintf("\nentities_per_feed = %d", entities), 1)
	}
	s := startService(t, limits(2))
	owner := s.signIn("owner@example.org")
	f := owner.register("Cameras")
	push := func() string {
		t.Helper()
		resp, body := owner.do(http.MethodPost, "/v2/feeds/"+f.token+"/entities", rowsAt(sceneLat, sceneLng, "a", 3))
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("push: %d %s", resp.StatusCode, body)
		}
		return string(body)
	}
	if body := push(); !strings.Contains(body, "feed_full") {
		t.Errorf("three rows into a feed that may hold two: %s", body)
	}
	s.configure(limits(3))
	s.logged(reloadedLine, 1)
	if body := push(); strings.Contains(body, "feed_full") {
		t.Errorf("three rows into a feed that may hold three: %s", body)
	}
	if _, body := owner.do(http.MethodGet, "/v2/feeds/"+f.id, nil); !strings.Contains(string(body), `"entity_limit":3`) {
		t.Errorf("the feed: %s", body)
	}
}

// TestReloadOfWrongFile checks that a wrong file changes nothing, and that the log has the line.
func TestReloadOfWrongFile(t *testing.T) {
	t.Parallel()
	s := startService(t, unlimited)
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
		s.configure(tt.text)
		s.logged(refused, n+1)
		if !strings.Contains(strings.ReplaceAll(s.log.String(), `\"`, `"`), tt.want) {
			t.Errorf("the log lacks %q:\n%s", tt.want, s.log)
		}
	}
	guest := &client{s: s}
	for range 5 {
		if _, err := guest.near(10, 10); err != nil {
			t.Errorf("a limit of a refused file is in force: %v", err)
		}
	}
	if strings.Contains(s.log.String(), reloadedLine) {
		t.Errorf("a wrong file was taken:\n%s", s.log)
	}
}
