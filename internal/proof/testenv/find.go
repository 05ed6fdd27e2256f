package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ErrMissing means that a server is not installed. The error that wraps it names in one line what to install.
var ErrMissing = errors.New("not installed")

const (
	wantPostgres = "PostgreSQL 15 or later with PostGIS is needed: sudo apt-get install postgresql postgresql-postgis"
	wantCache    = "Valkey or Redis is needed: sudo apt-get install valkey-server, or redis-server"
	minVersion   = 15
)

// missing ends the test if err is not nil: without a server it skips the test on a developer's machine, and otherwise fails it.
func missing(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, ErrMissing) && os.Getenv("CI") != "true":
		t.Skip("SKIPPED: ", err)
	default:
		t.Fatal(err)
	}
}

// skipShort skips a test that starts servers when -short is set.
func skipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: starts a server")
	}
}

// postgresFolders returns the folders in which distributions keep the programs of each version; that of PATH comes first.
func postgresFolders() []string {
	var all []string
	if path, err := exec.LookPath("postgres"); err == nil {
		// It may be a symbolic link; the other programs are beside its target.
		if path, err = filepath.EvalSymlinks(path); err == nil {
			all = append(all, filepath.Dir(path))
		}
	}
	var installed []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin"} {
		found, err := filepath.Glob(pattern)
		if err == nil { // only a bad pattern fails
			installed = append(installed, found...)
		}
	}
	slices.SortFunc(installed, func(a, b string) int { return versionOf(b) - versionOf(a) })
	return append(all, installed...)
}

// versionOf reads the version number in a folder's name; 0 means that there is none.
func versionOf(folder string) int {
	name := filepath.Base(filepath.Dir(folder))
	n, err := strconv.Atoi(strings.TrimPrefix(name, "pgsql-"))
	if err != nil {
		return 0
	}
	return n
}

// program is an installed PostgreSQL with PostGIS.
type program struct {
	bin    string // folder
	banner string // name and version, as postgres --version prints them
}

// findPostgres finds the newest installed version that is recent enough and has PostGIS.
func findPostgres() (program, error) {
	for _, bin := range postgresFolders() {
		out, err := exec.CommandContext(context.Background(), filepath.Join(bin, "postgres"), "--version").Output() // postgres (PostgreSQL) 15.20 (Debian …)
		if err != nil {
			continue
		}
		banner := strings.TrimSpace(string(out))
		if major(banner) >= minVersion && hasPostGIS(bin, major(banner)) {
			return program{bin, banner}, nil
		}
	}
	return program{}, fmt.Errorf("%w: %s", ErrMissing, wantPostgres)
}

// major returns the first number of a version; 0 means that there is none.
func major(banner string) int {
	_, version, _ := strings.Cut(banner, "(PostgreSQL) ")
	digits := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(version)
	}
	n, err := strconv.Atoi(version[:digits])
	if err != nil {
		return 0
	}
	return n
}

func hasPostGIS(bin string, version int) bool {
	for _, share := range []string{
		"/usr/share/postgresql/" + strconv.Itoa(version), bin + "/../share/postgresql", bin + "/../share", "/usr/share/postgresql",
	} {
		if _, err := os.Stat(filepath.Join(share, "extension", "postgis.control")); err == nil {
			return true
		}
	}
	return false
}

// findCache finds Valkey, or else Redis.
func findCache() (string, error) {
	for _, name := range []string{"valkey-server", "redis-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: %s", ErrMissing, wantCache)
}
