package deploy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"wayside/internal/drive/nav/session"
	"wayside/internal/ground/geo"
	"wayside/internal/proof/testenv"
	"wayside/internal/roads/roadtest"
)

const (
	drivesPerAddress = session.MaxStreams // the most, because all sessions of an address may come to one node
	addresses        = 25
	virtualPositions = 60 // ten minutes of a position each ten seconds
)

// cluster is three nodes with one database and one cache, behind the proxy as it is shipped.
type cluster struct {
	nodes []*node
	proxy *proxy
	from  geo.Point
	to    geo.Point
}

// startCluster starts the nodes with the same region and secret key. more is added to the configuration of each.
func startCluster(t *testing.T, more string) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("starts servers and the real binary")
	}
	lookHAProxy(t)
	binary := testenv.Program(t)
	database, cache := testenv.Postgres(t), testenv.Cache(t)
	more += fmt.Sprintf("\n[database]\nurl = %q\n[cache]\nurl = %q\n", database.Database(t), cache.URL())
	road := roadtest.MapAt(t, geo.Point{Lat: 45, Lng: 9}, 900, `a---------b`, roadtest.Way("ab", "highway=secondary, name=Long Road"))
	extract := filepath.Join(t.TempDir(), "road.osm.pbf")
	if err := os.WriteFile(extract, road.PBF(t), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &cluster{from: road.Place(t, "a"), to: road.Place(t, "b")}
	var key []byte
	for i := range 3 {
		n := writeNode(t, binary, "https://map.example.org", more)
		if i == 0 {
			n.cli(t, "migrate")
		} else if err := errors.Join(os.MkdirAll(n.data(), 0o700), os.WriteFile(filepath.Join(n.data(), "secret.key"), key, 0o600)); err != nil {
			t.Fatal(err)
		}
		n.cli(t, "region", "import", extract)
		n.start(t)
		if i == 0 {
			var err error
			if key, err = os.ReadFile(filepath.Join(n.data(), "secret.key")); err != nil {
				t.Fatal(err)
			}
		}
		c.nodes = append(c.nodes, n)
	}
	c.proxy = startProxy(t, c.nodes[0].address, c.nodes[1].address, c.nodes[2].address)
	return c
}

// drivers returns clients with the addresses of several cars each.
func (c *cluster) drivers(t *testing.T, flow *traffic) []*driver {
	t.Helper()
	var drivers []*driver
	for i := range addresses {
		client := c.proxy.client(t, fmt.Sprintf("127.0.7.%d", i+1))
		for range drivesPerAddress {
			drivers = append(drivers, &driver{
				caller: client, traffic: flow,
				body: fmt.Sprintf(`{"coordinates":[[%.6f,%.6f],[%.6f,%.6f]],"steps":true`, c.from.Lng, c.from.Lat, c.to.Lng, c.to.Lat),
			})
		}
	}
	return drivers
}

// at returns where a car is after a share of the way.
func (c *cluster) at(share float64) (lat, lng float64) {
	return c.from.Lat + share*(c.to.Lat-c.from.Lat), c.from.Lng + share*(c.to.Lng-c.from.Lng)
}

