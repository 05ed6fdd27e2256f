//go:build unix

package region

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"wayside/internal/proof/testenv"
)

func wantMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has the mode %o, want %o", filepath.Base(path), got, want)
	}
}

// TestRegionsAreTheServicesAlone checks the modes of the files that an import makes, and of those of an earlier version
// (T8).
func TestRegionsAreTheServicesAlone(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), "region"))
	done := importStreet(t, folder, 10)
	files := []string{folder.Path(done.ID), filepath.Join(string(folder), currentFile)}
	want := func(dir, file fs.FileMode) {
		t.Helper()
		wantMode(t, string(folder), dir)
		for _, path := range files {
			wantMode(t, path, file)
		}
	}
	chmod := func(dir, file fs.FileMode) {
		t.Helper()
		for _, path := range files {
			if err := os.Chmod(path, file); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(string(folder), dir); err != nil {
			t.Fatal(err)
		}
	}
	want(0o700, 0o600)

	chmod(0o755, 0o644) // as made by earlier versions
	openCurrent(folder, "", new(testenv.Output))
	want(0o700, 0o600)

	chmod(0o750, 0o600) // as set by an operator who opens it to a group
	openCurrent(folder, "", new(testenv.Output))
	want(0o750, 0o600)
	importStreet(t, folder, 10)
	want(0o750, 0o640)
}

// TestRootImportsForTheService verifies that the account of the service owns what root imported.
func TestRootImportsForTheService(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	const service = 12345
	data := t.TempDir()
	if err := os.Chown(data, service, service); err != nil {
		t.Fatal(err)
	}
	folder := Folder(filepath.Join(data, "region"))
	done := importStreet(t, folder, 10)
	for _, path := range []string{string(folder), folder.Path(done.ID), filepath.Join(string(folder), currentFile)} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != service || stat.Gid != service {
			t.Errorf("%s belongs to %+v", filepath.Base(path), info.Sys())
		}
	}
}
