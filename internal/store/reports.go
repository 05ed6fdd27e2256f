package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

const (
	// The author of a renewed report stays, and counts from then on if the account does.
	insertReport = `INSERT INTO voted (source, external_id, confirms, disputes, changed_at, life_at, kind, lat, lng, first_seen_at,
			last_seen_at, properties, author, author_trusted, needs_two)
		VALUES ($1, $2, 0, 0, $3, $4, $5, $6, $7, $4, $3, $8, $9, $10, $11)`
	renewReport = `UPDATE voted SET author_trusted = $4, changed_at = $5 WHERE source = $1 AND external_id = $2 AND author = $3`

	discountConfirms = `UPDATE voted SET untrusted_confirms = $3 WHERE source = $1 AND external_id = $2`

	selectAuthor = `SELECT author FROM voted WHERE source = $1 AND external_id = $2`
	deleteTally  = `DELETE FROM voted WHERE source = $1 AND external_id = $2`
	deleteVotes  = `DELETE FROM votes WHERE source = $1 AND external_id = $2`

	selectReporter  = `SELECT times, last_at, lat, lng FROM reporters WHERE account = $1`
	replaceReporter = `INSERT INTO reporters (account, times, last_at, lat, lng) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (account) DO UPDATE SET times = excluded.times, last_at = excluded.last_at, lat = excluded.lat, lng = excluded.lng`
	pruneReporters = `DELETE FROM reporters WHERE last_at <= $1`

	selectOwnReports = `SELECT external_id, kind, lat, lng, properties, first_seen_at FROM voted WHERE author = $1 ORDER BY first_seen_at, external_id`
)

// AdmitReport counts a report of an account, before any other work for it. It fails with a *mapdata.LimitError beyond the account's limit
// for a day, and with a *mapdata.InvalidError where the account cannot be at the place.
func (db *Scripts) AdmitReport(ctx context.Context, a *mapdata.ReportAttempt) error {
	at := a.At.UTC().Truncate(time.Millisecond)
	seen := at
	if !a.SeenAt.IsZero() {
		seen = a.SeenAt.UTC().Truncate(time.Millisecond)
	}
	return db.backend.Write(ctx, "count a report", func(tx *Tx) error {
		if err := tx.lockScope(ctx, scopeReports, a.Account.String()); err != nil {
			return err
		}
		first, err := tx.firstSignIn(ctx, a.Account)
		if err != nil {
			return err
		}
		r, err := tx.reporter(ctx, a.Account)
		if err != nil {
			return err
		}
		if err := r.move(a.Point, seen); err != nil {
			return err
		}
		times := r.times
		most := a.PerDay
		if at.Before(first.Add(mapdata.ReportFirstDay)) {
			most = min(most, mapdata.ReportsOnFirstDay)
		}
		day := at.Add(-24 * time.Hour).UnixMilli()
		times = slices.DeleteFunc(times, func(t int64) bool { return t <= day })
		if len(times) >= most {
			again := time.UnixMilli(times[len(times)-most]).Add(24 * time.Hour)
			return &mapdata.LimitError{RetryAfter: again.Sub(at), What: "reports of this account within a day"}
		}
		text, err := json.Marshal(append(times, at.UnixMilli()))
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, replaceReporter, a.Account[:], string(text), r.last.UnixMilli(), r.place.Lat, r.place.Lng)
		return err
	})
}

// reporter is the history that bounds an account's reports: their times, and the place of the last one.
type reporter struct {
	times []int64   // in the last day or so, milliseconds
	last  time.Time // zero: the account has not reported
	place geo.Point
}

func (tx *Tx) reporter(ctx context.Context, account mapdata.AccountID) (r reporter, err error) {
	var (
		text string
		last instant
	)
	err = tx.QueryRow(ctx, selectReporter, account[:]).Scan(&text, &last, &r.place.Lat, &r.place.Lng)
	if errors.Is(err, sql.ErrNoRows) {
		return reporter{}, nil
	}
	if err != nil {
		return r, err
	}
	r.last = last.Time
	return r, json.Unmarshal([]byte(text), &r.times)
}

// move sets the account's place, unless it cannot have got there. Reports that waited for a connection may arrive in another order than
// they were made in: each is compared with the latest, whose place stays.
func (r *reporter) move(to geo.Point, seen time.Time) error {
	if !r.last.IsZero() && !mapdata.Plausible(r.place, to, seen.Sub(r.last).Abs()) {
		return &mapdata.InvalidError{Fields: []mapdata.FieldError{{
			Field: "lat", Code: "implausible", Message: "is too far from the last report of this account to have been reached since",
		}}}
	}
	if !seen.Before(r.last) {
		r.last, r.place = seen, to
	}
	return nil
}

