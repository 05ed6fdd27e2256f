package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
)

// EntityColumns are the columns of an entity that readers of entities scan.
const EntityColumns = `e.external_id, e.kind, e.lat, e.lng, e.properties, e.network, e.digest, e.lifetime_ms,
	e.first_seen_at, e.seen_at, e.changed_at, e.absent_since, e.ends_at, e.line`

// EntityBytes is an expression for mapdata.RowBytes of a row of entities.
const EntityBytes = `octet_length(external_id) + octet_length(properties) + COALESCE(octet_length(line), 0)`

const (
	// SelectMark selects the columns that ScanMark scans, of the feed $1.
	SelectMark = `SELECT entities_revision, snapshot_at, snapshot, snapshot_rows, body_hash, COALESCE(lease_owner, ''), generation,
			warned_rejections, warned_failing, warned_shrank, usual_rejected, push_snapshots,
			stored_entities, stored_bytes, approved_once, owner, (SELECT a.stored_bytes FROM accounts AS a WHERE a.id = owner)
		FROM feeds WHERE id = $1`

	// Of the listed entities ($2) of a feed.
	deleteEntities = `DELETE FROM entities WHERE feed_id = $1 AND `
	touchEntities  = `UPDATE entities SET seen_at = $3, absent_since = NULL WHERE feed_id = $1 AND `
	missEntities   = `UPDATE entities SET seen_at = COALESCE(seen_at, $3), absent_since = $4 WHERE feed_id = $1 AND `

	// The rows are locked before their votes are read, because a transaction that votes locks the entity too.
	selectExpired = `SELECT external_id, ` + EntityBytes + ` FROM entities
		WHERE feed_id = $1 AND (lifetime_ms > 0 AND COALESCE(seen_at, $3) + lifetime_ms <= $4 OR ends_at <= $4) AND %s ORDER BY external_id`

	updateEntitiesOf = `UPDATE feeds SET entities_revision = ` + raisedRevision + ` WHERE id = $1`
	updatePushed     = `UPDATE feeds SET last_push_at = $2, silence_due = $3,
			stored_entities = stored_entities + $4, stored_bytes = stored_bytes + $5
		WHERE id = $1`
	growFeed    = `UPDATE feeds SET stored_entities = stored_entities + $2, stored_bytes = stored_bytes + $3 WHERE id = $1`
	growAccount = `UPDATE accounts SET stored_bytes = stored_bytes + $2 WHERE id = $1 AND stored_bytes <= $3`

	updateParts = `UPDATE feeds SET push_snapshots = $2 WHERE id = $1`
	updateWhole = `UPDATE feeds SET snapshot = $2, snapshot_rows = $3, shrank = $4 WHERE id = $1`

	updateSnapshot = `UPDATE feeds SET
			snapshot_at = $2, snapshot = $3, snapshot_rows = $4, shrank = $5, body_hash = $6,
			next_fetch_at = $7, last_fetched_at = $8, last_outcome = $9, last_error = $10, last_rows = $11, last_rejected = $12,
			consecutive_failures = $13, lease_owner = NULL, lease_until = NULL,
			stored_entities = stored_entities + $14, stored_bytes = stored_bytes + $15,
			last_skipped = $16, last_skips = $17, validators = $18
		WHERE id = $1`
)

// scanEntity scans a row of EntityColumns and more columns after them. Readers of many entities have faster code of their own.
func (db *Scripts) scanEntity(r Row, feed mapdata.FeedID, more ...any) (e mapdata.Entity, err error) {
	var (
		kind                     string
		digest, lifetime         int64
		firstSeen, seen, changed instant
		absent                   sql.NullInt64
		ends                     instant
		line                     []byte
		columns                  = []any{
			&e.ExternalID, &kind, &e.Point.Lat, &e.Point.Lng, &e.Properties, &e.Network, &digest, &lifetime,
			&firstSeen, &seen, &changed, &absent, &ends, &line,
		}
	)
	if err := r.Scan(append(columns, more...)...); err != nil {
		return e, err
	}
	e.Feed, e.Digest, e.Lifetime, e.AbsentSince = feed, uint64(digest), time.Duration(lifetime)*time.Millisecond, absent.Int64
	e.FirstSeenAt, e.SeenAt, e.ChangedAt = firstSeen.Time, seen.Time, changed.Time
	e.EndsAt = ends.Time
	if e.Line, err = mapdata.ParseLine(line); err != nil {
		return e, err
	}
	e.Kind, err = db.Kind(kind)
	return e, err
}

