package cli

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"wayside/internal/proof/testenv"
	"wayside/internal/run/datadir"
)

// startDatabase starts a PostgreSQL server.
func startDatabase(t *testing.T) *testenv.PG {
	t.Helper()
	if testing.Short() {
		t.Skip("starts servers and the real binary")
	}
	return testenv.Postgres(t)
}

// startNodes starts count nodes with one secret key on the database and on a new cache.
func startNodes(t *testing.T, count int, config, database string) ([]*serviceProcess, *testenv.CacheServer) {
	t.Helper()
	return startNodesWith(t, slices.Repeat([]string{config}, count), database, func(*serviceProcess) {})
}

// startNodesWith starts a node for each of the configurations. It calls prepare for each node before any of them starts.
func startNodesWith(t *testing.T, configs []string, database string, prepare func(*serviceProcess)) ([]*serviceProcess, *testenv.CacheServer) {
	t.Helper()
	cache := testenv.Cache(t)
	nodes := make([]*serviceProcess, len(configs))
	for i, config := range configs {
		nodes[i] = newService(t, config+fmt.Sprintf("\n[database]\nurl = %q\n[cache]\nurl = %q\n", database, cache.URL()))
		prepare(nodes[i])
	}
	nodes[0].cli("migrate")
	nodes[0].start(nil)
	key, err := os.ReadFile(filepath.Join(nodes[0].dir, datadir.KeyFile))
	mustBe(t, err)
	for _, n := range nodes[1:] {
		mustBe(t, os.MkdirAll(n.dir, 0o700))
		mustBe(t, os.WriteFile(filepath.Join(n.dir, datadir.KeyFile), key, 0o600))
		n.start(nil)
	}
	return nodes, cache
}

// TestNodesShareLiveIncidents checks that a pin that one node fetched, and a vote cast there, reach the streams of another node
// within a second, and that an upstream is called once for drivers of several nodes.
func TestNodesShareLiveIncidents(t *testing.T) {
	one := startProvider(t, "one", `{"external_id":"first","kind":"alert.police","lat":52,"lng":5,"properties":{}}`)
	nodes, cache := startNodes(t, 2, manyVotes+one.asUpstream("incidents"), servers.Postgres(t).Database(t))
	read := func(node, radius int) *seen {
		c := &client{s: nodes[node], http: http.Client{Timeout: time.Minute}}
		resp, body := c.do(http.MethodGet, fmt.Sprintf("/v2/entities/nearby?lat=52&lng=5&radius=%d", radius), nil)
		return asSeen(t, resp, body)
	}
	events, _ := nodes[1].listenTo()
	wait(t, events, "snapshot", `"first"`)
	one.say(`{"external_id":"second","kind":"alert.accident","lat":52,"lng":5,"properties":{}}`)
	radius := 5000
	eventually(t, "the first node shows it", func() bool {
		radius += 100 // a new window key for each read, so that the upstream is called immediately
		return read(0, radius).ids() == "second"
	})
	watch := stopwatch(nodes, cache.PID())
	wait(t, events, "entity", `"second"`)
	if took := watch.Took(); took > time.Second {
		t.Errorf("the second node's stream sent the pin after %v", took)
	} else {
		t.Logf("the second node's stream sent the pin after %v", took)
	}
	driver := nodes[0].signIn("driver@example.org")
	watch = stopwatch(nodes, cache.PID())
	if resp, body := driver.do(http.MethodPost, "/v2/entities/"+read(0, 5000).pins["second"].ID+"/confirm", nil); resp.StatusCode != http.StatusOK {
		t.Fatalf("confirm: %d %s", resp.StatusCode, body)
	}
	wait(t, events, "entity", `"confirm_count":1`)
	if took := watch.Took(); took > 2*time.Second {
		t.Errorf("the second node's stream sent the vote after %v", took)
	} else {
		t.Logf("the second node's stream sent the vote after %v", took)
	}
	if v := read(1, 5000); v.ids() != "second" || v.status != "online" {
		t.Errorf("the second node shows %s, %s", v.ids(), v.status)
	}
}

// TestNodesShareRateLimits checks that a guest who alternates between nodes has one limit, plus an eighth for each node. On a busy
// machine a node may wait too long for the cache and then decide alone for a second; in that case the test repeats with the next
// guest.
func TestNodesShareRateLimits(t *testing.T) {
	nodes, _ := startNodes(t, 2, "", servers.Postgres(t).Database(t))
	for guest := range 4 {
		from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+guest))}}
		passed, began := 0, time.Now()
		for turn := range 200 {
			c := &client{s: nodes[turn%2], http: http.Client{Transport: &http.Transport{DialContext: from.DialContext, DisableKeepAlives: true}}}
			resp, body := c.do(http.MethodGet, "/v2/entities/nearby?lat=52&lng=5&radius=100", nil)
			switch resp.StatusCode {
			case http.StatusOK:
				passed++
			case http.StatusTooManyRequests:
			default:
				t.Fatalf("%d %s", resp.StatusCode, body)
			}
		}
		most := 60 + 2*7 + 1 + int(time.Since(began).Seconds())
		t.Logf("%d reads of guest %d passed at two nodes, want 60 to %d", passed, guest, most)
		if passed < 60 {
			t.Fatal("a guest got less than the limit")
		}
		if passed <= most {
			return
		}
	}
	t.Error("no guest was limited by both nodes together")
}
