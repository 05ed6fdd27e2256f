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
	// A transaction that votes on an entity waits for others that vote on it or write it, so that Forget removes no entity that was just
	// confirmed. The row itself is not changed.
	selectEntityExists = `SELECT 1 FROM entities WHERE feed_id = $1 AND external_id = $2`

	selectVoted = `SELECT ` + EntityColumns + `, f.snapshot_at FROM entities AS e JOIN feeds AS f ON f.id = e.feed_id
		WHERE e.feed_id = $1 AND e.external_id = $2`

	selectVote = `SELECT b.vote, b.trusted FROM votes AS b JOIN voted AS v USING (source, external_id, life_at)
		WHERE b.source = $1 AND b.external_id = $2 AND b.account = $3`
	castVote = `INSERT INTO votes (source, external_id, life_at, account, vote, at, trusted) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (source, external_id, life_at, account) DO UPDATE SET vote = excluded.vote, at = excluded.at, trusted = excluded.trusted`
	takeVote = `DELETE FROM votes WHERE source = $1 AND external_id = $2 AND life_at = $3 AND account = $4`
	// The plus keeps databases from searching the index of all votes on the source, which is ordered by time, for the newest vote.
	selectLastDispute = `SELECT MAX(+at) FROM votes WHERE source = $1 AND external_id = $2 AND life_at = $3 AND vote = -1 AND trusted`
	selectFirstSignIn = `SELECT first_sign_in_at FROM accounts WHERE id = $1`

	replaceVoted = `INSERT INTO voted (confirms, disputes, last_dispute_at, kept_until, changed_at, life_at, source, external_id,
			untrusted_confirms, untrusted_disputes, kind, lat, lng, first_seen_at, last_seen_at, properties)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
		ON CONFLICT (source, external_id) DO UPDATE SET confirms = excluded.confirms, disputes = excluded.disputes,
			last_dispute_at = excluded.last_dispute_at, kept_until = excluded.kept_until, changed_at = excluded.changed_at,
			life_at = excluded.life_at, untrusted_confirms = excluded.untrusted_confirms,
			untrusted_disputes = excluded.untrusted_disputes, kind = excluded.kind, lat = excluded.lat, lng = excluded.lng,
			first_seen_at = excluded.first_seen_at, last_seen_at = excluded.last_seen_at, properties = excluded.properties`
	updateTally = `UPDATE voted SET confirms = $1, disputes = $2, last_dispute_at = $3, kept_until = $4, changed_at = $5, life_at = $6,
		untrusted_confirms = $9, untrusted_disputes = $10 WHERE source = $7 AND external_id = $8`
)

