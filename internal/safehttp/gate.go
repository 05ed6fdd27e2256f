package safehttp

import (
	"context"
	"sync"
)

// gate lets few connections out at a time: to one host (D6.12) and in all. Who waits for a host holds nothing that others
// need, and hosts are served in the order of asking.
type gate struct {
	perHost int
	all     chan struct{}

	mu    sync.Mutex
	hosts map[string]*hostGate // those that somebody uses or waits for
}

type hostGate struct {
	slots chan struct{}
	users int
}

func newGate(perHost, all int) *gate {
	return &gate{perHost: perHost, all: make(chan struct{}, all), hosts: make(map[string]*hostGate)}
}

// enter waits for a connection to host, and gives what ends it, to be called once. It fails only with ctx.
func (g *gate) enter(ctx context.Context, host string) (leave func(), err error) {
	h := g.join(host)
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		g.part(host, h)
		return nil, context.Cause(ctx)
	}
	select {
	case g.all <- struct{}{}:
	case <-ctx.Done():
		<-h.slots
		g.part(host, h)
		return nil, context.Cause(ctx)
	}
	return func() {
		<-g.all
		<-h.slots
		g.part(host, h)
	}, nil
}

func (g *gate) join(host string) *hostGate {
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

func (g *gate) part(host string, h *hostGate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h.users--; h.users == 0 {
		delete(g.hosts, host)
	}
}
