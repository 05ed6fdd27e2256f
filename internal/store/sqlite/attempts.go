package sqlite

import (
	"context"
	"errors"

	"wayside/internal/mapdata"
)

// RecordAttempt records a push that was refused. It changes no entity. A feed that is gone by now is no error.
func (db *DB) RecordAttempt(ctx context.Context, feed mapdata.FeedID, attempt mapdata.Attempt) error {
	err := db.write(ctx, "record attempt", func(w *writing) error {
		revision, err := w.raise(ctx, feed)
		if err != nil {
			return err
		}
		return w.attempt(ctx, feed, revision, &attempt)
	})
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil
	}
	return err
}
