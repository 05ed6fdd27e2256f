package session

import (
	"container/list"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/ratelimit"
)

// Session is a driver on a route. Its methods are safe for concurrent use.
type Session struct {
	ID     string
	hub    *Hub
	render Render

	reading sync.Mutex // never held during a search
	stream  *stream    // of the client that reads the events; nil if there is none
	over    bool       // the session has ended

	lastRequest atomic.Int64 // time of the client's last request, in nanoseconds since 1970

	caller Caller
	cost   int           // of a search, in routes
	isUsed atomic.Bool   // its events were read, or its client sent a position
	unused *list.Element // element of shares.unused, guarded by its mutex; nil once the session is used

	limiting sync.Mutex // it is never held while something is searched
	bucket   ratelimit.State

	mu      sync.Mutex
	request nav.RouteRequest

	way      way
	shown    atomic.Pointer[way] // a copy of way for readers that must not wait
	route    []byte              // the rendered route, compressed, for clients that read the events again
	kept     atomic.Int64        // bytes of way and route, as counted by the hub
	driver   driver
	reported reported
	tried    time.Time // time of the last search, or of the session's opening
	searched time.Time // time of the last search
}

// driver is the state of the driver, as far as it is known.
type driver struct {
	at      geo.Point
	known   bool
	heading float64 // degrees; negative: unknown
	strayed int     // number of consecutive positions off the route
	left    bool    // the driver left the route when no search was allowed
}

// reported is the state that the client got last.
type reported struct {
	metric     uint64
	arrival    time.Time
	conditions []string // on the rest of the route, sorted
	closed     []string // entities that close the rest of the route, with no way around
	pending    bool     // the client does not have the current route yet
	reason     string   // why the route was changed; empty for the first route
	entities   []string // that caused the change
}

func newSession(seat *Seat, q *nav.RouteRequest, render Render) *Session {
	h := seat.hub
	s := &Session{ID: h.IDs.make(h.Now()), hub: h, caller: seat.caller, cost: seat.cost, render: render, request: *q}
	s.lastRequest.Store(h.Now().UnixNano())
	s.request.Alternatives = 0
	s.driver.heading = -1
	return s
}

// end ends the stream of events and prevents new ones.
func (s *Session) end() {
	s.reading.Lock()
	t := s.stream
	s.over = true
	s.reading.Unlock()
	s.release()
	s.hub.shares.leave(s)
	if t != nil {
		t.close()
	}
}

// release removes the session's bytes from the hub's counts.
func (s *Session) release() {
	bytes := s.kept.Swap(0)
	s.hub.kept.Add(-bytes)
	s.hub.shares.keep(s.hub, s.caller, -bytes)
}

// hasEnded reports whether the session has ended.
func (s *Session) hasEnded() bool {
	s.reading.Lock()
	defer s.reading.Unlock()
	return s.over
}

// forget drops a stream that has ended.
func (s *Session) forget(t *stream) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.stream == t {
		s.stream = nil
	}
}

// isOver reports whether the client has been silent for Lifetime. It never waits.
func (s *Session) isOver(now time.Time) bool {
	return now.Sub(time.Unix(0, s.lastRequest.Load())) >= Lifetime
}

// take makes one of the routes of an answer the session's route. If there is no room for the route, take returns ErrFull
// and leaves the session unchanged. The caller must hold s.mu or be the only user of s.
func (s *Session) take(a *nav.RouteAnswer, route int) error {
	next := newWay(a, route)
	text := s.hub.texts.compress(func(dst []byte) []byte { return s.render(dst, a, route) })
	more := int64(len(text)) + next.bytes() + int64(len(s.request.Places.Coordinates))*bytesPerPlace - s.kept.Load()
	if !s.hub.reserve(s.caller, more) {
		return ErrFull
	}
	if s.kept.Add(more); s.hasEnded() { // the session ended meanwhile
		s.release()
	}
	s.way, s.route = next, text
	s.show()
	s.tried = s.hub.Now()
	s.reported.metric = a.Network.Version()
	s.reported.conditions = slices.Sorted(slices.Values(a.Routes[route].Conditions))
	s.reported.arrival = s.hub.Now().Add(time.Duration(a.Routes[route].Duration) * time.Millisecond)
	s.driver.strayed, s.driver.left = 0, false
	return nil
}

// bytesPerPlace is the memory of one place of a request, with its bearing and other options.
const bytesPerPlace = 64

// show publishes the driver's progress to readers that do not lock.
func (s *Session) show() {
	shown := s.way
	s.shown.Store(&shown)
}

// Ahead returns the arcs of the route from the driver's last position, with the share of each arc that is on the route,
// and the data version of the roads that the arcs belong to. It never waits.
func (s *Session) Ahead() (dataVersion string, route func(yield func(arc uint32, from, to float64) bool)) {
	w := s.shown.Load()
	return w.dataVersion, func(yield func(arc uint32, from, to float64) bool) {
		for i, one := range w.ahead() {
			from := one.from
			if i == w.at {
				from = max(from, min(w.share, one.to))
			}
			if !yield(one.arc, from, one.to) {
				return
			}
		}
	}
}

// text returns the rendered route.
func (s *Session) text() []byte {
	text, err := s.hub.texts.decode.DecodeAll(s.route, nil)
	if err != nil { // impossible, because compress made the text
		return []byte("null")
	}
	return text
}

// wake schedules a judgement of the session, if a client reads its events.
func (s *Session) wake() {
	if t := s.reader(); t != nil {
		t.wake()
	}
}

// reader returns the stream of the client that reads the session's events; nil: there is none.
func (s *Session) reader() *stream {
	s.reading.Lock()
	defer s.reading.Unlock()
	return s.stream
}
