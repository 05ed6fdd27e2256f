package postgres

import (
	"context"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store"
)

// Channel is the channel on which every change that concerns followers is notified, without a payload.
const Channel = "wayside"

const (
	selectFloor          = `SELECT floor FROM state WHERE id = 1`
	selectFeedsByID      = `SELECT ` + store.FeedColumns + ` FROM feeds WHERE id = ANY($1::uuid[])`
	selectChangedTallies = `SELECT ` + store.TallyColumns + ` FROM voted AS v WHERE v.source = $1 AND v.external_id = ANY($2)`
	selectChanges        = `SELECT revision, feed_id, entities, votes, external_ids, account, apps FROM changes WHERE revision > $1 ORDER BY revision LIMIT $2`
)

// Changes returns the changes after the given revision, in the order of revisions, at most about limit entities (one
// revision is never divided). It returns the current state of the entities, and of the tallies of a revision of votes,
// which contains no entities. It fails with mapdata.ErrConflict when changes after the given revision were pruned in
// the meantime.
func (db *DB) Changes(ctx context.Context, after int64, limit int) (all []mapdata.FeedChange, err error) {
	err = db.read(ctx, "read changes", func(r *readTx) error {
		var floor int64
		if err := r.QueryRow(ctx, selectFloor).Scan(&floor); err != nil {
			return err
		}
		if after < floor {
			return mapdata.Describe(mapdata.ErrConflict, "The changes after this revision are no longer kept: load everything again.")
		}
		var entries []logEntry
		if all, entries, err = r.log(ctx, after, limit); err != nil {
			return err
		}
		feeds, err := r.feeds(ctx, all)
		if err != nil {
			return err
		}
		for i := range all {
			all[i].Feed = feeds[all[i].FeedID]
			if err := db.details(ctx, r, &all[i], entries[i]); err != nil {
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

// logEntry is the part of a row of the log that names entities.
type logEntry struct {
	ids   []string
	votes bool // only the entities' votes changed
}

// logBatch is the number of rows of the log that one query reads.
const logBatch = 500

// log reads rows of the log, with the names in each, until these are about limit entities.
func (r *readTx) log(ctx context.Context, after int64, limit int) (all []mapdata.FeedChange, entries []logEntry, err error) {
	rows, err := r.Query(ctx, selectChanges, after, min(limit, logBatch))
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	// A revision without entities has a cost too.
	for cost := 0; cost < limit && rows.Next(); {
		var (
			c       mapdata.FeedChange
			id      store.FeedID
			n       logEntry
			count   int
			account store.AccountID
		)
		if err := rows.Scan(&c.Revision, &id, &count, &n.votes, &n.ids, &account, &c.Apps); err != nil {
			return nil, nil, err
		}
		c.FeedID, c.Account = id.FeedID, account.AccountID
		all, entries = append(all, c), append(entries, n)
		cost += count + 1
	}
	rows.Close()
	return all, entries, rows.Err()
}

// feeds returns the feeds of the changes, without those that no longer exist.
func (r *readTx) feeds(ctx context.Context, changes []mapdata.FeedChange) (map[mapdata.FeedID]*mapdata.Feed, error) {
	var ids [][]byte
	known := make(map[mapdata.FeedID]*mapdata.Feed)
	for i := range changes {
		id := changes[i].FeedID
		if _, ok := known[id]; !ok {
			known[id] = nil
			ids = append(ids, id[:])
		}
	}
	all, err := store.List(ctx, r, selectFeedsByID, store.ScanFeed, ids)
	for _, f := range all {
		known[f.ID] = f
	}
	return known, err
}

// details reads the entities or votes that a row of the log names.
func (db *DB) details(ctx context.Context, r *readTx, c *mapdata.FeedChange, entry logEntry) (err error) {
	ofLive := entry.votes && c.FeedID.IsZero()
	switch {
	case c.Feed == nil && !ofLive, !c.Account.IsZero(), c.Apps:
	case entry.votes:
		c.Tallies, err = r.tallies(ctx, c.FeedID, entry.ids)
	case len(entry.ids) > 0:
		err = db.changed(ctx, r, c, entry.ids)
	}
	return err
}

// tallies returns those on the named entities of a feed, or of live incidents where the feed is zero.
func (r *readTx) tallies(ctx context.Context, feed mapdata.FeedID, externalIDs []string) ([]mapdata.Tally, error) {
	source := mapdata.Incidents
	if !feed.IsZero() {
		source = feed.SourceID()
	}
	return store.List(ctx, r, selectChangedTallies, store.ScanTallies(),
		string(source), externalIDs)
}

// changed reads the entities of one revision; those that are not stored are listed as gone.
func (db *DB) changed(ctx context.Context, r *readTx, c *mapdata.FeedChange, ids []string) error {
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
	stored := make(map[string]struct{}, len(c.Entities))
	for i := range c.Entities {
		stored[c.Entities[i].ExternalID] = struct{}{}
	}
	for _, id := range ids {
		if _, ok := stored[id]; !ok {
			c.Gone = append(c.Gone, id)
		}
	}
	return nil
}
