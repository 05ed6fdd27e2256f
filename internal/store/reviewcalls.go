package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"wayside/internal/ground/mapdata"
)

const (
	selectWaiting = `SELECT id, owner, maintainers, name, COALESCE((SELECT MAX(at) FROM audit WHERE subject = %s
				AND action = '` + mapdata.AuditFeedReviewAgain + `'), created_at) AS since
		FROM feeds WHERE (review_state = 'pending' OR proposed <> '') AND visibility = 'public' ORDER BY since, id LIMIT $1`

	selectWaitingApps = `SELECT a.owner, %s, v.submitted_at FROM app_versions AS v JOIN apps AS a ON a.id = v.app
		WHERE v.state = 'pending' AND a.owner IS NOT NULL ORDER BY v.submitted_at, a.id LIMIT $1`

	selectCurators = `SELECT a.id FROM accounts AS a LEFT JOIN review_calls AS c ON c.account = a.id
		WHERE a.role <> 'driver' AND a.role IN ('curator', 'admin') AND NOT COALESCE(c.off, FALSE) ORDER BY a.id`

	countCurators = `SELECT COUNT(*) FROM accounts WHERE role <> 'driver' AND role IN ('curator', 'admin')`

	// The row exists from the first time on, so that it can be locked.
	insertReviewCalls = `INSERT INTO review_calls (account) SELECT id FROM accounts WHERE id = $1 ON CONFLICT (account) DO NOTHING`
	selectReviewCalls = `SELECT off, waiting, emailed_at, reminded_at, reminded_through FROM review_calls WHERE account = $1`
	updateReviewCalls = `UPDATE review_calls SET waiting = $2, emailed_at = $3, reminded_at = $4, reminded_through = $5 WHERE account = $1`
	anyReviewCall     = `SELECT EXISTS (SELECT 1 FROM review_calls WHERE waiting)`
	endReviewCalls    = `UPDATE review_calls SET waiting = FALSE WHERE waiting`
	updateReviewOff   = `UPDATE review_calls SET off = $2 WHERE account = $1`

	// A decision ends a wait if the previous entry that concerns reviews began one.
	selectReviewTimes = `SELECT d.at - w.at FROM audit AS d
		JOIN audit AS w ON w.id = (SELECT MAX(b.id) FROM audit AS b WHERE b.subject = d.subject AND b.id < d.id AND b.action IN
			('` + mapdata.AuditFeedRegister + `', '` + mapdata.AuditFeedReviewAgain + `', '` + mapdata.AuditFeedApprove + `', '` + mapdata.AuditFeedReject + `'))
		WHERE d.action IN ('` + mapdata.AuditFeedApprove + `', '` + mapdata.AuditFeedReject + `') AND d.at > $1
			AND w.action IN ('` + mapdata.AuditFeedRegister + `', '` + mapdata.AuditFeedReviewAgain + `')
		ORDER BY d.id DESC LIMIT $2`
)

// WaitingFeeds lists the public feeds that wait for review, the longest waiting first, at most limit.
func (db *Scripts) WaitingFeeds(ctx context.Context, limit int) ([]mapdata.WaitingFeed, error) {
	query := fmt.Sprintf(selectWaiting, db.dialect.FeedSubject)
	all, err := List(ctx, db.backend, query, func(r Row) (w mapdata.WaitingFeed, err error) {
		var (
			id          FeedID
			owner       AccountID
			maintainers string
			since       instant
		)
		if err := r.Scan(&id, &owner, &maintainers, &w.Name, &since); err != nil {
			return w, err
		}
		w.ID, w.Since = id.FeedID, since.Time
		others, err := parseMaintainers(maintainers)
		w.Managers = append([]mapdata.AccountID{owner.AccountID}, others...)
		return w, err
	}, limit)
	return all, db.backend.Failure("list waiting feeds", err)
}

// WaitingApps lists the apps that wait for review, the longest waiting first, at most limit.
func (db *Scripts) WaitingApps(ctx context.Context, limit int) ([]mapdata.WaitingFeed, error) {
	query := fmt.Sprintf(selectWaitingApps, db.dialect.AppName)
	all, err := List(ctx, db.backend, query, func(r Row) (w mapdata.WaitingFeed, err error) {
		var (
			owner AccountID
			since instant
		)
		err = r.Scan(&owner, &w.Name, &since)
		w.Managers, w.Since, w.IsApp = []mapdata.AccountID{owner.AccountID}, since.Time, true
		return w, err
	}, limit)
	return all, db.backend.Failure("list waiting apps", err)
}

// Curators lists the accounts that may review and did not turn off e-mails about the queue.
func (db *Scripts) Curators(ctx context.Context) ([]mapdata.AccountID, error) {
	all, err := List(ctx, db.backend, selectCurators, func(r Row) (mapdata.AccountID, error) {
		var id AccountID
		err := r.Scan(&id)
		return id.AccountID, err
	})
	return all, db.backend.Failure("list curators", err)
}

// CountCurators counts the accounts that may review.
func (db *Scripts) CountCurators(ctx context.Context) (n int, err error) {
	err = db.backend.QueryRow(ctx, countCurators).Scan(&n)
	return n, db.backend.Failure("count curators", err)
}

