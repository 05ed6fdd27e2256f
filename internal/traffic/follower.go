package traffic

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
	"wayside/internal/signal"
)

// Reader reads entities as a guest who drives does.
type Reader interface {
	// Read calls each with the entities of kinds within a circle, and within a box unless it is nil, the nearest limit of
	// them, and reports whether there are more. What each is given is valid during the call alone.
	Read(ctx context.Context, area geo.Circle, within *geo.Box, kinds mapdata.KindSet, limit int, each func(*mapdata.Hit)) (more bool, err error)
}

// Router takes the changed costs, in the order of their arcs, and shows them with the state to those who route from now on.
type Router interface {
	Update(ctx context.Context, changed []Cost, state *State) error
}

// Moved says where answers to readers changed; signal.Moved is one.
type Moved interface {
	C() <-chan struct{}
	Take() mapdata.Touched
	// Notified returns the number of notifications so far. Take then returns all of these, and perhaps later ones.
	Notified() uint64
}

// Options are what a Follower needs.
type Options struct {
	Network *Network
	Bounds  geo.Box // of the network
	Version uint64  // of the first state
	Reader  Reader
	Router  Router
	Moved   Moved
	Now     func() time.Time
	// Locate finds a live incident that was voted on; nil: there are none.
	Locate func(ctx context.Context, externalID string) (geo.Point, bool)
	Failed func(error) // told when conditions cannot be read; they are tried again
}

// Follower keeps the conditions of one network up to date.
type Follower struct {
	Options
	kinds   mapdata.KindSet
	known   *collection
	pending pending
	left    *matchBudget // for what is matched before the next publication; nil: all is, until all was read
	version uint64
	current atomic.Pointer[State]
	loaded  chan struct{}

	shown     atomic.Uint64 // notifications of Moved that State shows
	published signal.Broadcast
}

// New makes a Follower. Run runs it.
func New(o Options) *Follower {
	f := &Follower{Options: o, kinds: o.Network.rules.all(), known: newCollection(o.Network), version: o.Version, loaded: make(chan struct{})}
	first := newState(o.Network.graph)
	first.Version = o.Version
	f.current.Store(first)
	return f
}

// State is the conditions now. Before Loaded is closed there are none.
func (f *Follower) State() *State { return f.current.Load() }

// Loaded is closed once all conditions were read (D15.17).
func (f *Follower) Loaded() <-chan struct{} { return f.loaded }

// Await waits until State shows what Moved was notified of before the call, except for what has yet to be matched, or ctx
// ends.
func (f *Follower) Await(ctx context.Context) {
	notified := f.Moved.Notified()
	for f.shown.Load() < notified {
		next := f.published.Next()
		if f.shown.Load() >= notified {
			return
		}
		select {
		case <-next:
		case <-ctx.Done():
			return
		}
	}
}

const (
	// mergeDistance is more than the longest distance at which pins are merged: whether one is another's condition may change
	// as far from where something moved.
	mergeDistance = 301
	// readLimit is how many entities are asked for at once; areas with more are parted.
	readLimit = 4000
	// smallestBox is the height in degrees below which a crowded box is not parted, because pins around it are read with it:
	// some two hundred metres.
	smallestBox = 2e-3
	// largestBox is the height in degrees of the boxes that a whole network is read in: their circles stay below 50 km.
	largestBox = 0.5
	// maxAreas is how many areas are looked at one by one; beyond it all is read again.
	maxAreas = 4096
	// maxSleep bounds how long nothing is looked at, so that a step of the clock cannot delay an end for long.
	maxSleep = time.Minute
	// roundSamples is how much is matched before what is known so far is published, in places of lines that are looked at: some tens of
	// milliseconds. A closure must not wait for a thousand long lines that were pushed before it.
	roundSamples = 10_000
	// firstRetry is the pause after conditions could not be read; it doubles with each failure, up to longestRetry.
	firstRetry   = time.Second
	longestRetry = 8 * time.Second
)

// Run reads all conditions, and then those that may have changed, until ctx ends.
func (f *Follower) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	f.pending.everywhere = true
	pause := firstRetry
	for {
		moved := f.Moved.C()
		if err := f.update(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			f.Failed(err)
			timer.Reset(pause)
			pause = min(2*pause, longestRetry)
			moved = nil // what moves meanwhile is taken with the next attempt
		} else {
			pause = firstRetry
			f.markLoaded()
			timer.Reset(f.known.again.next(f.Now()))
			if f.known.unmatched.first() != nil {
				timer.Reset(0)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-moved:
		case <-timer.C:
		}
	}
}

func (f *Follower) isLoaded() bool {
	select {
	case <-f.loaded:
		return true
	default:
		return false
	}
}

func (f *Follower) markLoaded() {
	if !f.isLoaded() {
		close(f.loaded)
	}
}

// update brings the state up to date with what moved and with what is due. What cannot be read now stays pending or due.
func (f *Follower) update(ctx context.Context) error {
	now := f.Now()
	if f.isLoaded() {
		f.left = &matchBudget{roundSamples}
	}
	taken := f.Moved.Notified()
	f.take(ctx, f.Moved.Take())
	err := f.readPending(ctx, now)
	if err = errors.Join(err, f.publish(ctx)); err != nil { // what was read counts all the same
		return err
	}
	f.shown.Store(taken)
	f.published.Notify()
	f.matchMore(now)
	return f.publish(ctx)
}

// matchMore matches some of the conditions for which the budget did not last before.
func (f *Follower) matchMore(now time.Time) {
	left := (*matchBudget)(nil) // the first is matched in any case
	for c := f.known.unmatched.first(); c != nil; c = f.known.unmatched.first() {
		next := f.Network.conditionOf(c.toMatch, c.EntityID, nil, now, left)
		if next.toMatch != nil {
			return
		}
		f.known.put(next)
		if left == nil {
			left = &matchBudget{roundSamples}
		}
	}
}

// publish shows what changed.
func (f *Follower) publish(ctx context.Context) error {
	costs := f.known.take()
	if len(costs) == 0 {
		return nil
	}
	f.version++
	next := f.current.Load().with(costs, f.version)
	if err := f.Router.Update(ctx, costs, next); err != nil {
		for _, c := range costs { // they are taken again
			f.known.changed[f.Network.graph.Arcs[c.Arc].CopyOf] = true
		}
		return err
	}
	f.current.Store(next)
	return nil
}
