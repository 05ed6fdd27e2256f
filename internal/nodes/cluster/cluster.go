package cluster

import (
	"context"
	"crypto/rand"
	"log/slog"
	"math"
	"sync"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/nodes/valkey"
)

const (
	// publishInterval is how long moved places wait so that more of them share a message. The outcomes of calls go into every
	// callsEvery-th message.
	publishInterval = 100 * time.Millisecond
	callsEvery      = 10
	// maxWaiting bounds the places that wait to be published; if there are more, the message says that everything may have moved.
	maxWaiting = 16 * maxMoves
	maxRadius  = 200_000 // metres
	channel    = "peers"
)

// Config holds the dependencies of Peers.
type Config struct {
	Cache     *valkey.Conn
	Moved     *signal.Moved                                 // notified where live incidents moved at other nodes
	MovedLive *signal.Moved                                 // notified where live incidents moved at this node, to publish it
	Calls     *Calls                                        // outcomes of this node's calls, to publish them
	Heard     func(upstream string, c mapdata.UpstreamCall) // called with the outcomes of other nodes' calls; must not block
	Log       *slog.Logger
}

// Calls keeps the outcomes of this node's calls of upstreams until they are published. Its methods may be called from many
// goroutines.
type Calls struct {
	mu      sync.Mutex
	pending map[string]mapdata.UpstreamCall
}

// NewCalls returns an empty Calls.
func NewCalls() *Calls { return &Calls{pending: make(map[string]mapdata.UpstreamCall)} }

// Add records the outcome of a call; of several calls of an upstream, the last one is kept. It never blocks.
func (q *Calls) Add(upstream string, c mapdata.UpstreamCall) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c.Refused = c.Refused || q.pending[upstream].Refused // keep a refusal until it is published
	q.pending[upstream] = c
}

// take returns the outcomes that were added since the last take; nil: none.
func (q *Calls) take() map[string]mapdata.UpstreamCall {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.pending) == 0 {
		return nil
	}
	taken := q.pending
	q.pending = make(map[string]mapdata.UpstreamCall)
	return taken
}

// restore puts back outcomes that could not be published, except of upstreams with a later call.
func (q *Calls) restore(calls map[string]mapdata.UpstreamCall) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for upstream, call := range calls {
		if _, later := q.pending[upstream]; !later {
			q.pending[upstream] = call
		}
	}
}

// Peers exchanges events with the other nodes.
type Peers struct {
	Config
	node [nodeSize]byte

	// The places that wait to be published; only Run uses them.
	everywhere bool
	moved      []geo.Circle
}

// New returns Peers with a random name.
func New(c Config) *Peers {
	p := &Peers{Config: c}
	_, _ = rand.Read(p.node[:]) // never fails
	return p
}

// collect takes the places where live incidents moved at this node.
func (p *Peers) collect() {
	t := p.MovedLive.Take()
	if t.Everywhere || len(p.moved)+len(t.Areas) > maxWaiting {
		p.everywhere, p.moved = true, nil
	}
	if p.everywhere {
		return
	}
	for _, area := range t.Areas {
		p.moved = append(p.moved, blur(area))
	}
}

const (
	pinSize  = 10               // metres: a smaller circle is a pin, a larger one the circle of a request
	blurTo   = 0.1              // degrees
	blurring = blurTo * 111_320 // metres: a rounded place is never further off
)

// blur hides which circle a driver asked for, by rounding its centre to a tenth of a degree (D13.1). It leaves pins as they are,
// because the place of a pin is not a driver's.
func blur(area geo.Circle) geo.Circle {
	if area.Radius <= pinSize {
		return area
	}
	round := func(degrees float64) float64 { return math.Round(degrees/blurTo) * blurTo }
	return geo.Circle{
		Center: geo.Point{Lat: min(max(round(area.Center.Lat), -90), 90), Lng: min(max(round(area.Center.Lng), -180), 180)},
		Radius: min(area.Radius+blurring, maxRadius),
	}
}

// Run publishes events to the other nodes and receives theirs, until ctx ends.
func (p *Peers) Run(ctx context.Context) error {
	var following sync.WaitGroup
	var err error
	following.Go(func() {
		// Messages that were missed while this node did not listen may have been about any place.
		err = p.Cache.Follow(ctx, channel, func() { p.Moved.Notify(mapdata.Touched{Everywhere: true}) }, p.handle)
	})
	tick := time.NewTicker(publishInterval)
	defer tick.Stop()
	for n := 1; ctx.Err() == nil; n++ {
		select {
		case <-ctx.Done():
		case <-tick.C:
			p.publish(ctx, n%callsEvery == 0)
		}
	}
	following.Wait()
	return err
}

// publish publishes everything that waits; calls adds the outcomes of calls.
func (p *Peers) publish(ctx context.Context, calls bool) {
	p.collect()
	for {
		m := p.next(calls)
		if m.empty() {
			return
		}
		if err := p.Cache.Publish(ctx, channel, m.encode()); err != nil {
			p.Log.Debug("cannot tell other nodes", "error", err)
			p.lost(m)
			return
		}
	}
}

// lost keeps the contents of a message that could not be published: its places become "everywhere".
func (p *Peers) lost(m *message) {
	if m.everywhere || len(m.moved) > 0 {
		p.everywhere, p.moved = true, nil
	}
	p.Calls.restore(m.calls)
}

// next returns the next message, and removes its contents from those that wait.
func (p *Peers) next(calls bool) *message {
	m := &message{node: p.node, everywhere: p.everywhere}
	n := min(len(p.moved), maxMoves)
	m.moved, p.moved = p.moved[:n:n], p.moved[n:]
	if len(p.moved) == 0 {
		p.moved = nil
	}
	p.everywhere = false
	if calls {
		m.calls = p.Calls.take()
	}
	return m
}

// handle handles a message, and ignores the node's own ones.
func (p *Peers) handle(text []byte) {
	m, err := decode(text)
	if err != nil {
		p.Log.Warn("another node's message is not understood; is it of another version?")
		return
	}
	if m.node == p.node {
		return
	}
	if m.everywhere || len(m.moved) > 0 {
		p.Moved.Notify(mapdata.Touched{Everywhere: m.everywhere, Areas: m.moved})
	}
	for upstream, call := range m.calls {
		p.Heard(upstream, call)
	}
}
