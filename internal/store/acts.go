package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

const (
	// The newest votes and reports of an account ($1) that count. Each half reads ActsCompared rows of an index that is by time.
	acts = `(SELECT * FROM (SELECT b.source, b.external_id, b.life_at, b.at, v.lat, v.lng FROM votes AS b
			JOIN voted AS v ON v.source = b.source AND v.external_id = b.external_id
			WHERE b.account = $1 AND b.trusted ORDER BY b.at DESC LIMIT $4) AS cast_by
		UNION ALL SELECT * FROM (SELECT source, external_id, life_at, first_seen_at AS at, lat, lng FROM voted
			WHERE author = $1 AND author_trusted ORDER BY first_seen_at DESC LIMIT $4) AS written_by
		ORDER BY at DESC LIMIT $4) AS a`

	// The newest of those that are not on one entity ($2, $3).
	selectLastAct = `SELECT a.lat, a.lng, a.at FROM ` + acts + ` WHERE a.source <> $2 OR a.external_id <> $3 ORDER BY a.at DESC LIMIT 1`

	// Of the same acts: their number, and the number of those on entities that another account ($5) did not act on, whether or not the
	// other account's acts count.
	selectShares = `SELECT COUNT(*), COUNT(CASE WHEN s.own THEN 1 END) FROM (
			SELECT NOT EXISTS (SELECT 1 FROM votes AS o
					WHERE o.source = a.source AND o.external_id = a.external_id AND o.life_at = a.life_at AND o.account = $5)
				AND NOT EXISTS (SELECT 1 FROM voted AS w WHERE w.source = a.source AND w.external_id = a.external_id AND w.author = $5) AS own
			FROM ` + acts + ` WHERE a.source <> $2 OR a.external_id <> $3) AS s`

	// The number of days (UTC) on which the account acted, except on one entity; at most $4. Votes are read day by day, because there may
	// be a million on one day; an account has at most 50 reports a day.
	selectActDays = `WITH RECURSIVE d (at, n) AS (
			SELECT (SELECT MAX(b.at) FROM votes AS b WHERE b.account = $1 AND b.trusted AND (b.source <> $2 OR b.external_id <> $3)), 1
			UNION ALL SELECT (SELECT MAX(b.at) FROM votes AS b WHERE b.account = $1 AND b.trusted AND (b.source <> $2 OR b.external_id <> $3)
				AND b.at < d.at - d.at % 86400000), d.n + 1 FROM d WHERE d.at IS NOT NULL AND d.n < $4)
		SELECT COUNT(*) FROM (SELECT at / 86400000 AS day FROM d WHERE at IS NOT NULL
			UNION SELECT first_seen_at / 86400000 FROM voted WHERE author = $1 AND author_trusted AND (source <> $2 OR external_id <> $3)) AS days`

	discountVote   = `UPDATE votes SET trusted = false WHERE source = $1 AND external_id = $2 AND life_at = $3 AND account = $4`
	discountAuthor = `UPDATE voted SET author_trusted = false WHERE source = $1 AND external_id = $2`

	// The plus keeps databases from searching an index ordered by time for the newest, as in selectLastDispute.
	selectLikeVoters = `SELECT account FROM votes WHERE source = $1 AND external_id = $2 AND life_at = $3 AND vote = $4 AND trusted
			AND account IS NOT NULL AND account <> $5 ORDER BY +at DESC LIMIT $6`
)

// isReachable reports whether an account can have reached a place since its last counted act, other than those on the entity itself.
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

// isSomebodyElse reports whether an account belongs to another person than all accounts whose same vote on the entity counts already. The
// author's report counts as a confirm. second lists the other accounts whose votes must no longer count, because they have no record of
// their own beside this account, which has one beside them: the order of the votes must not decide which of such accounts counts.
func (tx *Tx) isSomebodyElse(ctx context.Context, account mapdata.AccountID, v mapdata.Vote, t *mapdata.Tally) (counts bool, second []mapdata.AccountID, err error) {
	others, err := tx.likeActors(ctx, account, v, t)
	if err != nil || len(others) == 0 {
		return err == nil, nil, err
	}
	days, err := tx.actDays(ctx, account, t)
	if err != nil {
		return false, nil, err
	}
	for _, other := range others {
		r, err := tx.record(ctx, account, other, t)
		if r.Days = days; err != nil || !r.Independent() {
			return false, nil, err
		}
		r, err = tx.record(ctx, other, account, t)
		if err != nil {
			return false, nil, err
		}
		if r.Days, err = tx.actDays(ctx, other, t); err != nil {
			return false, nil, err
		}
		if !r.Independent() {
			second = append(second, other)
		}
	}
	return true, second, nil
}

// discount marks the accounts' votes on the tally's entity as not counted, and likewise the report of its author.
func (tx *Tx) discount(ctx context.Context, accounts []mapdata.AccountID, v mapdata.Vote, t *mapdata.Tally) error {
	on := []any{string(t.Source), t.ExternalID}
	for _, account := range accounts {
		if v == mapdata.Confirm && account == t.Author {
			if _, err := tx.Exec(ctx, discountAuthor, on...); err != nil {
				return fmt.Errorf("discount a report: %w", err)
			}
			t.AuthorTrusted = false
			continue
		}
		if err := tx.one(ctx, discountVote, append(on, lifeMillis(t.LifeAt), account[:])...); err != nil {
			return fmt.Errorf("discount a vote: %w", err)
		}
		t.Discount(v)
	}
	return nil
}

// actDays returns the number of days on which an account acted, except on the tally's entity; mapdata.MinActDays at most, by votes alone.
func (tx *Tx) actDays(ctx context.Context, account mapdata.AccountID, t *mapdata.Tally) (days int, err error) {
	err = tx.QueryRow(ctx, selectActDays, account[:], string(t.Source), t.ExternalID, mapdata.MinActDays).Scan(&days)
	if err != nil {
		return 0, fmt.Errorf("count the days of an account's acts: %w", err)
	}
	return days, nil
}

// likeActors returns the other accounts whose same vote on the entity counts, the newest ones, and the author of a report that is
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
