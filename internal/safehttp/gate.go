package safehttp

import (
	"context"
	"sync"
)

// gate limits the number of connections, per host (D6.12) and in total. A fetch that waits for its host does not hold a slot
// of the total, and waiting fetches are served in order.
type gate struct {
	perHost int
	all     chan struct{}

	mu    sync.Mutex
	hosts map[string]*hostGate // those with users
}

type hostGate struct {
	slots chan struct{}
	users int // fetches that hold or wait for a slot
}

func newGate(perHost, all int) *gate {
	return &gate{perHost: perHost, all: make(chan struct{}, all), hosts: make(map[string]*hostGate)}
}

// enter waits for a slot for a connection to host. release frees it and must be called once. It fails only with ctx.
func (g *gate) enter(ctx context.Context, host string) (release func(), err error) {
	h := g.acquireHost(host)
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		g.releaseHost(host, h)
		return nil, context.Cause(ctx)
	}
	select {
	case g.all <- struct{}{}:
	case <-ctx.Done():
		<-h.slots
		g.releaseHost(host, h)
		return nil, context.Cause(ctx)
	}
	return func() {
		<-g.all
		<-h.slots
		g.releaseHost(host, h)
	}, nil
}

func (g *gate) acquireHost(host string) *hostGate {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.hosts[host]
	if h == nil {
		h = &hostGate{slots: make(chan struct{}, g.perHost)}
		g.hosts[host] = h
	}
	h.users++
	return h
}

func (g *gate) releaseHost(host string, h *hostGate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h.users--; h.users == 0 {
		delete(g.hosts, host)
	}
}