// Mark reads the state of a feed to compare against, or fails with mapdata.ErrNotFound.
func (db *Scripts) Mark(ctx context.Context, feed mapdata.FeedID) (mapdata.Mark, error) {
	m, err := ScanMark(db.backend.QueryRow(ctx, SelectMark, feed[:]))
	return m.Mark, db.backend.Failure("read mark", err)
}

// LeasedMark is a mark together with the lease that the feed's polls have at the same moment.
type LeasedMark struct {
	mapdata.Mark
	Lease mapdata.Lease
	Owner mapdata.AccountID

	warnings mapdata.Warnings
}

// ScanMark scans a row of SelectMark.
func ScanMark(r Row) (m LeasedMark, err error) {
	var (
		at    instant
		w     scannedWarnings
		parts string
		owner AccountID
		bytes number
	)
	columns := []any{&m.EntitiesRevision, &at, &m.Snapshot, &m.LastRows, &m.BodyHash, &m.Lease.Node, &m.Lease.Generation}
	columns = append(append(columns, w.columns()...), &parts, &m.Holds.Entities, &m.Holds.Bytes, &m.ApprovedOnce, &owner, &bytes)
	err = r.Scan(columns...)
	m.SnapshotAt, m.warnings, m.Owner, m.AccountBytes = at.Time, w.warnings(), owner.AccountID, int64(bytes)
	if err == nil && parts != "" {
		err = json.Unmarshal([]byte(parts), &m.PushSnapshots)
	}
	return m, err
}

// Apply stores a change as a whole, durably, before it returns. It fails, having changed nothing, with mapdata.ErrConflict when the feed's
// entities changed since the change's Base or the snapshot is not a later one, with mapdata.ErrFenced when the lease of the snapshot no
// longer matches, with mapdata.ErrNotFound when the feed is gone, and with mapdata.ErrUnavailable when there is no room.
func (db *Scripts) Apply(ctx context.Context, c *mapdata.Change) error {
	if err := check(c); err != nil {
		return db.backend.Failure("apply change", err)
	}
	upserts := sorted(c.Upserts)
	ids := make([]string, len(upserts))
	for i, e := range upserts {
		ids[i] = e.ExternalID
	}
	return db.backend.Write(ctx, "apply change", func(tx *Tx) error {
		mark, err := ScanMark(tx.QueryRow(ctx, tx.dialect.locking(SelectMark, forChange), c.Feed[:]))
		if err != nil {
			return err
		}
		if c.Snapshot != nil && c.Snapshot.Lease != mark.Lease {
			return mapdata.ErrFenced
		}
		if mark.EntitiesRevision != c.Base || mark.Holds != c.Holds { // the usage is less when expired entities were removed
			return mapdata.Describe(mapdata.ErrConflict, "The feed's entities changed in the meantime.")
		}
		if c.Snapshot != nil && c.Snapshot.Snapshot <= mark.Snapshot {
			return mapdata.Describe(mapdata.ErrConflict, "A later snapshot of the feed was stored in the meantime.")
		}
		if err := tx.entities(ctx, c, upserts, mark.SnapshotAt); err != nil {
			return err
		}
		if err := tx.moveFeed(ctx, c); err != nil {
			return fmt.Errorf("move feed: %w", err)
		}
		if err := tx.growAccount(ctx, mark.Owner, c.Grows.Bytes, c.AccountLimit); err != nil {
			return err
		}
		if err := tx.rejections(ctx, c); err != nil {
			return fmt.Errorf("store rejections: %w", err)
		}
		if err := tx.emails(ctx, c.Emails); err != nil {
			return err
		}
		if err := tx.report(ctx, c); err != nil {
			return fmt.Errorf("store the report: %w", err)
		}
		if err := tx.warnAfter(ctx, c, &mark); err != nil {
			return fmt.Errorf("warn the owner: %w", err)
		}
		tx.raiseRevision(c.Feed, ids, c.Touched, c.Absent, c.Retired)
		if c.Moves() {
			tx.AtCommit(updateEntitiesOf, c.Feed[:])
		}
		if c.Report == nil { // nobody may see when drivers report
			tx.attempt(c.Feed, &c.Attempt)
		}
		return nil
	})
}

