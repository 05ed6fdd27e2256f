package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
)

const (
	insertMaintainer  = `INSERT INTO feed_maintainers (feed_id, account, since) VALUES ($1, $2, $3)`
	deleteMaintainer  = `DELETE FROM feed_maintainers WHERE feed_id = $1 AND account = $2`
	updateMaintainers = `UPDATE feeds SET maintainers = $2 WHERE id = $1`
	selectMaintainers = `SELECT m.account, a.email, m.since FROM feed_maintainers AS m JOIN accounts AS a ON a.id = m.account
		WHERE m.feed_id = $1 ORDER BY m.since, m.account`
	selectFeedsMaintained = `SELECT id FROM feeds WHERE id IN (SELECT feed_id FROM feed_maintainers WHERE account = $1) ORDER BY seq`
	deleteMaintainersOf   = `DELETE FROM feed_maintainers WHERE feed_id = $1`

	insertInvitation = `INSERT INTO feed_invitations (id, feed_id, what, email, invited_by, at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`
	selectInvitation = `SELECT i.id, i.feed_id, f.name, i.what, i.email, i.invited_by, a.email, i.at, i.expires_at
		FROM feed_invitations AS i JOIN feeds AS f ON f.id = i.feed_id JOIN accounts AS a ON a.id = i.invited_by
		WHERE i.closed_at IS NULL AND i.expires_at > $1 AND `
	selectInvitationByID = selectInvitation + `i.id = $2`
	selectInvitationsOf  = selectInvitation + `i.feed_id = $2 ORDER BY i.at, i.id`
	selectInvitationsTo  = selectInvitation + `i.email = $2 ORDER BY i.at, i.id`
	countInvitations     = `SELECT COUNT(*) FROM feed_invitations WHERE feed_id = $1 AND closed_at IS NULL`
	openInvitation       = `SELECT EXISTS (SELECT 1 FROM feed_invitations WHERE feed_id = $1 AND what = $2 AND email = $3 AND closed_at IS NULL)`
	countInvitationsBy   = `SELECT COUNT(*) FROM feed_invitations WHERE invited_by = $1 AND at > $2`
	countInvitationsTo   = `SELECT COUNT(*) FROM feed_invitations WHERE email = $1 AND at > $2`
	closeInvitation      = `UPDATE feed_invitations SET closed_at = $2 WHERE id = $1 AND closed_at IS NULL`
	closeExpired         = `UPDATE feed_invitations SET closed_at = expires_at WHERE feed_id = $1 AND closed_at IS NULL AND expires_at <= $2`
	closeInvitationsOf   = `UPDATE feed_invitations SET closed_at = at WHERE feed_id = $1 AND closed_at IS NULL`
	deleteInvitations    = `DELETE FROM feed_invitations WHERE (closed_at IS NOT NULL OR expires_at <= $1) AND at <= $2`
	deleteInvitationsTo  = `DELETE FROM feed_invitations WHERE email = (SELECT email FROM accounts WHERE id = $1)`
	deleteEmailsThatName = `DELETE FROM outbox WHERE data LIKE $1`
)

// maintainersText returns the stored form of a feed's maintainers.
func maintainersText(all []mapdata.AccountID) string {
	ids := make([]string, len(all))
	for i, id := range all {
		ids[i] = id.String()
	}
	return strings.Join(ids, ",")
}

func parseMaintainers(text string) ([]mapdata.AccountID, error) {
	if text == "" {
		return nil, nil
	}
	var all []mapdata.AccountID
	for one := range strings.SplitSeq(text, ",") {
		id, ok := mapdata.ParseAccountID(one)
		if !ok {
			return nil, fmt.Errorf("maintainer %q is no id", one)
		}
		all = append(all, id)
	}
	return all, nil
}

