package traffic

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
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
	again   timetable
	left    *matchBudget // for what is matched before the next publication; nil: all is, until all was read
	version uint64
	current atomic.Pointer[State]
	loaded  chan struct{}
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
	// retry is the pause after conditions could not be read.
	retry = time.Second
)

// Run reads all conditions, and then those that may have changed, until ctx ends.
func (f *Follower) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	todo := mapdata.Touched{Everywhere: true}
	for {
		if err := f.update(ctx, &todo); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			f.Failed(err)
			timer.Reset(retry)
		} else {
			todo = mapdata.Touched{}
			f.markLoaded()
			timer.Reset(f.again.next(f.Now()))
			if len(f.known.unmatched) > 0 {
				timer.Reset(0)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-f.Moved.C():
			todo.Merge(f.Moved.Take())
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

// update brings the state up to date with what moved and with what is due.
func (f *Follower) update(ctx context.Context, moved *mapdata.Touched) error {
	now := f.Now()
	areas := slices.Concat(moved.Areas, f.again.due(now))
	if f.isLoaded() {
		f.left = &matchBudget{roundSamples}
	}
	for _, r := range moved.Returns {
		f.again.add(r.At, r.Area)
	}
	for i := range moved.Live {
		if area, ok := f.locate(ctx, moved.Live[i].ExternalID); ok {
			areas = append(areas, area)
			if until := moved.Live[i].WithheldUntil(moved.Live[i].Kind); !until.IsZero() {
				f.again.add(until, area)
			}
		}
	}
	if moved.Everywhere || len(areas) > maxAreas {
		if err := f.readAll(ctx, now); err != nil {
			return err
		}
	} else {
		for i, area := range areas {
			if err := f.readArea(ctx, area, now); err != nil {
				moved.Areas = areas[i:] // those that are left are read later
				return err
			}
		}
	}
	if err := f.publish(ctx); err != nil {
		return err
	}
	f.matchMore(now)
	return f.publish(ctx)
}

// matchMore matches some of the conditions for which the budget did not last before.
func (f *Follower) matchMore(now time.Time) {
	left := (*matchBudget)(nil) // the first is matched in any case
	for len(f.known.unmatched) > 0 {
		c := f.known.unmatched[0]
		if f.known.byID[c.EntityID] == c && c.toMatch != nil {
			next := f.Network.conditionOf(c.toMatch, c.EntityID, nil, now, left)
			if next.toMatch != nil {
				return
			}
			f.put(next)
			if left == nil {
				left = &matchBudget{roundSamples}
			}
		}
		f.known.unmatched = f.known.unmatched[1:]
	}
	f.known.unmatched = nil
}

// locate is where a live incident is.
func (f *Follower) locate(ctx context.Context, externalID string) (geo.Circle, bool) {
	if c := f.known.byID[mapdata.EntityID(mapdata.Incidents, externalID)]; c != nil {
		return geo.Circle{Center: c.pins[0].at, Radius: 1}, true
	}
	if f.Locate == nil {
		return geo.Circle{}, false
	}
	at, ok := f.Locate(ctx, externalID)
	return geo.Circle{Center: at, Radius: 1}, ok
}

// readArea reads what is in a circle again.
func (f *Follower) readArea(ctx context.Context, area geo.Circle, now time.Time) error {
	near := geo.Circle{Center: area.Center, Radius: area.Radius + mergeDistance}
	read := geo.Circle{Center: area.Center, Radius: near.Radius + mergeDistance}
	if !read.Box().Meets(f.Bounds) {
		return nil
	}
	found := map[string]*Condition{}
	collect := func(h *mapdata.Hit) {
		if c := f.condition(h, now); slices.ContainsFunc(c.pins, within(near)) {
			found[c.EntityID] = c
		}
	}
	if read.Radius <= largestCircle {
		more, err := f.Reader.Read(ctx, read, nil, f.kinds, readLimit, collect)
		if err != nil {
			return err
		}
		if !more {
			f.replace(f.known.within(near), found)
			return nil
		}
	}
	clear(found)
	if err := f.readBox(ctx, read.Box(), collect); err != nil {
		return err
	}
	f.replace(f.known.within(near), found)
	return nil
}

// condition is what a pin is now, often the condition that it was before.
func (f *Follower) condition(h *mapdata.Hit, now time.Time) *Condition {
	id := mapdata.EntityID(h.Source, string(h.ExternalID))
	return f.Network.conditionOf(h, id, f.known.byID[id], now, f.left)
}

// largestCircle is the radius in metres of the largest circle that is read at once: with it live incidents are read too.
const largestCircle = 50_000

// readAll reads the whole network again.
func (f *Follower) readAll(ctx context.Context, now time.Time) error {
	found := map[string]*Condition{}
	err := f.readBox(ctx, f.Bounds.Grown(mergeDistance), func(h *mapdata.Hit) {
		c := f.condition(h, now)
		found[c.EntityID] = c
	})
	if err != nil {
		return err
	}
	old := make([]*Condition, 0, len(f.known.byID))
	for _, c := range f.known.byID {
		old = append(old, c)
	}
	f.replace(old, found)
	return nil
}

// readBox reads a box in parts that are small enough for one read each.
func (f *Follower) readBox(ctx context.Context, box geo.Box, each func(*mapdata.Hit)) error {
	if box.North-box.South <= largestBox && box.East-box.West <= largestBox {
		around := box.Grown(mergeDistance) // so that pins on both sides of an edge are merged
		more, err := f.Reader.Read(ctx, around.Circle(), &around, f.kinds, readLimit, func(h *mapdata.Hit) {
			if box.Contains(h.Point) {
				each(h)
			}
		})
		if err != nil || !more || box.North-box.South < smallestBox {
			return err
		}
	}
	lat, lng := (box.South+box.North)/2, (box.West+box.East)/2
	for _, part := range [...]geo.Box{
		{South: box.South, West: box.West, North: lat, East: lng},
		{South: box.South, West: lng, North: lat, East: box.East},
		{South: lat, West: box.West, North: box.North, East: lng},
		{South: lat, West: lng, North: box.North, East: box.East},
	} {
		if err := f.readBox(ctx, part, each); err != nil {
			return err
		}
	}
	return nil
}

// replace makes what was found take the place of old conditions.
func (f *Follower) replace(old []*Condition, found map[string]*Condition) {
	for _, c := range old {
		if found[c.EntityID] == nil {
			f.known.remove(c)
		}
	}
	for _, c := range found {
		f.put(c)
	}
}

func (f *Follower) put(c *Condition) {
	if f.known.put(c) && !c.until.IsZero() {
		f.again.add(c.until, geo.Circle{Center: c.pins[0].at, Radius: 1})
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
