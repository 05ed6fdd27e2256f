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
	"wayside/internal/provider/relay"
	"wayside/internal/valkey"
)

const (
	// tellEvery is how long what moved waits for more of it, and callsEvery of how many of those tells how calls ended.
	tellEvery  = 100 * time.Millisecond
	callsEvery = 10
	// mostWaiting is how many places wait to be told; beyond it, everything may have moved.
	mostWaiting = 16 * mostMoves
	mostRadius  = 200_000 // metres
	channel     = "peers"
)

// Config is what Peers need.
type Config struct {
	Cache   *valkey.Conn
	Touched func(mapdata.Touched)               // told what moved at other nodes; must not wait
	Heard   func(upstream string, c relay.Call) // told how other nodes' calls ended; must not wait
	Log     *slog.Logger
}

// Peers are the other nodes. Its methods may be called from many goroutines, and wait for nobody. Run must run beside them.
type Peers struct {
	Config
	node [nodeSize]byte

	mu         sync.Mutex
	everywhere bool
	moved      []geo.Circle
	calls      map[string]relay.Call
}

// New makes Peers.
func New(c Config) *Peers {
	p := &Peers{Config: c, calls: make(map[string]relay.Call)}
	_, _ = rand.Read(p.node[:]) // never fails
	return p
}

// Moved tells where live pins moved.
func (p *Peers) Moved(areas []geo.Circle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.moved)+len(areas) > mostWaiting {
		p.everywhere, p.moved = true, nil
	}
	if p.everywhere {
		return
	}
	for _, area := range areas {
		p.moved = append(p.moved, blur(area))
	}
}

// Called tells how a call ended; of many calls of an upstream, the last one of each second.
func (p *Peers) Called(upstream string, c relay.Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.Refused = c.Refused || p.calls[upstream].Refused // not to be missed
	p.calls[upstream] = c
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
		Radius: min(area.Radius+blurring, mostRadius),
	}
}

// Run tells and hears until ctx ends.
func (p *Peers) Run(ctx context.Context) error {
	var hearing sync.WaitGroup
	var err error
	hearing.Go(func() {
		// What was missed while nobody listened may have been anything.
		err = p.Cache.Follow(ctx, channel, func() { p.Touched(mapdata.Touched{Everywhere: true}) }, p.hear)
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
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.everywhere || len(m.moved) > 0 {
		p.everywhere, p.moved = true, nil
	}
	for upstream, call := range m.calls {
		if _, later := p.calls[upstream]; !later {
			p.calls[upstream] = call
		}
	}
}

// next takes what goes into one message.
func (p *Peers) next(calls bool) *message {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := &message{node: p.node, everywhere: p.everywhere}
	n := min(len(p.moved), mostMoves)
	m.moved, p.moved = p.moved[:n:n], p.moved[n:]
	if len(p.moved) == 0 {
		p.moved = nil
	}
	p.everywhere = false
	if calls && len(p.calls) > 0 {
		m.calls, p.calls = p.calls, make(map[string]relay.Call)
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
		p.Touched(mapdata.Touched{Everywhere: m.everywhere, Areas: m.moved})
	}
	for upstream, call := range m.calls {
		p.Heard(upstream, call)
	}
}
