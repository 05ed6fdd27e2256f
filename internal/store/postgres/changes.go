package postgres

import (
	"context"

	"wayside/internal/mapdata"
)

// Channel is the channel on which every change of what followers see is notified, without a payload.
const Channel = "wayside"

const (
	raiseRevision = `WITH raised AS (UPDATE state SET revision = revision + 1 WHERE id = 1 RETURNING revision)
		INSERT INTO changes (revision, feed_id, at, entities, external_ids, votes)
		SELECT revision, $1, $2, $3, $4, $5 FROM raised`
	notify = `SELECT pg_notify('` + Channel + `', '')`

	// Revision of the transaction that has raised it.
	raised = `(SELECT revision FROM state WHERE id = 1)`

	insertAttempt = `INSERT INTO attempts (feed_id, at, revision, duration_us, ok, outcome, rows, rejected, bytes,
			unchanged, retired, status, detail)
		VALUES ($1, $2, ` + raised + `, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`

	// Whoever puts an older state of the database back makes another epoch of it, by whatever way: a promoted standby and
	// a recovery to a moment have a timeline of their own, a restored dump has another table.
	selectState = `SELECT epoch || '.' || 'state'::regclass::oid || '.' || (SELECT system_identifier FROM pg_control_system())
			|| '.' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
		revision, floor FROM state WHERE id = 1`
	selectFloor   = `SELECT floor FROM state WHERE id = 1`
	selectChanges = `SELECT revision, feed_id, entities, votes, external_ids FROM changes WHERE revision > $1 ORDER BY revision LIMIT $2`
)

// raise writes down, at the end of the transaction, what followers have to look at, and wakes them.
func (w *writing) raise(feed mapdata.FeedID, ids ...[]string) { w.log(feed, false, ids...) }

// raiseVotes does so when nothing but the votes on one entity changed. The feed is zero for a live incident.
func (w *writing) raiseVotes(feed mapdata.FeedID, externalID string) {
	w.log(feed, true, []string{externalID})
}

func (w *writing) log(feed mapdata.FeedID, votes bool, ids ...[]string) {
	count := 0
	for _, list := range ids {
		count += len(list)
	}
	all := make([]string, 0, count)
	for _, list := range ids {
		all = append(all, list...)
	}
	w.last(raiseRevision, feed[:], w.now, count, all, votes)
	w.last(notify)
}

// attempt stores an attempt of the revision that was raised before.
func (w *writing) attempt(feed mapdata.FeedID, a *mapdata.Attempt) {
	w.last(insertAttempt, feed[:], a.At.UnixMilli(), a.Duration.Microseconds(), a.OK, a.Outcome, a.Rows, a.Rejected, a.Bytes,
		a.Unchanged, a.Retired, a.Status, a.Reason)
}

// State tells where the stream of changes stands.
func (db *DB) State(ctx context.Context) (s mapdata.StoreState, err error) {
	err = db.pool.QueryRow(ctx, selectState).Scan(&s.Epoch, &s.Revision, &s.Floor)
	return s, failure("read state", err)
}

// Changes reads what changed after the given revision, in the order of revisions, at most about limit entities (one
// revision is never divided). Entities come as they are now, and so do the tallies of a revision of votes, which carries
// no entities. It fails with mapdata.ErrConflict when changes after the given revision were pruned meanwhile.
func (db *DB) Changes(ctx context.Context, after int64, limit int) (all []mapdata.FeedChange, err error) {
	err = db.read(ctx, "read changes", func(r *reading) error {
		var floor int64
		if err := r.QueryRow(ctx, selectFloor).Scan(&floor); err != nil {
			return err
		}
		if after < floor {
			return mapdata.Describe(mapdata.ErrConflict, "The changes after this revision are no longer kept: load everything again.")
		}
		var what []mention
		if all, what, err = r.log(ctx, after, limit); err != nil {
			return err
		}
		feeds, err := r.feeds(ctx, all)
		if err != nil {
			return err
		}
		for i := range all {
			all[i].Feed = feeds[all[i].FeedID]
			if err := db.details(ctx, r, &all[i], what[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// mention is what a row of the log says of the entities that it names.
type mention struct {
	ids   []string
	votes bool // only what votes make of them changed
}

// logAtOnce is how many rows of the log are read at once.
const logAtOnce = 500

// log reads rows of the log, with what each names, until these are about limit entities.
func (r *reading) log(ctx context.Context, after int64, limit int) (all []mapdata.FeedChange, what []mention, err error) {
	rows, err := r.Query(ctx, selectChanges, after, min(limit, logAtOnce))
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	// A revision without entities costs something too.
	for cost := 0; cost < limit && rows.Next(); {
		var (
			c     mapdata.FeedChange
			id    feedID
			n     mention
			count int
		)
		if err := rows.Scan(&c.Revision, &id, &count, &n.votes, &n.ids); err != nil {
			return nil, nil, err
		}
		c.FeedID = id.FeedID
		all, what = append(all, c), append(what, n)
		cost += count + 1
	}
	rows.Close()
	return all, what, rows.Err()
}

// feeds reads the feeds that the changes are of; those that are gone are not in it.
func (r *reading) feeds(ctx context.Context, changes []mapdata.FeedChange) (map[mapdata.FeedID]*mapdata.Feed, error) {
	var ids [][]byte
	known := make(map[mapdata.FeedID]*mapdata.Feed)
	for i := range changes {
		id := changes[i].FeedID
		if _, ok := known[id]; !ok {
			known[id] = nil
			ids = append(ids, id[:])
		}
	}
	all, err := list(ctx, r, selectFeedsByID, scanFeed, ids)
	for _, f := range all {
		known[f.ID] = f
	}
	return known, err
}

// details reads what a row of the log names.
func (db *DB) details(ctx context.Context, r *reading, c *mapdata.FeedChange, what mention) (err error) {
	ofLive := what.votes && c.FeedID.IsZero()
	switch {
	case c.Feed == nil && !ofLive:
	case what.votes:
		c.Tallies, err = tallied(ctx, r, c.FeedID, what.ids)
	case len(what.ids) > 0:
		err = db.changed(ctx, r, c, what.ids)
	}
	return err
}

// changed reads the entities of one revision, and finds those that are gone.
func (db *DB) changed(ctx context.Context, r *reading, c *mapdata.FeedChange, ids []string) error {
	c.Entities = make([]mapdata.Entity, 0, len(ids))
	err := scan(ctx, r, selectEntitiesByID, []any{c.FeedID[:], ids}, func(row [][]byte) error {
		c.Entities = append(c.Entities, mapdata.Entity{Feed: c.FeedID})
		e := &c.Entities[len(c.Entities)-1]
		if err := db.readEntity(e, row); err != nil {
			return err
		}
		e.Properties = append([]byte(nil), e.Properties...)
		return nil
	})
	if err != nil || len(c.Entities) == len(ids) {
		return err
	}
	there := make(map[string]struct{}, len(c.Entities))
	for i := range c.Entities {
		there[c.Entities[i].ExternalID] = struct{}{}
	}
	for _, id := range ids {
		if _, ok := there[id]; !ok {
			c.Gone = append(c.Gone, id)
		}
	}
	return nil
}

// AllFeeds yields every feed.
func (db *DB) AllFeeds(ctx context.Context, yield func(*mapdata.Feed)) error {
	all, err := list(ctx, db.pool, selectAllFeeds, scanFeed)
	for _, f := range all {
		yield(f)
	}
	return failure("load feeds", err)
}
