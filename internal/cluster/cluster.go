package cluster

import (
	"context"
	"crypto/rand"
	"log/slog"
	"math"
	"sync"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
	"wayside/internal/signal"
	"wayside/internal/valkey"
)

const (
	// tellEvery is how long what moved waits for more of it, and callsEvery of how many of those tells how calls ended.
	tellEvery  = 100 * time.Millisecond
	callsEvery = 10
	// maxWaiting is how many places wait to be told; beyond it, everything may have moved.
	maxWaiting = 16 * maxMoves
	maxRadius  = 200_000 // metres
	channel    = "peers"
)

// Config is what Peers need.
type Config struct {
	Cache     *valkey.Conn
	Moved     *signal.Moved                                 // notified where live incidents moved at other nodes
	MovedLive *signal.Moved                                 // where they moved at this node, for the others
	Calls     *Calls                                        // how this node's calls ended, for the others
	Heard     func(upstream string, c mapdata.UpstreamCall) // told how other nodes' calls ended; must not block
	Log       *slog.Logger
}

// Calls keeps how this node's calls of upstreams ended until the other nodes are told. Its methods may be called from many
// goroutines.
type Calls struct {
	mu      sync.Mutex
	pending map[string]mapdata.UpstreamCall
}

// NewCalls makes an empty Calls.
func NewCalls() *Calls { return &Calls{pending: make(map[string]mapdata.UpstreamCall)} }

// Add keeps how a call ended; of many calls of an upstream, the last one. It never blocks.
func (q *Calls) Add(upstream string, c mapdata.UpstreamCall) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c.Refused = c.Refused || q.pending[upstream].Refused // not to be missed
	q.pending[upstream] = c
}

// take gives what was added since the last take; nil: nothing.
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

// restore puts back what could not be published, unless there was a later call.
func (q *Calls) restore(calls map[string]mapdata.UpstreamCall) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for upstream, call := range calls {
		if _, later := q.pending[upstream]; !later {
			q.pending[upstream] = call
		}
	}
}

// Peers are the other nodes.
type Peers struct {
	Config
	node [nodeSize]byte

	// What waits to be published; only Run uses it.
	everywhere bool
	moved      []geo.Circle
}

// New makes Peers.
func New(c Config) *Peers {
	p := &Peers{Config: c}
	_, _ = rand.Read(p.node[:]) // never fails
	return p
}

// collect takes over where live incidents moved at this node.
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
	pinSize  = 10               // metres: what is smaller is a pin, what is larger the circle that somebody asked for
	blurTo   = 0.1              // degrees
	blurring = blurTo * 111_320 // metres: no rounded place is further off
)

// blur hides whose circle it was: what moved as a whole is told by a tenth of a degree (D13.1). A pin's place is no
// driver's.
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

// Run tells and hears until ctx ends.
func (p *Peers) Run(ctx context.Context) error {
	var hearing sync.WaitGroup
	var err error
	hearing.Go(func() {
		// What was missed while this node did not listen may have been anything.
		err = p.Cache.Follow(ctx, channel, func() { p.Moved.Notify(mapdata.Touched{Everywhere: true}) }, p.hear)
	})
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for n := 1; ctx.Err() == nil; n++ {
		select {
		case <-ctx.Done():
		case <-tick.C:
			p.tell(ctx, n%callsEvery == 0)
		}
	}
	hearing.Wait()
	return err
}

// tell publishes what waits.
func (p *Peers) tell(ctx context.Context, calls bool) {
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

// lost remembers of a message that could not be told that there was one.
func (p *Peers) lost(m *message) {
	if m.everywhere || len(m.moved) > 0 {
		p.everywhere, p.moved = true, nil
	}
	p.Calls.restore(m.calls)
}

// next takes what goes into one message.
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

// hear takes another node's message.
func (p *Peers) hear(text []byte) {
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
