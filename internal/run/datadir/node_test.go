package datadir_test

import (
	"os"
	"path/filepath"
	"testing"

	"wayside/internal/run/datadir"
)

// TestNodeName checks that a node keeps its name, and that two nodes have different names.
func TestNodeName(t *testing.T) {
	dir := t.TempDir()
	name := func(dir string) string {
		n, err := datadir.NodeName(dir)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	first := name(dir)
	if len(first) != 26 || name(dir) != first || name(t.TempDir()) == first {
		t.Errorf("the name %q is not kept, or not this node's alone", first)
	}
	if err := os.WriteFile(filepath.Join(dir, datadir.NodeFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if again := name(dir); again == "" || again == first {
		t.Errorf("a damaged file gives the name %q", again)
	}
	if _, err := datadir.NodeName(filepath.Join(dir, "missing", "folder")); err == nil {
		t.Error("no error for a folder that is missing")
	}
}
