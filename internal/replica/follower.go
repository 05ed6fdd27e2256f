package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"wayside/internal/catalog"
	"wayside/internal/consensus"
	"wayside/internal/index"
	"wayside/internal/mapdata"
	"wayside/internal/signal"
)

// Bounds of the follower's work.
const (
	pollEvery    = time.Second // the truth; a poke is only a hint
	sweepEvery   = time.Minute
	sweepGrace   = time.Minute // an entity stays in the store at least so long after it expired
	batch        = 20_000      // entities read at once
	loadParts    = 2           // readers side by side while loading
	retryAfter   = time.Second // after the store failed
	progressStep = 50_000      // entities between two reports of a load's progress
)

// liveVotes is how long votes on live incidents are held in memory after the last of them: as long as the longest-lived
// kinds of them live. The store keeps their history.
const liveVotes = 180 * 24 * time.Hour

// Options are what a follower may be given beside what it needs.
type Options struct {
	Now          func() time.Time
	Log          *slog.Logger
	Progress     func(entities int)  // called while loading, from several goroutines; nil: nobody looks
	StoreChanged signal.StoreChanged // wakes the follower before it polls the store
	Moved        *signal.Moved       // notified, once they can be read, of changes that readers see; nil: nobody watches
	// MailQueued is notified of a feed that was edited: a decision at the command line stores an e-mail, and no other
	// process says so.
	MailQueued signal.MailQueued
}

// Follower keeps index, catalogue and ledger in step with the store.
type Follower struct {
	store      Store
	index      *index.Index
	catalogue  *catalog.Catalog
	ledger     *consensus.Ledger
	opts       Options
	loaded     atomic.Bool
	revision   atomic.Int64
	entities   atomic.Int64
	followed   atomic.Int64
	epoch      string
	newestEdit time.Time // of all feeds seen; only Run uses it
}

// New makes a follower; Run does its work.
func New(store Store, ix *index.Index, catalogue *catalog.Catalog, ledger *consensus.Ledger, opts Options) *Follower {
	return &Follower{store: store, index: ix, catalogue: catalogue, ledger: ledger, opts: opts}
}

// Loaded says whether the index holds what the store held when Run began.
func (f *Follower) Loaded() bool { return f.loaded.Load() }

// Revision is how far the index follows.
func (f *Follower) Revision() int64 { return f.revision.Load() }

// Entities is how many entities the index holds.
func (f *Follower) Entities() int64 { return f.entities.Load() }

// Followed is how many changed entities were applied since the start, loading apart.
func (f *Follower) Followed() int64 { return f.followed.Load() }

// Run loads everything, and then follows until ctx ends. A store that fails is asked again: what was loaded stays
// readable meanwhile.
func (f *Follower) Run(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for {
		if err := f.catchUp(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			f.opts.Log.Error("cannot follow the store; reads show what was last known", "error", err)
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(retryAfter):
				continue
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-f.opts.StoreChanged.C():
		case <-tick.C:
		case <-sweep.C:
			if err := f.sweep(ctx); err != nil && ctx.Err() == nil {
				f.opts.Log.Warn("cannot forget what expired; it is tried again", "error", err)
			}
		}
	}
}

// catchUp applies what changed since the last time, or loads everything when the place in the stream is lost.
func (f *Follower) catchUp(ctx context.Context) error {
	state, err := f.store.State(ctx)
	if err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	known := f.revision.Load()
	// A store that is behind what we know was put back to an earlier state, whatever its epoch says.
	if !f.loaded.Load() || state.Epoch != f.epoch || known < state.Floor || known > state.Revision {
		return f.load(ctx, state)
	}
	for f.revision.Load() < state.Revision {
		changes, err := f.store.Changes(ctx, f.revision.Load(), batch)
		if err != nil {
			return fmt.Errorf("read changes: %w", err)
		}
		if len(changes) == 0 {
			return nil
		}
		if err := f.apply(ctx, changes); err != nil {
			return err
		}
	}
	return nil
}

