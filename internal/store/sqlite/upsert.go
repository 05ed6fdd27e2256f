package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store"

	"wayside/internal/ground/sched"
)

// upsertBatch is the number of rows that one statement writes.
const upsertBatch = 50

// upsertColumns are one row's columns, in the order of the parameters. All columns of the row are written: REPLACE
// finds its place once, where ON CONFLICT DO UPDATE would search for it twice.
const upsertColumns = `feed_id, external_id, kind, lat, lng, properties, network, digest, lifetime_ms,
	first_seen_at, seen_at, changed_at, absent_since, ends_at, line`

const upsertParameters = 15

func upsertEntities(rows int) string {
	one := "(?" + strings.Repeat(",?", upsertParameters-1) + ")"
	return "REPLACE INTO entities (" + upsertColumns + ") VALUES " + one + strings.Repeat(","+one, rows-1)
}

// Upsert writes entities with the driver's own statements.
func (w *writeTx) Upsert(ctx context.Context, feed mapdata.FeedID, entities []*mapdata.Entity) error {
	if len(entities) == 0 {
		return nil
	}
	return w.conn.Raw(func(raw any) error {
		conn, ok := raw.(driver.ConnPrepareContext)
		if !ok {
			return fmt.Errorf("driver connection %T cannot prepare", raw)
		}
		args := named(make([]driver.Value, upsertBatch*upsertParameters))
		whole := len(entities) / upsertBatch * upsertBatch
		if err := upsertBy(ctx, conn, upsertBatch, feed, entities[:whole], args); err != nil {
			return err
		}
		return upsertBy(ctx, conn, 1, feed, entities[whole:], args)
	})
}

// upsertBy writes entities with the given number of rows per statement, which must divide their number.
func upsertBy(
	ctx context.Context, conn driver.ConnPrepareContext, rows int, feed mapdata.FeedID, entities []*mapdata.Entity, args []driver.NamedValue,
) (err error) {
	if len(entities) == 0 {
		return nil
	}
	statement, err := conn.PrepareContext(ctx, upsertEntities(rows))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, statement.Close()) }()
	execer, ok := statement.(driver.StmtExecContext)
	if !ok {
		return fmt.Errorf("driver statement %T cannot execute", statement)
	}
	args = args[:rows*upsertParameters]
	var id driver.Value = feed[:]
	for len(entities) > 0 {
		for i, e := range entities[:rows] {
			setEntity(args[i*upsertParameters:], id, e)
		}
		if _, err := execer.ExecContext(ctx, args); err != nil {
			return err
		}
		entities = entities[rows:]
		sched.Yield() // readers' requests are short: see yieldEvery
	}
	return nil
}

func setEntity(args []driver.NamedValue, feed driver.Value, e *mapdata.Entity) {
	args[0].Value = feed
	args[1].Value = e.ExternalID
	args[2].Value = e.Kind.ID()
	args[3].Value = e.Point.Lat
	args[4].Value = e.Point.Lng
	args[5].Value = string(e.Properties)
	args[6].Value = e.Network
	args[7].Value = int64(e.Digest)
	args[8].Value = e.Lifetime.Milliseconds()
	args[9].Value = store.Millis(e.FirstSeenAt)
	args[10].Value = store.Millis(e.SeenAt)
	args[11].Value = store.Millis(e.ChangedAt)
	args[12].Value = nil
	if e.AbsentSince != 0 {
		args[12].Value = e.AbsentSince
	}
	args[13].Value, args[14].Value = store.Millis(e.EndsAt), nil
	if e.Line != nil {
		args[14].Value = mapdata.AppendLine(nil, e.Line)
	}
}
