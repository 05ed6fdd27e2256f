package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
)

// Intervals and sizes of the follower.
const (
	pollInterval  = time.Second // between polls of the store; signals only shorten the wait
	sweepInterval = time.Minute
	sweepGrace    = time.Minute // minimum time that an expired entity stays in memory and in the store
	batchSize     = 20_000      // entities read at a time
	retryAfter    = time.Second // after the store failed
)

// Options configure a Follower.
type Options struct {
	Now          func() time.Time
	Log          *slog.Logger
	Progress     func(entities int)  // called while loading, from several goroutines; nil: progress is not reported
	StoreChanged signal.StoreChanged // wakes the follower before it polls the store
	Moved        *signal.Moved       // notified of changes after their publication; may be nil
	// MailQueued is notified when a feed was edited: a decision on the command line queues an e-mail, and another process
	// cannot notify the sender.
	MailQueued signal.MailQueued
	// AppsChanged is notified when the log records a change of the served apps, and after each load.
	AppsChanged signal.AppsChanged
}

// Follower keeps projections up to date with the store. Readers that combine several of them call Begin and Unchanged, or
// Hold.
type Follower struct {
	publication
	published   signal.Broadcast // notified with each new revision
	store       Store
	projections []Projection
	opts        Options
	loaded      atomic.Bool
	revision    atomic.Int64
	applied     atomic.Int64
	epoch       string
	newestEdit  time.Time // of all feeds seen; only Run uses it
}

// New creates a Follower of projections, which are published in the given order.
func New(store Store, projections []Projection, opts Options) *Follower {
	return &Follower{store: store, projections: projections, opts: opts}
}

// Loaded reports whether the initial load was published.
func (f *Follower) Loaded() bool { return f.loaded.Load() }

// Revision returns the published revision of the store.
func (f *Follower) Revision() int64 { return f.revision.Load() }

// Followed returns the number of changed entities applied since the start, without loads.
func (f *Follower) Followed() int64 { return f.applied.Load() }

// Run loads everything, and then follows the store until ctx ends. When the store fails it retries; the published state
// stays readable.
func (f *Follower) Run(ctx context.Context) error {
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	sweep := time.NewTicker(sweepInterval)
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
		case <-poll.C:
		case <-sweep.C:
			if err := f.sweep(ctx); err != nil && ctx.Err() == nil {
				f.opts.Log.Warn("cannot forget what expired; it is tried again", "error", err)
			}
		}
	}
}

// catchUp applies the changes since the last call, or loads everything if the log no longer covers them.
func (f *Follower) catchUp(ctx context.Context) error {
	state, err := f.store.State(ctx)
	if err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	known := f.revision.Load()
	// A store with an older revision was restored from a backup, even if its epoch is the same.
	if !f.loaded.Load() || state.Epoch != f.epoch || known < state.Floor || known > state.Revision {
		if state, err = f.load(ctx, state); err != nil {
			return err
		}
	}
	for f.revision.Load() < state.Revision {
		changes, err := f.changes(ctx, f.revision.Load())
		if err != nil {
			return err
		}
		if len(changes) == 0 {
			return nil
		}
		staged := f.stage(changes)
		touched := f.publish(func() mapdata.Touched { return publishAll(staged) })
		touched.Accounts = accountsOf(changes)
		f.notify(touched, changes, changes[len(changes)-1].Revision)
	}
	return nil
}

// changes reads the changes after a revision, with the recorded attempts.
func (f *Follower) changes(ctx context.Context, after int64) ([]mapdata.FeedChange, error) {
	changes, err := f.store.Changes(ctx, after, batchSize)
	if err != nil {
		return nil, fmt.Errorf("read changes: %w", err)
	}
	byRevision := make(map[int64]*mapdata.FeedChange)
	for i := range changes {
		if c := &changes[i]; c.Feed != nil && len(c.Tallies) == 0 { // revisions of votes have no attempts
			byRevision[c.Revision] = c
		}
	}
	if len(byRevision) == 0 {
		return changes, nil
	}
	attempts, err := f.store.RecordedAttempts(ctx, after, changes[len(changes)-1].Revision)
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	for i := range attempts {
		if c := byRevision[attempts[i].Revision]; c != nil {
			c.Attempts = append(c.Attempts, attempts[i].Attempt)
		}
	}
	return changes, nil
}

// Reasons to abort and retry a load.
var (
	errReplaced = errors.New("load: the database was replaced while it was read")
	errPruned   = errors.New("load: changes that were made while the store was read are no longer in the log")
)