// readVoted returns an entity of a feed with the stored tally, whichever life it is of; false: it is not stored, or has expired at now.
func (db *Scripts) readVoted(ctx context.Context, q Querier, feed mapdata.FeedID, externalID string, now time.Time) (v mapdata.Voted, ok bool, err error) {
	var snapshotAt instant
	v.Entity, err = db.scanEntity(q.QueryRow(ctx, selectVoted, feed[:], externalID), feed, &snapshotAt)
	if errors.Is(err, sql.ErrNoRows) {
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	v.SnapshotAt = snapshotAt.Time
	if v.Tally, err = tallyOf(ctx, q, feed.SourceID(), externalID); err != nil {
		return v, false, err
	}
	ends, expires := v.ExpiresAt(now)
	return v, !expires || now.Before(ends), nil
}

// dropEarlierLife replaces a tally of an earlier life by one without votes.
func dropEarlierLife(v *mapdata.Voted, now time.Time) {
	if !v.Tally.Counts(v.Entity.Kind, v.Entity.FirstSeenAt, now) {
		v.Tally = mapdata.Tally{Source: v.Tally.Source, ExternalID: v.Tally.ExternalID, Hidden: v.Tally.Hidden, Report: v.Tally.Report}
	}
}

// Voted returns an entity of a feed that is alive at now, with the votes that count for it, or fails with mapdata.ErrNotFound.
func (db *Scripts) Voted(ctx context.Context, feed mapdata.FeedID, externalID string, now time.Time) (v mapdata.Voted, err error) {
	err = db.backend.Read(ctx, "read an entity with its votes", func(q Querier) error {
		var ok bool
		if v, ok, err = db.readVoted(ctx, q, feed, externalID, now); err == nil && !ok {
			err = mapdata.ErrNotFound
		}
		return err
	})
	if err != nil {
		return mapdata.Voted{}, err
	}
	dropEarlierLife(&v, now)
	return v, nil
}

// Vote returns the account's standing vote on an entity, of the life that its tally is of: mapdata.NoVote if the account has none, withdrew
// it, or was severed from it (D9.7).
func (db *Scripts) Vote(ctx context.Context, source mapdata.SourceID, externalID string, account mapdata.AccountID) (mapdata.Vote, error) {
	v, err := scanVote(db.backend.QueryRow(ctx, selectVote, string(source), externalID, account[:]))
	return v.Vote, db.backend.Failure("read vote", err)
}

func scanVote(r Row) (v mapdata.CountedVote, err error) {
	var trusted bool
	if err = r.Scan(&v.Vote, &trusted); errors.Is(err, sql.ErrNoRows) {
		return v, nil
	}
	v.Untrusted = !trusted
	return v, err
}

// counted returns how the ballot counts, which applies for as long as the vote stands (D9.8). It counts if the account is near, has existed
// for long enough, and is not the second account of a person whose vote counts already; it may discount other votes of voted. Accounts are
// not compared where they count immediately (TrustAfter is 0).
func (tx *Tx) counted(ctx context.Context, b *mapdata.Ballot, voted *mapdata.Voted, at time.Time) (mapdata.CountedVote, error) {
	v := mapdata.CountedVote{Vote: b.Vote}
	if b.Vote == mapdata.NoVote {
		return v, nil
	}
	v.Untrusted = b.Near != nil && !b.Near(&voted.Entity)
	if v.Untrusted || b.TrustAfter <= 0 {
		return v, nil
	}
	first, err := tx.firstSignIn(ctx, b.Account)
	if err != nil {
		return v, fmt.Errorf("read first sign-in: %w", err)
	}
	if !mapdata.Trusted(first, at, b.TrustAfter) {
		v.Untrusted = true
		return v, nil
	}
	t, e := &voted.Tally, &voted.Entity
	counts, err := tx.isReachable(ctx, b.Account, t, e.Point, at)
	if err == nil && counts && t.Counts(e.Kind, e.FirstSeenAt, at) {
		var second []mapdata.AccountID
		if counts, second, err = tx.isSomebodyElse(ctx, b.Account, b.Vote, t); err == nil {
			err = tx.discount(ctx, second, b.Vote, t)
		}
	}
	v.Untrusted = !counts
	return v, err
}

// firstSignIn returns when an account first signed in; zero: never. It fails with mapdata.ErrNotFound for an account that does not exist.
func (tx *Tx) firstSignIn(ctx context.Context, account mapdata.AccountID) (time.Time, error) {
	var first instant
	err := tx.QueryRow(ctx, selectFirstSignIn, account[:]).Scan(&first)
	if errors.Is(err, sql.ErrNoRows) {
		err = mapdata.ErrNotFound
	}
	return first.Time, err
}

// mayVote fails with mapdata.ErrForbidden for an author's vote on their own report (D9.8), and with mapdata.ErrNotFound for a vote on an
// entity that the account cannot read, unless it supports the entity already or reported the same.
func mayVote(t *mapdata.Tally, b *mapdata.Ballot, before mapdata.Vote, at time.Time) error {
	switch {
	case t.HiddenAt(at) != nil: // nobody may vote on an entity that a curator hides
		return mapdata.ErrNotFound
	case b.Vote != mapdata.NoVote && t.Author == b.Account && !b.Account.IsZero():
		return mapdata.Describe(mapdata.ErrForbidden, "You can't vote on your own reports.")
	case t.WaitsFor(b.Account) && !b.Reported && before == mapdata.NoVote:
		return mapdata.ErrNotFound
	}
	return nil
}

// CastVote stores a ballot together with the service's own record of the entity, in one transaction, durably (Live incidents, 2; D9.2), and
// returns the entity with its current votes. Withdrawing a vote that does not stand changes nothing. It fails with mapdata.ErrNotFound for
// an entity of a feed that is not stored or has expired at b.At, for one that a curator hides, for a live incident without its own record,
// and for an account that does not exist. It does not raise the revision of the feed's entities, so that no snapshot and no push is refused
// because of it. Votes on one entity wait for each other, on whichever nodes they are cast.
func (db *Scripts) CastVote(ctx context.Context, b *mapdata.Ballot) (v mapdata.Voted, err error) {
	at := b.At.UTC().Truncate(time.Millisecond) // at the resolution of stored times
	err = db.backend.Write(ctx, "cast vote", func(tx *Tx) error {
		if v, err = db.votable(ctx, tx, b, at); err != nil {
			return err
		}
		// Locked, because the vote could otherwise be severed from its account before it is replaced, and count twice.
		before, err := scanVote(tx.QueryRow(ctx, tx.dialect.locking(selectVote, "UPDATE OF b"), string(b.Source), b.ExternalID, b.Account[:]))
		if err != nil {
			return fmt.Errorf("read standing vote: %w", err)
		}
		if err := mayVote(&v.Tally, b, before.Vote, at); err != nil {
			return err
		}
		first := v.Tally.ChangedAt.IsZero()
		if !v.Tally.Counts(v.Entity.Kind, v.Entity.FirstSeenAt, at) {
			first, before = true, mapdata.CountedVote{}
		}
		if before.Vote == mapdata.NoVote && b.Vote == mapdata.NoVote {
			return nil
		}
		after, err := tx.counted(ctx, b, &v, at)
		if err != nil {
			return err
		}
		next := v.Tally.Cast(&v.Entity, before, after, at)
		first = first || !next.LifeAt.Equal(v.Tally.LifeAt)
		v.Tally = next
		if err := tx.vote(ctx, b, &v.Tally, !after.Untrusted, at); err != nil {
			return err
		}
		if before.Vote == mapdata.Dispute && (after.Vote != mapdata.Dispute || after.Untrusted) {
			if v.Tally.LastDisputeAt, err = tx.lastDispute(ctx, &v.Tally); err != nil {
				return fmt.Errorf("find the last dispute: %w", err)
			}
		}
		if err := tx.tally(ctx, &v, first); err != nil {
			return fmt.Errorf("store tally: %w", err)
		}
		tx.raiseVotes(v.Entity.Feed, b.ExternalID)
		return nil
	})
	if err != nil {
		return mapdata.Voted{}, err
	}
	dropEarlierLife(&v, at)
	return v, nil
}

// votable returns the entity of the ballot, with the stored tally of whichever life. Other transactions that vote on it wait until this one
// ends.
func (db *Scripts) votable(ctx context.Context, tx *Tx, b *mapdata.Ballot, at time.Time) (v mapdata.Voted, err error) {
	if b.Source == mapdata.Incidents {
		if b.Live == nil {
			return v, mapdata.ErrNotFound
		}
		if int(b.Live.Kind) >= mapdata.KindCount || !b.Live.Feed.IsZero() || b.Live.ExternalID != b.ExternalID {
			return v, errors.New("the record is of no live incident, or of another one")
		}
		if err := tx.lockScope(ctx, scopeVotes, b.ExternalID); err != nil {
			return v, err
		}
		tally, err := tallyOf(ctx, tx, b.Source, b.ExternalID)
		return mapdata.Voted{Entity: *b.Live, Tally: tally}, err
	}
	feed, ok := b.Source.FeedID()
	if !ok {
		return v, mapdata.ErrNotFound
	}
	if err := tx.lock(ctx, selectEntityExists, "NO KEY UPDATE", feed[:], b.ExternalID); err != nil {
		return v, err
	}
	v, ok, err = db.readVoted(ctx, tx, feed, b.ExternalID, at)
	if err == nil && !ok {
		err = mapdata.ErrNotFound
	}
	return v, err
}

// vote writes the ballot itself, for the life of the tally in which it counts.
func (tx *Tx) vote(ctx context.Context, b *mapdata.Ballot, t *mapdata.Tally, trusted bool, at time.Time) error {
	query, args := takeVote, []any{string(b.Source), b.ExternalID, lifeMillis(t.LifeAt), b.Account[:]}
	if b.Vote != mapdata.NoVote {
		query, args = castVote, append(args, b.Vote, at.UnixMilli(), trusted)
	}
	if _, err := tx.Exec(ctx, query, args...); err != nil {
		return fmt.Errorf("store vote: %w", err)
	}
	return nil
}

// lastDispute returns the time of the newest standing dispute that counts towards suppression.
func (tx *Tx) lastDispute(ctx context.Context, t *mapdata.Tally) (time.Time, error) {
	var at instant
	err := tx.QueryRow(ctx, selectLastDispute, string(t.Source), t.ExternalID, lifeMillis(t.LifeAt)).Scan(&at)
	return at.Time, err
}

// tally writes the tally, and with the first vote of a life also the record, which later votes leave unchanged.
func (tx *Tx) tally(ctx context.Context, v *mapdata.Voted, first bool) error {
	t, e := &v.Tally, &v.Entity
	args := []any{
		t.Confirms, t.Disputes, Millis(t.LastDisputeAt), Millis(t.KeptUntil), Millis(t.ChangedAt), lifeMillis(t.LifeAt),
		string(t.Source), t.ExternalID, t.UntrustedConfirms, t.UntrustedDisputes,
	}
	if !first {
		return tx.one(ctx, updateTally, args...)
	}
	args = append(args, e.Kind.ID(), e.Point.Lat, e.Point.Lng, Millis(e.FirstSeenAt), Millis(e.LastSeenAt(v.SnapshotAt)), string(e.Properties))
	return tx.one(ctx, replaceVoted, args...)
}
