package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"time"

	"wayside/internal/ground/mapdata"
)

// Replace makes a built-in feed contain exactly the rows of a body, in one transaction: entities that the body lacks are retired
// immediately, not after three snapshots as with a provider's. The bounds on a feed's size do not apply, since the operator chose the rows.
// A repetition of the same body writes nothing, and replaced is false. It fails with mapdata.ErrFenced when the feed was edited since it
// was read.
func (in *Ingester) Replace(ctx context.Context, feed *mapdata.Feed, body []byte, at time.Time) (report Report, replaced bool, err error) {
	sum := sha256.Sum256(body)
	s := Snapshot{
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }, Hash: sum[:],
		At: at.UTC().Truncate(time.Millisecond), whole: true,
	}
	err = in.retry(ctx, func() error {
		mark, err := in.store.Mark(ctx, feed.ID)
		if err != nil {
			return err
		}
		report, replaced = Report{}, false
		if _, same := unchanged(&mark, s.Hash, s.At); same {
			return nil
		}
		change := &mapdata.Change{Feed: feed.ID, Base: mark.EntitiesRevision, At: s.At, Holds: mark.Holds}
		result, err := in.compareSnapshot(ctx, change, &mark, s)
		if err != nil {
			return err
		}
		change.Snapshot = &mapdata.SnapshotTaken{Snapshot: mark.Snapshot + 1, Lease: mapdata.Lease{Generation: feed.Generation}, Polling: mapdata.Polling{
			LastFetchedAt: s.At, LastOutcome: mapdata.OutcomeOK, LastRows: result.Rows, LastRejected: result.Report.Rejected, BodyHash: result.BodyHash,
		}}
		change.Attempt = mapdata.Attempt{
			At: s.At, OK: true, Outcome: mapdata.OutcomeOK, Rows: result.Rows, Rejected: result.Report.Rejected, Bytes: int64(len(body)),
			Unchanged: result.unchanged, Retired: len(change.Retired),
		}
		change.Rejections = result.stored
		report, replaced = result.Report, true
		return in.store.Apply(ctx, change)
	})
	if err != nil {
		return Report{}, false, fmt.Errorf("replace the rows of a built-in feed: %w", err)
	}
	if replaced {
		in.changed.Notify()
	}
	return report, replaced, nil
}
