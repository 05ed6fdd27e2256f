package store

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"wayside/internal/ground/mapdata"
)

const (
	selectWarnings = `SELECT warned_rejections, warned_failing, warned_shrank, usual_rejected FROM feeds WHERE id = $1`
	updateWarnings = `UPDATE feeds SET warned_rejections = $2, warned_failing = $3, warned_shrank = $4, usual_rejected = $5 WHERE id = $1`

	// The warnings of a feed that its owner switches on or off start anew.
	beginWarnings = `UPDATE feeds SET silence_due = $2, warned_failing = NULL WHERE id = $1`

	anySilent    = `SELECT EXISTS (SELECT 1 FROM feeds WHERE silence_due <= $1)`
	selectSilent = `SELECT ` + FeedColumns + ` FROM feeds WHERE silence_due <= $1 ORDER BY silence_due, id LIMIT $2`
	endSilence   = `UPDATE feeds SET silence_due = NULL WHERE id = $1`

	// A feed with only persistent entities may be silent (D4.15).
	onlyPersistent = `SELECT EXISTS (SELECT 1 FROM entities WHERE feed_id = $1 AND lifetime_ms = 0)
		AND NOT EXISTS (SELECT 1 FROM entities WHERE feed_id = $1 AND lifetime_ms > 0)`
)

// scannedWarnings holds the scan destinations of the columns of a feed's warnings.
type scannedWarnings struct {
	rejections, failing, shrank instant
	usual                       float64
}

func (s *scannedWarnings) columns() []any {
	return []any{&s.rejections, &s.failing, &s.shrank, &s.usual}
}

func (s *scannedWarnings) warnings() mapdata.Warnings {
	return mapdata.Warnings{Rejections: s.rejections.Time, Failing: s.failing.Time, Shrank: s.shrank.Time, UsualRejected: s.usual}
}

func (tx *Tx) setWarnings(ctx context.Context, feed mapdata.FeedID, w *mapdata.Warnings) error {
	_, err := tx.Exec(ctx, updateWarnings, feed[:], Millis(w.Rejections), Millis(w.Failing), Millis(w.Shrank), w.UsualRejected)
	return err
}

// warnAfter records a change's attempt in the feed's warnings, whose row is locked, and e-mails the owner about
// troubles that begin.
func (tx *Tx) warnAfter(ctx context.Context, c *mapdata.Change, mark *LeasedMark) error {
	if !c.Attempt.OK {
		return nil
	}
	now := mark.warnings
	_, rows, shrank, _ := c.EndsSnapshot()
	begun := now.Attempted(&c.Attempt, shrank)
	if now == mark.warnings {
		return nil
	}
	if err := tx.setWarnings(ctx, c.Feed, &now); err != nil {
		return err
	}
	for _, kind := range begun {
		data := map[string]string{"rows": strconv.Itoa(rows), "rows_before": strconv.Itoa(mark.LastRows)}
		if kind == mapdata.EmailRejections {
			share := float64(c.Attempt.Rejected) / float64(c.Attempt.Rows)
			data = map[string]string{
				"rows": strconv.Itoa(c.Attempt.Rows), "rejected": strconv.Itoa(c.Attempt.Rejected),
				"share": percent(share), "usual": percent(mark.warnings.UsualRejected),
			}
		}
		if err := tx.warn(ctx, c.Feed, kind, c.Attempt.At, data); err != nil {
			return err
		}
	}
	return nil
}

func percent(share float64) string { return strconv.Itoa(int(math.Round(100 * share))) }

// warnFailed records a failed poll likewise.
func (tx *Tx) warnFailed(ctx context.Context, failed *mapdata.PollFailed) error {
	p := &failed.Polling
	if p.ConsecutiveFailures < mapdata.WarnAfterFailures {
		return nil
	}
	var s scannedWarnings
	if err := tx.QueryRow(ctx, selectWarnings, failed.Feed[:]).Scan(s.columns()...); err != nil {
		return err
	}
	now := s.warnings()
	begins := now.Failed(p.ConsecutiveFailures, failed.Attempt.At)
	if err := tx.setWarnings(ctx, failed.Feed, &now); err != nil || !begins || !failed.Active {
		return err // another e-mail reports the deactivation
	}
	return tx.warn(ctx, failed.Feed, mapdata.EmailFailing, failed.Attempt.At, map[string]string{"outcome": string(p.LastOutcome), "error": p.LastError})
}

// warn e-mails a feed's owner about a trouble that begins.
func (tx *Tx) warn(ctx context.Context, feed mapdata.FeedID, kind mapdata.EmailKind, at time.Time, data map[string]string) error {
	f, err := ScanFeed(tx.QueryRow(ctx, SelectFeed, feed[:]))
	if err != nil {
		return fmt.Errorf("read feed: %w", err)
	}
	data["feed_name"], data["feed_id"] = f.Name, f.ID.String()
	return tx.emails(ctx, []mapdata.Email{{Account: f.Owner, Kind: kind, At: at, Due: at, Data: data}})
}

// beginWarnings resets the warnings of a feed that was switched on or off. A feed that was never pushed to is not
// silent.
func (tx *Tx) beginWarnings(ctx context.Context, f *mapdata.Feed) error {
	due := any(nil)
	if f.Active && !f.LastPushAt.IsZero() {
		due = f.UpdatedAt.Add(mapdata.WarnAfterSilence).UnixMilli()
	}
	_, err := tx.Exec(ctx, beginWarnings, f.ID[:], due)
	return err
}

// WarnSilent e-mails the owners of at most limit push feeds that were pushed to before, but not for
// mapdata.WarnAfterSilence, each once until a push arrives. It skips feeds without expiring entities, and takes no lock
// where none is silent.
func (db *Scripts) WarnSilent(ctx context.Context, now time.Time, limit int) error {
	var some bool
	if err := db.backend.QueryRow(ctx, anySilent, now.UnixMilli()).Scan(&some); err != nil || !some {
		return db.backend.Failure("look for silent feeds", err)
	}
	return db.backend.Write(ctx, "warn of silent feeds", func(tx *Tx) error {
		silent, err := List(ctx, tx, tx.dialect.locking(selectSilent, "NO KEY UPDATE SKIP LOCKED"), scanFeedValue, now.UnixMilli(), limit)
		if err != nil {
			return err
		}
		for i := range silent {
			f := &silent[i]
			if _, err := tx.Exec(ctx, endSilence, f.ID[:]); err != nil {
				return err
			}
			var lasts bool
			if err := tx.QueryRow(ctx, onlyPersistent, f.ID[:]).Scan(&lasts); err != nil {
				return err
			}
			if lasts || !f.Active {
				continue
			}
			if err := tx.warn(ctx, f.ID, mapdata.EmailSilent, now, map[string]string{}); err != nil {
				return err
			}
		}
		return nil
	})
}
