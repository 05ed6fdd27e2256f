package cli

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"wayside/internal/run/datadir"
	"wayside/internal/store/postgres"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/storetest"
)

// step is one command with its expected output.
type step struct {
	args           string
	code           int
	stdout, stderr string
}

func steps(t *testing.T, env []string, all ...step) {
	t.Helper()
	for _, s := range all {
		code, stdout, stderr := command(t, env, strings.Fields(s.args)...)
		if code != s.code || !strings.Contains(stdout, s.stdout) || !strings.Contains(stderr, s.stderr) {
			t.Errorf("%s: code %d\nstdout: %s\nstderr: %s\nwant code %d with %q and %q", s.args, code, stdout, stderr, s.code, s.stdout, s.stderr)
		}
		for _, variable := range env {
			if url, ok := strings.CutPrefix(variable, "WAYSIDE_DATABASE_URL=postgres://wayside:"); ok {
				if password, _, _ := strings.Cut(url, "@"); strings.Contains(stdout+stderr, password) {
					t.Errorf("%s shows the password", s.args)
				}
			}
		}
	}
}

// firstStep returns the migration of the first version.
func firstStep(t *testing.T, store string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "store", store, "migrations", "0001_core.sql"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + `; CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL);
		INSERT INTO schema_migrations VALUES (1, '0001_core.sql')`
}

func operate(t *testing.T, url, statements string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.PgConn().Exec(t.Context(), statements).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

func TestMigratePostgres(t *testing.T) {
	t.Parallel()
	pg := servers.Postgres(t)
	environment := func(t *testing.T) (url string, env []string) {
		t.Helper()
		url, dir := pg.Database(t), t.TempDir()
		if _, err := datadir.SecretKey(dir); err != nil { // a node has one
			t.Fatal(err)
		}
		return url, []string{"WAYSIDE_DATA_DIR=" + dir, "WAYSIDE_DATABASE_URL=" + url}
	}
	t.Run("empty", func(t *testing.T) {
		_, env := environment(t)
		steps(t, env,
			step{"migrate --check", exitFailed, "pending: 0001_core.sql\npending: 0002_votes.sql\n", ""},
			step{"migrate --check", exitFailed, "pending: 0001_core.sql", ""}, // the check changes nothing
			step{"migrate", exitOK, "applied: 0001_core.sql\napplied: 0002_votes.sql\n", ""},
			step{"migrate --check", exitOK, "The schema is up to date.\n", ""},
			step{"migrate", exitOK, "The schema is up to date.\n", ""},
			step{"account create --email a@example.org", exitOK, "", ""},
		)
	})
	t.Run("older", func(t *testing.T) {
		url, env := environment(t)
		operate(t, url, firstStep(t, "postgres"))
		steps(t, env,
			step{"account list", exitFailed, "", "wayside migrate"},
			step{"serve --listen 127.0.0.1:0", exitFailed, "", "wayside migrate"},
			step{"migrate --check", exitFailed, "pending: 0002_votes.sql", ""},
			step{"migrate", exitOK, "applied: 0002_votes.sql", ""},
			step{"account list", exitOK, "", ""},
		)
	})
	t.Run("newer", func(t *testing.T) {
		url, env := environment(t)
		steps(t, env, step{"migrate", exitOK, "", ""})
		operate(t, url, "INSERT INTO schema_migrations VALUES (1000, '1000_later.sql')")
		for _, args := range []string{"migrate", "migrate --check", "account list", "serve --listen 127.0.0.1:0"} {
			steps(t, env, step{args, exitFailed, "", "newer"})
		}
	})
	t.Run("out of reach", func(t *testing.T) {
		steps(t, []string{"WAYSIDE_DATABASE_URL=postgres://wayside:very-secret@127.0.0.1:1/x"}, step{"migrate", exitFailed, "", "database"})
	})
}

func TestMigrateEmbedded(t *testing.T) {
	dir := t.TempDir()
	env := []string{"WAYSIDE_DATA_DIR=" + dir}
	steps(t, env, step{"migrate", exitUsage, "", "no data in"}, step{"migrate --check", exitUsage, "", "no data in"})
	path := filepath.Join(dir, datadir.DatabaseFile)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), firstStep(t, "sqlite")); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	steps(t, env,
		step{"migrate --check", exitFailed, "pending: 0002_votes.sql", ""},
		step{"migrate", exitOK, "applied: 0002_votes.sql", ""},
		step{"migrate --check", exitOK, "The schema is up to date.\n", ""},
	)
}

func TestCopy(t *testing.T) {
	pg := servers.Postgres(t)
	dir := t.TempDir()
	source, err := sqlite.Open(t.Context(), filepath.Join(dir, datadir.DatabaseFile), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	})
	storetest.Fill(t, source, 2_000)
	same := func(t *testing.T, url string) {
		t.Helper()
		db, err := postgres.Open(t.Context(), postgres.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		storetest.Same(t, source, db)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Run("words", func(t *testing.T) {
		url := pg.Database(t)
		env := []string{"WAYSIDE_DATA_DIR=" + dir, "WAYSIDE_DATABASE_URL=" + url}
		steps(t, env, step{"copy --from sqlite --to postgres", exitOK, "        2003  entities\n", ""})
		same(t, url)
		steps(t, env, step{"copy --from sqlite --to postgres", exitFailed, "", "not empty"})
	})
	t.Run("URLs", func(t *testing.T) {
		url := pg.Database(t)
		env := []string{"WAYSIDE_DATA_DIR=" + t.TempDir()}
		steps(t, env, step{fmt.Sprintf("copy --from sqlite:%s --to %s", filepath.Join(dir, datadir.DatabaseFile), url), exitOK, datadir.KeyFile, ""})
		same(t, url)
	})
	t.Run("what cannot be", func(t *testing.T) {
		url := pg.Database(t)
		env := []string{"WAYSIDE_DATA_DIR=" + dir, "WAYSIDE_DATABASE_URL=" + url}
		steps(t, env,
			step{"copy --from mysql --to postgres", exitUsage, "", "--from"},
			step{"copy --from sqlite --to sqlite", exitUsage, "", "--to"},
			step{"copy --to postgres", exitUsage, "", "--from"},
			step{"copy --from sqlite:/nowhere/wayside.db --to postgres", exitUsage, "", "no data in /nowhere"},
		)
		steps(t, env[:1], step{"copy --from sqlite --to postgres", exitUsage, "", "WAYSIDE_DATABASE_URL"})
		release, err := datadir.Lock(dir) // as a service does
		if err != nil {
			t.Fatal(err)
		}
		steps(t, env, step{"copy --from sqlite --to postgres", exitFailed, "", dir})
		if err := release(); err != nil {
			t.Fatal(err)
		}
		steps(t, env, step{"migrate --check", exitFailed, "pending: 0001_core.sql", ""}) // nothing was changed
	})
}
