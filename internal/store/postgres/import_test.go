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

	"wayside/internal/mapdata"
	"wayside/internal/store/postgres"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/storetest"
	"wayside/internal/testenv"
)

// grown is an embedded database that was used.
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

// spoilt is a source with something wrong in it.
type spoilt struct {
	postgres.Source
	table string
	row   func([]driver.Value) error // what becomes of the table's rows
	count int64                      // rows that it says it has more
}

func (s *spoilt) Count(ctx context.Context, table string) (int64, error) {
	n, err := s.Source.Count(ctx, table)
	if table == s.table {
		n += s.count
	}
	return n, err
}

func (s *spoilt) Rows(ctx context.Context, table string, columns []string, take func([]driver.Value) error) error {
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
	pg := testenv.Postgres(t, testenv.Unsynced())
	source := grown(t)
	into := func(t *testing.T, url string, wrap func(postgres.Source) postgres.Source) (copied []postgres.Copied, err error) {
		t.Helper()
		err = source.Snapshot(t.Context(), func(s *sqlite.Snapshot) (err error) {
			copied, err = postgres.Import(t.Context(), url, wrap(s), func(_, _ int64) {})
			return err
		})
		return copied, err
	}
	asItIs := func(s postgres.Source) postgres.Source { return s }

	t.Run("everything arrives", func(t *testing.T) {
		url := pg.Database(t)
		copied, err := into(t, url, asItIs)
		if err != nil {
			t.Fatal(err)
		}
		const filled = 16 // tables that Fill puts something into
		if n := len(slices.DeleteFunc(slices.Clone(copied), func(c postgres.Copied) bool { return c.Rows == 0 })); n < filled {
			t.Errorf("%d tables had something to copy, want %d: %+v", n, filled, copied)
		}
		db := open(t, url)
		storetest.Same(t, source, db)
		if got, err := db.Live().Get(t.Context(), []string{"tile"}); err != nil || string(got[0]) != "\x00\x01\xff" {
			t.Errorf("live cache = %v, %v", got, err)
		}
		// What numbers its rows by itself goes on.
		p := &mapdata.Pairing{DeviceHash: []byte("d"), Name: "n", CodeHash: []byte("c"), CreatedAt: start, ExpiresAt: start, State: mapdata.PairingWaiting}
		if err := db.CreatePairing(t.Context(), p); err != nil || p.ID != 3 {
			t.Errorf("the next pairing has id %d, %v; want 3", p.ID, err)
		}
		newFeed(t, db, url, 9)
		if _, err := into(t, url, asItIs); !errors.Is(err, mapdata.ErrConflict) {
			t.Errorf("a second time = %v, want a refusal", err)
		}
	})
	t.Run("an old schema is refused", func(t *testing.T) {
		url := pg.Database(t)
		open(t, url)
		run(t, operator(t, url), "DELETE FROM schema_migrations WHERE version > 1")
		if _, err := into(t, url, asItIs); !errors.Is(err, postgres.ErrOlder) {
			t.Errorf("Import = %v, want that it is to be migrated", err)
		}
	})
	t.Run("a used database is refused", func(t *testing.T) {
		for _, used := range []string{
			"INSERT INTO live VALUES ('k', 'v', 0)", "UPDATE state SET revision = 1",
		} {
			url := pg.Database(t)
			open(t, url)
			run(t, operator(t, url), used)
			if _, err := into(t, url, asItIs); !errors.Is(err, mapdata.ErrConflict) {
				t.Errorf("after %s, Import = %v, want a refusal", used, err)
			}
		}
	})
	breaks := errors.New("it breaks")
	for name, c := range map[string]struct {
		spoilt spoilt
		want   string
	}{
		"the source breaks halfway":    {spoilt{table: "votes", row: func([]driver.Value) error { return breaks }}, "it breaks"},
		"the source counts otherwise":  {spoilt{table: "entities", count: 1}, "rows were there"},
		"an id is none":                {spoilt{table: "feeds", row: func(row []driver.Value) error { row[1] = []byte("x"); return nil }}, "no uuid"},
		"a truth is none":              {spoilt{table: "sign_ins", row: func(row []driver.Value) error { row[7] = "x"; return nil }}, "no bool"},
		"a list is none":               {spoilt{table: "changes", row: func(row []driver.Value) error { row[4] = "x"; return nil }}, "row 1"},
		"a text that it cannot hold":   {spoilt{table: "accounts", row: func(row []driver.Value) error { row[1] = "secret\x00"; return nil }}, "table accounts"},
		"what belongs to nobody":       {spoilt{table: "sessions", row: func(row []driver.Value) error { row[2] = make([]byte, 16); return nil }}, "table sessions"},
		"rows that are there twice":    {spoilt{table: "live", row: nil, count: -1}, "rows were there"},
		"a number where there is none": {spoilt{table: "audit", row: func(row []driver.Value) error { row[1] = "x"; return nil }}, "table audit"},
	} {
		t.Run(name, func(t *testing.T) {
			url := pg.Database(t)
			_, err := into(t, url, func(s postgres.Source) postgres.Source {
				c.spoilt.Source = s
				return &c.spoilt
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Import = %v, want %q in it", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows what is somebody's: %v", err)
			}
			var server *pgconn.PgError
			if errors.As(err, &server) && server.Detail+server.Where != "" {
				t.Errorf("the error holds what is somebody's: %+v", server)
			}
			// Nothing is left: it can be done again.
			if _, err := into(t, url, asItIs); err != nil {
				t.Errorf("afterwards = %v", err)
			}
		})
	}
	for name, does := range map[string]string{
		"a row that changes on its way": "NEW.lat := NEW.lat + 1e-9; RETURN NEW",
		"a row that is lost on its way": "IF NEW.external_id LIKE '7%' THEN RETURN NULL; END IF; RETURN NEW",
	} {
		t.Run(name, func(t *testing.T) {
			url := pg.Database(t)
			open(t, url)
			conn := operator(t, url)
			run(t, conn, "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+does+"; END $$")
			run(t, conn, "CREATE TRIGGER spoil BEFORE INSERT ON entities FOR EACH ROW EXECUTE FUNCTION spoil()")
			if _, err := into(t, url, asItIs); err == nil || !strings.Contains(err.Error(), "arrived") {
				t.Errorf("Import = %v, want that something else arrived", err)
			}
		})
	}
	t.Run("every column is asked for", func(t *testing.T) { asksForEveryColumn(t, pg, source) })
}

// asksForEveryColumn: whatever a migration adds is not forgotten.
func asksForEveryColumn(t *testing.T, pg *testenv.PG, source *sqlite.DB) {
	asked := make(map[string]bool)
	err := source.Snapshot(t.Context(), func(s *sqlite.Snapshot) error {
		if _, err := postgres.Import(t.Context(), pg.Database(t), &noted{s, asked}, func(_, _ int64) {}); err != nil {
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

// noted notes which columns are asked for.
type noted struct {
	postgres.Source
	asked map[string]bool
}

func (n *noted) Rows(ctx context.Context, table string, columns []string, take func([]driver.Value) error) error {
	for _, c := range columns {
		n.asked[table+"."+c] = true
	}
	return n.Source.Rows(ctx, table, columns, take)
}