// report stores the author of the change's report in the transaction of the entity, so that no follower sees one without the other.
func (tx *Tx) report(ctx context.Context, c *mapdata.Change) error {
	r := c.Report
	if r == nil {
		return nil
	}
	trusted, err := tx.authorCounts(ctx, c)
	if err != nil {
		return err
	}
	source := string(c.Feed.SourceID())
	if len(c.Upserts) == 0 {
		err = tx.one(ctx, renewReport, source, r.ExternalID, r.Account[:], trusted, Millis(c.At))
	} else {
		e := &c.Upserts[0]
		_, err = tx.Exec(ctx, insertReport, source, e.ExternalID, Millis(c.At), lifeMillis(e.FirstSeenAt), e.Kind.ID(), e.Point.Lat, e.Point.Lng,
			string(e.Properties), r.Account[:], trusted, r.NeedsTwo)
	}
	if err != nil {
		return err
	}
	tx.raiseVotes(c.Feed, r.ExternalID)
	return nil
}

// authorCounts reports whether the author of the change's report counts as a supporter, by the rules for the author of a vote, and with the
// same exceptions (counted). The author of a report counts as near its entity.
func (tx *Tx) authorCounts(ctx context.Context, c *mapdata.Change) (bool, error) {
	r := c.Report
	first, err := tx.firstSignIn(ctx, r.Account)
	if err != nil || r.TrustAfter <= 0 || !mapdata.Trusted(first, c.At, r.TrustAfter) {
		return err == nil && r.TrustAfter <= 0, err
	}
	t, err := tallyOf(ctx, tx, c.Feed.SourceID(), r.ExternalID)
	if err != nil {
		return false, fmt.Errorf("read the votes on the report: %w", err)
	}
	if len(c.Upserts) > 0 {
		return tx.isReachable(ctx, r.Account, &t, c.Upserts[0].Point, c.At)
	}
	counts, second, err := tx.isSomebodyElse(ctx, r.Account, mapdata.Confirm, &t)
	if err != nil {
		return false, err
	}
	before := t.UntrustedConfirms
	if err := tx.discount(ctx, second, mapdata.Confirm, &t); err != nil || t.UntrustedConfirms == before {
		return counts, err
	}
	_, err = tx.Exec(ctx, discountConfirms, string(t.Source), t.ExternalID, t.UntrustedConfirms)
	return counts, err
}

// RetractReport removes a report with the votes on it, for its author. It fails with mapdata.ErrNotFound for a report that is not stored or
// that is not the account's.
func (db *Scripts) RetractReport(ctx context.Context, externalID string, account mapdata.AccountID) error {
	feed, source := mapdata.DriversID, string(mapdata.Drivers)
	return db.backend.Write(ctx, "retract a report", func(tx *Tx) error {
		if err := tx.lock(ctx, selectFeedExists, "UPDATE", feed[:]); err != nil {
			return err
		}
		var author AccountID
		err := tx.QueryRow(ctx, selectAuthor, source, externalID).Scan(&author)
		if errors.Is(err, sql.ErrNoRows) || err == nil && (account.IsZero() || author.AccountID != account) {
			return mapdata.ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("read the author: %w", err)
		}
		return tx.retract(ctx, feed, source, externalID)
	})
}

func (tx *Tx) retract(ctx context.Context, feed mapdata.FeedID, source, externalID string) error {
	var bytes int64
	err := tx.QueryRow(ctx, tx.dialect.locking(selectRowBytes, "UPDATE"), feed[:], externalID).Scan(&bytes)
	if errors.Is(err, sql.ErrNoRows) {
		return mapdata.ErrNotFound // it has expired
	}
	if err != nil {
		return err
	}
	for _, statement := range []string{deleteVotes, deleteTally} {
		if _, err := tx.Exec(ctx, statement, source, externalID); err != nil {
			return err
		}
	}
	if err := tx.one(ctx, deleteEntity, feed[:], externalID); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, growFeed, feed[:], -1, -bytes); err != nil {
		return err
	}
	if err := tx.growAccount(ctx, mapdata.BuiltinOwner, -bytes, 0); err != nil {
		return err
	}
	tx.raiseRevision(feed, []string{externalID})
	tx.AtCommit(updateEntitiesOf, feed[:])
	return nil
}

const (
	selectRowBytes = `SELECT ` + EntityBytes + ` FROM entities WHERE feed_id = $1 AND external_id = $2`
	deleteEntity   = `DELETE FROM entities WHERE feed_id = $1 AND external_id = $2`
)

// OwnReports lists the reports that are still linked to the account, the oldest first.
func (db *Scripts) OwnReports(ctx context.Context, account mapdata.AccountID) ([]mapdata.OwnReport, error) {
	all, err := List(ctx, db.backend, selectOwnReports, func(r Row) (o mapdata.OwnReport, err error) {
		var (
			kind string
			at   instant
		)
		if err := r.Scan(&o.ExternalID, &kind, &o.Point.Lat, &o.Point.Lng, &o.Properties, &at); err != nil {
			return o, err
		}
		o.At = at.Time
		o.Kind, err = db.Kind(kind)
		return o, err
	}, account[:])
	return all, db.backend.Failure("list reports", err)
}
