package store

import "wayside/internal/ground/mapdata"

// FeedColumns are the columns that ScanFeed scans, in its order.
const FeedColumns = `id, owner, layer_id, layer_slug, layer_name, name, description, attribution, licence, spec_url,
	direction, visibility, active, review_state, review_note, created_at, updated_at,
	push_token_hash, pull_url, pull_auth_sealed, pull_interval_ms,
	next_fetch_at, last_fetched_at, last_outcome, last_error, last_rows, last_rejected,
	consecutive_failures, shrank, body_hash, last_push_at, snapshot_at, snapshot, entities_revision, generation,
	stored_entities, stored_bytes, approved_once, proposed,
	paused_by, pause_reason, paused_at, maintainers,
	format, mapping, status_url, time_zone, charger_network, last_skipped, last_skips, validators`

// forChange is the lock strength of a transaction that is about to change a feed or its entities.
const forChange = "NO KEY UPDATE"

const (
	// SelectFeed selects the feed $1.
	SelectFeed = `SELECT ` + FeedColumns + ` FROM feeds WHERE id = $1`

	selectFeedByPushToken = `SELECT ` + FeedColumns + ` FROM feeds
		WHERE push_token_hash = $1 AND direction = 'push' AND active AND paused_by = ''`

	selectFeedsOfOwner = `SELECT ` + FeedColumns + ` FROM feeds WHERE owner = $1 ORDER BY created_at, id`

	selectFeedsOfOwnerAndServed = `SELECT ` + FeedColumns + ` FROM feeds
		WHERE owner = $1 OR id IN (SELECT feed_id FROM feed_maintainers WHERE account = $1)
			OR (visibility = 'public' AND review_state = 'approved' AND paused_by = '') ORDER BY created_at, id`

	selectAllFeeds = `SELECT ` + FeedColumns + ` FROM feeds ORDER BY created_at, id`

	countFeedsOfOwner = `SELECT COUNT(*) FROM feeds WHERE owner = $1`
	selectSlugTaken   = `SELECT EXISTS (SELECT 1 FROM feeds WHERE layer_slug = $1)`

	insertFeed = `INSERT INTO feeds (` + FeedColumns + `, snapshot_rows)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25,
			$26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43,
			$44, $45, $46, $47, $48, $49, $50, $51, 0)`

	updateFeed = `UPDATE feeds SET
			layer_name = $2, name = $3, description = $4, attribution = $5, licence = $6, spec_url = $7,
			visibility = $8, active = $9, review_state = $10, review_note = $11, approved_once = approved_once OR $10 = 'approved', updated_at = $12,
			push_token_hash = $13, pull_url = $14, pull_auth_sealed = $15, pull_interval_ms = $16,
			next_fetch_at = $17, consecutive_failures = $18, proposed = $20, paused_by = $21, pause_reason = $22, paused_at = $23,
			owner = $24, maintainers = $25,
			format = $26, mapping = $27, status_url = $28, time_zone = $29, charger_network = $30,
			-- A feed whose polls change is free to be claimed again: the poll under way no longer counts.
			generation = $19, lease_owner = CASE generation WHEN $19 THEN lease_owner END,
			lease_until = CASE generation WHEN $19 THEN lease_until END
		WHERE id = $1 RETURNING ` + FeedColumns

	deleteFeed         = `DELETE FROM feeds WHERE id = $1 RETURNING owner, stored_bytes`
	deleteAttemptsOf   = `DELETE FROM attempts WHERE feed_id = $1` // also where the tables are distributed, and nothing cascades
	deleteRejectionsOf = `DELETE FROM rejections WHERE feed_id = $1`
	insertDeletedFeed  = `INSERT INTO deleted_feeds (id) VALUES ($1)`
	selectFeedExists   = `SELECT 1 FROM feeds WHERE id = $1`
	selectSnapshotAtOf = `SELECT snapshot_at FROM feeds WHERE id = $1`

	countLiveEntities = `SELECT COUNT(*) FROM entities
		WHERE feed_id = $1 AND (lifetime_ms = 0 OR COALESCE(seen_at, $2) + lifetime_ms > $3)
			AND (ends_at IS NULL OR ends_at > $3)`
)

// SourceOf returns an expression for the source id of the feed whose id is the text of an expression.
func SourceOf(feedText string) string {
	builtin := ""
	for _, id := range mapdata.BuiltinFeeds() {
		builtin += " WHEN '" + id.String() + "' THEN '" + string(id.SourceID()) + "'"
	}
	return "CASE " + feedText + builtin + " ELSE 'feed:' || " + feedText + " END"
}
