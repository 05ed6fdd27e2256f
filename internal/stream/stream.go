package stream

import (
	"context"
	"time"

	"wayside/internal/geo"
	"wayside/internal/ratelimit"
)

// When a stream does what.
const (
	spacing   = 250 * time.Millisecond // between two looks because somebody touched what is watched
	lookEvery = 5 * time.Second        // without anybody's touch: upstreams are asked, and sources' health is compared
	beatEvery = 20 * time.Second       // a sign of life, unless Config says otherwise
)

// Stream is what one client watches. Follow is for one goroutine.
type Stream struct {
	hub    *Hub
	caller ratelimit.Key
	area   geo.Circle
	center geo.Vector // of the area
	wake   chan struct{}
}

// meets says whether the stream's circle meets another one. It takes the arc for the chord, which is shorter: some that
// lie a hair apart meet too, and no sine is asked for, ten thousand times in a row.
func (s *Stream) meets(center geo.Vector, radius float64) bool {
	reach := (s.area.Radius + radius) / geo.EarthRadius
	return s.center.ChordSquared(center) <= reach*reach
}

// Close ends the stream for the hub.
func (s *Stream) Close() { s.hub.close(s) }

// Wake says that something moved in what the stream watches. It never waits.
func (s *Stream) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Cause is why a stream looks.
type Cause int

// The causes.
const (
	Moved Cause = iota // something was touched, or expires
	Time               // nothing that is known of: it is time
)

// Client is what a stream does for whoever watches. An error of either ends the stream.
type Client struct {
	// Look brings the client up to date and tells when to look again by the hub's clock because something expires; zero:
	// nothing does.
	Look func(ctx context.Context, cause Cause) (next time.Time, err error)
	// Beat gives the client a sign of life.
	Beat func(ctx context.Context) error
}

// Follow serves the client until ctx ends, the hub ends, or the client fails. next is when something expires of what the
// client has already; zero: nothing does. Only a failure is an error.
func (s *Stream) Follow(ctx context.Context, next time.Time, c Client) error {
	began := time.Now()
	p := plan{looked: began, look: began.Add(lookEvery), beat: began.Add(s.hub.Beat), next: next}
	timer := time.NewTimer(lookEvery)
	defer timer.Stop()
	for {
		timer.Reset(p.wait(time.Now(), s.hub.Now()))
		select {
		case <-ctx.Done():
			return nil
		case <-s.hub.end:
			return nil
		case <-s.wake:
			p.woken = true
		case <-timer.C:
		}
		if cause, due := p.due(time.Now(), s.hub.Now()); due {
			var err error
			if p.next, err = c.Look(ctx, cause); err != nil {
				return err
			}
			p.lookedAt(time.Now(), cause)
		}
		if now := time.Now(); !now.Before(p.beat) {
			if err := c.Beat(ctx); err != nil {
				return err
			}
			p.beat = now.Add(s.hub.Beat)
		}
	}
}

// plan is when a stream does what next. Spans are measured by the process's clock, expiries lie on the hub's.
type plan struct {
	woken  bool
	looked time.Time // when it last looked for any cause
	look   time.Time // when it looks without one
	beat   time.Time
	next   time.Time // when something expires; zero: nothing does
}

// wait is how long there is nothing to do.
func (p *plan) wait(now, clock time.Time) time.Duration {
	wait := min(p.look.Sub(now), p.beat.Sub(now))
	if !p.next.IsZero() {
		wait = min(wait, max(p.next.Sub(clock), p.looked.Add(spacing).Sub(now)))
	}
	if p.woken {
		wait = min(wait, p.looked.Add(spacing).Sub(now))
	}
	return max(wait, 0)
}

// due says whether, and why, it is time to look.
func (p *plan) due(now, clock time.Time) (Cause, bool) {
	rested := !now.Before(p.looked.Add(spacing))
	expired := !p.next.IsZero() && !clock.Before(p.next)
	if rested && (p.woken || expired) {
		return Moved, true
	}
	return Time, !now.Before(p.look)
}

// lookedAt notes a look. What touched the stream before it began was seen by it, unless nothing but the time was asked for.
func (p *plan) lookedAt(now time.Time, cause Cause) {
	if cause == Moved {
		p.woken = false
		p.looked = now
		return
	}
	p.look = now.Add(lookEvery)
}
