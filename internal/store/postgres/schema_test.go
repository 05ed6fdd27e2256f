package postgres_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/proof/testenv"
	"wayside/internal/store/postgres"
)

// TestSchema checks that Open creates the schema of an empty database, refuses an older one until an operator migrates
// it, and leaves a newer one unchanged.
func TestSchema(t *testing.T) {
	url := postgres.Servers.Postgres(t).Database(t)
	all, err := postgres.Pending(t.Context(), url)
	if err != nil || len(all) < 5 {
		t.Fatalf("Pending of an empty database = %d, %v", len(all), err)
	}
	var nodes sync.WaitGroup
	for range 6 { // nodes that start together for the first time
		nodes.Go(func() {
			db, err := postgres.Open(t.Context(), postgres.Config{URL: url})
			if err != nil {
				t.Error(err)
				return
			}
			_ = db.Close()
		})
	}
	nodes.Wait()
	if rest, err := postgres.Pending(t.Context(), url); err != nil || len(rest) != 0 {
		t.Errorf("Pending = %v, %v; want none", rest, err)
	}

	conn := operator(t, url)
	last := all[len(all)-1]
	run(t, conn, `DELETE FROM schema_migrations WHERE version = $1`, last.Version)
	rest, err := postgres.Pending(t.Context(), url)
	if err != nil || len(rest) != 1 || rest[0].Name != last.Name {
		t.Errorf("Pending of an older one = %v, %v; want %s", rest, err, last.Name)
	}
	if _, err := postgres.Open(t.Context(), postgres.Config{URL: url}); !errors.Is(err, postgres.ErrOlder) || !strings.Contains(err.Error(), "wayside migrate") {
		t.Errorf("Open of an older one = %v, want %v", err, postgres.ErrOlder)
	}
	run(t, conn, `INSERT INTO schema_migrations VALUES ($1, 'same'), ($2, 'newer')`, last.Version, last.Version+1)
	for what, err := range map[string]error{
		"Open":    second(postgres.Open(t.Context(), postgres.Config{URL: url, Migrate: true})),
		"Pending": second(postgres.Pending(t.Context(), url)),
		"Migrate": postgres.Migrate(t.Context(), url),
	} {
		if err == nil || errors.Is(err, postgres.ErrOlder) || !strings.Contains(err.Error(), "newer") {
			t.Errorf("%s of a newer one = %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestNodeStartsDuringFirstMigration checks that the schema of an empty database appears as a whole, so that a node
// which starts while another one creates it never takes it for an older one.
func TestNodeStartsDuringFirstMigration(t *testing.T) {
	url := postgres.Servers.Postgres(t).Database(t)
	holder, watcher := operator(t, url), operator(t, url)
	// The node that creates the schema waits here when most migrations are done.
	run(t, holder, `CREATE FUNCTION hold() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
		IF to_regclass('passkeys') IS NOT NULL THEN PERFORM pg_advisory_xact_lock_shared(1); END IF; END $$`)
	run(t, holder, `CREATE EVENT TRIGGER hold ON ddl_command_end EXECUTE FUNCTION hold()`)
	run(t, holder, `SELECT pg_advisory_lock(1)`)
	opened := make(chan error, 2)
	start := func() {
		db, err := postgres.Open(t.Context(), postgres.Config{URL: url})
		if err == nil {
			err = db.Close()
		}
		opened <- err
	}
	go start()
	eventually(t, "the first node is in the middle", func() bool { return waiting(t, watcher) == 1 })
	go start()
	eventually(t, "the second node waits for the first", func() bool {
		if len(opened) > 0 {
			t.Fatalf("a node started during the first migration: %v", <-opened)
		}
		return waiting(t, watcher) == 2
	})
	run(t, holder, `SELECT pg_advisory_unlock(1)`)
	for range 2 {
		if err := <-opened; err != nil {
			t.Error(err)
		}
	}
}

// TestUnreachable checks that a server that cannot be reached is unavailable, and that no error contains the password.
func TestUnreachable(t *testing.T) {
	for _, url := range []string{
		"postgres://u:hunter2@127.0.0.1:1/db", "postgres://u:hunter2@127.0.0.1:1/db?pool_max_conns=no", "postgres://u:hunter2@[::1", "postgres://u:hunter2@host:port/",
	} {
		_, err := postgres.Open(t.Context(), postgres.Config{URL: url})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Open(%s) = %v", url, err)
		}
		if strings.HasSuffix(url, ":1/db") && !errors.Is(err, mapdata.ErrUnavailable) {
			t.Errorf("Open(%s) = %v, want mapdata.ErrUnavailable", url, err)
		}
	}
}

// TestEpoch checks that a restored database has another epoch, by which followers notice the restore.
func TestEpoch(t *testing.T) {
	server := testenv.Postgres(t, testenv.Unsynced())
	url := server.Database(t)
	db := open(t, url)
	before, err := db.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	state := func() (s mapdata.StoreState) {
		eventually(t, "the state is read", func() bool {
			s, err = db.State(t.Context())
			return err == nil
		})
		return s
	}
	if diff := cmp.Diff(before, state()); diff != "" {
		t.Error("a restart changed the state:", diff)
	}
	// These statements do the same as pg_restore: the same rows in a new table of the same name.
	conn := operator(t, url)
	run(t, conn, `CREATE TABLE copy (LIKE state INCLUDING ALL)`)
	run(t, conn, `INSERT INTO copy SELECT * FROM state`)
	run(t, conn, `DROP TABLE state`)
	run(t, conn, `ALTER TABLE copy RENAME TO state`)
	if after := state(); after.Epoch == before.Epoch || after.Revision != before.Revision {
		t.Errorf("after a restore the state is %+v, was %+v; want another epoch", after, before)
	}
}

// TestView checks the view for GIS tools against docs/operating.md.
func TestView(t *testing.T) {
	url := postgres.Servers.Migrated(t)
	db := open(t, url)
	f, hidden := newFeed(t, db, url, 1), newFeed(t, db, url, 2)
	conn := operator(t, url)
	run(t, conn, `UPDATE feeds SET review_state = 'pending' WHERE id = $1`, hidden.ID[:])
	there := entity(f, strings.Repeat("ü/?>~", 30))
	there.Lifetime = 0
	decaying := entity(f, "decaying")
	decaying.SeenAt = time.Now().Truncate(time.Millisecond).UTC()
	if err := put(t.Context(), db, f, there, decaying, entity(f, "expired")); err != nil {
		t.Fatal(err)
	}
	if err := put(t.Context(), db, hidden, entity(hidden, "hidden")); err != nil {
		t.Fatal(err)
	}
	type seen struct {
		ID, Layer, Kind, Street, Place string
		SRID                           int
		Last                           time.Time
		Expires                        *time.Time
	}
	rows, err := conn.Query(t.Context(), `SELECT id, layer, kind, properties->>'street', ST_AsText(geom), ST_SRID(geom), last_seen_at, expires_at
		FROM wayside_entities WHERE geom && ST_MakeEnvelope(3, 51, 5, 53, 4326) ORDER BY expires_at`)
	if err != nil {
		t.Fatal(err)
	}
	var got []seen
	for rows.Next() {
		var s seen
		if err := rows.Scan(&s.ID, &s.Layer, &s.Kind, &s.Street, &s.Place, &s.SRID, &s.Last, &s.Expires); err != nil {
			t.Fatal(err)
		}
		s.Last = s.Last.UTC()
		if s.Expires != nil {
			*s.Expires = s.Expires.UTC()
		}
		got = append(got, s)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	ends := decaying.SeenAt.Add(time.Hour)
	want := []seen{
		{mapdata.EntityID(f.ID.SourceID(), "decaying"), "f", there.Kind.ID(), "Damrak", "POINT(4 52)", 4326, decaying.SeenAt, &ends},
		{mapdata.EntityID(f.ID.SourceID(), there.ExternalID), "f", there.Kind.ID(), "Damrak", "POINT(4 52)", 4326, start, nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantLines(t, db, conn, f)
	var attribution, licence string
	run(t, conn, `UPDATE feeds SET attribution = '© F', licence = 'ODbL-1.0' WHERE id = $1`, f.ID[:])
	err = conn.QueryRow(t.Context(), `SELECT DISTINCT attribution, licence FROM wayside_entities`).Scan(&attribution, &licence)
	if err != nil || attribution != "© F" || licence != "ODbL-1.0" {
		t.Errorf("attribution %q, licence %q, %v; want the feed's", attribution, licence, err)
	}
}

// wantLines checks the view's columns of entities with a line, and with an end.
func wantLines(t *testing.T, db *postgres.DB, conn *pgx.Conn, f *mapdata.Feed) {
	t.Helper()
	now := time.Now().Truncate(time.Second).UTC()
	ends, lasts, ended := entity(f, "ends"), entity(f, "lasts"), entity(f, "ended")
	for _, e := range []*mapdata.Entity{&ends, &lasts, &ended} {
		e.SeenAt, e.Line = now, []geo.Point{{Lat: 52, Lng: 4}, {Lat: 60.5, Lng: 10.25}}
	}
	ends.EndsAt, lasts.EndsAt, lasts.Lifetime, ended.EndsAt = now.Add(time.Minute), now.Add(2*time.Hour), 0, now
	if err := put(t.Context(), db, f, ends, lasts, ended); err != nil {
		t.Fatal(err)
	}
	// An area that the lines touch, and that contains no point.
	rows, err := conn.Query(t.Context(), `SELECT external_id || ' ' || ST_AsText(geom_line) || ' ' || ST_SRID(geom_line) || ' ' ||
			extract(epoch FROM expires_at - $1)::bigint FROM wayside_entities
		WHERE geom_line && ST_MakeEnvelope(10, 60, 11, 61, 4326) ORDER BY 1`, now)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"ends LINESTRING(4 52,10.25 60.5) 4326 60", "lasts LINESTRING(4 52,10.25 60.5) 4326 7200"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entities with a line (-want +got):\n%s", diff)
	}
	var without int
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM wayside_entities WHERE geom_line IS NULL`).Scan(&without); err != nil || without != 2 {
		t.Errorf("%d entities have no line, %v; want 2", without, err)
	}
	run(t, conn, `SET enable_seqscan = off`) // the table is too small for an index otherwise
	plan, err := conn.Query(t.Context(), `EXPLAIN SELECT id FROM wayside_entities WHERE geom_line && ST_MakeEnvelope(10, 60, 11, 61, 4326)`)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := pgx.CollectRows(plan, pgx.RowTo[string])
	if text := strings.Join(steps, "\n"); err != nil || !strings.Contains(text, "entities_by_line") {
		t.Errorf("lines of an area are searched without their index: %v\n%s", err, text)
	}
	run(t, conn, `RESET enable_seqscan`)
}