// load reads everything, and returns the state of the store afterwards. before is its state at the start: changes since then
// are applied after the load, which is idempotent because changes carry states. They are part of the same publication, so
// that readers never see data of different revisions.
func (f *Follower) load(ctx context.Context, before mapdata.StoreState) (after mapdata.StoreState, err error) {
	loaded, err := f.stageAll(ctx)
	if err != nil {
		return after, err
	}
	if after, err = f.store.State(ctx); err != nil {
		return after, fmt.Errorf("read state: %w", err)
	}
	if after.Epoch != before.Epoch || after.Revision < before.Revision {
		return after, errReplaced
	}
	if after.Floor > before.Revision {
		return after, errPruned
	}
	var changes []mapdata.FeedChange
	if after.Revision > before.Revision {
		if changes, err = f.changes(ctx, before.Revision); err != nil {
			return after, err
		}
	}
	touched := f.publish(func() mapdata.Touched {
		touched := publishAll(loaded)
		if len(changes) > 0 {
			touched.Merge(publishAll(f.stage(changes)))
		}
		return touched
	})
	touched.Accounts = accountsOf(changes)
	f.epoch = before.Epoch
	revision := before.Revision
	if len(changes) > 0 {
		revision = changes[len(changes)-1].Revision
	}
	f.notify(touched, changes, revision)
	f.loaded.Store(true)
	f.opts.AppsChanged.Notify()
	return after, nil
}

// stageAll loads all projections concurrently.
func (f *Follower) stageAll(ctx context.Context) ([]mapdata.Staged, error) {
	from, err := openSnapshot(ctx, f.store, &f.opts)
	if err != nil {
		return nil, fmt.Errorf("load feeds: %w", err)
	}
	f.noteEdits(from.feeds...)
	staged := make([]mapdata.Staged, len(f.projections))
	group, groupCtx := errgroup.WithContext(ctx)
	for i, p := range f.projections {
		group.Go(func() (err error) {
			staged[i], err = p.Load(groupCtx, from)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return staged, nil
}

// stage builds the next state of all projections, which do not get changes of accounts and apps.
func (f *Follower) stage(changes []mapdata.FeedChange) []mapdata.Staged {
	changes = slices.DeleteFunc(slices.Clone(changes), func(c mapdata.FeedChange) bool { return !c.Account.IsZero() || c.Apps })
	if len(changes) == 0 {
		return nil
	}
	staged := make([]mapdata.Staged, 0, len(f.projections))
	for _, p := range f.projections {
		staged = append(staged, p.Apply(changes))
	}
	return staged
}

// accountsOf lists the accounts whose sessions ended or whose rights changed.
func accountsOf(changes []mapdata.FeedChange) (all []mapdata.AccountID) {
	for i := range changes {
		if !changes[i].Account.IsZero() {
			all = append(all, changes[i].Account)
		}
	}
	return all
}

func publishAll(staged []mapdata.Staged) (touched mapdata.Touched) {
	for _, s := range staged {
		touched.Merge(s.Publish())
	}
	return touched
}

// notify notifies the consumers of a publication's changes, and sets the published revision.
func (f *Follower) notify(touched mapdata.Touched, changes []mapdata.FeedChange, revision int64) {
	// Moved comes first: a caller that waited for the revision relies on streams and roads being notified of it.
	f.opts.Moved.Notify(touched)
	edited := false
	for i := range changes {
		c := &changes[i]
		f.applied.Add(int64(len(c.Entities) + len(c.Gone)))
		if c.Feed != nil && f.noteEdits(c.Feed) {
			edited = true
		}
	}
	f.revision.Store(revision)
	f.published.Notify()
	if edited {
		f.opts.MailQueued.Notify()
	}
	if slices.ContainsFunc(changes, func(c mapdata.FeedChange) bool { return c.Apps }) {
		f.opts.AppsChanged.Notify()
	}
}

// noteEdits reports whether a feed was edited later than all known edits. It misses edits by a process whose clock is behind;
// their e-mails wait for the sender's next poll.
func (f *Follower) noteEdits(feeds ...*mapdata.Feed) (edited bool) {
	for _, feed := range feeds {
		if feed.UpdatedAt.After(f.newestEdit) {
			f.newestEdit, edited = feed.UpdatedAt, true
		}
	}
	return edited
}

// sweep removes expired entities, in memory and in the store.
func (f *Follower) sweep(ctx context.Context) error {
	before := f.opts.Now().Add(-sweepGrace)
	for _, p := range f.projections {
		s, ok := p.(Sweeper)
		if !ok {
			continue
		}
		for _, expired := range s.Sweep(before) {
			if err := f.store.Forget(ctx, expired.Feed, expired.ExternalIDs, before); err != nil {
				return fmt.Errorf("forget expired entities: %w", err)
			}
		}
	}
	return nil
}
