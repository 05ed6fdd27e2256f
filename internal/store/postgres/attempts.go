package postgres

import (
	"context"
	"errors"

	"wayside/internal/mapdata"
)

// shareFeed keeps a feed from being deleted until the end of the transaction, and nobody from anything else.
const shareFeed = `SELECT 1 FROM feeds WHERE id = $1 FOR KEY SHARE`

// RecordAttempt records a push that was refused. It changes no entity. A feed that is gone by now is no error.
func (db *DB) RecordAttempt(ctx context.Context, feed mapdata.FeedID, attempt mapdata.Attempt) error {
	err := db.write(ctx, "record attempt", func(w *writing) error {
		if err := w.one(ctx, shareFeed, feed[:]); err != nil {
			return err
		}
		w.raise(feed)
		w.attempt(feed, &attempt)
		return nil
	})
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil
	}
	return err
}
