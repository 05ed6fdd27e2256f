package store

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

const selectVoteDays = `SELECT at / 86400000 AS day, CAST(SUM(CASE WHEN vote > 0 THEN 1 ELSE 0 END) AS bigint),
		CAST(SUM(CASE WHEN vote < 0 THEN 1 ELSE 0 END) AS bigint)
	FROM votes WHERE source = $1 AND at >= $2 GROUP BY at / 86400000 ORDER BY day DESC LIMIT $3`

// VoteDays counts the votes on a source's entities since the given time by days (UTC), the newest first, at most limit.
// Days without votes are not listed. A vote that was changed or withdrawn counts in its current state.
func (db *Scripts) VoteDays(ctx context.Context, source mapdata.SourceID, since time.Time, limit int) ([]mapdata.VoteDay, error) {
	all, err := List(ctx, db.backend, selectVoteDays, func(r Row) (d mapdata.VoteDay, err error) {
		var day, confirms, disputes int64
		err = r.Scan(&day, &confirms, &disputes)
		d.Day, d.Confirms, d.Disputes = time.Unix(day*86400, 0).UTC(), int(confirms), int(disputes)
		return d, err
	}, string(source), since.UnixMilli(), limit)
	return all, db.backend.Failure("count votes by days", err)
}
