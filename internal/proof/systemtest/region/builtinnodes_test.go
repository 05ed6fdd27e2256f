package region

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
)

// TestBuiltinSourcesOfNodes checks two nodes that share database and cache, each with a region in its own folder: both nodes show
// the camera of both regions once; its properties come from the newest region of all; and it disappears with the last of the
// regions that contain it.
func TestBuiltinSourcesOfNodes(t *testing.T) {
	t.Parallel()
	nodes, _ := systemtest.StartNodes(t, 2, systemtest.Unlimited, servers.Postgres(t).Database(t))
	var readers []*systemtest.Client
	for _, s := range nodes {
		readers = append(readers, &systemtest.Client{Service: s, HTTP: http.Client{Timeout: time.Minute}})
	}
	everywhere := func(what string, limit any, sources int) {
		t.Helper()
		began := time.Now()
		for node, c := range readers {
			withinNodes(t, fmt.Sprintf("%s: node %d", what, node), func() bool {
				_, ids := listSources(t, c)
				return len(ids) == sources && camera(t, c)["maxspeed_kmh"] == limit // camera returns nil if there are two
			})
		}
		t.Logf("%s: after %v", what, time.Since(began).Round(time.Millisecond))
	}
	stays := func(what string, limit any, sources int) { // for longer than a node takes to notice a change
		t.Helper()
		for end := time.Now().Add(7 * time.Second); time.Now().Before(end); <-time.After(100 * time.Millisecond) {
			for node, c := range readers {
				if _, ids := listSources(t, c); len(ids) != sources || camera(t, c)["maxspeed_kmh"] != limit {
					t.Fatalf("%s: node %d has %v, %v", what, node, ids, camera(t, c))
				}
			}
		}
	}
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }
	const both = 2 // cameras and chargers
	first := drawCameraTownAt(t, day(1), "First", "50")
	importRegion(nodes[0], first)
	everywhere("the first import on node 0", 50.0, both)
	importRegion(nodes[1], first)
	stays("the same import on node 1", 50.0, both)

	second := drawCameraTownAt(t, day(2), "Second", "80")
	newest := importRegion(nodes[1], second)
	everywhere("a newer region on node 1", 80.0, both)
	stays("node 0 still has the older one", 80.0, both)
	importRegion(nodes[0], second)
	stays("node 0 has the newer one too", 80.0, both)
	for node, s := range nodes {
		if log := s.Log.String(); strings.Contains(log, "it is tried again") {
			t.Errorf("node %d: %s", node, log)
		}
	}

	nodes[0].CLI("region", "remove", newest.ID)
	stays("removed on node 0", 80.0, both)
	nodes[1].CLI("region", "remove", newest.ID)
	everywhere("removed on both", nil, 0)
	importRegion(nodes[0], first)
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
