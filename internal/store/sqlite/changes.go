package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"

	"wayside/internal/mapdata"
)

const (
	raiseRevision = `UPDATE state SET revision = revision + 1 WHERE id = 1 RETURNING revision`
	insertChange  = `INSERT INTO changes (revision, feed_id, at, entities, external_ids, votes) VALUES (?, ?, ?, ?, ?, ?)`
	insertAttempt = `INSERT INTO attempts (feed_id, at, revision, duration_us, ok, outcome, rows, rejected, bytes,
			unchanged, retired, status, detail)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

	selectState   = `SELECT epoch, revision, floor FROM state WHERE id = 1`
	selectChanges = `SELECT revision, feed_id, entities, votes FROM changes WHERE revision > ? ORDER BY revision`

	// The entities of one row of the log, as they are now; of those that are gone only the id.
	selectChanged = `SELECT ids.value, ` + entityColumns + `
		FROM changes AS c, json_each(c.external_ids) AS ids
		LEFT JOIN entities AS e ON e.feed_id = c.feed_id AND e.external_id = ids.value
		WHERE c.revision = ?`
)

// raise moves the counter, whose row nobody else can move until this transaction ends, and writes down what followers
// have to look at.
func (w *writing) raise(ctx context.Context, feed mapdata.FeedID, ids ...[]string) (revision int64, err error) {
	return w.log(ctx, feed, false, ids...)
}

// raiseVotes does so when nothing but the votes on one entity changed. The feed is zero for a live incident.
func (w *writing) raiseVotes(ctx context.Context, feed mapdata.FeedID, externalID string) (revision int64, err error) {
	return w.log(ctx, feed, true, []string{externalID})
}

func (w *writing) log(ctx context.Context, feed mapdata.FeedID, votes bool, ids ...[]string) (revision int64, err error) {
	if err := w.QueryRowContext(ctx, raiseRevision).Scan(&revision); err != nil {
		return 0, fmt.Errorf("raise revision: %w", err)
	}
	count := 0
	for _, list := range ids {
		count += len(list)
	}
	if _, err := w.ExecContext(ctx, insertChange, revision, feed[:], w.now, count, jsonArray(ids...), votes); err != nil {
		return 0, fmt.Errorf("log change: %w", err)
	}
	return revision, nil
}

func (w *writing) attempt(ctx context.Context, feed mapdata.FeedID, revision int64, a *mapdata.Attempt) error {
	_, err := w.ExecContext(ctx, insertAttempt, feed[:], a.At.UnixMilli(), revision, a.Duration.Microseconds(), a.OK, a.Outcome,
		a.Rows, a.Rejected, a.Bytes, a.Unchanged, a.Retired, a.Status, a.Reason)
	if err != nil {
		return fmt.Errorf("store attempt: %w", err)
	}
	return nil
}

// State tells where the stream of changes stands.
func (db *DB) State(ctx context.Context) (mapdata.StoreState, error) {
	s, err := scanState(db.reader.QueryRowContext(ctx, selectState))
	return s, failure("read state", err)
}

func scanState(r row) (s mapdata.StoreState, err error) {
	err = r.Scan(&s.Epoch, &s.Revision, &s.Floor)
	return s, err
}

// Changes reads what changed after the given revision, in the order of revisions, at most about limit entities (one
// revision is never divided). Entities come as they are now, and so do the tallies of a revision of votes, which carries
// no entities. It fails with mapdata.ErrConflict when changes after the given revision were pruned meanwhile.
func (db *DB) Changes(ctx context.Context, after int64, limit int) (all []mapdata.FeedChange, err error) {
	err = db.read(ctx, "read changes", func(r *reading) error {
		state, err := scanState(r.QueryRowContext(ctx, selectState))
		if err != nil {
			return err
		}
		if after < state.Floor {
			return mapdata.Describe(mapdata.ErrConflict, "The changes after this revision are no longer kept: load everything again.")
		}
		var what []mention
		if all, what, err = r.log(ctx, after, limit); err != nil {
			return err
		}
		feeds := make(map[mapdata.FeedID]*mapdata.Feed)
		for i := range all {
			if err := db.details(ctx, r, &all[i], what[i], feeds); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

// details reads what a row of the log names. Feeds are read once each.
func (db *DB) details(ctx context.Context, r *reading, c *mapdata.FeedChange, what mention, feeds map[mapdata.FeedID]*mapdata.Feed) (err error) {
	ofLive := what.votes && c.FeedID.IsZero()
	if !ofLive {
		if c.Feed, err = r.feed(ctx, c.FeedID, feeds); err != nil || c.Feed == nil {
			return err
		}
	}
	switch {
	case what.votes:
		return r.tallied(ctx, c)
	case what.count > 0:
		return db.changed(ctx, r, c, what.count)
	}
	return nil
}

// mention is what a row of the log says of the entities that it names.
type mention struct {
	count int
	votes bool // only what votes make of them changed
}

// log reads rows of the log, with what each names, until these are about limit entities.
func (r *reading) log(ctx context.Context, after int64, limit int) (all []mapdata.FeedChange, what []mention, err error) {
	rows, err := r.QueryContext(ctx, selectChanges, after)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	// A revision without entities costs something too.
	for cost := 0; cost < limit && rows.Next(); {
		var (
			c  mapdata.FeedChange
			id feedID
			n  mention
		)
		if err := rows.Scan(&c.Revision, &id, &n.count, &n.votes); err != nil {
			return nil, nil, err
		}
		c.FeedID = id.FeedID
		all, what = append(all, c), append(what, n)
		cost += n.count + 1
	}
	return all, what, rows.Err()
}

// feed reads a feed, each one once; nil: it is gone.
func (r *reading) feed(ctx context.Context, id mapdata.FeedID, known map[mapdata.FeedID]*mapdata.Feed) (*mapdata.Feed, error) {
	if f, ok := known[id]; ok {
		return f, nil
	}
	all, err := scanFeeds(r.QueryContext(ctx, selectFeed, id[:]))
	if err != nil {
		return nil, err
	}
	var f *mapdata.Feed
	if len(all) > 0 {
		f = &all[0]
	}
	known[id] = f
	return f, nil
}

// changed reads the entities of one revision.
func (db *DB) changed(ctx context.Context, r *reading, c *mapdata.FeedChange, count int) error {
	c.Entities = make([]mapdata.Entity, 0, count)
	return scan(ctx, r.conn, selectChanged, []driver.Value{c.Revision}, func(row []driver.Value) error {
		if row[1] == nil {
			c.Gone = append(c.Gone, text(row[0]))
			return nil
		}
		c.Entities = append(c.Entities, mapdata.Entity{Feed: c.FeedID})
		return db.readEntity(&c.Entities[len(c.Entities)-1], row[1:])
	})
}

// AllFeeds yields every feed.
func (db *DB) AllFeeds(ctx context.Context, yield func(*mapdata.Feed)) error {
	all, err := scanFeeds(db.reader.QueryContext(ctx, selectAllFeeds))
	for i := range all {
		yield(&all[i])
	}
	return failure("load feeds", err)
}
