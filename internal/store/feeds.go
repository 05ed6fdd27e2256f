package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
)

// ScanFeed scans a row of FeedColumns.
func ScanFeed(r Row) (*mapdata.Feed, error) {
	var (
		f                                                  mapdata.Feed
		id                                                 FeedID
		owner                                              AccountID
		interval                                           int64
		proposed, maintainers                              string
		skips, validators                                  string
		created, updated, next, fetched, pushed, snapshotT instant
		paused                                             instant
	)
	p := &f.Polling
	err := r.Scan(&id, &owner, &f.Layer.ID, &f.Layer.Slug, &f.Layer.Name, &f.Name, &f.Description, &f.Attribution, &f.Licence, &f.SpecURL,
		&f.Direction, &f.Visibility, &f.Active, &f.ReviewState, &f.ReviewNote, &created, &updated,
		&f.PushTokenHash, &f.PullURL, &f.PullAuthSealed, &interval,
		&next, &fetched, &p.LastOutcome, &p.LastError, &p.LastRows, &p.LastRejected,
		&p.ConsecutiveFailures, &p.Shrank, &p.BodyHash, &pushed, &snapshotT, &f.Snapshot, &f.EntitiesRevision, &f.Generation,
		&f.Holds.Entities, &f.Holds.Bytes, &f.ApprovedOnce, &proposed,
		&f.Pause.By, &f.Pause.Reason, &paused, &maintainers,
		&f.Bridge.Format, &f.Bridge.Mapping, &f.Bridge.StatusURL, &f.Bridge.TimeZone, &f.Bridge.ChargerNetwork,
		&p.LastSkipped, &skips, &validators)
	if err != nil {
		return nil, err
	}
	if proposed != "" {
		f.Proposed = new(mapdata.Words)
		if err := json.Unmarshal([]byte(proposed), f.Proposed); err != nil {
			return nil, fmt.Errorf("feed %s: words that wait: %w", id, err)
		}
	}
	if err := parseBridged(p, skips, validators); err != nil {
		return nil, fmt.Errorf("feed %s: %w", id, err)
	}
	f.ID, f.Owner = id.FeedID, owner.AccountID
	f.PullInterval = time.Duration(interval) * time.Millisecond
	f.CreatedAt, f.UpdatedAt = created.Time, updated.Time
	p.NextFetchAt, p.LastFetchedAt = next.Time, fetched.Time
	f.LastPushAt, f.SnapshotAt = pushed.Time, snapshotT.Time
	f.Pause.At = paused.Time
	if f.Maintainers, err = parseMaintainers(maintainers); err != nil {
		return nil, fmt.Errorf("feed %s: %w", id, err)
	}
	return &f, nil
}

// wordsText returns the stored form of words that wait for a review; empty: none.
func wordsText(w *mapdata.Words) (string, error) {
	if w == nil {
		return "", nil
	}
	text, err := json.Marshal(w)
	return string(text), err
}

// scanFeedValue scans a feed for lists of values.
func scanFeedValue(r Row) (mapdata.Feed, error) {
	f, err := ScanFeed(r)
	if err != nil {
		return mapdata.Feed{}, err
	}
	return *f, nil
}

