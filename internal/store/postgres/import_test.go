package postgres_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store/postgres"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/storetest"
)

// grown returns an embedded database with data in every table.
func grown(t *testing.T) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "wayside.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	storetest.Fill(t, db, 500)
	if _, err := db.Live().Swap(t.Context(), "tile", nil, []byte{0, 1, 255}, time.Hour); err != nil {
		t.Fatal(err)
	}
	return db
}

// faulty is a source with one fault.
type faulty struct {
	postgres.Source
	table string
	row   func([]driver.Value) error // changes the table's rows
	count int64                      // number of rows that Count adds to the true count
}

func (s *faulty) Count(ctx context.Context, table string) (int64, error) {
	n, err := s.Source.Count(ctx, table)
	if table == s.table {
		n += s.count
	}
	return n, err
}

func (s *faulty) Rows(ctx context.Context, table string, columns []string, take func([]driver.Value) error) error {
	return s.Source.Rows(ctx, table, columns, func(row []driver.Value) error {
		if table == s.table && s.row != nil {
			if err := s.row(row); err != nil {
				return err
			}
		}
		return take(row)
	})
}

func TestImport(t *testing.T) {
	source := grown(t)
	into := func(t *testing.T, url string, wrap func(postgres.Source) postgres.Source) (copied []postgres.Copied, err error) {
		t.Helper()
		err = source.Snapshot(t.Context(), func(s *sqlite.Snapshot) (err error) {
			copied, err = postgres.Import(t.Context(), url, wrap(s), func(_, _ int64) {})
			return err
		})
		return copied, err
	}
	unchanged := func(s postgres.Source) postgres.Source { return s }

	t.Run("everything arrives", func(t *testing.T) {
		url := postgres.Servers.Postgres(t).Database(t) // Import creates the tables
		copied, err := into(t, url, unchanged)
		if err != nil {
			t.Fatal(err)
		}
		const filled = 16 // tables with rows from Fill
		if n := len(slices.DeleteFunc(slices.Clone(copied), func(c postgres.Copied) bool { return c.Rows == 0 })); n < filled {
			t.Errorf("%d tables had something to copy, want %d: %+v", n, filled, copied)
		}
		db := open(t, url)
		storetest.Same(t, source, db)
		if got, err := db.Live().Get(t.Context(), []string{"tile"}); err != nil || string(got[0]) != "\x00\x01\xff" {
			t.Errorf("live cache = %v, %v", got, err)
		}
		// The sequences of ids continue after the copied rows.
		p := &mapdata.Pairing{DeviceHash: []byte("d"), Name: "n", CodeHash: []byte("c"), CreatedAt: start, ExpiresAt: start, State: mapdata.PairingWaiting}
		if err := db.CreatePairing(t.Context(), p); err != nil || p.ID != 3 {
			t.Errorf("the next pairing has id %d, %v; want 3", p.ID, err)
		}
		newFeed(t, db, url, 9)
		if _, err := into(t, url, unchanged); !errors.Is(err, mapdata.ErrConflict) {
			t.Errorf("second Import = %v, want a refusal", err)
		}
	})
	t.Run("an old schema is refused", func(t *testing.T) {
		url := postgres.Servers.Migrated(t)
		open(t, url)
		run(t, operator(t, url), "DELETE FROM schema_migrations WHERE version > 1")
		if _, err := into(t, url, unchanged); !errors.Is(err, postgres.ErrOlder) {
			t.Errorf("Import = %v, want ErrOlder", err)
		}
	})
	t.Run("a used database is refused", func(t *testing.T) {
		for _, used := range []string{
			"INSERT INTO live VALUES ('k', 'v', 0)", "UPDATE state SET revision = 1",
		} {
			url := postgres.Servers.Migrated(t)
			open(t, url)
			run(t, operator(t, url), used)
			if _, err := into(t, url, unchanged); !errors.Is(err, mapdata.ErrConflict) {
				t.Errorf("after %s, Import = %v, want a refusal", used, err)
			}
		}
	})
	breaks := errors.New("it breaks")
	for name, c := range map[string]struct {
		faulty faulty
		want   string
	}{
		"the source fails halfway":        {faulty{table: "votes", row: func([]driver.Value) error { return breaks }}, "it breaks"},
		"the source counts too many rows": {faulty{table: "entities", count: 1}, "rows were there"},
		"an invalid id":                   {faulty{table: "feeds", row: func(row []driver.Value) error { row[1] = []byte("x"); return nil }}, "no uuid"},
		"an invalid boolean":              {faulty{table: "sign_ins", row: func(row []driver.Value) error { row[7] = "x"; return nil }}, "no bool"},
		"an invalid list":                 {faulty{table: "changes", row: func(row []driver.Value) error { row[4] = "x"; return nil }}, "row 1"},
		"a text with a NUL":               {faulty{table: "accounts", row: func(row []driver.Value) error { row[1] = "secret\x00"; return nil }}, "table accounts"},
		"a session of an unknown account": {faulty{table: "sessions", row: func(row []driver.Value) error { row[2] = make([]byte, 16); return nil }}, "table sessions"},
		"the source counts too few rows":  {faulty{table: "live", row: nil, count: -1}, "rows were there"},
		"a text in a column of numbers":   {faulty{table: "audit", row: func(row []driver.Value) error { row[1] = "x"; return nil }}, "table audit"},
	} {
		t.Run(name, func(t *testing.T) {
			url := postgres.Servers.Migrated(t)
			_, err := into(t, url, func(s postgres.Source) postgres.Source {
				c.faulty.Source = s
				return &c.faulty
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Import = %v, want %q in it", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows personal data: %v", err)
			}
			var server *pgconn.PgError
			if errors.As(err, &server) && server.Detail+server.Where != "" {
				t.Errorf("the error holds personal data: %+v", server)
			}
			// The failed import left nothing behind, so another one succeeds.
			if _, err := into(t, url, unchanged); err != nil {
				t.Errorf("Import afterwards = %v", err)
			}
		})
	}
	for name, does := range map[string]string{
		"a row that is changed by a trigger": "NEW.lat := NEW.lat + 1e-9; RETURN NEW",
		"a row that is dropped by a trigger": "IF NEW.external_id LIKE '7%' THEN RETURN NULL; END IF; RETURN NEW",
	} {
		t.Run(name, func(t *testing.T) {
			url := postgres.Servers.Migrated(t)
			open(t, url)
			conn := operator(t, url)
			run(t, conn, "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+does+"; END $$")
			run(t, conn, "CREATE TRIGGER spoil BEFORE INSERT ON entities FOR EACH ROW EXECUTE FUNCTION spoil()")
			if _, err := into(t, url, unchanged); err == nil || !strings.Contains(err.Error(), "arrived") {
				t.Errorf("Import = %v, want an error about what arrived", err)
			}
		})
	}
	t.Run("every column is copied", func(t *testing.T) { copiesEveryColumn(t, source) })
}

// copiesEveryColumn checks that Import also copies the columns that a migration adds.
func copiesEveryColumn(t *testing.T, source *sqlite.DB) {
	asked := make(map[string]bool)
	err := source.Snapshot(t.Context(), func(s *sqlite.Snapshot) error {
		if _, err := postgres.Import(t.Context(), postgres.Servers.Migrated(t), &recorder{s, asked}, func(_, _ int64) {}); err != nil {
			return err
		}
		tables, err := s.Tables(t.Context())
		for _, table := range tables {
			err = errors.Join(err, s.Rows(t.Context(), "pragma_table_info('"+table+"')", []string{"name"}, func(row []driver.Value) error {
				column := table + "." + row[0].(string)
				own := strings.HasPrefix(column, "schema_migrations.") || column == "state.id" || column == "state.epoch"
				if !own && !asked[column] {
					t.Errorf("%s is not copied", column)
				}
				return nil
			}))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// recorder records which columns Import reads.
type recorder struct {
	postgres.Source
	asked map[string]bool
}

func (r *recorder) Rows(ctx context.Context, table string, columns []string, take func([]driver.Value) error) error {
	for _, c := range columns {
		r.asked[table+"."+c] = true
	}
	return r.Source.Rows(ctx, table, columns, take)
}