// moveManagers stores a change of a feed's owner or maintainers, except the feed's own row. It moves the feed's usage from one account to
// the other, and ends the feed's open invitations, because they are the old owner's.
func (tx *Tx) moveManagers(ctx context.Context, f, before *mapdata.Feed, limits mapdata.ReceiverLimits) error {
	slices.SortFunc(f.Maintainers, func(a, b mapdata.AccountID) int { return bytes.Compare(a[:], b[:]) })
	for _, id := range before.Maintainers {
		if slices.Contains(f.Maintainers, id) {
			continue
		}
		if _, err := tx.Exec(ctx, deleteMaintainer, f.ID[:], id[:]); err != nil {
			return err
		}
	}
	for _, id := range f.Maintainers {
		if slices.Contains(before.Maintainers, id) {
			continue
		}
		if _, err := tx.Exec(ctx, insertMaintainer, f.ID[:], id[:], f.UpdatedAt.UnixMilli()); err != nil {
			return err
		}
	}
	if f.Owner == before.Owner {
		return nil
	}
	var count int
	if err := tx.QueryRow(ctx, countFeedsOfOwner, f.Owner[:]).Scan(&count); err != nil {
		return err
	}
	if limits.Feeds > 0 && count >= limits.Feeds {
		return mapdata.Explain(mapdata.ErrConflict, "receiver_feeds", fmt.Sprintf("An account has at most %d feeds. Delete one first.", limits.Feeds))
	}
	if err := tx.growAccount(ctx, before.Owner, -f.Holds.Bytes, 0); err != nil {
		return err
	}
	if limits.Bytes > 0 && f.Holds.Bytes > limits.Bytes {
		return receiverFull()
	}
	if err := tx.growAccount(ctx, f.Owner, f.Holds.Bytes, limits.Bytes); err != nil {
		return receiverFull()
	}
	_, err := tx.Exec(ctx, closeInvitationsOf, f.ID[:])
	return err
}

func receiverFull() error {
	return mapdata.Explain(mapdata.ErrConflict, "receiver_bytes", "With this feed, the feeds of the account would hold more than they may.")
}

// stopMaintaining removes an account that is deleted from the feeds that it maintains.
func (tx *Tx) stopMaintaining(ctx context.Context, id mapdata.AccountID) error {
	feeds, err := List(ctx, tx, tx.dialect.locking(selectFeedsMaintained, forChange), scanFeedID, id[:])
	if err != nil {
		return err
	}
	for _, feed := range feeds {
		f, err := ScanFeed(tx.QueryRow(ctx, SelectFeed, feed[:]))
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(f.Maintainers, func(one mapdata.AccountID) bool { return one == id })
		if _, err := tx.Exec(ctx, updateMaintainers, feed[:], maintainersText(left)); err != nil {
			return err
		}
		tx.raiseRevision(feed)
	}
	return nil
}

// Maintainers lists a feed's maintainers in the order in which they joined.
func (db *Scripts) Maintainers(ctx context.Context, feed mapdata.FeedID) ([]mapdata.Maintainer, error) {
	all, err := List(ctx, db.backend, selectMaintainers, func(r Row) (m mapdata.Maintainer, err error) {
		var (
			account AccountID
			since   instant
		)
		err = r.Scan(&account, &m.Email, &since)
		m.Account, m.Since = account.AccountID, since.Time
		return m, err
	}, feed[:])
	return all, db.backend.Failure("list maintainers", err)
}

func scanInvitation(r Row) (i mapdata.Invitation, err error) {
	var (
		feed        FeedID
		by          AccountID
		at, expires instant
	)
	err = r.Scan(&i.ID, &feed, &i.FeedName, &i.What, &i.Email, &by, &i.ByEmail, &at, &expires)
	i.Feed, i.By, i.At, i.ExpiresAt = feed.FeedID, by.AccountID, at.Time, expires.Time
	return i, err
}

// InvitationsOf lists a feed's invitations that are open at now, oldest first.
func (db *Scripts) InvitationsOf(ctx context.Context, feed mapdata.FeedID, now time.Time) ([]mapdata.Invitation, error) {
	all, err := List(ctx, db.backend, selectInvitationsOf, scanInvitation, now.UnixMilli(), feed[:])
	return all, db.backend.Failure("list invitations of a feed", err)
}

// InvitationsTo lists the invitations to an address that are open at now, oldest first.
func (db *Scripts) InvitationsTo(ctx context.Context, email string, now time.Time) ([]mapdata.Invitation, error) {
	all, err := List(ctx, db.backend, selectInvitationsTo, scanInvitation, now.UnixMilli(), email)
	return all, db.backend.Failure("list invitations to an address", err)
}

// Invitation reads an invitation that is open at now, or fails with mapdata.ErrNotFound.
func (db *Scripts) Invitation(ctx context.Context, id string, now time.Time) (*mapdata.Invitation, error) {
	i, err := scanInvitation(db.backend.QueryRow(ctx, selectInvitationByID, now.UnixMilli(), id))
	return &i, db.backend.Failure("read invitation", err)
}

