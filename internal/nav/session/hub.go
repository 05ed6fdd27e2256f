package session

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/nav"
	"wayside/internal/ratelimit"
)

// Bounds of sessions.
const (
	Lifetime = 10 * time.Minute // after the client's last word (D15.21)

	// MaxSessions are the sessions of a node. With an open stream of events, one takes some ten kilobytes.
	MaxSessions = 20_000
	// MaxBytes is what the sessions of a node keep of their routes. One across a town takes some five kilobytes, one across a continent hundreds.
	MaxBytes = 400 << 20

	sweepInterval = 30 * time.Second
)

// ErrFull says that the node has as many sessions as it may, or that they keep as much of their routes.
var ErrFull = errors.New("this node leads as many drivers as it can")

// Options are what a Hub needs.
type Options struct {
	Routes *nav.Service
	Now    func() time.Time
	// Watch gives a channel that is closed when conditions or the region change next. nil: nothing ever changes.
	Watch func() <-chan struct{}
	IDs   *IDs // nil: ids that no other process reads
	// MaxSessions and MaxBytes are set by tests only; 0: the constants of these names.
	MaxSessions int
	MaxBytes    int64

	// PerAddress, PerAccount, AddressSessions and AddressBytes are set by tests only; 0: the constants of shares.go.
	PerAddress, PerAccount, AddressSessions int
	AddressBytes                            int64

	// Charge counts a search that a position caused as so many routes of a caller; false: the caller has none left. nil: they do not count.
	Charge func(c Caller, cost int) bool
	// Admit waits for the turn of a session's search, and returns what ends it. nil: it is always its turn.
	Admit func(ctx context.Context, c Caller, cost int) (leave func(), err error)
}

// Hub holds the sessions of a node.
type Hub struct {
	Options
	texts  texts
	queue  chan *stream  // whose sessions are to be judged
	ended  chan struct{} // closed when Run has ended
	kept   atomic.Int64  // bytes of the ways of all sessions
	shares shares

	mu       sync.Mutex
	sessions map[string]*Session
}

// New makes a Hub.
func New(o Options) *Hub {
	if o.MaxSessions == 0 {
		o.MaxSessions = MaxSessions
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = MaxBytes
	}
	o.PerAddress, o.PerAccount = cmp.Or(o.PerAddress, MaxPerAddress), cmp.Or(o.PerAccount, MaxPerAccount)
	o.AddressSessions = cmp.Or(o.AddressSessions, max(o.MaxSessions/addressShare, o.PerAddress))
	o.AddressBytes = cmp.Or(o.AddressBytes, max(o.MaxBytes/addressShare, 1<<20))
	if o.Watch == nil {
		o.Watch = func() <-chan struct{} { return nil }
	}
	if o.IDs == nil {
		o.IDs = newLoneIDs()
	}
	return &Hub{Options: o, texts: newTexts(), queue: make(chan *stream, o.MaxSessions), ended: make(chan struct{}), sessions: make(map[string]*Session), shares: shares{of: make(map[ratelimit.Key]*share)}}
}

// Run judges sessions, and forgets those whose time is over, until ctx ends. Then all streams of events end.
func (h *Hub) Run(ctx context.Context) error {
	defer h.endAll()
	var workers, writers sync.WaitGroup
	defer writers.Wait()
	defer workers.Wait()
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() { h.work(ctx, &writers) })
	}
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	changed := h.Watch()
	for {
		select {
		case <-ctx.Done():
			h.endAll() // so that no writer waits for its client
			return nil
		case <-ticker.C:
			h.sweep()
		case <-changed:
			changed = h.Watch()
			for _, s := range h.all() {
				s.wake()
			}
		}
	}
}

// work judges the sessions of the queue until ctx ends. What is to be told is sent by a goroutine of its own, since clients may be slow.
func (h *Hub) work(ctx context.Context, writers *sync.WaitGroup) {
	for {
		select {
		case <-ctx.Done():
			return
		case t := <-h.queue:
			events, err := t.judge(ctx)
			if err != nil || len(events) == 0 {
				t.finish(err)
				continue
			}
			writers.Go(func() { t.finish(t.client.Send(ctx, events)) })
		}
	}
}

// enqueue has a stream's session judged; false: too many wait.
func (h *Hub) enqueue(t *stream) bool {
	select {
	case h.queue <- t:
		return true
	default:
		return false
	}
}

// endAll ends all streams, and lets no other one begin.
func (h *Hub) endAll() {
	h.mu.Lock()
	if !h.isEnded() {
		close(h.ended)
	}
	h.mu.Unlock()
	for _, s := range h.all() {
		s.end()
	}
}

func (h *Hub) isEnded() bool {
	select {
	case <-h.ended:
		return true
	default:
		return false
	}
}

// all is the sessions that there are.
func (h *Hub) all() []*Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.sessions))
}

// sweep forgets sessions whose time is over.
func (h *Hub) sweep() {
	now := h.Now()
	for _, s := range h.all() {
		if s.isOver(now) {
			h.Close(s.ID)
		}
	}
}

// Len is how many sessions there are.
func (h *Hub) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)
}

// Full says whether there is no room for another session, so that no route needs to be found for it.
func (h *Hub) Full() bool { return h.Len() >= h.MaxSessions || h.kept.Load() >= h.MaxBytes }

// reserve counts bytes that a session of a caller keeps from now on; false: there is no room for them, or the caller's address has its share.
func (h *Hub) reserve(c Caller, bytes int64) bool {
	if !h.shares.keep(h, c, bytes) {
		return false
	}
	if h.kept.Add(bytes) <= h.MaxBytes || bytes <= 0 {
		return true
	}
	h.kept.Add(-bytes)
	h.shares.keep(h, c, -bytes)
	return false
}

// Render writes one route of an answer, as the client asked for routes.
type Render func(dst []byte, a *nav.RouteAnswer, route int) []byte

// Open begins a session on one of the routes of an answer to a request, on a place that was reserved.
func (h *Hub) Open(seat *Seat, q *nav.RouteRequest, a *nav.RouteAnswer, route int, render Render) (*Session, error) {
	if route < 0 || route >= len(a.Routes) {
		return nil, &nav.Error{Code: nav.InvalidValue, Message: "There is no such route: route counts from 0, and alternatives says how many there may be."}
	}
	s := newSession(seat, q, render)
	if err := s.take(a, route); err != nil {
		return nil, err
	}
	h.shares.seat(seat, s)
	if !h.add(s) {
		s.end()
		return nil, ErrFull
	}
	return s, nil
}

// add makes a session one of the node's; false: there are as many as there may be.
func (h *Hub) add(s *Session) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.sessions) >= h.MaxSessions {
		return false
	}
	h.sessions[s.ID] = s
	return true
}

// Find is the session of an ID; nil: this node does not know it.
func (h *Hub) Find(id string) *Session {
	h.mu.Lock()
	s := h.sessions[id]
	h.mu.Unlock()
	if s == nil || s.isOver(h.Now()) {
		return nil
	}
	return s
}

// Close ends a session, and its stream of events. It says whether there was one.
func (h *Hub) Close(id string) bool {
	h.mu.Lock()
	s := h.sessions[id]
	delete(h.sessions, id)
	h.mu.Unlock()
	if s == nil {
		return false
	}
	s.end()
	return true
}
