package service

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
	"wayside/internal/nav"
	"wayside/internal/nearby"
	"wayside/internal/region"
	"wayside/internal/roads/cch"
	"wayside/internal/signal"
	"wayside/internal/traffic"
)

// roads is what routes are found on: the roads of the current region, with the conditions on them.
type roads struct {
	moved  *signal.Moved
	reader func() *nearby.Reader
	locate func(ctx context.Context, externalID string) (mapdata.Voted, error)
	now    func() time.Time
	log    *slog.Logger

	changed signal.RoadsChanged // conditions, or the region
	next    chan *region.Region // the last region that became current
	current atomic.Pointer[network]
	version uint64        // of the last state of conditions; only run uses it
	ready   chan struct{} // closed once the conditions of the first region were read, or there is none
	once    sync.Once     // for ready
}

// network is a region with its conditions.
type network struct {
	live    *nav.Live
	follow  *traffic.Follower
	traffic *traffic.Network
	region  *region.Region
	moved   *signal.Moved
}

// change is told of each region that becomes current; nil: none. It never waits.
func (r *roads) change(to *region.Region) {
	for {
		select {
		case r.next <- to:
			return
		case <-r.next: // nobody needs the one before any more
		}
	}
}

// network returns the network now, which its caller releases; nil: there is none.
func (r *roads) network() *nav.Network {
	if c := r.current.Load(); c != nil {
		return c.live.Network()
	}
	return nil
}

// await waits until routes see what readers of this node saw before the call, or ctx ends. What has yet to be matched to roads
// comes later.
func (r *roads) await(ctx context.Context) {
	if c := r.current.Load(); c != nil {
		c.follow.Await(ctx)
	}
}

// conditionsRead is how many entities one answer about conditions reads.
const conditionsRead = 200

// explain says what the entities around a place do to roads, which a guest or the account may read; nil: no region is served.
func (r *roads) explain(ctx context.Context, account mapdata.AccountID, area geo.Circle) (*traffic.Explanation, error) {
	c := r.current.Load()
	if c == nil {
		return nil, nil //nolint:nilnil // there is no region, which is no error
	}
	x, err := c.traffic.Explain(ctx, reader{current: r.reader, account: account}, c.follow.State(), area, conditionsRead, r.now())
	if err != nil {
		return nil, fmt.Errorf("read conditions: %w", err)
	}
	return x, nil
}

// run follows the conditions of the current region until ctx ends.
func (r *roads) run(ctx context.Context) error {
	stop := func() {}
	defer func() { stop() }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case to := <-r.next:
			next, err := r.open(ctx, to)
			if err != nil {
				if ctx.Err() != nil {
					return nil
				}
				r.log.Error("the roads of the region cannot be used: import it again", "region", to.ID, "error", err)
				r.markReady() // everything else works
				continue
			}
			began, end := r.follow(ctx, next)
			if !began {
				end()
				return nil
			}
			r.current.Store(next)
			r.changed.Notify()
			stop()
			stop = end
			r.markReady()
		}
	}
}

// markReady says that nobody has to wait for conditions any more.
func (r *roads) markReady() { r.once.Do(func() { close(r.ready) }) }

// open prepares a region for routes; nil for none.
func (r *roads) open(ctx context.Context, to *region.Region) (*network, error) {
	if to == nil {
		return nil, nil //nolint:nilnil // there is no region, which is no error
	}
	n := &network{region: to, moved: signal.NewMoved(), traffic: traffic.NewNetwork(to.Graph, to.Index)}
	var err error
	n.live, err = nav.NewLive(ctx, nav.NewRoads(to.Graph, to.Index, to.DataVersion), to.Topology)
	if err != nil {
		return nil, fmt.Errorf("customise the router: %w", err)
	}
	n.follow = traffic.New(traffic.Options{
		Network: n.traffic, Bounds: geo.Box{West: to.Bounds[0], South: to.Bounds[1], East: to.Bounds[2], North: to.Bounds[3]}, Version: r.firstVersion(),
		Reader: reader{current: r.reader, answer: new(nearby.Answer)}, Router: router{n.live, n.traffic, &r.changed}, Moved: n.moved, Now: r.now, Locate: r.locateLive,
		Failed: func(err error) { r.log.Warn("conditions cannot be read; they are tried again", "error", err) },
	})
	n.live.Begin(&conditions{n.traffic, n.follow.State(), true})
	return n, nil
}

// versionGap is more than the changes of a region's conditions while the next region is prepared, which takes seconds.
const versionGap = 1_000_000

