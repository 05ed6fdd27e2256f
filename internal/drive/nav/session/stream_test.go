package session_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/drive/nav/session"
)

// TestSlowClientsHoldNobodyUp checks that only its own goroutine waits for a slow client, and that the client is cut off
// when the session ends.
func TestSlowClientsHoldNobodyUp(t *testing.T) {
	inBubble(t, func(t *testing.T, d *drives) {
		stuck := make(chan struct{})
		closed := make(chan bool, 1)
		slow := d.begin("ad")
		slow.Begin()
		slow.Attach(session.Client{
			Send:      func(context.Context, []session.Event) error { <-stuck; return errors.New("cut off") },
			Heartbeat: func(context.Context) error { t.Error("a heartbeat beside another write"); return nil },
			Close:     func(_ *session.Event, busy bool) { close(stuck); closed <- busy },
		})
		events, _ := d.follow(t.Context(), d.begin("ad"))
		d.want(events, "route  bc")
		time.Sleep(5 * time.Second)
		d.change("works", map[string]time.Duration{"bc": 0})
		time.Sleep(time.Second)
		d.want(events, "reroute closed works bxyc")
		time.Sleep(time.Minute)
		d.change("works", nil)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if len(events.take()) == 0 {
			t.Error("a second change was not told")
		}
		d.Close(slow.ID)
		if !<-closed {
			t.Error("the end of the session did not cut off what was being sent")
		}
	})
}

// TestHeartbeats checks that an idle client gets a heartbeat every 20 s, that a failed one ends the stream, and that
// another client can then follow.
func TestHeartbeats(t *testing.T) {
	inBubble(t, func(t *testing.T, d *drives) {
		s := d.begin("ad")
		var beats, closed atomic.Int64
		s.Attach(session.Client{
			Send: func(context.Context, []session.Event) error { return nil },
			Heartbeat: func(context.Context) error {
				if beats.Add(1) == 3 {
					return errors.New("gone")
				}
				return nil
			},
			Close: func(*session.Event, bool) { closed.Add(1) },
		})
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if beats.Load() != 2 || closed.Load() != 0 {
			t.Errorf("%d heartbeats and %d ends within 59 s", beats.Load(), closed.Load())
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if beats.Load() != 3 || closed.Load() != 1 {
			t.Errorf("%d heartbeats and %d ends of a client that left", beats.Load(), closed.Load())
		}
	})
}

// TestStreamsHaveNoGoroutines checks that an idle stream has no goroutine.
func TestStreamsHaveNoGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrives(t, session.Options{MaxSessions: 1000, PerAddress: 1000})
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- d.Run(ctx) }()
		synctest.Wait()
		before, ended := runtime.NumGoroutine(), 0
		for range 200 {
			s := d.begin("ad")
			s.Begin()
			s.Attach(session.Client{
				Send:      func(context.Context, []session.Event) error { return nil },
				Heartbeat: func(context.Context) error { return nil },
				Close:     func(*session.Event, bool) { ended++ },
			})
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if more := runtime.NumGoroutine() - before; more > 0 {
			t.Errorf("200 streams have %d goroutines", more)
		}
		cancel()
		if err := <-ran; err != nil || ended != 200 {
			t.Errorf("%v; with the hub %d of 200 streams ended", err, ended)
		}
		if s := d.begin("ad"); s != nil {
			s.Attach(session.Client{Close: func(*session.Event, bool) { ended++ }})
		}
		if ended != 201 {
			t.Error("a stream began after the hub's end")
		}
	})
}

// TestSessionsOfANodeThatStopsAreLost checks that a session which another node ends, because its client continues there, counts as lost as
// soon as this node stops, although it is still there.
func TestSessionsOfANodeThatStopsAreLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrives(t, session.Options{})
		first, second := d.begin("ad"), d.begin("ad")
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- d.Run(ctx) }()
		synctest.Wait()
		if !d.Close(first.ID) {
			t.Error("a session of a node that runs counts as lost")
		}
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if d.Close(second.ID) {
			t.Error("a session of a node that stopped counts as led there")
		}
	})
}
