package traffic

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
)

// Reader reads entities with the view of a guest who drives.
type Reader interface {
	// Read calls each for the entities of the given kinds within the circle, and within the box unless it is nil: the
	// nearest ones, up to limit. It reports whether there are more. The Hit passed to each is valid only during that
	// call.
	Read(ctx context.Context, area geo.Circle, within *geo.Box, kinds mapdata.KindSet, limit int, each func(*mapdata.Hit)) (more bool, err error)
}

// Router receives the changed costs, sorted by arc, and uses them and the state for all routes from then on.
type Router interface {
	Update(ctx context.Context, changed []Cost, state *State) error
}

// Moved reports where answers to readers changed; signal.Moved implements it.
type Moved interface {
	C() <-chan struct{}
	Take() mapdata.Touched
	// Notified returns the number of notifications so far. The next Take returns all of these, and perhaps later ones.
	Notified() uint64
}

// Options configure a Follower.
type Options struct {
	Network *Network
	Bounds  geo.Box // of the network
	Version uint64  // of the first state
	Reader  Reader
	Router  Router
	Moved   Moved
	Now     func() time.Time
	// Locate finds a live incident that was voted on. It may be nil if there are no live incidents.
	Locate func(ctx context.Context, externalID string) (geo.Point, bool)
	Failed func(error) // called when conditions cannot be read; the follower then tries again
}

// Follower keeps the conditions of one network up to date.
type Follower struct {
	Options
	kinds   mapdata.KindSet
	known   *collection
	pending pending
	left    *matchBudget // bounds the matching before the next publication; nil: no bound, until the first full read is complete
	version uint64
	current atomic.Pointer[State]
	loaded  chan struct{}

	shown     atomic.Uint64 // number of notifications of Moved that State includes
	published signal.Broadcast
}

// New returns a Follower. The caller must call Run for it to work.
func New(o Options) *Follower {
	f := &Follower{Options: o, kinds: o.Network.rules.all(), known: newCollection(o.Network), version: o.Version, loaded: make(chan struct{})}
	first := newState(o.Network.graph)
	first.Version = o.Version
	f.current.Store(first)
	return f
}

// State returns the current conditions. It is empty before Loaded is closed.
func (f *Follower) State() *State { return f.current.Load() }

// Loaded returns a channel that is closed once all conditions were read (D15.17).
func (f *Follower) Loaded() <-chan struct{} { return f.loaded }

// Await waits until State includes everything that Moved was notified of before the call, except for conditions that are
// not matched yet, or until ctx ends.
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
	// mergeDistance exceeds the longest distance at which pins are merged. A pin's condition may change whenever
	// something changes within this distance.
	mergeDistance = 301
	// readLimit is how many entities one read asks for. Areas with more are split.
	readLimit = 4000
	// smallestBox is the height in degrees, some two hundred metres, below which a crowded box is not split: each read
	// includes the pins around its box, so smaller boxes would not have fewer.
	smallestBox = 2e-3
	// largestBox is the height in degrees of the boxes in which a whole network is read. Their circles stay below 50 km.
	largestBox = 0.5
	// maxAreas is how many areas are read one by one. If there are more, the whole network is read again.
	maxAreas = 4096
	// maxSleep bounds the pause between looks at the timetable, so that a step of the clock cannot delay an end for
	// long.
	maxSleep = time.Minute
	// roundSamples is how many places of lines are matched before the conditions so far are published: some tens of
	// milliseconds. It is bounded because a closure must not wait for a thousand long lines that were pushed before it.
	roundSamples = 10_000
	// firstRetry is the pause after a failed read. The pause doubles with each failure, up to longestRetry.
	firstRetry   = time.Second
	longestRetry = 8 * time.Second
)

// Run reads all conditions, and then rereads those that may have changed, until ctx ends.
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
			moved = nil // the next attempt takes the notifications that arrive meanwhile
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

// update brings the state up to date with the notified changes and the conditions that are due. Areas that cannot be
// read now stay pending or due.
func (f *Follower) update(ctx context.Context) error {
	now := f.Now()
	if f.isLoaded() {
		f.left = &matchBudget{roundSamples}
	}
	taken := f.Moved.Notified()
	f.take(ctx, f.Moved.Take())
	err := f.readPending(ctx, now)
	if err = errors.Join(err, f.publish(ctx)); err != nil { // publish even if a read failed, because the conditions that were read count
		return err
	}
	f.shown.Store(taken)
	f.published.Notify()
	f.matchMore(now)
	return f.publish(ctx)
}

// matchMore matches some of the conditions that earlier rounds left unmatched because the budget ran out.
func (f *Follower) matchMore(now time.Time) {
	left := (*matchBudget)(nil) // nil, so that at least one is matched
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

// publish passes the changed costs to the Router and then makes the new state the current one.
func (f *Follower) publish(ctx context.Context) error {
	costs := f.known.take()
	if len(costs) == 0 {
		return nil
	}
	f.version++
	next := f.current.Load().with(costs, f.version)
	if err := f.Router.Update(ctx, costs, next); err != nil {
		for _, c := range costs { // so that the next call takes them again
			f.known.changed[f.Network.graph.Arcs[c.Arc].CopyOf] = true
		}
		return err
	}
	f.current.Store(next)
	return nil
}
