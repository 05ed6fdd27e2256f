package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// built is the path of the service's program: the one that $WAYSIDE names, which make sets, or else a new build.
var built = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("WAYSIDE"); path != "" {
		return path, nil
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(context.Background(), filepath.Join(root, ".ci", "program")).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the program: %w: %s", err, out)
	}
	return filepath.Join(root, "bin", "wayside-test"), nil
})

// moduleRoot returns the folder of go.mod, at or above the working directory.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		switch {
		case err == nil:
			return dir, nil
		case !errors.Is(err, os.ErrNotExist):
			return "", err
		case dir == filepath.Dir(dir):
			return "", errors.New("there is no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
}

// Program returns the path of the service's program, built as in the image: static, without the race detector. Under make it is
// built once for all packages. With -short it skips the test.
func Program(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: starts the real program")
	}
	path, err := built()
	if err == nil {
		_, err = os.Stat(path) // so that a cached result does not outlive the program
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
