package cluster

import (
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
)

// startDatabase starts a PostgreSQL server.
func startDatabase(t *testing.T) *testenv.PG {
	t.Helper()
	if testing.Short() {
		t.Skip("starts servers and the real binary")
	}
	return testenv.Postgres(t)
}

// TestNodesShareLiveIncidents checks that a pin that one node fetched, and a vote cast there, reach the streams of another node
// within a second, and that an upstream is called once for drivers of several nodes.
func TestNodesShareLiveIncidents(t *testing.T) {
	one := systemtest.StartProvider(t, "one", `{"external_id":"first","kind":"alert.police","lat":52,"lng":5,"properties":{}}`)
	nodes, cache := systemtest.StartNodes(t, 2, systemtest.ManyVotes+one.AsUpstream("incidents"), servers.Postgres(t).Database(t))
	read := func(node, radius int) *systemtest.Seen {
		c := &systemtest.Client{Service: nodes[node], HTTP: http.Client{Timeout: time.Minute}}
		resp, body := c.Do(http.MethodGet, fmt.Sprintf("/v2/entities/nearby?lat=52&lng=5&radius=%d", radius), nil)
		return systemtest.AsSeen(t, resp, body)
	}
	events, _ := nodes[1].ListenTo()
	systemtest.WaitFor(t, events, "snapshot", `"first"`)
	one.Say(`{"external_id":"second","kind":"alert.accident","lat":52,"lng":5,"properties":{}}`)
	radius := 5000
	systemtest.Eventually(t, "the first node shows it", func() bool {
		radius += 100 // a new window key for each read, so that the upstream is called immediately
		return read(0, radius).IDs() == "second"
	})
	watch := systemtest.Stopwatch(nodes, cache.PID())
	systemtest.WaitFor(t, events, "entity", `"second"`)
	if took := watch.Took(); took > time.Second {
		t.Errorf("the second node's stream sent the pin after %v", took)
	} else {
		t.Logf("the second node's stream sent the pin after %v", took)
	}
	driver := nodes[0].SignIn("driver@example.org")
	watch = systemtest.Stopwatch(nodes, cache.PID())
	if resp, body := driver.Do(http.MethodPost, "/v2/entities/"+read(0, 5000).Pins["second"].ID+"/confirm", nil); resp.StatusCode != http.StatusOK {
		t.Fatalf("confirm: %d %s", resp.StatusCode, body)
	}
	systemtest.WaitFor(t, events, "entity", `"confirm_count":1`)
	if took := watch.Took(); took > 2*time.Second {
		t.Errorf("the second node's stream sent the vote after %v", took)
	} else {
		t.Logf("the second node's stream sent the vote after %v", took)
	}
	if v := read(1, 5000); v.IDs() != "second" || v.Status != "online" {
		t.Errorf("the second node shows %s, %s", v.IDs(), v.Status)
	}
}

// TestNodesShareRateLimits checks that a guest who alternates between nodes has one limit, plus an eighth for each node. On a busy
// machine a node may wait too long for the cache and then decide alone for a second; in that case the test repeats with the next
// guest.
func TestNodesShareRateLimits(t *testing.T) {
	nodes, _ := systemtest.StartNodes(t, 2, "", servers.Postgres(t).Database(t))
	for guest := range 4 {
		from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+guest))}}
		passed, began := 0, time.Now()
		for turn := range 200 {
			c := &systemtest.Client{Service: nodes[turn%2], HTTP: http.Client{Transport: &http.Transport{DialContext: from.DialContext, DisableKeepAlives: true}}}
			resp, body := c.Do(http.MethodGet, "/v2/entities/nearby?lat=52&lng=5&radius=100", nil)
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
