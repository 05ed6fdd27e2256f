package session

import (
	"context"
	"sync"
	"time"
)

// heartbeatInterval is the time between heartbeats, which show an idle client that the connection is alive.
const heartbeatInterval = 20 * time.Second

// Client is the receiving end of a session's events. If Send or Heartbeat returns an error, the stream is closed. Calls
// of Send and Heartbeat never overlap, and never run in the goroutine that called Attach.
type Client struct {
	Send      func(ctx context.Context, events []Event) error
	Heartbeat func(ctx context.Context) error
	// Close is called once, when the stream has ended. busy reports whether a Send or Heartbeat is running, which Close
	// should cut off. Otherwise Close should send last, unless it is nil, before it ends the connection.
	Close func(last *Event, busy bool)
}

// stream is a client that reads the events of a session. An idle stream has no goroutine, because ten thousand stacks
// would take more memory than all sessions; a timer and the hub's workers serve it.
type stream struct {
	session *Session
	client  Client

	mu        sync.Mutex
	timer     *time.Timer
	due       bool      // something changed since the session was judged
	busy      bool      // it is queued, being judged, or sending
	over      bool      // it has ended
	rested    time.Time // do not judge before
	later     time.Time // judge again then, even without a change; zero: never
	heartbeat time.Time // time of the next heartbeat
}

// Begin starts the reading of events and returns the first one: the route, and why it differs from the first route. It
// repeats the reason because an earlier event may have been lost with its stream.
func (s *Session) Begin() Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.hub.Now().UTC()
	s.lastRequest.Store(now.UnixNano())
	s.hub.shares.use(s)
	s.reported.pending = false
	return Event{Name: "route", Reason: s.reported.reason, EntityIDs: s.reported.entities, Route: s.text(), Left: s.reported.arrival.Sub(now), At: now}
}

// Attach sends the events after Begin to a client, until the session ends or another client is attached, since a session
// has at most one. Attach does not wait. The function that it returns ends the stream.
func (s *Session) Attach(c Client) (detach func()) {
	now := time.Now()
	t := &stream{session: s, client: c, due: true, heartbeat: now.Add(heartbeatInterval)} // due, because there may have been changes since Begin
	s.reading.Lock()
	before, over := s.stream, s.over || s.hub.isEnded()
	if !over {
		s.stream = t
	}
	s.reading.Unlock()
	if before != nil {
		before.close()
	}
	if over {
		t.close()
		return t.close
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.schedule(now)
	return t.close
}

// Follow sends the events after Begin to a client until ctx or the session ends, or until another client is attached. It
// sets c.Close.
func (s *Session) Follow(ctx context.Context, c Client) {
	closed := make(chan *Event, 1)
	c.Close = func(last *Event, busy bool) {
		if busy {
			last = nil
		}
		closed <- last
	}
	detach := s.Attach(c)
	var last *Event
	select {
	case <-ctx.Done():
		detach()
		last = <-closed
	case last = <-closed:
	}
	if last != nil {
		_ = c.Send(ctx, []Event{*last}) // the client may be gone
	}
}

// wake records that something changed, and schedules a judgement.
func (t *stream) wake() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due = true
	t.schedule(time.Now())
}

// urge schedules an immediate judgement, although the session may have been judged a moment ago.
func (t *stream) urge() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due, t.rested = true, time.Time{}
	t.schedule(time.Now())
}

// schedule queues the stream if it is due, or otherwise sets its timer to the next thing to do. The caller must hold
// t.mu.
func (t *stream) schedule(now time.Time) {
	if t.over || t.busy {
		return
	}
	if t.due && !now.Before(t.rested) {
		if t.busy = t.session.hub.enqueue(t); t.busy {
			return
		}
		t.rested = now.Add(judgePause) // the queue is full
	}
	next := t.heartbeat
	if t.due && t.rested.Before(next) {
		next = t.rested
	}
	if !t.later.IsZero() && t.later.Before(next) {
		next = t.later
	}
	if t.timer == nil {
		t.timer = time.AfterFunc(next.Sub(now), t.tick)
		return
	}
	t.timer.Reset(next.Sub(now))
}

// tick handles the expiry of the timer.
func (t *stream) tick() {
	t.mu.Lock()
	now := time.Now()
	if !t.later.IsZero() && !now.Before(t.later) {
		t.due, t.later = true, time.Time{}
	}
	beat := !t.over && !t.busy && now.Compare(t.heartbeat) >= 0
	if !beat {
		t.schedule(now)
		t.mu.Unlock()
		return
	}
	t.busy, t.heartbeat = true, now.Add(heartbeatInterval)
	t.mu.Unlock()
	t.finish(t.client.Heartbeat(context.Background())) //nolint:contextcheck // the hub's end closes the client
}

// judge judges the session, and returns the events to send.
func (t *stream) judge(ctx context.Context) (events []Event, err error) {
	t.mu.Lock()
	t.due = false
	over := t.over
	t.mu.Unlock()
	if over {
		return nil, nil
	}
	events, again, err := t.session.judge(ctx)
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rested = now.Add(judgePause)
	if again > 0 {
		t.later = now.Add(again)
	}
	return events, err
}

// finish marks the stream as no longer busy, and closes it if err is not nil.
func (t *stream) finish(err error) {
	t.mu.Lock()
	t.busy = false
	t.schedule(time.Now())
	t.mu.Unlock()
	if err != nil {
		t.close()
	}
}

// close ends the stream.
func (t *stream) close() {
	t.mu.Lock()
	before, busy := t.over, t.busy
	t.over = true
	if t.timer != nil {
		t.timer.Stop()
	}
	t.mu.Unlock()
	if before {
		return
	}
	t.session.forget(t)
	t.client.Close(t.session.farewell(), busy)
}
