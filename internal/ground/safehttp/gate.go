package safehttp

import (
	"context"
	"sync"
)

// gate limits the number of connections, per host (D6.12), by the caller's Admit, and in total. A fetch that waits for one of these holds
// no slot of those after it, and fetches that wait for their host are served in order.
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

// enter waits for a slot for a connection to host. admit is the Admit of a Request. release frees the slot and must be called once. It
// fails with the error of ctx, and as admit does.
func (g *gate) enter(ctx context.Context, host string, admit func(context.Context) (func(), error)) (release func(), err error) {
	h := g.acquireHost(host)
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		g.releaseHost(host, h)
		return nil, context.Cause(ctx)
	}
	leaveHost := func() {
		<-h.slots
		g.releaseHost(host, h)
	}
	leave := func() {}
	if admit != nil {
		if leave, err = admit(ctx); err != nil {
			leaveHost()
			return nil, err
		}
	}
	select {
	case g.all <- struct{}{}:
	case <-ctx.Done():
		leave()
		leaveHost()
		return nil, context.Cause(ctx)
	}
	return func() {
		<-g.all
		leave()
		leaveHost()
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
