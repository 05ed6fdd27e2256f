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

	"wayside/internal/drive/nav"
	"wayside/internal/ground/ratelimit"
)

// Bounds of sessions.
const (
	Lifetime = 10 * time.Minute // after the client's last request (D15.21)

	// MaxSessions is the maximum number of sessions of a node. One with an open stream of events takes some ten
	// kilobytes.
	MaxSessions = 20_000
	// MaxBytes bounds the memory for the routes of a node's sessions. A route across a town takes some five kilobytes,
	// one across a continent hundreds.
	MaxBytes = 400 << 20

	sweepInterval = 30 * time.Second
)

// ErrFull is returned when the node has MaxSessions sessions, or their routes take MaxBytes.
var ErrFull = errors.New("this node leads as many drivers as it can")

// Options configure a Hub.
type Options struct {
	Routes *nav.Service
	Now    func() time.Time
	// Watch returns a channel that is closed at the next change of the conditions or the region. If Watch is nil,
	// nothing ever changes.
	Watch func() <-chan struct{}
	IDs   *IDs // nil: ids that no other process can read
	// Only tests set MaxSessions and MaxBytes; 0 means the constants of these names.
	MaxSessions int
	MaxBytes    int64

	// Only tests set PerAddress, PerAccount, AddressSessions and AddressBytes; 0 means the constants in shares.go.
	PerAddress, PerAccount, AddressSessions int
	AddressBytes                            int64

	// Charge counts a search that a position caused as cost routes of a caller, and returns false if the caller has none
	// left. If Charge is nil, searches are not counted.
	Charge func(c Caller, cost int) bool
	// Admit waits until a session's search may run, and returns a function that ends its turn. If Admit is nil, searches
	// run without waiting.
	Admit func(ctx context.Context, c Caller, cost int) (leave func(), err error)
}

// Hub holds the sessions of a node.
type Hub struct {
	Options
	texts   texts
	queue   chan *stream  // streams whose sessions must be judged
	ended   chan struct{} // closed when the hub ends
	kept    atomic.Int64  // bytes of the routes of all sessions
	shares  shares
	closing closing

	mu       sync.Mutex
	sessions map[string]*Session
}

// New returns a Hub.
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
	return &Hub{Options: o, texts: newTexts(), queue: make(chan *stream, o.MaxSessions), ended: make(chan struct{}), closing: closing{wake: make(chan struct{}, 1)}, sessions: make(map[string]*Session), shares: shares{of: make(map[ratelimit.Key]*share)}}
}

// Run judges sessions and removes expired ones until ctx ends. Then it ends all streams of events.
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
		case <-h.closing.wake:
			h.urge()
		case <-changed:
			changed = h.Watch()
			for _, s := range h.all() {
				s.wake()
			}
		}
	}
}

// work judges the sessions of the queue until ctx ends. It sends events in separate goroutines, because clients may be
// slow.
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

// enqueue queues a stream's session for judging. It returns false if the queue is full.
func (h *Hub) enqueue(t *stream) bool {
	select {
	case h.queue <- t:
		return true
	default:
		return false
	}
}

// endAll ends all streams and prevents new ones.
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

// all returns all sessions.
func (h *Hub) all() []*Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.sessions))
}

// sweep removes expired sessions.
func (h *Hub) sweep() {
	now := h.Now()
	for _, s := range h.all() {
		if s.isOver(now) {
			h.Close(s.ID)
		}
	}
}

// Len returns the number of sessions.
func (h *Hub) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)
}

// Full reports whether there is no room for another session, in which case the caller need not search a route for it.
func (h *Hub) Full() bool { return h.Len() >= h.MaxSessions || h.kept.Load() >= h.MaxBytes }

// reserve counts bytes that a caller's session keeps. It returns false if the node, or the caller's address, has no room
// for them.
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

// Render appends one route of an answer to dst, in the form that the client asked for.
type Render func(dst []byte, a *nav.RouteAnswer, route int) []byte

// Open begins a session on one of the routes of an answer to a request, using a reserved seat.
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

// add adds a session. It returns false if the node is full.
func (h *Hub) add(s *Session) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.sessions) >= h.MaxSessions {
		return false
	}
	h.sessions[s.ID] = s
	return true
}

// Find returns the session with an id, or nil if this node does not have it.
func (h *Hub) Find(id string) *Session {
	h.mu.Lock()
	s := h.sessions[id]
	h.mu.Unlock()
	if s == nil || s.isOver(h.Now()) {
		return nil
	}
	return s
}

// Close ends a session and its stream of events, and reports whether the session existed. One of a node that stops counts as lost: its
// client has been told to continue at another node, which must not count that as a route of the client's choice (D15.23).
func (h *Hub) Close(id string) bool {
	h.mu.Lock()
	s := h.sessions[id]
	delete(h.sessions, id)
	h.mu.Unlock()
	if s == nil {
		return false
	}
	s.end()
	return !h.isEnded()
}
