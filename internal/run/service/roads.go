package service

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/traffic"
	"wayside/internal/entities/nearby"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/region"
)

// roads holds the roads of the current region with their conditions, on which routes are found.
type roads struct {
	moved  *signal.Moved
	reader func() *nearby.Reader
	locate func(ctx context.Context, externalID string) (mapdata.Voted, error)
	now    func() time.Time
	log    *slog.Logger

	changed signal.RoadsChanged // conditions, or the region
	closed  func(arcs []uint32) // wakes the drivers whose way leads over arcs that were closed
	next    chan *region.Region // the region that became current last, until run takes it
	current atomic.Pointer[network]
	version uint64        // of the last state of conditions; only run uses it
	ready   chan struct{} // closed once the conditions of the first region have been read, or nothing is left to wait for
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

// change passes a region that became current to run; nil: there is none. It never blocks.
func (r *roads) change(to *region.Region) {
	for {
		select {
		case r.next <- to:
			return
		case <-r.next: // the earlier region is outdated
		}
	}
}

// network returns the current network, which its caller releases; nil: there is none.
func (r *roads) network() *nav.Network {
	if c := r.current.Load(); c != nil {
		return c.live.Network()
	}
	return nil
}

// await waits until routes see the entities that readers of this node saw before the call, or ctx ends. It does not wait for
// entities that are not yet matched to roads.
func (r *roads) await(ctx context.Context) {
	if c := r.current.Load(); c != nil {
		c.follow.Await(ctx)
	}
}

// conditionsRead bounds the entities that one answer about conditions reads.
const conditionsRead = 200

// explain describes the effects on roads of the entities around a place that a guest or the account may read; nil: no region is
// served.
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
				r.markReady() // the service is ready without routes
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

// markReady closes ready, so that nothing waits for conditions any more.
func (r *roads) markReady() { r.once.Do(func() { close(r.ready) }) }

// open prepares a region for routes; without a region it returns nil.
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
		Reader: reader{current: r.reader, answer: new(nearby.Answer)}, Router: router{n.live, n.traffic, &r.changed, r.closed}, Moved: n.moved, Now: r.now, Locate: r.locateLive,
		Failed: func(err error) { r.log.Warn("conditions cannot be read; they are tried again", "error", err) },
	})
	n.live.Begin(&conditions{n.traffic, n.follow.State(), true})
	return n, nil
}

// versionGap is larger than the number of versions that the old region's conditions can reach while the next region is prepared,
// which takes seconds.
const versionGap = 1_000_000

// firstVersion returns the metric_version with which the next region begins. It grows from region to region (D15.17), although the
// old region is served, and its version grows, until the conditions of the new one have been read.
func (r *roads) firstVersion() uint64 {
	if c := r.current.Load(); c != nil {
		return c.follow.State().Version + versionGap
	}
	return r.version
}

// follow runs the conditions of a network until end is called, and waits until all of them have been read. began is false if ctx
// ended before.
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

// router passes changed conditions to the search for routes.
type router struct {
	live    *nav.Live
	roads   *traffic.Network
	changed *signal.RoadsChanged
	closed  func(arcs []uint32) // wakes the drivers whose way leads over arcs that were closed
}

func (r router) Update(_ context.Context, changed []traffic.Cost, state *traffic.State) error {
	weights := make([]cch.ArcWeight, len(changed))
	var closed []uint32
	for i, c := range changed {
		weights[i] = cch.ArcWeight{Arc: c.Arc, Weight: c.Weight}
		if c.Weight == graph.Closed {
			closed = append(closed, c.Arc)
		}
	}
	r.live.Update(weights, &conditions{r.roads, state, state.Empty()})
	r.closed(closed)
	r.changed.Notify()
	return nil
}

// conditions adapts a state of conditions to the interface of routes.
type conditions struct {
	roads *traffic.Network
	state *traffic.State
	none  bool
}

func (c *conditions) Version() uint64 { return c.state.Version }

// None reports whether no arc has a condition.
func (c *conditions) None() bool { return c.none }

func (c *conditions) On(arc uint32) (nav.Condition, bool) {
	cost, ok := c.state.Cost(arc)
	if !ok {
		return nav.Condition{}, false
	}
	return nav.Condition{Weight: cost.Open, Duration: cost.Duration, Closed: cost.Weight != cost.Open}, true
}

// Events calls each with the entities that affect an arc.
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

// Arcs returns the arcs that have a condition.
func (c *conditions) Arcs() iter.Seq[uint32] {
	return func(yield func(arc uint32) bool) {
		for cost := range c.state.Costs {
			if !yield(cost.Arc) {
				return
			}
		}
	}
}

// eventTypes maps types of conditions to the names that routes use.
var eventTypes = [...]nav.EventType{
	traffic.Closure: nav.RoadClosure, traffic.Works: nav.Construction, traffic.Jam: nav.Congestion,
	traffic.Slippery: nav.Hazard, traffic.Accident: nav.Accident,
}

// reader reads entities as a driver does: as a guest, or as the account if one is set (D15.13). It reads the account's own feeds
// whatever their review state is.
type reader struct {
	current func() *nearby.Reader
	account mapdata.AccountID
	sources []string       // nil: all that the account reads
	answer  *nearby.Answer // reused by one goroutine; nil: each answer has its own
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
