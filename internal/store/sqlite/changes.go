package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store"
)

const (
	selectChanges = `SELECT revision, feed_id, entities, votes, account, apps FROM changes WHERE revision > $1 ORDER BY revision`

	// The current state of the entities of one row of the log; of those that are gone only the id.
	selectChanged = `SELECT ids.value, ` + entityColumns + `
		FROM changes AS c, json_each(c.external_ids) AS ids
		LEFT JOIN entities AS e ON e.feed_id = c.feed_id AND e.external_id = ids.value
		WHERE c.revision = $1`

	// The current tallies that one row of the log names. CROSS keeps the join order; otherwise all tallies of the
	// source are read.
	selectChangedTallies = `SELECT ` + store.TallyColumns + `
		FROM changes AS c, json_each(c.external_ids) AS ids CROSS JOIN voted AS v ON v.source = $2 AND v.external_id = ids.value
		WHERE c.revision = $1`
)

// Changes returns the changes after the given revision, in the order of revisions, at most about limit entities (one
// revision is never divided). It returns the current state of the entities, and of the tallies of a revision of votes,
// which contains no entities. It fails with mapdata.ErrConflict when changes after the given revision were pruned in
// the meantime.
func (db *DB) Changes(ctx context.Context, after int64, limit int) (all []mapdata.FeedChange, err error) {
	err = db.read(ctx, "read changes", func(r *readTx) error {
		state, err := db.StateIn(ctx, r)
		if err != nil {
			return err
		}
		if after < state.Floor {
			return mapdata.Describe(mapdata.ErrConflict, "The changes after this revision are no longer kept: load everything again.")
		}
		var entries []logEntry
		if all, entries, err = r.log(ctx, after, limit); err != nil {
			return err
		}
		feeds := make(map[mapdata.FeedID]*mapdata.Feed)
		for i := range all {
			if err := db.details(ctx, r, &all[i], entries[i], feeds); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

// details reads the entities or votes that a row of the log names. It reads each feed once.
func (db *DB) details(ctx context.Context, r *readTx, c *mapdata.FeedChange, entry logEntry, feeds map[mapdata.FeedID]*mapdata.Feed) (err error) {
	if !c.Account.IsZero() || c.Apps {
		return nil
	}
	ofLive := entry.votes && c.FeedID.IsZero()
	if !ofLive {
		if c.Feed, err = r.feed(ctx, c.FeedID, feeds); err != nil || c.Feed == nil {
			return err
		}
	}
	switch {
	case entry.votes:
		return r.tallies(ctx, c)
	case entry.count > 0:
		return db.changed(ctx, r, c, entry.count)
	}
	return nil
}

// logEntry is the part of a row of the log that names entities.
type logEntry struct {
	count int
	votes bool // only the entities' votes changed
}

// log reads rows of the log, with the names in each, until these are about limit entities.
func (r *readTx) log(ctx context.Context, after int64, limit int) (all []mapdata.FeedChange, entries []logEntry, err error) {
	rows, err := r.Query(ctx, selectChanges, after)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	// A revision without entities has a cost too.
	for cost := 0; cost < limit && rows.Next(); {
		var (
			c       mapdata.FeedChange
			id      store.FeedID
			account store.AccountID
			n       logEntry
		)
		if err := rows.Scan(&c.Revision, &id, &n.count, &n.votes, &account, &c.Apps); err != nil {
			return nil, nil, err
		}
		c.FeedID, c.Account = id.FeedID, account.AccountID
		all, entries = append(all, c), append(entries, n)
		cost += n.count + 1
	}
	return all, entries, rows.Err()
}

// feed reads a feed, each one once; nil: it no longer exists.
func (r *readTx) feed(ctx context.Context, id mapdata.FeedID, known map[mapdata.FeedID]*mapdata.Feed) (*mapdata.Feed, error) {
	if f, ok := known[id]; ok {
		return f, nil
	}
	f, err := store.ScanFeed(r.QueryRow(ctx, store.SelectFeed, id[:]))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	known[id] = f
	return f, nil
}

// tallies reads those of one revision of votes.
func (r *readTx) tallies(ctx context.Context, c *mapdata.FeedChange) (err error) {
	source := mapdata.Incidents
	if !c.FeedID.IsZero() {
		source = c.FeedID.SourceID()
	}
	c.Tallies, err = store.List(ctx, r, selectChangedTallies, store.ScanTallies(),
		c.Revision, string(source))
	return err
}

// changed reads the entities of one revision.
func (db *DB) changed(ctx context.Context, r *readTx, c *mapdata.FeedChange, count int) error {
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
