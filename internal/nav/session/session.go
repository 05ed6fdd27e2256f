package session

import (
	"slices"
	"sync"
	"time"

	"wayside/internal/geo"
	"wayside/internal/nav"
	"wayside/internal/ratelimit"
)

// Session is one driver on the way. Its methods may be called from many goroutines.
type Session struct {
	ID     string
	hub    *Hub
	render Render

	reading sync.Mutex // it is never held while something is searched
	stream  *stream    // who reads the events; nil: nobody
	over    bool       // the session has ended

	mu       sync.Mutex
	request  nav.RouteRequest
	lastWord time.Time
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
	s := &Session{ID: newID(), hub: h, render: render, request: *q, lastWord: h.Now()}
	s.request.Alternatives = 0
	s.driver.heading = -1
	return s
}

// end ends the stream of events, and lets no other one begin.
func (s *Session) end() {
	s.reading.Lock()
	t := s.stream
	s.over = true
	s.reading.Unlock()
	if t != nil {
		t.close()
	}
}

// forget forgets a stream that has ended.
func (s *Session) forget(t *stream) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.stream == t {
		s.stream = nil
	}
}

// isOver says whether the client has been silent for too long.
func (s *Session) isOver(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.lastWord) >= Lifetime
}

// take makes one of the routes of an answer the way. The caller holds the lock, or is alone.
func (s *Session) take(a *nav.RouteAnswer, route int) {
	s.way = newWay(a, route)
	s.route = s.hub.texts.compress(func(dst []byte) []byte { return s.render(dst, a, route) })
	s.tried = s.hub.Now()
	s.told.metric = a.Network.Version()
	s.told.conditions = slices.Sorted(slices.Values(a.Routes[route].Conditions))
	s.told.arrival = s.hub.Now().Add(time.Duration(a.Routes[route].Duration) * time.Millisecond)
	s.driver.strayed = 0
}

// text is the route as it was written.
func (s *Session) text() []byte {
	text, err := s.hub.texts.decode.DecodeAll(s.route, nil)
	if err != nil { // cannot be: it was compressed by us
		return []byte("null")
	}
	return text
}

// wake has the session looked at, if a client reads its events.
func (s *Session) wake() {
	s.reading.Lock()
	t := s.stream
	s.reading.Unlock()
	if t != nil {
		t.wake()
	}
}
