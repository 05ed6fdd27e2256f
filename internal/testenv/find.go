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

// ErrMissing says that a server is not installed. The error around it says in one line what to install.
var ErrMissing = errors.New("not installed")

const (
	wantPostgres = "PostgreSQL 15 or later with PostGIS is needed: sudo apt-get install postgresql postgresql-postgis"
	wantCache    = "Valkey or Redis is needed: sudo apt-get install valkey-server, or redis-server"
	leastVersion = 15
)

// missing ends the test: where people work it is skipped, in CI it fails.
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

// skipShort leaves out what starts servers where only quick tests are asked for.
func skipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: starts a server")
	}
}

// postgresFolders are where distributions keep the programs of each version; programs in PATH come first.
func postgresFolders() []string {
	var all []string
	if path, err := exec.LookPath("postgres"); err == nil {
		// It may be a link by itself: the programs beside it are where it leads to.
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

// versionOf reads the number in a folder's name; 0: there is none.
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
	bin  string // folder
	says string // name and version
}

// findPostgres finds the newest that will do.
func findPostgres() (program, error) {
	for _, bin := range postgresFolders() {
		out, err := exec.CommandContext(context.Background(), filepath.Join(bin, "postgres"), "--version").Output() // postgres (PostgreSQL) 15.20 (Debian …)
		if err != nil {
			continue
		}
		says := strings.TrimSpace(string(out))
		if major(says) >= leastVersion && hasPostGIS(bin, major(says)) {
			return program{bin, says}, nil
		}
	}
	return program{}, fmt.Errorf("%w: %s", ErrMissing, wantPostgres)
}

// major is the first number of a version; 0: there is none.
func major(says string) int {
	_, version, _ := strings.Cut(says, "(PostgreSQL) ")
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
