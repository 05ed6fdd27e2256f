package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

const (
	// The newest votes and reports of an account ($1) that count. Each half reads ActsCompared rows of an index that is by time.
	acts = `(SELECT * FROM (SELECT b.source, b.external_id, b.life_at, b.at, v.lat, v.lng FROM votes AS b
			JOIN voted AS v ON v.source = b.source AND v.external_id = b.external_id
			WHERE b.account = $1 AND b.trusted ORDER BY b.at DESC LIMIT $4) AS cast_by
		UNION ALL SELECT * FROM (SELECT source, external_id, life_at, first_seen_at AS at, lat, lng FROM voted
			WHERE author = $1 AND author_trusted ORDER BY first_seen_at DESC LIMIT $4) AS written_by
		ORDER BY at DESC LIMIT $4) AS a`

	// Of those that are not on one entity ($2, $3): the newest.
	selectLastAct = `SELECT a.lat, a.lng, a.at FROM ` + acts + ` WHERE a.source <> $2 OR a.external_id <> $3 ORDER BY a.at DESC LIMIT 1`

	// Of the same: how many there are, and how many of them are on entities that another account ($5) did not act on. Whether the
	// other account's acts count makes no difference.
	selectShares = `SELECT COUNT(*), COUNT(CASE WHEN s.own THEN 1 END) FROM (
			SELECT NOT EXISTS (SELECT 1 FROM votes AS o
					WHERE o.source = a.source AND o.external_id = a.external_id AND o.life_at = a.life_at AND o.account = $5)
				AND NOT EXISTS (SELECT 1 FROM voted AS w WHERE w.source = a.source AND w.external_id = a.external_id AND w.author = $5) AS own
			FROM ` + acts + ` WHERE a.source <> $2 OR a.external_id <> $3) AS s`

	// On how many days (UTC) the account acted, but for one entity; $4 and more are one. Votes are read from day to day, because
	// there may be a million on one day; of reports an account has 50 a day at most.
	selectActDays = `WITH RECURSIVE d (at, n) AS (
			SELECT (SELECT MAX(b.at) FROM votes AS b WHERE b.account = $1 AND b.trusted AND (b.source <> $2 OR b.external_id <> $3)), 1
			UNION ALL SELECT (SELECT MAX(b.at) FROM votes AS b WHERE b.account = $1 AND b.trusted AND (b.source <> $2 OR b.external_id <> $3)
				AND b.at < d.at - d.at % 86400000), d.n + 1 FROM d WHERE d.at IS NOT NULL AND d.n < $4)
		SELECT COUNT(*) FROM (SELECT at / 86400000 AS day FROM d WHERE at IS NOT NULL
			UNION SELECT first_seen_at / 86400000 FROM voted WHERE author = $1 AND author_trusted AND (source <> $2 OR external_id <> $3)) AS days`

	// With the plus no database looks for the newest by an index that is by time, as for selectLastDispute.
	selectLikeVoters = `SELECT account FROM votes WHERE source = $1 AND external_id = $2 AND life_at = $3 AND vote = $4 AND trusted
			AND account IS NOT NULL AND account <> $5 ORDER BY +at DESC LIMIT $6`
)

// isReachable reports whether an account can have come to a place since it last did something that counts, beside what it did to
// the entity itself.
func (tx *Tx) isReachable(ctx context.Context, account mapdata.AccountID, t *mapdata.Tally, place geo.Point, at time.Time) (bool, error) {
	var (
		last mapdata.Act
		when instant
	)
	err := tx.QueryRow(ctx, selectLastAct, account[:], string(t.Source), t.ExternalID, mapdata.ActsCompared).Scan(&last.Place.Lat, &last.Place.Lng, &when)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("find the account's last act: %w", err)
	}
	last.At = when.Time
	return last.AfterAct(place, at), nil
}

// isSomebodyElse reports whether an account is another person than all whose same vote on the entity counts already. The author's
// report counts as a confirm.
func (tx *Tx) isSomebodyElse(ctx context.Context, account mapdata.AccountID, v mapdata.Vote, t *mapdata.Tally) (bool, error) {
	others, err := tx.likeActors(ctx, account, v, t)
	if err != nil || len(others) == 0 {
		return err == nil, err
	}
	own, err := tx.actDays(ctx, account, t)
	if err != nil {
		return false, err
	}
	for _, other := range others {
		days, err := tx.actDays(ctx, other, t)
		if err != nil {
			return false, err
		}
		independent, err := tx.areIndependent(ctx, account, other, own, days, t)
		if !independent {
			return false, err
		}
	}
	return true, nil
}

// areIndependent reports whether each of two accounts, which acted on so many days, acts without the other one.
func (tx *Tx) areIndependent(ctx context.Context, a, b mapdata.AccountID, daysOfA, daysOfB int, t *mapdata.Tally) (bool, error) {
	ofA, err := tx.record(ctx, a, b, t)
	if err != nil {
		return false, err
	}
	ofB, err := tx.record(ctx, b, a, t)
	if err != nil {
		return false, err
	}
	ofA.Days, ofB.Days = daysOfA, daysOfB
	return ofA.Independent() && ofB.Independent(), nil
}

// actDays returns on how many days an account acted, but for the tally's entity; mapdata.MinActDays at most, by votes alone.
func (tx *Tx) actDays(ctx context.Context, account mapdata.AccountID, t *mapdata.Tally) (days int, err error) {
	err = tx.QueryRow(ctx, selectActDays, account[:], string(t.Source), t.ExternalID, mapdata.MinActDays).Scan(&days)
	if err != nil {
		return 0, fmt.Errorf("count the days of an account's acts: %w", err)
	}
	return days, nil
}

// likeActors finds the other accounts whose same vote on the entity counts, the newest ones, and the author of a report that is
// confirmed.
func (tx *Tx) likeActors(ctx context.Context, account mapdata.AccountID, v mapdata.Vote, t *mapdata.Tally) ([]mapdata.AccountID, error) {
	voters, err := List(ctx, tx, selectLikeVoters, func(r Row) (id AccountID, err error) {
		err = r.Scan(&id)
		return id, err
	}, string(t.Source), t.ExternalID, lifeMillis(t.LifeAt), v, account[:], mapdata.ActorsAtMost)
	if err != nil {
		return nil, fmt.Errorf("find accounts with the same vote: %w", err)
	}
	var others []mapdata.AccountID
	if v == mapdata.Confirm && t.AuthorTrusted && !t.Author.IsZero() && t.Author != account {
		others = append(others, t.Author)
	}
	for _, id := range voters {
		others = append(others, id.AccountID)
	}
	return others, nil
}

// record compares the newest acts of one account with those of another one, but for those on the tally's entity.
func (tx *Tx) record(ctx context.Context, of, with mapdata.AccountID, t *mapdata.Tally) (r mapdata.Record, err error) {
	row := tx.QueryRow(ctx, selectShares, of[:], string(t.Source), t.ExternalID, mapdata.ActsCompared, with[:])
	if err := row.Scan(&r.Acts, &r.Own); err != nil {
		return r, fmt.Errorf("compare two accounts: %w", err)
	}
	return r, nil
}