// CreateFeed stores a new feed with the entries of the audit log and sets its layer's slug, made unique by a random ending. It fails with
// mapdata.ErrConflict when the owner has limit feeds already, and with mapdata.ErrNotFound when the owner does not exist.
func (db *Scripts) CreateFeed(ctx context.Context, f *mapdata.Feed, limit int, audit ...mapdata.AuditEntry) error {
	slug := f.Layer.Slug
	err := db.backend.Write(ctx, "create feed", func(tx *Tx) error {
		if err := tx.lockRegistrations(ctx); err != nil {
			return err
		}
		if f.Builtin() {
			if _, err := tx.Exec(ctx, insertBuiltinOwner, f.Owner[:], mapdata.Driver, mapdata.TierAccount, Millis(f.CreatedAt)); err != nil {
				return err
			}
		}
		var count int
		if err := tx.QueryRow(ctx, countFeedsOfOwner, f.Owner[:]).Scan(&count); err != nil {
			return err
		}
		if count >= limit {
			return mapdata.Describe(mapdata.ErrConflict, "An account has at most "+strconv.Itoa(limit)+" feeds.")
		}
		var err error
		if slug, err = freeSlug(ctx, tx, selectSlugTaken, f.Layer.Slug); err != nil {
			return err
		}
		proposed, err := wordsText(f.Proposed)
		if err != nil {
			return err
		}
		p := &f.Polling
		skips, validators, err := bridgedTexts(p)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, insertFeed,
			f.ID[:], f.Owner[:], f.Layer.ID, slug, f.Layer.Name, f.Name, f.Description, f.Attribution, f.Licence, f.SpecURL,
			f.Direction, f.Visibility, f.Active, f.ReviewState, f.ReviewNote, Millis(f.CreatedAt), Millis(f.UpdatedAt),
			f.PushTokenHash, f.PullURL, f.PullAuthSealed, f.PullInterval.Milliseconds(),
			Millis(p.NextFetchAt), Millis(p.LastFetchedAt), p.LastOutcome, p.LastError, p.LastRows, p.LastRejected,
			p.ConsecutiveFailures, p.Shrank, p.BodyHash, Millis(f.LastPushAt), Millis(f.SnapshotAt), f.Snapshot, f.EntitiesRevision, f.Generation,
			f.Holds.Entities, f.Holds.Bytes, f.ApprovedOnce || f.Approved(), proposed,
			f.Pause.By, f.Pause.Reason, Millis(f.Pause.At), maintainersText(f.Maintainers),
			f.Bridge.Format, f.Bridge.Mapping, f.Bridge.StatusURL, f.Bridge.TimeZone, f.Bridge.ChargerNetwork, p.LastSkipped, skips, validators)
		if err != nil {
			return err
		}
		if err := tx.audit(ctx, audit...); err != nil {
			return err
		}
		tx.raiseRevision(f.ID)
		return nil
	})
	if err == nil {
		f.Layer.Slug, f.ApprovedOnce = slug, f.ApprovedOnce || f.Approved()
	}
	return err
}

// slugEnding is the number of random letters at the end of a slug whose wish is taken.
const slugEnding = 6

// freeSlug returns the wish, with a random ending if the statement isTaken finds it. A counter would reveal how many feeds have the name,
// including private ones (D5.8).
func freeSlug(ctx context.Context, tx *Tx, isTaken, wish string) (string, error) {
	for slug := wish; ; slug = wish + "-" + strings.ToLower(rand.Text()[:slugEnding]) {
		var taken bool
		if err := tx.QueryRow(ctx, isTaken, slug).Scan(&taken); err != nil {
			return "", err
		}
		if !taken {
			return slug, nil
		}
	}
}

// Feed reads one feed, or fails with mapdata.ErrNotFound.
func (db *Scripts) Feed(ctx context.Context, id mapdata.FeedID) (*mapdata.Feed, error) {
	f, err := ScanFeed(db.backend.QueryRow(ctx, SelectFeed, id[:]))
	return f, db.backend.Failure("read feed", err)
}

// FeedByPushToken reads the active push feed whose token has this hash, or fails with mapdata.ErrNotFound.
func (db *Scripts) FeedByPushToken(ctx context.Context, hash []byte) (*mapdata.Feed, error) {
	f, err := ScanFeed(db.backend.QueryRow(ctx, selectFeedByPushToken, hash))
	return f, db.backend.Failure("find feed by push token", err)
}

// Feeds lists the feeds of owner and, when public is true, every served feed of others, oldest first. A zero owner with public false lists
// all feeds.
func (db *Scripts) Feeds(ctx context.Context, owner mapdata.AccountID, public bool) ([]mapdata.Feed, error) {
	query, args := selectFeedsOfOwner, []any{owner[:]}
	switch {
	case public:
		query = selectFeedsOfOwnerAndServed
	case owner.IsZero():
		query, args = selectAllFeeds, nil
	}
	all, err := List(ctx, db.backend, query, scanFeedValue, args...)
	return all, db.backend.Failure("list feeds", err)
}

// UpdateFeed reads the feed, calls edit to change it, and stores it together with the Side that edit returns, in one transaction, which
// holds the feed's lock while edit runs. Of the poll schedule it stores only NextFetchAt, ConsecutiveFailures and Active. It returns the
// stored feed. An edit that changes the feed's polls raises its generation and ends its lease. An error of edit is returned unchanged.
func (db *Scripts) UpdateFeed(
	ctx context.Context, id mapdata.FeedID, edit func(*mapdata.Feed) (mapdata.Side, error),
) (stored *mapdata.Feed, err error) {
	var refused error // edit's own, which the caller gets back unchanged
	err = db.backend.Write(ctx, "update feed", func(tx *Tx) (err error) {
		stored, err = tx.updateFeed(ctx, id, mapdata.ReceiverLimits{}, func(f *mapdata.Feed) (side mapdata.Side, err error) {
			owner := f.Owner
			side, err = edit(f)
			f.Owner, refused = owner, err // only an accepted invitation changes the owner
			return side, err
		})
		return err
	})
	if refused != nil {
		return nil, refused
	}
	return stored, err
}