// firstVersion is the metric_version with which the next region begins: it grows from region to region too, though the old one is
// served, and changes, until the conditions of the new one were read (D15.17).
func (r *roads) firstVersion() uint64 {
	if c := r.current.Load(); c != nil {
		return c.follow.State().Version + versionGap
	}
	return r.version
}

// follow runs the conditions of a network, until end is called, and waits until all were read; false: ctx ended before.
func (r *roads) follow(ctx context.Context, n *network) (began bool, end func()) {
	if n == nil {
		return true, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := r.moved.Also(n.moved)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := n.follow.Run(ctx); err != nil {
			r.log.Error("conditions are no longer followed", "error", err)
		}
	}()
	end = func() {
		stop()
		cancel()
		<-ended
		r.version = n.follow.State().Version + 1
	}
	select {
	case <-n.follow.Loaded():
		return true, end
	case <-ctx.Done():
		return false, end
	}
}

func (r *roads) locateLive(ctx context.Context, externalID string) (geo.Point, bool) {
	voted, err := r.locate(ctx, externalID)
	return voted.Entity.Point, err == nil
}

// router shows conditions to routes.
type router struct {
	live    *nav.Live
	roads   *traffic.Network
	changed *signal.RoadsChanged
}

func (r router) Update(_ context.Context, changed []traffic.Cost, state *traffic.State) error {
	weights := make([]cch.ArcWeight, len(changed))
	for i, c := range changed {
		weights[i] = cch.ArcWeight{Arc: c.Arc, Weight: c.Weight}
	}
	r.live.Update(weights, &conditions{r.roads, state, state.Empty()})
	r.changed.Notify()
	return nil
}

// conditions is a state of conditions as routes read it.
type conditions struct {
	roads *traffic.Network
	state *traffic.State
	none  bool
}

func (c *conditions) Version() uint64 { return c.state.Version }

// None says that nothing concerns any arc.
func (c *conditions) None() bool { return c.none }

func (c *conditions) On(arc uint32) (nav.Condition, bool) {
	cost, ok := c.state.Cost(arc)
	if !ok {
		return nav.Condition{}, false
	}
	return nav.Condition{Weight: cost.Open, Duration: cost.Duration, Closed: cost.Weight != cost.Open}, true
}

// Events calls each with the entities that concern an arc.
func (c *conditions) Events(arc uint32, each func(nav.Event)) {
	for on := range c.state.Conditions(arc).All() {
		e := nav.Event{
			EntityID: on.EntityID, KindID: on.Kind.ID(), Type: eventTypes[on.Type], Description: on.Description,
			Created: on.Created, Starts: on.Starts, Ends: on.Ends, Closed: on.Impact.Effect == traffic.Closes,
			Factor: c.roads.FactorOn(arc, on), Delay: time.Duration(on.Impact.Delay) * time.Millisecond,
		}
		if e.Description == "" {
			e.Description = on.Kind.Info().Label
		}
		each(e)
	}
}

// Arcs are those that something concerns.
func (c *conditions) Arcs() iter.Seq[uint32] {
	return func(yield func(arc uint32) bool) {
		for cost := range c.state.Costs {
			if !yield(cost.Arc) {
				return
			}
		}
	}
}

// eventTypes are the types of conditions as routes name them.
var eventTypes = [...]nav.EventType{
	traffic.Closure: nav.RoadClosure, traffic.Works: nav.Construction, traffic.Jam: nav.Congestion,
	traffic.Slippery: nav.Hazard, traffic.Accident: nav.Accident,
}

// reader reads entities as a driver does, a guest unless there is an account (D15.13). An account's own feeds are among them, whatever
// their review says.
type reader struct {
	current func() *nearby.Reader
	account mapdata.AccountID
	sources []string       // nil: all that the account reads
	answer  *nearby.Answer // memory for one goroutine; nil: each answer has its own
}

func (r reader) Read(ctx context.Context, area geo.Circle, within *geo.Box, kinds mapdata.KindSet, limit int, each func(*mapdata.Hit)) (more bool, err error) {
	q := nearby.Query{Center: area.Center, Radius: area.Radius, Within: within, Kinds: kinds, Limit: limit, Sources: r.sources, Account: r.account, Driving: true}
	answer := r.answer
	if answer == nil {
		answer = new(nearby.Answer)
	}
	defer answer.Forget()
	if err := r.current().Near(ctx, &q, answer); err != nil {
		return false, fmt.Errorf("read conditions: %w", err)
	}
	for i := range answer.Hits {
		each(&answer.Hits[i])
	}
	return answer.Truncated, nil
}
