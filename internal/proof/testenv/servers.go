package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Servers are shared by all tests of a package: each starts when a test first asks for it, because starting one takes longer than
// most tests, and ends after the package's last test. A test that stops, pauses or reconfigures a server starts a separate one with
// Postgres or Cache.
type Servers struct {
	// Migrate creates the schema in the database that Migrated copies.
	Migrate func(ctx context.Context, databaseURL string) error

	postgres, cache, template sync.Once

	pg    *PG
	valk  *CacheServer
	pgErr error // of starting pg
	cErr  error // of starting valk
	tErr  error // of making the template
}

// templateDatabase is the database that Migrated copies.
const templateDatabase = "migrated"

// Run runs the package's tests, ends the servers and returns the exit code: for TestMain.
func (s *Servers) Run(m *testing.M) int {
	code := m.Run()
	var err error
	if s.pg != nil {
		err = s.pg.Close()
	}
	if s.valk != nil {
		err = errors.Join(err, s.valk.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "end the shared servers:", err)
		return max(code, 1)
	}
	return code
}

// Postgres returns the package's PostgreSQL server, which is Unsynced. If PostgreSQL is missing it skips the test, or in CI fails
// it.
func (s *Servers) Postgres(t testing.TB) *PG {
	t.Helper()
	skipShort(t)
	s.postgres.Do(func() { s.pg, s.pgErr = StartPostgres(Unsynced()) })
	missing(t, s.pgErr)
	if !s.pg.running() {
		t.Fatal("another test stopped the shared PostgreSQL server")
	}
	return s.pg
}

// Migrated makes a database with the schema of Migrate and returns its URL. The database is a copy, which takes a fraction of the
// migrations' time, and is dropped after the test.
func (s *Servers) Migrated(t testing.TB) string {
	t.Helper()
	pg := s.Postgres(t)
	s.template.Do(func() {
		ctx := context.Background()
		if s.tErr = pg.exec(ctx, "CREATE DATABASE "+templateDatabase+" TEMPLATE template1"); s.tErr == nil {
			s.tErr = s.Migrate(ctx, pg.url(templateDatabase))
		}
	})
	if s.tErr != nil {
		t.Fatalf("make the migrated database: %v", s.tErr)
	}
	return pg.copyOf(t, templateDatabase)
}

// Cache returns the package's cache server, emptied. If none is installed it skips the test, or in CI fails it.
func (s *Servers) Cache(t testing.TB) *CacheServer {
	t.Helper()
	skipShort(t)
	s.cache.Do(func() { s.valk, s.cErr = StartCache() })
	missing(t, s.cErr)
	if err := s.valk.Empty(); err != nil {
		t.Fatalf("empty the shared cache: %v", err)
	}
	return s.valk
}
