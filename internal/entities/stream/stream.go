package stream

import (
	"context"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/ratelimit"
)

// Intervals of a stream.
const (
	minInterval = 250 * time.Millisecond // between two updates because of changes

	bytesPerSecond = 1 << 20         // of all streams of one caller; beyond, they update less often
	bytesAhead     = 4 * time.Second // of bytesPerSecond may be sent in one burst: the snapshots of MaxPerCaller streams

	PollInterval      = 5 * time.Second  // between updates without a change: they ask upstreams and compare the sources' health
	HeartbeatInterval = 20 * time.Second // between heartbeats
)

// Stream watches a circle for one client. Run is for one goroutine.
type Stream struct {
	hub    *Hub
	caller ratelimit.Key
	budget *byteBudget // of the caller
	area   geo.Circle
	center geo.Vector // of the area
	wake   chan struct{}

	recheck chan struct{} // signals that the caller's account may have changed
	apps    chan struct{} // signals that the catalogue of apps changed
}

// meets reports whether the stream's circle meets another one. It compares the chord between the centers with the arc of the radii,
// which is a little longer than its chord: circles that just miss each other count as meeting, but no sine has to be computed for
// each of ten thousand streams.
func (s *Stream) meets(center geo.Vector, radius float64) bool {
	reach := (s.area.Radius + radius) / geo.EarthRadius
	return s.center.ChordSquared(center) <= reach*reach
}

// Close removes the stream from the hub.
func (s *Stream) Close() { s.hub.remove(s) }

// Sent counts bytes that were sent to the client.
func (s *Stream) Sent(n int) { s.budget.spend(n, time.Now()) }

// Wake makes the stream update soon, because something changed in its circle. It never blocks.
func (s *Stream) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// checkCaller makes the stream check its caller soon. It never blocks.
func (s *Stream) checkCaller() {
	select {
	case s.recheck <- struct{}{}:
	default:
	}
}

// Cause is the reason why a stream updates its client.
type Cause int

// The causes of updates.
const (
	Changed  Cause = iota // something changed or expires in the circle
	Periodic              // PollInterval has passed
)

// Client is the receiving end of a stream. An error of either function ends the stream.
type Client struct {
	// Update sends the client the current difference, and returns the time by the hub's clock at which the next of the client's
	// entities expires; zero: none does.
	Update func(ctx context.Context, cause Cause) (next time.Time, err error)
	// Heartbeat sends a sign of life to the client.
	Heartbeat func(ctx context.Context) error
	// CheckCaller fails if the caller who opened the stream has lost the right to it; nil: it is not checked.
	CheckCaller func(ctx context.Context) error
	// Apps sends the client a change of the catalogue of apps; nil: changes are not sent.
	Apps func(ctx context.Context, change AppsChange) error
}

// Run serves the client until ctx ends, the hub stops, or the client fails. expiry is when the next of the entities that the client
// already has expires; zero: none does. Only a failure of the client is an error.
func (s *Stream) Run(ctx context.Context, expiry time.Time, c Client) error {
	start := time.Now()
	next := schedule{
		updated: start, nextPoll: start.Add(s.hub.PollInterval), nextHeartbeat: start.Add(s.hub.HeartbeatInterval), expiry: expiry,
	}
	timer := time.NewTimer(s.hub.PollInterval)
	defer timer.Stop()
	for {
		next.paused = s.budget.pausedUntil()
		timer.Reset(next.wait(time.Now(), s.hub.Now()))
		select {
		case <-ctx.Done():
			return nil
		case <-s.hub.ended:
			return nil
		case <-s.recheck:
			if c.CheckCaller != nil {
				if err := c.CheckCaller(ctx); err != nil {
					return err
				}
			}
		case <-s.wake:
			next.woken = true
		case <-s.apps:
			next.appsWoken = true
		case <-timer.C:
		}
		if cause, due := next.due(time.Now(), s.hub.Now()); due {
			var err error
			if next.expiry, err = c.Update(ctx, cause); err != nil {
				return err
			}
			next.done(time.Now(), cause, s.hub.PollInterval)
		}
		if now := time.Now(); next.appsDue(now) {
			next.appsWoken, next.appsSent = false, now
			if change := s.takeApps(); c.Apps != nil && change.Revision != 0 {
				if err := c.Apps(ctx, change); err != nil {
					return err
				}
			}
		}
		if now := time.Now(); !now.Before(next.nextHeartbeat) {
			if err := c.Heartbeat(ctx); err != nil {
				return err
			}
			next.nextHeartbeat = now.Add(s.hub.HeartbeatInterval)
		}
	}
}

// schedule holds the times at which a stream acts next. Intervals are measured by the process's clock, expiries are times of the
// hub's clock.
type schedule struct {
	woken         bool
	updated       time.Time // the last update because of a change
	nextPoll      time.Time
	nextHeartbeat time.Time
	expiry        time.Time // zero: nothing expires
	paused        time.Time // no update is due before, because the caller got too many bytes
	appsWoken     bool
	appsSent      time.Time // the last event about apps
}

// wait returns how long the stream may sleep.
func (p *schedule) wait(now, clock time.Time) time.Duration {
	wait := min(p.nextPoll.Sub(now), p.nextHeartbeat.Sub(now))
	if !p.expiry.IsZero() {
		wait = min(wait, max(p.expiry.Sub(clock), p.updated.Add(minInterval).Sub(now)))
	}
	if p.woken {
		wait = min(wait, p.updated.Add(minInterval).Sub(now))
	}
	if pause := p.paused.Sub(now); pause > wait { // heartbeats continue
		wait = min(pause, max(p.nextHeartbeat.Sub(now), 0))
	}
	if p.appsWoken {
		wait = min(wait, p.appsSent.Add(appsInterval).Sub(now))
	}
	return max(wait, 0)
}

// appsDue reports whether an event about apps is due. The byte budget does not delay it, because a suspension cannot wait.
func (p *schedule) appsDue(now time.Time) bool {
	return p.appsWoken && !now.Before(p.appsSent.Add(appsInterval))
}

// due reports whether an update is due, and its cause.
func (p *schedule) due(now, clock time.Time) (Cause, bool) {
	if now.Before(p.paused) {
		return Periodic, false
	}
	rested := !now.Before(p.updated.Add(minInterval))
	expired := !p.expiry.IsZero() && !clock.Before(p.expiry)
	if rested && (p.woken || expired) {
		return Changed, true
	}
	return Periodic, !now.Before(p.nextPoll)
}

// done records an update. One because of a change covers all earlier wake-ups; a periodic one leaves them pending.
func (p *schedule) done(now time.Time, cause Cause, pollInterval time.Duration) {
	if cause == Changed {
		p.woken = false
		p.updated = now
		return
	}
	p.nextPoll = now.Add(pollInterval)
}