// load reads everything. The state is read before, so that whatever changes meanwhile is applied once more afterwards:
// changes carry states, not steps.
func (f *Follower) load(ctx context.Context, state mapdata.StoreState) error {
	var feeds []*mapdata.Feed
	if err := f.store.AllFeeds(ctx, func(feed *mapdata.Feed) {
		own := *feed
		feeds = append(feeds, &own)
	}); err != nil {
		return fmt.Errorf("load feeds: %w", err)
	}
	loader := f.index.Load(feeds, loadParts)
	group, groupCtx := errgroup.WithContext(ctx)
	for part := range loadParts {
		group.Go(func() error {
			to, n := loader.Part(part), 0
			return f.store.AllEntities(groupCtx, part, loadParts, func(e *mapdata.Entity) {
				to.Add(e)
				if n++; n%progressStep == 0 && f.opts.Progress != nil {
					f.opts.Progress(progressStep)
				}
			})
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("load entities: %w", err)
	}
	touched, err := f.loadVotes(ctx, loader)
	if err != nil {
		return err
	}
	f.catalogue.Reset()
	for _, feed := range feeds {
		if err := f.setFeed(ctx, feed); err != nil {
			return err
		}
		f.noteEdit(feed)
	}
	f.catalogue.Publish()
	f.epoch = state.Epoch
	f.revision.Store(state.Revision)
	f.entities.Store(int64(f.index.Len()))
	f.loaded.Store(true)
	f.opts.Moved.Notify(touched)
	return nil
}

// loadVotes reads the votes and lets the loader finish with them.
func (f *Follower) loadVotes(ctx context.Context, loader *index.Loader) (mapdata.Touched, error) {
	var ofFeeds, ofLive []mapdata.Tally
	oldest := f.opts.Now().Add(-liveVotes)
	err := f.store.AllTallies(ctx, time.Time{}, func(t *mapdata.Tally) {
		switch {
		case t.Source != mapdata.Incidents:
			ofFeeds = append(ofFeeds, *t)
		case t.ChangedAt.After(oldest):
			ofLive = append(ofLive, *t)
		}
	})
	if err != nil {
		return mapdata.Touched{}, fmt.Errorf("load votes: %w", err)
	}
	touched := loader.Finish(ofFeeds)
	f.ledger.Reset(ofLive)
	return touched, nil
}

// apply takes changes over into index, catalogue and ledger.
func (f *Follower) apply(ctx context.Context, changes []mapdata.FeedChange) error {
	touched := f.index.Apply(changes)
	edited := false
	for i := range changes {
		c := &changes[i]
		f.followed.Add(int64(len(c.Entities) + len(c.Gone)))
		if c.FeedID.IsZero() {
			f.ledger.Set(c.Tallies)
			touched.Live = append(touched.Live, c.Tallies...)
			continue
		}
		if c.Feed == nil {
			f.catalogue.Remove(c.FeedID)
			continue
		}
		if err := f.setFeed(ctx, c.Feed); err != nil {
			return err
		}
		edited = f.noteEdit(c.Feed) || edited
	}
	f.catalogue.Publish()
	f.revision.Store(changes[len(changes)-1].Revision)
	f.entities.Store(int64(f.index.Len()))
	f.opts.Moved.Notify(touched)
	if edited {
		f.opts.MailQueued.Notify()
	}
	return nil
}

// noteEdit says whether the feed was edited after all edits that are known. It misses an edit by a clock that is behind;
// its e-mail waits for the sender's next poll.
func (f *Follower) noteEdit(feed *mapdata.Feed) bool {
	if !feed.UpdatedAt.After(f.newestEdit) {
		return false
	}
	f.newestEdit = feed.UpdatedAt
	return true
}

// setFeed takes a feed over into the catalogue, with the attempts that it does not know yet. A feed that holds nothing
// counts as one whose entities expire: its silence must not look like health.
func (f *Follower) setFeed(ctx context.Context, feed *mapdata.Feed) error {
	persistent, decaying := f.index.Counts(feed.ID)
	f.catalogue.Set(feed, decaying > 0 || persistent == 0)
	attempts, err := f.store.Attempts(ctx, feed.ID, f.catalogue.Newest(feed.ID))
	if err != nil && !errors.Is(err, mapdata.ErrNotFound) {
		return fmt.Errorf("read attempts: %w", err)
	}
	f.catalogue.Add(feed.ID, attempts)
	return nil
}

// sweep forgets what expired, in memory and in the store.
func (f *Follower) sweep(ctx context.Context) error {
	before := f.opts.Now().Add(-sweepGrace)
	for _, expired := range f.index.Sweep(before) {
		if err := f.store.Forget(ctx, expired.Feed, expired.ExternalIDs, before); err != nil {
			return fmt.Errorf("forget expired entities: %w", err)
		}
	}
	f.entities.Store(int64(f.index.Len()))
	return nil
}