// Invite stores an invitation together with the Side that check returns for its feed. It returns an error of check as it is. It fails with
// mapdata.ErrNotFound when the feed does not exist, with mapdata.ErrConflict where the same invitation is open, or as many as a feed may
// have, and with a *mapdata.LimitError where the account or the address had too many in the window.
func (db *Scripts) Invite(ctx context.Context, i *mapdata.Invitation, check func(*mapdata.Feed) (mapdata.Side, error)) error {
	var refused error
	err := db.backend.Write(ctx, "invite", func(tx *Tx) error {
		if err := tx.lockScope(ctx, scopeInvitations, i.Email); err != nil {
			return err
		}
		f, err := ScanFeed(tx.QueryRow(ctx, tx.dialect.locking(SelectFeed, forChange), i.Feed[:]))
		if err != nil {
			return err
		}
		side, err := check(f)
		if err != nil {
			refused = err
			return err
		}
		if err := tx.lock(ctx, selectAccountExists, "NO KEY UPDATE", i.By[:]); err != nil {
			return err // invitations by one account wait for each other, so that the bound holds
		}
		if _, err := tx.Exec(ctx, closeExpired, i.Feed[:], i.At.UnixMilli()); err != nil {
			return err
		}
		if refused = tx.boundInvitation(ctx, i); refused != nil {
			return refused
		}
		_, err = tx.Exec(ctx, insertInvitation, i.ID, i.Feed[:], string(i.What), i.Email, i.By[:], i.At.UnixMilli(), i.ExpiresAt.UnixMilli())
		if err != nil {
			return err
		}
		return tx.side(ctx, side)
	})
	if refused != nil {
		return refused
	}
	return err
}

// boundInvitation refuses an invitation that is open already, and those beyond the bounds.
func (tx *Tx) boundInvitation(ctx context.Context, i *mapdata.Invitation) error {
	var open bool
	if err := tx.QueryRow(ctx, openInvitation, i.Feed[:], string(i.What), i.Email).Scan(&open); err != nil {
		return err
	}
	if open {
		return mapdata.Explain(mapdata.ErrConflict, "invited_already", "This address has the same invitation already.")
	}
	since := i.At.Add(-mapdata.InvitationWindow).UnixMilli()
	for _, bound := range []struct {
		query   string
		args    []any
		most    int
		refusal error
	}{
		{
			countInvitations,
			[]any{i.Feed[:]},
			mapdata.MaxOpenInvitations,
			mapdata.Explain(mapdata.ErrConflict, "too_many_invitations", fmt.Sprintf("A feed has at most %d open invitations. Withdraw one first.", mapdata.MaxOpenInvitations)),
		},
		{
			countInvitationsBy,
			[]any{i.By[:], since},
			mapdata.InvitationsByAccount,
			&mapdata.LimitError{RetryAfter: time.Hour, What: "invitations by this account in a day"},
		},
		{
			countInvitationsTo,
			[]any{i.Email, since},
			mapdata.InvitationsToAddress,
			&mapdata.LimitError{RetryAfter: time.Hour, What: "invitations to this address in a day"},
		},
	} {
		var count int
		if err := tx.QueryRow(ctx, bound.query, bound.args...).Scan(&count); err != nil {
			return err
		}
		if count >= bound.most {
			return bound.refusal
		}
	}
	return nil
}

// AnswerInvitation closes an invitation that is open at now and calls edit to change its feed, in one transaction: to accept the
// invitation, edit changes maintainers or owner. It returns an error of edit as it is. It fails with mapdata.ErrNotFound when the
// invitation or the feed does not exist, and with mapdata.ErrConflict when the feed's new owner would exceed limits.
func (db *Scripts) AnswerInvitation(
	ctx context.Context, id string, now time.Time, limits mapdata.ReceiverLimits,
	edit func(*mapdata.Feed, *mapdata.Invitation) (mapdata.Side, error),
) (stored *mapdata.Feed, err error) {
	var refused error
	err = db.backend.Write(ctx, "answer invitation", func(tx *Tx) error {
		if err := tx.lockRegistrations(ctx); err != nil { // the receiver's feeds are counted
			return err
		}
		i, err := scanInvitation(tx.QueryRow(ctx, selectInvitationByID, now.UnixMilli(), id))
		if err != nil {
			return err
		}
		stored, err = tx.updateFeed(ctx, i.Feed, limits, func(f *mapdata.Feed) (mapdata.Side, error) {
			if err := tx.one(ctx, closeInvitation, id, now.UnixMilli()); err != nil { // another answer was faster
				return mapdata.Side{}, err
			}
			side, err := edit(f, &i)
			refused = err
			return side, err
		})
		return err
	})
	if refused != nil {
		return nil, refused
	}
	return stored, err
}
