package postgres_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store/postgres"
)

// TestLicenceMigrationKeepsFeeds checks that migrating a database from before licences keeps its feeds, which then
// state no licence, and the privileges on its view.
func TestLicenceMigrationKeepsFeeds(t *testing.T) {
	url := postgres.Servers.Postgres(t).Database(t)
	all, err := postgres.Pending(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	conn := operator(t, url)
	run(t, conn, `CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL)`)
	const before = 9
	for _, m := range all[:before] {
		text, err := os.ReadFile("migrations/" + m.Name)
		if err != nil {
			t.Fatal(err)
		}
		run(t, conn, string(text))
		run(t, conn, `INSERT INTO schema_migrations VALUES ($1, $2)`, m.Version, m.Name)
	}
	want := mapdata.Feed{
		ID: mapdata.FeedID{2}, Owner: mapdata.AccountID{1}, Layer: mapdata.Layer{ID: "l", Slug: "s", Name: "L"},
		Name: "N", Description: "D", Attribution: "A", SpecURL: "https://example.org/", Direction: mapdata.Push,
		Visibility: mapdata.Public, Active: true, ReviewState: mapdata.Approved, CreatedAt: start, UpdatedAt: start, ApprovedOnce: true,
	}
	run(t, conn, `INSERT INTO accounts VALUES ($1, 'a@example.org', 'driver', 'account', 0)`, want.Owner[:])
	run(t, conn, `INSERT INTO feeds (id, owner, layer_id, layer_slug, layer_name, name, description, attribution, spec_url, direction, visibility,
			active, review_state, review_note, created_at, updated_at, pull_url, pull_interval_ms, last_outcome, last_error, last_rows,
			last_rejected, consecutive_failures, shrank, snapshot, snapshot_rows, entities_revision)
		VALUES ($1, $2, 'l', 's', 'L', 'N', 'D', 'A', 'https://example.org/', 'push', 'public', true, 'approved', '', $3, $3, '', 0, '', '', 0, 0, 0, false, 0, 0, 0)`,
		want.ID[:], want.Owner[:], start.UnixMilli())
	run(t, conn, `GRANT SELECT ON wayside_entities TO PUBLIC`)
	if err := postgres.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, url).Feed(t.Context(), want.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("the feed (-want +got):\n%s", diff)
	}
	var granted bool
	err = conn.QueryRow(t.Context(), `SELECT has_column_privilege('public', 'wayside_entities', 'licence', 'SELECT')`).Scan(&granted)
	if err != nil || !granted {
		t.Errorf("the privilege on the view includes licences: %v, %v", granted, err)
	}
}
