package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/mapdata"
	"wayside/internal/store/migrate"
)

// TestFeedsOutliveTheLicence: a database of the version before licences keeps its feeds, which state none.
func TestFeedsOutliveTheLicence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wayside.db")
	all, err := migrate.Read(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	old, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	begin := func(ctx context.Context) (*sql.Tx, error) { return old.BeginTx(ctx, nil) }
	const before = 9
	if err := migrate.Run(t.Context(), begin, recordMigration, all[:before]); err != nil {
		t.Fatal(err)
	}
	want := mapdata.Feed{
		ID: mapdata.FeedID{2}, Owner: mapdata.AccountID{1}, Layer: mapdata.Layer{ID: "l", Slug: "s", Name: "L"},
		Name: "N", Description: "D", Attribution: "A", SpecURL: "https://example.org/", Direction: mapdata.Push,
		Visibility: mapdata.Public, Active: true, ReviewState: mapdata.Approved, CreatedAt: start, UpdatedAt: start,
	}
	for statement, args := range map[string][]any{
		`PRAGMA foreign_keys = OFF`: nil,
		`INSERT INTO feeds (id, owner, layer_id, layer_slug, layer_name, name, description, attribution, spec_url, direction, visibility,
			active, review_state, review_note, created_at, updated_at, pull_url, pull_interval_ms, last_outcome, last_error, last_rows,
			last_rejected, consecutive_failures, shrank, snapshot, snapshot_rows, entities_revision)
		VALUES (?1, ?2, 'l', 's', 'L', 'N', 'D', 'A', 'https://example.org/', 'push', 'public', 1, 'approved', '', ?3, ?3, '', 0, '', '', 0, 0, 0, 0, 0, 0, 0)`: {
			want.ID[:], want.Owner[:], start.UnixMilli(),
		},
	} {
		if _, err := old.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := openAt(t, path, Options{}).Feed(t.Context(), want.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("the feed (-want +got):\n%s", diff)
	}
}
