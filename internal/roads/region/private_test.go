package region

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wayside/internal/proof/testenv"
)

// bytesOf reads every byte of two large arrays, as readers do.
func bytesOf(r *Region) string { return fmt.Sprint(r.Graph.Arcs, r.Graph.Line) }

// TestServedFileIsChanged checks that readers go on when the file of their region is truncated or overwritten, that the
// region is dropped and the reason is logged, and that a good file is served afterwards (T12).
func TestServedFileIsChanged(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"shortened": func(path string) error { return os.Truncate(path, 4096) },
		"emptied":   func(path string) error { return os.Truncate(path, 0) },
		"overwritten": func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			out, err := os.OpenFile(path, os.O_WRONLY, 0) // not truncated, so that the mapping keeps its length
			if err != nil {
				return err
			}
			_, err = out.Write([]byte(strings.Repeat("\xff", int(info.Size()))))
			return errors.Join(err, out.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder, log := Folder(filepath.Join(t.TempDir(), "region")), new(testenv.Output)
			done := importStreet(t, folder, 2000)
			path := folder.Path(done.ID)
			good, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			c, _ := openCurrent(folder, "", log)
			r := c.Region()
			if r == nil {
				t.Fatal("the region is not served")
			}
			want := bytesOf(r)
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			if got := bytesOf(r); got != want {
				t.Error("a reader sees other bytes than were verified")
			}
			c.look(t.Context())
			if p := c.Problem(); c.Region() != nil || p == nil {
				t.Errorf("the region is served still; problem %+v", p)
			}
			if got := bytesOf(r); got != want {
				t.Error("a reader that kept the region sees other bytes")
			}
			if text := log.String(); !strings.Contains(text, "shortened or overwritten") || !strings.Contains(text, "rename it") {
				t.Errorf("the log does not say what happened and what to do: %s", text)
			}
			if err := os.WriteFile(path, good, 0o600); err != nil {
				t.Fatal(err)
			}
			if c.look(t.Context()); c.Region() == nil || c.Problem() != nil {
				t.Errorf("the good file is not taken: %+v", c.Problem())
			}
		})
	}
}

// TestPrivateCopiesHaveNoName verifies that serving a region adds nothing to the folder, and that the copy of a killed
// start is removed.
func TestPrivateCopiesHaveNoName(t *testing.T) {
	folder, log := Folder(filepath.Join(t.TempDir(), "region")), new(testenv.Output)
	done := importStreet(t, folder, 10)
	left := filepath.Join(string(folder), serving+"1")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := openCurrent(folder, "", log)
	if c.Region() == nil {
		t.Fatal(c.Problem())
	}
	entries, err := os.ReadDir(string(folder))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{done.ID + suffix, currentFile}; strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("the folder holds %v, want %v", names, want)
	}
}

// TestCopyEndsWithItsContext verifies that an interrupted start does not wait for the copy.
func TestCopyEndsWithItsContext(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), "region"))
	done := importStreet(t, folder, 10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := openToServe(ctx, folder.Path(done.ID), string(folder)); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}
