package session

import (
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/s2"

	"wayside/internal/geo"
	"wayside/internal/nav"
	"wayside/internal/ratelimit"
)

// Session is one driver on the way. Its methods may be called from many goroutines.
type Session struct {
	ID     string
	hub    *Hub
	render Render
	done   chan struct{} // closed when the session has ended
	moved  chan struct{} // holds a value when the driver's place or route changed
	stop   func()        // closes done once

	mu       sync.Mutex
	request  nav.RouteRequest
	lastWord time.Time
	reader   chan struct{} // closed when another client reads the events; nil: nobody reads them
	bucket   ratelimit.State

	way    way
	route  []byte // what was written of it, compressed: it is sent again to a client that reads the events again
	driver driver
	told   told
	tried  time.Time // when another way was searched last
}

// driver is where the driver is, as far as it is known.
type driver struct {
	at      geo.Point
	known   bool
	heading float64 // degrees; negative: unknown
	strayed int     // positions in a row that were beside the way
}

// told is what the client was told last.
type told struct {
	metric     uint64
	arrival    time.Time
	conditions []string // on the rest of the way, in order
	pending    bool     // the client does not know the route yet
	reason     string   // why it is another one
	entities   []string
}

func newSession(h *Hub, q *nav.RouteRequest, render Render) *Session {
	s := &Session{ID: newID(), hub: h, render: render, request: *q, done: make(chan struct{}), moved: make(chan struct{}, 1), lastWord: h.Now()}
	s.stop = sync.OnceFunc(func() { close(s.done) })
	s.request.Alternatives = 0
	s.driver.heading = -1
	return s
}

func (s *Session) end() { s.stop() }

// isOver says whether the client has been silent for too long.
func (s *Session) isOver(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.lastWord) >= Lifetime
}

// take makes one of the routes of an answer the way. The caller holds the lock, or is alone.
func (s *Session) take(a *nav.RouteAnswer, route int) {
	s.way = newWay(a, route)
	s.route = s2.Encode(nil, s.render(nil, a, route))
	s.tried = s.hub.Now()
	s.told.metric = a.Network.Version()
	s.told.conditions = slices.Sorted(slices.Values(a.Routes[route].Conditions))
	s.told.arrival = s.hub.Now().Add(time.Duration(a.Routes[route].Duration) * time.Millisecond)
	s.driver.strayed = 0
}

// text is the route as it was written.
func (s *Session) text() []byte {
	text, err := s2.Decode(nil, s.route)
	if err != nil { // cannot be: it was compressed by us
		return []byte("null")
	}
	return text
}

// wake has the goroutine that serves the events look at the session.
func (s *Session) wake() {
	select {
	case s.moved <- struct{}{}:
	default:
	}
}