// CallCurator calls decide to update the record of a curator's e-mails, and stores it with the e-mail that decide
// returns (nil: none), in one transaction, so that of several nodes that do so at the same time, one sends it. It does
// not call decide where the account does not exist or turned such e-mails off.
func (db *Scripts) CallCurator(ctx context.Context, account mapdata.AccountID, decide func(*mapdata.ReviewCalls) *mapdata.Email) error {
	return db.backend.Write(ctx, "call curator", func(tx *Tx) error {
		if _, err := tx.Exec(ctx, insertReviewCalls, account[:]); err != nil {
			return err
		}
		var (
			off, waiting               bool
			emailed, reminded, through instant
		)
		row := tx.QueryRow(ctx, tx.dialect.locking(selectReviewCalls, "UPDATE"), account[:])
		switch err := row.Scan(&off, &waiting, &emailed, &reminded, &through); {
		case errors.Is(err, sql.ErrNoRows) || err == nil && off:
			return nil
		case err != nil:
			return err
		}
		before := mapdata.ReviewCalls{
			Waiting: waiting, EmailedAt: emailed.Time, RemindedAt: reminded.Time, RemindedThrough: through.Time,
		}
		calls := before
		email := decide(&calls)
		if calls == before {
			return nil
		}
		_, err := tx.Exec(ctx, updateReviewCalls, account[:], calls.Waiting, Millis(calls.EmailedAt), Millis(calls.RemindedAt), Millis(calls.RemindedThrough))
		if err != nil {
			return err
		}
		if email == nil {
			return nil
		}
		return tx.emails(ctx, []mapdata.Email{*email})
	})
}

// NothingWaits records that nothing waits for review, so that the next feed that does counts as the first again.
func (db *Scripts) NothingWaits(ctx context.Context) error {
	var some bool
	if err := db.backend.QueryRow(ctx, anyReviewCall).Scan(&some); err != nil || !some {
		return db.backend.Failure("look for curators to call", err)
	}
	return db.exec(ctx, "end calls of curators", endReviewCalls)
}

// ReviewEmails reports whether the account gets e-mails about the queue, should it be a curator's.
func (db *Scripts) ReviewEmails(ctx context.Context, account mapdata.AccountID) (bool, error) {
	var (
		off, waiting bool
		at           instant
	)
	err := db.backend.QueryRow(ctx, selectReviewCalls, account[:]).Scan(&off, &waiting, &at, &at, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	return !off, db.backend.Failure("read e-mails of a curator", err)
}

// SetReviewEmails turns e-mails about the queue on or off for an account, or fails with mapdata.ErrNotFound.
func (db *Scripts) SetReviewEmails(ctx context.Context, account mapdata.AccountID, on bool) error {
	return db.backend.Write(ctx, "set e-mails of a curator", func(tx *Tx) error {
		if _, err := tx.Exec(ctx, insertReviewCalls, account[:]); err != nil {
			return err
		}
		return tx.one(ctx, updateReviewOff, account[:], !on)
	})
}

// ReviewTimes lists how long the feeds had waited that were decided on after the given time, the newest decisions
// first.
func (db *Scripts) ReviewTimes(ctx context.Context, after time.Time, limit int) ([]time.Duration, error) {
	all, err := List(ctx, db.backend, selectReviewTimes, func(r Row) (time.Duration, error) {
		var ms int64
		err := r.Scan(&ms)
		return time.Duration(ms) * time.Millisecond, err
	}, after.UnixMilli(), limit)
	return all, db.backend.Failure("read times of reviews", err)
}

const (
	insertReviewLook = `INSERT INTO review_looks (feed_id, account, at) VALUES ($1, $2, $3)
		ON CONFLICT (feed_id, account) DO UPDATE SET at = excluded.at`
	selectReviewLooks = `SELECT a.email, l.at FROM review_looks AS l JOIN accounts AS a ON a.id = l.account
		WHERE l.feed_id = $1 AND l.account <> $2 AND l.at > $3 ORDER BY l.at DESC, a.email LIMIT $4`
	deleteReviewLooks = `DELETE FROM review_looks WHERE at <= $1`
)

// LookAtReview records that a curator opened the review of a feed, and lists the others who have it open, at most
// limit.
func (db *Scripts) LookAtReview(
	ctx context.Context, feed mapdata.FeedID, account mapdata.AccountID, now time.Time, limit int,
) (others []mapdata.ReviewLook, err error) {
	err = db.backend.Write(ctx, "look at a review", func(tx *Tx) (err error) {
		if _, err := tx.Exec(ctx, insertReviewLook, feed[:], account[:], now.UnixMilli()); err != nil {
			return err
		}
		after := now.Add(-mapdata.ReviewLookKept).UnixMilli()
		others, err = List(ctx, tx, selectReviewLooks, func(r Row) (one mapdata.ReviewLook, err error) {
			var at instant
			err = r.Scan(&one.Email, &at)
			one.At = at.Time
			return one, err
		}, feed[:], account[:], after, limit)
		return err
	})
	return others, err
}
