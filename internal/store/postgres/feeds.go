package postgres

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"wayside/internal/mapdata"
)

func scanFeed(r row) (*mapdata.Feed, error) {
	var (
		f                                                  mapdata.Feed
		id                                                 feedID
		owner                                              accountID
		interval                                           int64
		created, updated, next, fetched, pushed, snapshotT instant
	)
	p := &f.Polling
	err := r.Scan(&id, &owner, &f.Layer.ID, &f.Layer.Slug, &f.Layer.Name, &f.Name, &f.Description, &f.Attribution, &f.Licence, &f.SpecURL,
		&f.Direction, &f.Visibility, &f.Active, &f.ReviewState, &f.ReviewNote, &created, &updated,
		&f.PushTokenHash, &f.PullURL, &f.PullAuthSealed, &interval,
		&next, &fetched, &p.LastOutcome, &p.LastError, &p.LastRows, &p.LastRejected,
		&p.ConsecutiveFailures, &p.Shrank, &p.BodyHash, &pushed, &snapshotT, &f.Snapshot, &f.EntitiesRevision, &f.Generation)
	if err != nil {
		return nil, err
	}
	f.ID, f.Owner = id.FeedID, owner.AccountID
	f.PullInterval = time.Duration(interval) * time.Millisecond
	f.CreatedAt, f.UpdatedAt = created.Time, updated.Time
	p.NextFetchAt, p.LastFetchedAt = next.Time, fetched.Time
	f.LastPushAt, f.SnapshotAt = pushed.Time, snapshotT.Time
	return &f, nil
}

// scannedFeed is scanFeed for lists of feeds.
func scannedFeed(r row) (mapdata.Feed, error) {
	f, err := scanFeed(r)
	if err != nil {
		return mapdata.Feed{}, err
	}
	return *f, nil
}

// CreateFeed stores a new feed with the entries of the audit log and sets its layer's slug, made unique by a number behind
// it. It fails with mapdata.ErrConflict when the owner has limit feeds already, and with mapdata.ErrNotFound when there is
// no such owner.
func (db *DB) CreateFeed(ctx context.Context, f *mapdata.Feed, limit int, audit ...mapdata.AuditEntry) error {
	slug := f.Layer.Slug
	err := db.write(ctx, "create feed", func(w *writing) error {
		if _, err := w.Exec(ctx, lockRegister); err != nil {
			return err
		}
		var count int
		if err := w.QueryRow(ctx, countFeedsOfOwner, f.Owner[:]).Scan(&count); err != nil {
			return err
		}
		if count >= limit {
			return mapdata.Describe(mapdata.ErrConflict, "An account has at most "+strconv.Itoa(limit)+" feeds.")
		}
		var err error
		if slug, err = freeSlug(ctx, w, f.Layer.Slug); err != nil {
			return err
		}
		p := &f.Polling
		_, err = w.Exec(ctx, insertFeed,
			f.ID[:], f.Owner[:], f.Layer.ID, slug, f.Layer.Name, f.Name, f.Description, f.Attribution, f.Licence, f.SpecURL,
			f.Direction, f.Visibility, f.Active, f.ReviewState, f.ReviewNote, millis(f.CreatedAt), millis(f.UpdatedAt),
			f.PushTokenHash, f.PullURL, f.PullAuthSealed, f.PullInterval.Milliseconds(),
			millis(p.NextFetchAt), millis(p.LastFetchedAt), p.LastOutcome, p.LastError, p.LastRows, p.LastRejected,
			p.ConsecutiveFailures, p.Shrank, p.BodyHash, millis(f.LastPushAt), millis(f.SnapshotAt), f.Snapshot, f.EntitiesRevision, f.Generation)
		if err != nil {
			return err
		}
		if err := w.audit(ctx, audit...); err != nil {
			return err
		}
		w.raise(f.ID)
		return nil
	})
	if err == nil {
		f.Layer.Slug = slug
	}
	return err
}

// freeSlug finds the first of "police", "police-2", "police-3", … that no layer has.
func freeSlug(ctx context.Context, w *writing, wish string) (string, error) {
	all, err := list(ctx, w, selectSlugs, func(r row) (slug string, err error) {
		err = r.Scan(&slug)
		return slug, err
	}, wish)
	if err != nil {
		return "", err
	}
	taken := make(map[string]bool, len(all))
	for _, slug := range all {
		taken[slug] = true
	}
	slug := wish
	for n := 2; taken[slug]; n++ {
		slug = wish + "-" + strconv.Itoa(n)
	}
	return slug, nil
}

// Feed reads one feed, or fails with mapdata.ErrNotFound.
func (db *DB) Feed(ctx context.Context, id mapdata.FeedID) (*mapdata.Feed, error) {
	f, err := scanFeed(db.pool.QueryRow(ctx, selectFeed, id[:]))
	return f, failure("read feed", err)
}