// updateFeed edits a feed as UpdateFeed does, within a transaction. limits are for an edit that changes the owner; the transaction then holds the lock on
// registrations.
func (tx *Tx) updateFeed(
	ctx context.Context, id mapdata.FeedID, limits mapdata.ReceiverLimits, edit func(*mapdata.Feed) (mapdata.Side, error),
) (stored *mapdata.Feed, err error) {
	f, err := ScanFeed(tx.QueryRow(ctx, tx.dialect.locking(SelectFeed, forChange), id[:]))
	if err != nil {
		return nil, err
	}
	before := *f
	before.Maintainers = slices.Clone(f.Maintainers)
	side, err := edit(f)
	if err != nil {
		return nil, err
	}
	f.Generation = before.Generation
	if f.PollChanged(&before) {
		f.Generation++
	}
	proposed, err := wordsText(f.Proposed)
	if err != nil {
		return nil, err
	}
	if err := tx.moveManagers(ctx, f, &before, limits); err != nil {
		return nil, err
	}
	stored, err = ScanFeed(tx.QueryRow(ctx, updateFeed, id[:],
		f.Layer.Name, f.Name, f.Description, f.Attribution, f.Licence, f.SpecURL,
		f.Visibility, f.Active, f.ReviewState, f.ReviewNote, Millis(f.UpdatedAt),
		f.PushTokenHash, f.PullURL, f.PullAuthSealed, f.PullInterval.Milliseconds(),
		Millis(f.Polling.NextFetchAt), f.Polling.ConsecutiveFailures, f.Generation, proposed,
		f.Pause.By, f.Pause.Reason, Millis(f.Pause.At), f.Owner[:], maintainersText(f.Maintainers),
		f.Bridge.Format, f.Bridge.Mapping, f.Bridge.StatusURL, f.Bridge.TimeZone, f.Bridge.ChargerNetwork))
	if err != nil {
		return nil, err
	}
	if f.Active != before.Active {
		if err := tx.beginWarnings(ctx, f); err != nil {
			return nil, err
		}
	}
	if err := tx.side(ctx, side); err != nil {
		return nil, err
	}
	tx.raiseRevision(id)
	return stored, nil
}

// DeleteFeed removes the feed and its layer immediately. Its entities are no longer found from then on; Prune deletes them in batches, so
// that no push waits for it. The entry and the e-mails are stored in the same transaction. It fails with mapdata.ErrNotFound.
func (db *Scripts) DeleteFeed(ctx context.Context, id mapdata.FeedID, audit mapdata.AuditEntry, emails ...mapdata.Email) error {
	return db.backend.Write(ctx, "delete feed", func(tx *Tx) error {
		if err := tx.deleteFeed(ctx, id); err != nil {
			return err
		}
		if err := tx.audit(ctx, audit); err != nil {
			return err
		}
		return tx.emails(ctx, emails)
	})
}

func (tx *Tx) deleteFeed(ctx context.Context, id mapdata.FeedID) error {
	var (
		owner AccountID
		bytes int64
	)
	if err := tx.QueryRow(ctx, deleteFeed, id[:]).Scan(&owner, &bytes); err != nil {
		return err
	}
	if err := tx.growAccount(ctx, owner.AccountID, -bytes, 0); err != nil {
		return err
	}
	for _, statement := range []string{deleteAttemptsOf, deleteRejectionsOf, deleteMaintainersOf, closeInvitationsOf, insertDeletedFeed} {
		if _, err := tx.Exec(ctx, statement, id[:]); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, forgetReviewed, id.String()); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, deleteComplaintsOn, string(id.SourceID())); err != nil {
		return err
	}
	tx.raiseRevision(id)
	tx.erase()
	return nil
}

// CountEntities counts the feed's entities that have not expired at now, including those that confirms keep (D9.6).
func (db *Scripts) CountEntities(ctx context.Context, id mapdata.FeedID, now time.Time) (count int, err error) {
	err = db.backend.Read(ctx, "count entities", func(q Querier) error {
		var snapshotAt instant
		if err := q.QueryRow(ctx, selectSnapshotAtOf, id[:]).Scan(&snapshotAt); err != nil {
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			return err
		}
		byVotes, err := db.KeptEntities(ctx, q, id, now)
		if err != nil {
			return err
		}
		err = q.QueryRow(ctx, countLiveEntities, id[:], Millis(snapshotAt.Time), now.UnixMilli()).Scan(&count)
		for _, k := range byVotes {
			if k.Ends <= now.UnixMilli() {
				count++
			}
		}
		return err
	})
	return count, err
}
