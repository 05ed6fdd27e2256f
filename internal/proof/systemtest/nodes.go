package systemtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"wayside/internal/proof/testenv"
	"wayside/internal/run/datadir"
)

// StartNodes starts count nodes with one secret key on the database and on a new cache.
func StartNodes(t *testing.T, count int, config, database string) ([]*Service, *testenv.CacheServer) {
	t.Helper()
	return StartNodesWith(t, slices.Repeat([]string{config}, count), database, func(*Service) {})
}

// StartNodesWith starts a node for each of the configurations. It calls prepare for each node before any of them starts.
func StartNodesWith(t *testing.T, configs []string, database string, prepare func(*Service)) ([]*Service, *testenv.CacheServer) {
	t.Helper()
	cache := testenv.Cache(t)
	nodes := make([]*Service, len(configs))
	for i, config := range configs {
		nodes[i] = NewService(t, config+fmt.Sprintf("\n[database]\nurl = %q\n[cache]\nurl = %q\n", database, cache.URL()))
		prepare(nodes[i])
	}
	nodes[0].CLI("migrate")
	nodes[0].Start(nil)
	key, err := os.ReadFile(filepath.Join(nodes[0].Dir, datadir.KeyFile))
	Must(t, err)
	for _, n := range nodes[1:] {
		Must(t, os.MkdirAll(n.Dir, 0o700))
		Must(t, os.WriteFile(filepath.Join(n.Dir, datadir.KeyFile), key, 0o600))
		n.Start(nil)
	}
	return nodes, cache
}
