package session

import (
	"container/list"
	"slices"
	"sync"
	"sync/atomic"
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

	lastWord atomic.Int64 // of the client, in nanoseconds since 1970

	caller Caller
	cost   int           // in routes, of a search
	isUsed atomic.Bool   // it was read, or its client sent a position
	unused *list.Element // of shares.unused, which guards it; nil: it is used

	mu      sync.Mutex
	request nav.RouteRequest
	bucket  ratelimit.State

	way      way
	shown    atomic.Pointer[way] // what way is, for readers that must not wait
	route    []byte              // what was written of it, compressed: it is sent again to a client that reads the events again
	kept     atomic.Int64        // bytes of both, as the hub counts them
	driver   driver
	told     told
	tried    time.Time // when another way was searched last, or the session opened
	searched time.Time // when another way was searched last
}

// driver is where the driver is, as far as it is known.
type driver struct {
	at      geo.Point
	known   bool
	heading float64 // degrees; negative: unknown
	strayed int     // positions in a row that were beside the way
	left    bool    // the driver left the way, and no search was allowed then
}

// told is what the client was told last.
type told struct {
	metric     uint64
	arrival    time.Time
	conditions []string // on the rest of the way, in order
	closed     []string // what closes the rest of the way, with no way around
	pending    bool     // the client does not know the route yet
	reason     string   // why it is another than the first; empty: it is the first
	entities   []string // that are the reason
}

func newSession(seat *Seat, q *nav.RouteRequest, render Render) *Session {
	h := seat.hub
	s := &Session{ID: h.IDs.make(h.Now()), hub: h, caller: seat.caller, cost: seat.cost, render: render, request: *q}
	s.lastWord.Store(h.Now().UnixNano())
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
	s.release()
	s.hub.shares.leave(s)
	if t != nil {
		t.close()
	}
}

// release has the hub count nothing of the session any more.
func (s *Session) release() {
	bytes := s.kept.Swap(0)
	s.hub.kept.Add(-bytes)
	s.hub.shares.keep(s.hub, s.caller, -bytes)
}

// hasEnded says whether the session has ended.
func (s *Session) hasEnded() bool {
	s.reading.Lock()
	defer s.reading.Unlock()
	return s.over
}

// forget forgets a stream that has ended.
func (s *Session) forget(t *stream) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.stream == t {
		s.stream = nil
	}
}

// isOver says whether the client has been silent for too long. It never waits.
func (s *Session) isOver(now time.Time) bool {
	return now.Sub(time.Unix(0, s.lastWord.Load())) >= Lifetime
}

// take makes one of the routes of an answer the way. Where there is no room for it, the session stays as it is. The caller holds the lock, or
// is alone.
func (s *Session) take(a *nav.RouteAnswer, route int) error {
	next := newWay(a, route)
	text := s.hub.texts.compress(func(dst []byte) []byte { return s.render(dst, a, route) })
	more := int64(len(text)) + next.bytes() + int64(len(s.request.Places.Coordinates))*bytesPerPlace - s.kept.Load()
	if !s.hub.reserve(s.caller, more) {
		return ErrFull
	}
	if s.kept.Add(more); s.hasEnded() { // it ended meanwhile
		s.release()
	}
	s.way, s.route = next, text
	s.show()
	s.tried = s.hub.Now()
	s.told.metric = a.Network.Version()
	s.told.conditions = slices.Sorted(slices.Values(a.Routes[route].Conditions))
	s.told.arrival = s.hub.Now().Add(time.Duration(a.Routes[route].Duration) * time.Millisecond)
	s.driver.strayed, s.driver.left = 0, false
	return nil
}

// bytesPerPlace is what a place of a request takes, with its bearing and what else it may have.
const bytesPerPlace = 64

// show lets others see how far the way was driven.
func (s *Session) show() {
	shown := s.way
	s.shown.Store(&shown)
}

// Ahead gives the arcs of the way from where the driver was last, and the shares of their lengths that are on it. dataVersion is of the
// roads that have them. It never waits.
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