// FeedByPushToken reads the active push feed whose token has this hash, or fails with mapdata.ErrNotFound.
func (db *DB) FeedByPushToken(ctx context.Context, hash []byte) (*mapdata.Feed, error) {
	f, err := scanFeed(db.pool.QueryRow(ctx, selectFeedByPushToken, hash))
	return f, failure("find feed by push token", err)
}

// Feeds lists the feeds of owner and, when public is true, every served feed of others, oldest first. A zero owner and
// public false lists all feeds there are.
func (db *DB) Feeds(ctx context.Context, owner mapdata.AccountID, public bool) ([]mapdata.Feed, error) {
	query, args := selectFeedsOfOwner, []any{owner[:]}
	switch {
	case public:
		query = selectFeedsOfOwnerAndServed
	case owner.IsZero():
		query, args = selectAllFeeds, nil
	}
	all, err := list(ctx, db.pool, query, scannedFeed, args...)
	return all, failure("list feeds", err)
}

// UpdateFeed reads the feed, lets edit change it, and stores it with what edit returns, in one transaction, which holds
// the feed's lock while edit runs. Of the poll schedule only NextFetchAt, ConsecutiveFailures and Active are stored. It
// returns the feed as it is stored then. An edit that changes the feed's polls raises its generation and ends its lease. An error of edit is returned as it is.
func (db *DB) UpdateFeed(
	ctx context.Context, id mapdata.FeedID, edit func(*mapdata.Feed) (mapdata.Side, error),
) (stored *mapdata.Feed, err error) {
	err = db.write(ctx, "update feed", func(w *writing) error {
		f, err := scanFeed(w.QueryRow(ctx, selectFeed+lockFeed, id[:]))
		if err != nil {
			return err
		}
		before := *f
		side, err := edit(f)
		if err != nil {
			return asItIs{err}
		}
		f.Generation = before.Generation
		if f.PollChanged(&before) {
			f.Generation++
		}
		stored, err = scanFeed(w.QueryRow(ctx, updateFeed, id[:],
			f.Layer.Name, f.Name, f.Description, f.Attribution, f.Licence, f.SpecURL,
			f.Visibility, f.Active, f.ReviewState, f.ReviewNote, millis(f.UpdatedAt),
			f.PushTokenHash, f.PullURL, f.PullAuthSealed, f.PullInterval.Milliseconds(),
			millis(f.Polling.NextFetchAt), f.Polling.ConsecutiveFailures, f.Generation))
		if err != nil {
			return err
		}
		if err := w.audit(ctx, side.Audit...); err != nil {
			return err
		}
		if err := w.letters(ctx, side.Letters); err != nil {
			return err
		}
		w.raise(id)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return stored, nil
}

// DeleteFeed removes the feed and its layer at once. Its entities are no longer found from that moment, and Prune frees
// their room bit by bit, so that nobody's push waits for it. It fails with mapdata.ErrNotFound.
func (db *DB) DeleteFeed(ctx context.Context, id mapdata.FeedID, audit mapdata.AuditEntry) error {
	return db.write(ctx, "delete feed", func(w *writing) error {
		if err := w.deleteFeed(ctx, id); err != nil {
			return err
		}
		return w.audit(ctx, audit)
	})
}

func (w *writing) deleteFeed(ctx context.Context, id mapdata.FeedID) error {
	if err := w.one(ctx, deleteFeed, id[:]); err != nil {
		return err
	}
	for _, statement := range []string{deleteAttemptsOf, deleteRejectionsOf, insertDeletedFeed} {
		if _, err := w.Exec(ctx, statement, id[:]); err != nil {
			return err
		}
	}
	if _, err := w.Exec(ctx, forgetReviewed, id.String()); err != nil {
		return err
	}
	w.raise(id)
	return nil
}

// CountEntities counts the feed's entities that have not expired at now, those among them that confirms keep (D9.6).
func (db *DB) CountEntities(ctx context.Context, id mapdata.FeedID, now time.Time) (count int, err error) {
	err = db.read(ctx, "count entities", func(r *reading) error {
		var snapshotAt instant
		if err := r.QueryRow(ctx, selectSnapshotAtOf, id[:]).Scan(&snapshotAt); err != nil {
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		}
		byVotes, err := keptEntities(ctx, db, r, id, now)
		if err != nil {
			return err
		}
		err = r.QueryRow(ctx, countLiveEntities, id[:], millis(snapshotAt.Time), now.UnixMilli()).Scan(&count)
		for _, k := range byVotes {
			if k.ends <= now.UnixMilli() {
				count++
			}
		}
		return err
	})
	return count, err
}