// check refuses changes that no caller may make.
func check(c *mapdata.Change) error {
	if _, _, _, ends := c.EndsSnapshot(); len(c.Absent) > 0 && !ends {
		return errors.New("entities are absent from a snapshot only")
	}
	for i := range c.Upserts {
		if e := &c.Upserts[i]; int(e.Kind) >= mapdata.KindCount || e.Feed != c.Feed {
			return fmt.Errorf("upsert %d: kind outside the catalogue, or another feed", i)
		}
	}
	return nil
}

// sorted returns the entities in the order of the table's key, in which writing them is cheapest.
func sorted(entities []mapdata.Entity) []*mapdata.Entity {
	all := make([]*mapdata.Entity, len(entities))
	for i := range entities {
		all[i] = &entities[i]
	}
	slices.SortFunc(all, func(a, b *mapdata.Entity) int { return strings.Compare(a.ExternalID, b.ExternalID) })
	return all
}

// listed returns the condition that an entity is one of the list $2.
func (tx *Tx) listed() string { return tx.dialect.OneOf("external_id", "$2") }

// entities writes the changes of the feed's entities. snapshotAt is that of the previous snapshot.
func (tx *Tx) entities(ctx context.Context, c *mapdata.Change, upserts []*mapdata.Entity, snapshotAt time.Time) error {
	if err := tx.Upsert(ctx, c.Feed, upserts); err != nil {
		return fmt.Errorf("upsert: %w", err)
	}
	if len(c.Touched) > 0 {
		if _, err := tx.Exec(ctx, touchEntities+tx.listed(), c.Feed[:], tx.dialect.List(c.Touched), c.At.UnixMilli()); err != nil {
			return fmt.Errorf("touch: %w", err)
		}
	}
	if number, _, _, ends := c.EndsSnapshot(); ends && len(c.Absent) > 0 {
		if _, err := tx.Exec(ctx, missEntities+tx.listed(), c.Feed[:], tx.dialect.List(c.Absent), Millis(snapshotAt), number); err != nil {
			return fmt.Errorf("mark as absent: %w", err)
		}
	}
	if len(c.Retired) > 0 {
		if _, err := tx.Exec(ctx, deleteEntities+tx.listed(), c.Feed[:], tx.dialect.List(c.Retired)); err != nil {
			return fmt.Errorf("retire: %w", err)
		}
	}
	return nil
}

// moveFeed stores the time of the feed's last rows. A refused push had none.
func (tx *Tx) moveFeed(ctx context.Context, c *mapdata.Change) error {
	if c.Report != nil {
		_, err := tx.Exec(ctx, growFeed, c.Feed[:], c.Grows.Entities, c.Grows.Bytes)
		return err
	}
	if c.Snapshot == nil {
		if !c.Attempt.OK {
			return nil
		}
		if err := tx.movePart(ctx, c); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, updatePushed, c.Feed[:], Millis(c.At), c.At.Add(mapdata.WarnAfterSilence).UnixMilli(),
			c.Grows.Entities, c.Grows.Bytes)
		return err
	}
	p := &c.Snapshot.Polling
	skips, validators, err := bridgedTexts(p)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, updateSnapshot, c.Feed[:],
		Millis(c.At), c.Snapshot.Snapshot, p.LastRows, p.Shrank, p.BodyHash,
		Millis(p.NextFetchAt), Millis(p.LastFetchedAt), p.LastOutcome, p.LastError, p.LastRows, p.LastRejected,
		p.ConsecutiveFailures, c.Grows.Entities, c.Grows.Bytes, p.LastSkipped, skips, validators)
	return err
}

