package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
)

// Ingester stores batches and snapshots.
type Ingester struct {
	Limits mapdata.StorageLimits // on storage; set before use, zero: no bounds

	later   atomic.Pointer[mapdata.StorageLimits] // the argument of SetLimits; nil: it was not called
	store   Store
	now     func() time.Time
	changed signal.StoreChanged
	pushes  turns
}

// attempts is how often a change is made again because the feed changed in the meantime, before the store counts as
// unavailable.
const attempts = 20

// New returns an ingester. changed is notified after each committed change.
func New(store Store, now func() time.Time, changed signal.StoreChanged) *Ingester {
	return &Ingester{store: store, now: now, changed: changed}
}

// SetLimits replaces Limits for the pushes and snapshots that are compared afterwards.
func (in *Ingester) SetLimits(l mapdata.StorageLimits) { in.later.Store(&l) }

// limits returns the limits in force.
func (in *Ingester) limits() *mapdata.StorageLimits {
	if later := in.later.Load(); later != nil {
		return later
	}
	return &in.Limits
}

// Push stores a batch, durably, before it returns. It fails as Store.Apply does, or with the error of ctx, having stored
// nothing.
func (in *Ingester) Push(ctx context.Context, feed mapdata.FeedID, b *Batch) (Report, error) {
	done, err := in.pushes.take(ctx, feed)
	if err != nil {
		return Report{}, fmt.Errorf("wait for other pushes to the feed: %w", err)
	}
	defer done()
	ids := make([]string, len(b.rows))
	for i := range b.rows {
		ids[i] = b.rows[i].ExternalID
	}
	var verdict verdict
	err = in.retry(ctx, func() error {
		now := in.now().UTC().Truncate(time.Millisecond)
		mark, err := in.store.Mark(ctx, feed)
		if err != nil {
			return err
		}
		var snapshot mapdata.PushSnapshot
		if b.Part != nil {
			snapshot = mapdata.PushSnapshotOf(mark.PushSnapshots, b.Part.SnapshotID, now)
			if now.Before(snapshot.BegunAt) {
				now = snapshot.BegunAt // by the clock of another node
			}
		}
		stored := make(map[string]*mapdata.Stored, len(ids))
		if len(ids) > 0 {
			if err := in.store.Stored(ctx, feed, ids, func(s mapdata.Stored) { stored[s.ExternalID] = &s }); err != nil {
				return err
			}
		}
		allowed := newAllowance(in.limits(), &mark)
		change, full := compareBatch(feed, b.rows, allowed, stored, now)
		verdict = b.verdict.with(full)
		change.Attempt = mapdata.Attempt{
			At: now, Duration: max(0, now.Sub(b.at)), OK: true, Outcome: mapdata.OutcomeOK,
			Rows: b.total, Rejected: verdict.report.Rejected, Bytes: b.bytes,
			Unchanged: verdict.report.Accepted - len(change.Upserts) - len(change.Retired), Retired: len(change.Retired),
		}
		change.Rejections = verdict.reasons()
		if b.Part != nil {
			change.Touched = append(change.Touched, heldDespite(full, stored, &mark, now)...)
			if verdict.report.Snapshot, err = in.addPart(ctx, change, allowed, b, snapshot); err != nil {
				return err
			}
		}
		allowed.settle(change)
		return in.store.Apply(ctx, change)
	})
	if err != nil {
		return Report{}, fmt.Errorf("store batch: %w", err)
	}
	in.changed.Notify()
	return verdict.report, nil
}

// retry repeats the work as long as it conflicts with another change.
func (in *Ingester) retry(ctx context.Context, do func() error) error {
	for range attempts {
		err := do()
		if !errors.Is(err, mapdata.ErrConflict) || ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("%w: the feed changed %d times meanwhile", mapdata.ErrUnavailable, attempts)
}
