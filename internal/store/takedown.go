package store

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

const (
	hidePin = `UPDATE voted SET hidden_until = $3, hidden_reason = $4, hidden_at = $5, changed_at = $5 WHERE source = $1 AND external_id = $2`
	showPin = `UPDATE voted SET hidden_until = $3, changed_at = $3 WHERE source = $1 AND external_id = $2 AND hidden_until > $3`

	selectHiddenPins = `SELECT source, external_id, kind, hidden_at, hidden_until, hidden_reason FROM voted WHERE hidden_until > $1`
)

// HidePin stores a curator's decision on an entity with its entries and e-mails, in one transaction, and returns the
// entity. A later decision replaces an earlier one. It fails with mapdata.ErrNotFound for an entity of a feed that is
// not stored or has expired, and for a live incident without its own record.
func (db *Scripts) HidePin(ctx context.Context, p *mapdata.PinTakedown) (v mapdata.Voted, err error) {
	at := p.At.UTC().Truncate(time.Millisecond)
	err = db.backend.Write(ctx, "hide an entity", func(tx *Tx) error {
		if v, err = db.votable(ctx, tx, &mapdata.Ballot{Source: p.Source, ExternalID: p.ExternalID, Live: p.Live}, at); err != nil {
			return err
		}
		t, e := &v.Tally, &v.Entity
		if t.ChangedAt.IsZero() { // without votes there is no row yet
			t.ChangedAt = at
			if e.Feed.IsZero() {
				t.Kind = e.Kind
			} else {
				t.LifeAt = e.FirstSeenAt
			}
			if err := tx.tally(ctx, &v, true); err != nil {
				return err
			}
		}
		t.ChangedAt, t.Hidden = at, &mapdata.Hiding{Until: p.Until, Reason: p.Reason}
		if err := tx.one(ctx, hidePin, string(p.Source), p.ExternalID, Millis(p.Until), p.Reason, Millis(at)); err != nil {
			return err
		}
		return tx.takedown(ctx, e.Feed, p)
	})
	return v, err
}

// ShowPin ends the hiding of an entity at p.At, with its entries and e-mails. It fails with mapdata.ErrNotFound for an
// entity that is not hidden then.
func (db *Scripts) ShowPin(ctx context.Context, p *mapdata.PinTakedown) error {
	return db.backend.Write(ctx, "show an entity", func(tx *Tx) error {
		if err := tx.one(ctx, showPin, string(p.Source), p.ExternalID, Millis(p.At)); err != nil {
			return err
		}
		feed, _ := p.Source.FeedID()
		return tx.takedown(ctx, feed, p)
	})
}

// takedown stores the entries and e-mails of a decision on an entity, and notifies followers.
func (tx *Tx) takedown(ctx context.Context, feed mapdata.FeedID, p *mapdata.PinTakedown) error {
	if err := tx.audit(ctx, p.Audit...); err != nil {
		return err
	}
	if err := tx.emails(ctx, p.Emails); err != nil {
		return err
	}
	tx.raiseVotes(feed, p.ExternalID)
	return nil
}

// HiddenPins lists the entities that curators hide at now, the newest decision first, at most limit; only those of
// source, unless it is empty.
func (db *Scripts) HiddenPins(ctx context.Context, source mapdata.SourceID, now time.Time, limit int) ([]mapdata.HiddenPin, error) {
	query, args := selectHiddenPins+" ORDER BY hidden_at DESC, source, external_id LIMIT $2", []any{now.UnixMilli(), limit}
	if source != "" {
		query, args = selectHiddenPins+" AND source = $3 ORDER BY hidden_at DESC, source, external_id LIMIT $2", append(args, string(source))
	}
	all, err := List(ctx, db.backend, query, func(r Row) (p mapdata.HiddenPin, err error) {
		var (
			kind          string
			hidden, until instant
		)
		if err := r.Scan(&p.Source, &p.ExternalID, &kind, &hidden, &until, &p.Reason); err != nil {
			return p, err
		}
		p.HiddenAt, p.Until = hidden.Time, until.Time
		p.Kind, err = db.Kind(kind)
		return p, err
	}, args...)
	return all, db.backend.Failure("list hidden entities", err)
}
