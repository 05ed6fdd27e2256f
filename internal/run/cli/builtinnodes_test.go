package cli

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestBuiltinSourcesOfNodes checks two nodes that share database and cache, each with a region in its own folder: both nodes show
// the camera of both regions once; its properties come from the newest region of all; and it disappears with the last of the
// regions that contain it.
func TestBuiltinSourcesOfNodes(t *testing.T) {
	t.Parallel()
	nodes, _ := startNodes(t, 2, unlimited, servers.Postgres(t).Database(t))
	var readers []*client
	for _, s := range nodes {
		readers = append(readers, &client{s: s, http: http.Client{Timeout: time.Minute}})
	}
	everywhere := func(what string, limit any, sources int) {
		t.Helper()
		began := time.Now()
		for node, c := range readers {
			withinNodes(t, fmt.Sprintf("%s: node %d", what, node), func() bool {
				_, ids := c.listSources(t)
				return len(ids) == sources && c.camera(t)["maxspeed_kmh"] == limit // camera returns nil if there are two
			})
		}
		t.Logf("%s: after %v", what, time.Since(began).Round(time.Millisecond))
	}
	stays := func(what string, limit any, sources int) { // for longer than a node takes to notice a change
		t.Helper()
		for end := time.Now().Add(7 * time.Second); time.Now().Before(end); <-time.After(100 * time.Millisecond) {
			for node, c := range readers {
				if _, ids := c.listSources(t); len(ids) != sources || c.camera(t)["maxspeed_kmh"] != limit {
					t.Fatalf("%s: node %d has %v, %v", what, node, ids, c.camera(t))
				}
			}
		}
	}
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }
	const both = 2 // cameras and chargers
	first := drawCameraTownAt(t, day(1), "First", "50")
	nodes[0].importRegion(first)
	everywhere("the first import on node 0", 50.0, both)
	nodes[1].importRegion(first)
	stays("the same import on node 1", 50.0, both)

	second := drawCameraTownAt(t, day(2), "Second", "80")
	newest := nodes[1].importRegion(second)
	everywhere("a newer region on node 1", 80.0, both)
	stays("node 0 still has the older one", 80.0, both)
	nodes[0].importRegion(second)
	stays("node 0 has the newer one too", 80.0, both)
	for node, s := range nodes {
		if log := s.log.String(); strings.Contains(log, "it is tried again") {
			t.Errorf("node %d: %s", node, log)
		}
	}

	nodes[0].cli("region", "remove", newest.ID)
	stays("removed on node 0", 80.0, both)
	nodes[1].cli("region", "remove", newest.ID)
	everywhere("removed on both", nil, 0)
	nodes[0].importRegion(first)
	everywhere("an older region on node 0, after all were removed", 50.0, both)
}

// withinNodes waits for a state that one node learns from another, such as that a region is gone.
func withinNodes(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); <-time.After(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}
