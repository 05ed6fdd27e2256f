package session

import (
	"context"
	"sync"
	"time"
)

// heartbeatInterval is how often an idle client sees that the connection is alive.
const heartbeatInterval = 20 * time.Second

// Client is the receiving end of a session's events. After an error of Send or Heartbeat the stream is closed. Only one of the two runs
// at a time, and never in the goroutine that called Attach.
type Client struct {
	Send      func(ctx context.Context, events []Event) error
	Heartbeat func(ctx context.Context) error
	// Close is called once, when the stream has ended. busy: something is being sent at the moment, and should be cut off. last is sent
	// before the end otherwise; nil: nothing.
	Close func(last *Event, busy bool)
}

// stream is a client that reads the events of a session. It has no goroutine while nothing happens: a timer and the hub's workers look at
// it, since ten thousand stacks would take more memory than all sessions.
type stream struct {
	session *Session
	client  Client

	mu        sync.Mutex
	timer     *time.Timer
	due       bool      // something changed since the way was judged
	busy      bool      // it is in the hub's queue, is judged, or something is sent
	over      bool      // it has ended
	rested    time.Time // not judged before
	later     time.Time // judged again then, though nothing changed; zero: not
	heartbeat time.Time // when the next one is sent
}

// Begin takes the client's wish to read the events, and gives the first one: the route, and why it is another than the first, because
// the event that told it may have been lost with the stream before.
func (s *Session) Begin() Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.hub.Now().UTC()
	s.lastWord.Store(now.UnixNano())
	s.hub.shares.use(s)
	s.told.pending = false
	return Event{Name: "route", Reason: s.told.reason, EntityIDs: s.told.entities, Route: s.text(), Left: s.told.arrival.Sub(now), At: now}
}

// Attach sends what happens after Begin to a client, until the session ends or another client is attached: there is one at a time. It
// does not wait. The function that it returns ends the stream.
func (s *Session) Attach(c Client) (detach func()) {
	now := time.Now()
	t := &stream{session: s, client: c, due: true, heartbeat: now.Add(heartbeatInterval)} // due: there may have been changes since Begin
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

// Follow sends what happens after Begin to a client until ctx or the session ends, or until another client is attached. It sets Close.
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

// wake says that something changed.
func (t *stream) wake() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due = true
	t.schedule(time.Now())
}

// schedule has the stream looked at immediately, or sets its timer to when there is something to do next. t.mu is held.
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

// tick does what the timer was set for.
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
	t.finish(t.client.Heartbeat(context.Background())) //nolint:contextcheck // the end of the hub closes the client
}

// judge looks at the session, and returns what is to be sent.
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

// finish says that the stream is not busy any more; with an error, it ends.
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
