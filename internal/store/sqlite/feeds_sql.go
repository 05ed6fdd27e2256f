package sqlite

// feedColumns are what scanFeed takes, in its order.
const feedColumns = `id, owner, layer_id, layer_slug, layer_name, name, description, attribution, licence, spec_url,
	direction, visibility, active, review_state, review_note, created_at, updated_at,
	push_token_hash, pull_url, pull_auth_sealed, pull_interval_ms,
	next_fetch_at, last_fetched_at, last_outcome, last_error, last_rows, last_rejected,
	consecutive_failures, shrank, body_hash, last_push_at, snapshot_at, snapshot, entities_revision, generation`

const (
	selectFeed = `SELECT ` + feedColumns + ` FROM feeds WHERE id = ?`

	selectFeedByPushToken = `SELECT ` + feedColumns + ` FROM feeds
		WHERE push_token_hash = ? AND direction = 'push' AND active = 1`

	selectFeedsOfOwner = `SELECT ` + feedColumns + ` FROM feeds WHERE owner = ? ORDER BY created_at, id`

	selectFeedsOfOwnerAndServed = `SELECT ` + feedColumns + ` FROM feeds
		WHERE owner = ? OR (visibility = 'public' AND review_state = 'approved') ORDER BY created_at, id`

	selectAllFeeds = `SELECT ` + feedColumns + ` FROM feeds ORDER BY created_at, id`

	countFeedsOfOwner = `SELECT COUNT(*) FROM feeds WHERE owner = ?`

	// '.' is the character after '-': the bounds hold a slug with a number behind it, and use the index.
	selectSlugs = `SELECT layer_slug FROM feeds
		WHERE layer_slug = ?1 OR (layer_slug >= ?1 || '-' AND layer_slug < ?1 || '.')`

	insertFeed = `INSERT INTO feeds (` + feedColumns + `, snapshot_rows)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`

	updateFeed = `UPDATE feeds SET
			layer_name = ?2, name = ?3, description = ?4, attribution = ?5, licence = ?6, spec_url = ?7,
			visibility = ?8, active = ?9, review_state = ?10, review_note = ?11, updated_at = ?12,
			push_token_hash = ?13, pull_url = ?14, pull_auth_sealed = ?15, pull_interval_ms = ?16,
			next_fetch_at = ?17, consecutive_failures = ?18,
			-- A feed whose polls change is free to be claimed again: the poll under way no longer counts.
			generation = ?19, lease_owner = CASE generation WHEN ?19 THEN lease_owner END,
			lease_until = CASE generation WHEN ?19 THEN lease_until END
		WHERE id = ?1`

	deleteFeed        = `DELETE FROM feeds WHERE id = ?`
	insertDeletedFeed = `INSERT INTO deleted_feeds (id) VALUES (?)`

	countLiveEntities = `SELECT COUNT(*) FROM entities
		WHERE feed_id = (SELECT id FROM feeds WHERE id = ?1) AND (lifetime_ms = 0
			OR COALESCE(seen_at, (SELECT snapshot_at FROM feeds WHERE id = ?1)) + lifetime_ms > ?2)`
)
