package relay

import (
	"slices"
	"sync"
	"time"

	"wayside/internal/mapdata"
)

// recentCalls is how many calls of an upstream its health remembers (D8.8).
const recentCalls = 20

// calls is what is remembered of an upstream's last calls.
type calls struct {
	mu      sync.Mutex
	last    [recentCalls]bool
	count   int
	success time.Time
	hangs   bool      // the last call ended because its time was over
	barred  time.Time // not called before this time, since it refused our secret (D8.6)
}

// note remembers how a call ended. An upstream that refused our secret is not called for a while; it says whether that is
// new.
func (c *calls) note(now time.Time, call mapdata.UpstreamCall) (barred bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last[c.count%recentCalls] = call.OK
	c.count++
	c.hangs = call.TimedOut
	if call.OK {
		c.success = now
	}
	barred = call.Refused && !now.Before(c.barred)
	if call.Refused {
		c.barred = now.Add(barredFor)
	}
	return barred
}

// Heard takes note of a call that another node made. So what is known of an upstream's health, and that it refuses our
// secret, is known to all.
func (s *Service) Heard(upstream string, c mapdata.UpstreamCall) {
	if i := slices.Index(s.names, upstream); i >= 0 {
		s.upstreams[i].calls.note(s.Now(), c)
	}
}

// state says whether the upstream may be called at now, and whether a reader should wait for its answer.
func (c *calls) state(now time.Time) (open, hangs bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !now.Before(c.barred), c.hangs
}

// add puts the calls into a health and says whether there were any, and whether the last one succeeded.
func (c *calls) add(h *mapdata.Health) (called, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range min(c.count, recentCalls) {
		if c.last[i] {
			h.OK++
		} else {
			h.Fail++
		}
	}
	if c.success.After(h.LastSuccessAt) {
		h.LastSuccessAt = c.success
	}
	return c.count > 0, c.count > 0 && c.last[(c.count-1)%recentCalls]
}

// Health is that of the built-in source (D8.8): of the upstreams that were called, online when each one's last call
// succeeded, degraded when some did, offline when none did, when nobody was called yet, and when the live cache is out of
// reach.
func (s *Service) Health() mapdata.Health {
	var h mapdata.Health
	called, good := 0, 0
	for _, u := range s.upstreams {
		was, ok := u.calls.add(&h)
		if was {
			called++
		}
		if ok {
			good++
		}
	}
	switch {
	case good == 0 || s.adrift.Load() || s.Reachable != nil && !s.Reachable():
		h.Status = mapdata.Offline
	case good < called:
		h.Status = mapdata.Degraded
	default:
		h.Status = mapdata.Online
	}
	return h
}
