package ingest

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"wayside/internal/mapdata"
)

// DriverReport are the members of a driver's report, as JSON values; nil: absent.
type DriverReport struct {
	ExternalID         string // made by the service: letters and digits
	Kind               mapdata.Kind
	Lat, Lng, Observed []byte
	Bearing            *float64 // degrees, 0 to 360; nil: absent
	Lifetime           time.Duration
}

// DecodeReport makes a batch of one row of a driver's report, which is judged like any other row.
func DecodeReport(r *DriverReport, now time.Time) (*Batch, error) {
	row := append([]byte(`[{"external_id":"`), r.ExternalID...)
	row = append(append(append(row, `","kind":"`...), r.Kind.ID()...), '"')
	for _, member := range []struct {
		name  string
		value []byte
	}{{"lat", r.Lat}, {"lng", r.Lng}, {"observed_at", r.Observed}} {
		if member.value != nil {
			row = append(append(append(append(row, `,"`...), member.name...), `":`...), member.value...)
		}
	}
	row = strconv.AppendInt(append(row, `,"ttl_seconds":`...), int64(r.Lifetime/time.Second), 10)
	row = append(row, `,"properties":{`...)
	if r.Bearing != nil {
		row = strconv.AppendFloat(append(row, `"bearing":`...), *r.Bearing, 'f', -1, 64)
	}
	return DecodeBatch(append(row, "}}]"...), now)
}

// Turn waits until nobody else of this process writes to a feed; done ends the turn.
func (in *Ingester) Turn(ctx context.Context, feed mapdata.FeedID) (done func(), err error) {
	return in.pushes.take(ctx, feed)
}

// ErrFull says that a built-in feed has no room for another row.
var ErrFull = fmt.Errorf("%w: the feed is full", mapdata.ErrUnavailable)

// AddReport stores a driver's report, the one row of a batch, with its author, durably before it returns. It fails with
// mapdata.ErrConflict when the feed moved since it had the revision base, with ErrFull, and as Store.Apply does.
func (in *Ingester) AddReport(ctx context.Context, feed mapdata.FeedID, b *Batch, r *mapdata.NewReport, base int64) error {
	return in.report(ctx, feed, r, base, func(mark *mapdata.Mark, now time.Time) (*mapdata.Change, error) {
		// What the operator imports is in the same account, so that the bound on accounts does not apply.
		allowed := newAllowance(in.limits(), mark)
		allowed.account = math.MaxInt64
		change, full := compareBatch(feed, b.rows, allowed, nil, now)
		if len(full) > 0 {
			return nil, ErrFull
		}
		allowed.settle(change)
		return change, nil
	})
}

// RenewReport has a report last as if it were made now. It fails as AddReport does.
func (in *Ingester) RenewReport(ctx context.Context, feed mapdata.FeedID, r *mapdata.NewReport, base int64) error {
	return in.report(ctx, feed, r, base, func(mark *mapdata.Mark, now time.Time) (*mapdata.Change, error) {
		return &mapdata.Change{Feed: feed, Base: base, At: now, Holds: mark.Holds, Touched: []string{r.ExternalID}}, nil
	})
}

func (in *Ingester) report(
	ctx context.Context, feed mapdata.FeedID, r *mapdata.NewReport, base int64, compare func(*mapdata.Mark, time.Time) (*mapdata.Change, error),
) error {
	now := in.now().UTC().Truncate(time.Millisecond)
	mark, err := in.store.Mark(ctx, feed)
	if err != nil {
		return fmt.Errorf("store report: %w", err)
	}
	if mark.EntitiesRevision != base {
		return mapdata.ErrConflict
	}
	change, err := compare(&mark, now)
	if err != nil {
		return err
	}
	change.Report = r
	if err := in.store.Apply(ctx, change); err != nil {
		return fmt.Errorf("store report: %w", err)
	}
	in.changed.Notify()
	return nil
}
