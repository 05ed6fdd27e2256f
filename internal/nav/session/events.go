package session

import (
	"context"
	"time"
)

// heartbeatInterval is how often an idle client sees that the connection is alive.
const heartbeatInterval = 20 * time.Second

// Client is the receiving end of a session's events. An error of a function ends the stream.
type Client struct {
	Send      func(ctx context.Context, events []Event) error
	Heartbeat func(ctx context.Context) error
}

// Serve sends a session's events to a client until ctx or the session ends, or until another client asks for them: there is one at a
// time. The first event is the route.
func (s *Session) Serve(ctx context.Context, c Client) error {
	replaced, err := s.begin(ctx, c)
	if err != nil {
		return err
	}
	heartbeat := time.NewTicker(heartbeatInterval)
	defer heartbeat.Stop()
	rest := time.NewTimer(0)
	defer rest.Stop()
	later := time.NewTimer(time.Hour)
	defer later.Stop()
	changed := s.hub.Watch()
	rested := false
	due := true // there may have been changes before
	for {
		if due && rested {
			due, rested = false, false
			again, err := s.update(ctx, c)
			if err != nil {
				return err
			}
			rest.Reset(judgePause)
			if again > 0 {
				later.Reset(again)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.done:
			return nil
		case <-s.hub.ended:
			return nil
		case <-replaced:
			return nil
		case <-heartbeat.C:
			if err := c.Heartbeat(ctx); err != nil {
				return err
			}
		case <-s.moved:
			due = true
		case <-changed:
			changed = s.hub.Watch()
			due = true
		case <-later.C:
			due = true
		case <-rest.C:
			rested = true
		}
	}
}

// begin takes the events over from whoever reads them, and sends the route.
func (s *Session) begin(ctx context.Context, c Client) (replaced chan struct{}, err error) {
	replaced = make(chan struct{})
	s.mu.Lock()
	if s.reader != nil {
		close(s.reader)
	}
	now := s.hub.Now().UTC()
	s.reader, s.lastWord, s.told.pending = replaced, now, false
	first := Event{Name: "route", Route: s.text(), Left: s.told.arrival.Sub(now), At: now}
	s.mu.Unlock()
	return replaced, c.Send(ctx, []Event{first})
}

// update sends what is different now. again is after how long the session is to be looked at again though nothing happens; 0: not.
func (s *Session) update(ctx context.Context, c Client) (again time.Duration, err error) {
	events, again, err := s.judge(ctx)
	if err != nil || len(events) == 0 {
		return again, err
	}
	return again, c.Send(ctx, events)
}
