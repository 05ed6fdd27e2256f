package sqlite

import (
	"encoding/json"
	"fmt"

	"wayside/internal/store"
)

// feedText is a feed's id as text.
const feedText = `lower(substr(hex(feeds.id), 1, 8) || '-' || substr(hex(feeds.id), 9, 4) || '-' || substr(hex(feeds.id), 13, 4)
	|| '-' || substr(hex(feeds.id), 17, 4) || '-' || substr(hex(feeds.id), 21))`

// dialect is the dialect of SQLite. Lists of strings are JSON arrays.
var dialect = store.Dialect{
	Active: `active = 1`,
	State:  `SELECT epoch, revision, floor FROM state WHERE id = 1`,

	// '.' is the character after '-', so that the bounds match a slug with a number after it, and use the index.

	// A subject that is not a UUID names nothing here: unhex returns NULL.
	SubjectID:   `unhex(replace(e.subject, '-', ''))`,
	FeedSubject: feedText,
	AppName:     `json_extract(v.fields, '$.Name')`,

	// CROSS keeps the join order: a feed may have had votes on far more entities than it has now, and most feeds have
	// none with votes.
	OldTallies: `WITH voted_feeds AS MATERIALIZED (
			SELECT id, source FROM (SELECT id, ` + store.SourceOf(feedText) + ` AS source FROM feeds) AS named
			WHERE EXISTS (SELECT 1 FROM voted AS o WHERE o.source = named.source AND o.changed_at < $1))
		SELECT ` + store.TallyColumns + ` FROM voted_feeds AS f CROSS JOIN entities AS e ON e.feed_id = f.id
			CROSS JOIN voted AS v ON v.source = f.source AND v.external_id = e.external_id
		WHERE v.changed_at < $1`,

	LiveValues: `SELECT ids.key, live.value FROM json_each($1) AS ids JOIN live ON live.key = ids.value WHERE live.until > $2`,

	OneOf: func(column, list string) string { return column + " IN (SELECT value FROM json_each(" + list + "))" },
	List: func(list []string) any {
		if list == nil {
			return nil
		}
		return jsonArray(list)
	},
	ScanList: func(to *[]string) any { return (*stringList)(to) },
}

// stringList is a column that contains a list of strings as a JSON array, or NULL for none.
type stringList []string

// Scan scans a JSON array or NULL.
func (l *stringList) Scan(value any) error {
	*l = nil
	if value == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(text(value)), l); err != nil {
		return fmt.Errorf("list of strings: %w", err)
	}
	return nil
}
