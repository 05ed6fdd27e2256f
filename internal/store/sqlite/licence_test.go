package sqlite

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
)

// TestLicenceMigrationKeepsFeeds checks that migrating a database from before licences keeps its feeds, which then
// state no licence.
func TestLicenceMigrationKeepsFeeds(t *testing.T) {
	want := mapdata.Feed{
		ID: mapdata.FeedID{2}, Owner: mapdata.AccountID{1}, Layer: mapdata.Layer{ID: "l", Slug: "s", Name: "L"},
		Name: "N", Description: "D", Attribution: "A", SpecURL: "https://example.org/", Direction: mapdata.Push,
		Visibility: mapdata.Public, Active: true, ReviewState: mapdata.Approved, CreatedAt: start, UpdatedAt: start, ApprovedOnce: true,
	}
	const before = 9
	db := openOlder(t, before, `INSERT INTO feeds (id, owner, layer_id, layer_slug, layer_name, name, description, attribution, spec_url, direction, visibility,
			active, review_state, review_note, created_at, updated_at, pull_url, pull_interval_ms, last_outcome, last_error, last_rows,
			last_rejected, consecutive_failures, shrank, snapshot, snapshot_rows, entities_revision)
		VALUES (?1, ?2, 'l', 's', 'L', 'N', 'D', 'A', 'https://example.org/', 'push', 'public', 1, 'approved', '', ?3, ?3, '', 0, '', '', 0, 0, 0, 0, 0, 0, 0)`,
		want.ID[:], want.Owner[:], start.UnixMilli())
	got, err := db.Feed(t.Context(), want.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("the feed (-want +got):\n%s", diff)
	}
}