// growAccount adds to the usage of an account's feeds, up to limit (0: no bound) where bytes is positive. It fails with mapdata.ErrConflict
// where other feeds of the account have taken the room in the meantime. Every transaction locks the account's row after that of the feed
// and after those of entities.
func (tx *Tx) growAccount(ctx context.Context, account mapdata.AccountID, bytes, limit int64) error {
	if bytes == 0 {
		return nil
	}
	before := int64(math.MaxInt64) // the largest usage before the growth
	if bytes > 0 && limit > 0 {
		before = limit - bytes
	}
	affected, err := tx.Exec(ctx, growAccount, account[:], bytes, before)
	if err == nil && affected == 0 {
		err = mapdata.Describe(mapdata.ErrConflict, "Other feeds of the account stored more in the meantime.")
	}
	return err
}

// movePart stores the state of the snapshot to which a push belongs.
func (tx *Tx) movePart(ctx context.Context, c *mapdata.Change) error {
	if c.Part == nil {
		return nil
	}
	parts, err := json.Marshal(c.Part.Snapshots)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, updateParts, c.Feed[:], string(parts)); err != nil || !c.Part.Complete {
		return err
	}
	_, err = tx.Exec(ctx, updateWhole, c.Feed[:], c.Part.Number, c.Part.Rows, c.Part.Shrank)
	return err
}

// forgetBatch bounds how long the feed's writers wait for one transaction of Forget.
const forgetBatch = 5_000

// Forget removes the named entities of a feed that had expired at the given time and still have; followers need no notice. Entities that a
// confirm kept then, or since, stay (D9.6).
func (db *Scripts) Forget(ctx context.Context, feed mapdata.FeedID, externalIDs []string, before time.Time) error {
	for chunk := range slices.Chunk(externalIDs, forgetBatch) {
		err := db.backend.Write(ctx, "forget expired entities", func(tx *Tx) error { return db.forget(ctx, tx, feed, chunk, before) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (db *Scripts) forget(ctx context.Context, tx *Tx, feed mapdata.FeedID, externalIDs []string, before time.Time) error {
	mark, err := ScanMark(tx.QueryRow(ctx, tx.dialect.locking(SelectMark, forChange), feed[:]))
	if errors.Is(err, sql.ErrNoRows) {
		return nil // the feed is gone, with all of its entities
	}
	if err != nil {
		return err
	}
	query := tx.dialect.locking(fmt.Sprintf(selectExpired, tx.listed()), "UPDATE")
	expired, err := List(ctx, tx, query, func(r Row) (e sizedID, err error) {
		err = r.Scan(&e.id, &e.bytes)
		return e, err
	}, feed[:], tx.dialect.List(externalIDs), Millis(mark.SnapshotAt), before.UnixMilli())
	if err != nil || len(expired) == 0 {
		return err
	}
	kept, err := db.KeptEntities(ctx, tx, feed, before)
	if err != nil {
		return err
	}
	var (
		removed []string
		gone    mapdata.Usage
	)
	for _, e := range expired {
		if kept[e.id].Until.IsZero() {
			removed = append(removed, e.id)
			gone = gone.Plus(mapdata.Usage{Entities: 1, Bytes: e.bytes})
		}
	}
	if len(removed) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, deleteEntities+tx.listed(), feed[:], tx.dialect.List(removed)); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, growFeed, feed[:], -gone.Entities, -gone.Bytes); err != nil {
		return err
	}
	return tx.growAccount(ctx, mark.Owner, -gone.Bytes, 0)
}

// sizedID is an entity's external id with its size that counts towards the bounds on bytes.
type sizedID struct {
	id    string
	bytes int64
}