// TestDrivesOnSeveralNodes guides two hundred drivers for ten minutes of driving behind the proxy, which sends each request to any
// of three nodes (F2). Then one node is killed, and another one stopped, and the test checks that the other nodes continue their
// drives, although the drivers have used up their limit of routes.
func TestDrivesOnSeveralNodes(t *testing.T) {
	speaks := filepath.Join(t.TempDir(), "speaks")
	script := "#!/bin/sh\ncat > /dev/null\nprintf 'RIFF\\377\\377\\377\\177WAVEfmt \\020\\0\\0\\0\\001\\0\\001\\0\\100\\037\\0\\0\\100\\037\\0\\0\\001\\0\\010\\0data\\377\\377\\377\\177abcdefgh'\n"
	if err := os.WriteFile(speaks, []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	c := startCluster(t, fmt.Sprintf("[speech]\ncommand = [%q, \"{language}\"]\n[limits]\nguest_routes_per_minute = %d\nguest_reads_per_minute = 1000\n", speaks, drivesPerAddress))
	flow := &traffic{statuses: make(map[string]int)}
	drivers := c.drivers(t, flow)
	began := time.Now()
	drive(t, drivers)
	eventually(t, "every driver is told the route", func() bool {
		led, _ := ledSince(drivers, make([]string, len(drivers)), began)
		return led == len(drivers)
	})
	t.Logf("%d drives are led: %v", len(drivers), flow.take())

	c.driveTenMinutes(t, drivers)
	statuses := flow.take()
	t.Logf("ten minutes of driving: %v", statuses)
	for status := range statuses {
		if status != "PUT 204" && status != "PUT 429" { // a session takes thirty at a time
			t.Errorf("%d times %s", statuses[status], status)
		}
	}
	c.checkAlerts(t, drivers)
	c.checkClips(t)
	flow.take()

	c.lose(t, drivers, flow, "a node was killed", c.nodes[0], syscall.SIGKILL)
	c.lose(t, drivers, flow, "a node was stopped", c.nodes[1], syscall.SIGTERM)
	moved := 0
	for _, d := range drivers {
		d.mu.Lock()
		moved += d.moved
		d.mu.Unlock()
	}
	if moved == 0 {
		t.Error("the node that was stopped told nobody to go elsewhere")
	}
	c.checkLogs(t, drivers)
}

// driveTenMinutes sends the positions of all drivers, each as soon as the one before is answered.
func (c *cluster) driveTenMinutes(t *testing.T, drivers []*driver) {
	t.Helper()
	var group sync.WaitGroup
	var failed atomic.Int64
	const senders = 8
	for sender := range senders {
		group.Go(func() {
			for step := range virtualPositions {
				lat, lng := c.at(0.9 * float64(step) / virtualPositions)
				for i := sender; i < len(drivers); i += senders {
					if _, err := drivers[i].position(t.Context(), lat, lng); err != nil {
						failed.Add(1)
					}
				}
			}
		})
	}
	group.Wait()
	if n := failed.Load(); n > 0 {
		t.Errorf("%d positions were not answered", n)
	}
}

// ask sends a request to one node, and returns its answer.
func (n *node) ask(t *testing.T, path string) (status int, body []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+n.address+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "map.example.org"
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}

// checkClips requests from each node the spoken form of an announcement of a route that the first node found.
func (c *cluster) checkClips(t *testing.T) {
	t.Helper()
	status, route := c.nodes[0].ask(t, fmt.Sprintf("/v2/navigation/route/v1/driving/%f,%f;%f,%f?steps=true&voice_instructions=true", c.from.Lng, c.from.Lat, c.to.Lng, c.to.Lat))
	clip := regexp.MustCompile(`/v2/navigation/speech/[\w-]+`).Find(route)
	if clip == nil {
		t.Fatalf("a route without clips: %d %s", status, route)
	}
	for i, n := range c.nodes {
		if status, body := n.ask(t, string(clip)); status != http.StatusOK || !bytes.HasSuffix(body, []byte("abcdefgh")) {
			t.Errorf("node %d does not speak what another one announces: %d", i, status)
		}
	}
}

// checkAlerts asks each node for the alerts ahead of some drivers, because all nodes must know the route of each.
func (c *cluster) checkAlerts(t *testing.T, drivers []*driver) {
	t.Helper()
	lat, lng := c.at(0.89)
	for _, d := range drivers[:5] {
		for i, n := range c.nodes {
			status, body := n.ask(t, fmt.Sprintf("/v2/alerts?lat=%.6f&lng=%.6f&heading=90&speed=15&session=%s", lat, lng, d.session()))
			var got struct{ Along string }
			err := json.Unmarshal(body, &got)
			if err != nil || got.Along != "route" {
				t.Errorf("node %d looks along %q (%d, %v), not along the session's route", i, got.Along, status, err)
			}
		}
	}
}

// lose ends a node, and waits until other nodes continue the drives of its drivers.
func (c *cluster) lose(t *testing.T, drivers []*driver, flow *traffic, what string, n *node, sig os.Signal) {
	t.Helper()
	before := make([]string, len(drivers))
	for i, d := range drivers {
		before[i] = d.session()
	}
	owned := n.drives(t)
	if owned < len(drivers)/10 {
		t.Errorf("%s, which led %d of %d drivers", what, owned, len(drivers))
	}
	began := time.Now()
	if err := n.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	var last time.Time
	eventually(t, fmt.Sprintf("%s: its %d drivers are led", what, owned), func() bool {
		var led int
		led, last = ledSince(drivers, before, began)
		return led == owned
	})
	<-n.done
	statuses := flow.take()
	t.Logf("%s: its %d drivers are led by others after %v: %v", what, owned, last.Sub(began).Round(time.Millisecond), statuses)
	if statuses["POST 429"] > 0 || statuses["POST 201"] != owned {
		t.Errorf("%s: %v", what, statuses)
	}
}

// drives returns how many drives a node holds, by its metrics.
func (n *node) drives(t *testing.T) int {
	t.Helper()
	resp, err := http.Get("http://" + n.ops + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if count, ok := strings.CutPrefix(lines.Text(), "wayside_drives "); ok {
			n, err := strconv.Atoi(count)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("a node has no metric wayside_drives")
	return 0
}

// logTime matches the time of a line of a node's log.
var logTime = regexp.MustCompile(`"time":"[^"]*",?|\btime=\S+`)

// checkLogs checks that no log contains a session's id, an address, a position or an error.
func (c *cluster) checkLogs(t *testing.T, drivers []*driver) {
	t.Helper()
	logs := [][]byte{[]byte(c.proxy.out.String())}
	for _, n := range c.nodes {
		logs = append(logs, []byte(n.out.String()))
	}
	for i, log := range logs {
		log = logTime.ReplaceAll(log, nil) // 06:01:45.008 looks like a position
		for _, secret := range []string{drivers[0].session(), drivers[len(drivers)-1].session(), "127.0.7.", "45.00", "lat"} {
			if bytes.Contains(log, []byte(secret)) {
				t.Errorf("log %d has %q:\n%s", i, secret, log)
			}
		}
		if strings.Contains(string(log), `"level":"ERROR"`) || strings.Contains(string(log), "level=ERROR") {
			t.Errorf("log %d has errors:\n%s", i, log)
		}
	}
}
