package relay

import (
	"slices"
	"sync"
	"time"

	"wayside/internal/mapdata"
)

// recentCalls is how many calls of an upstream its health remembers (D8.8).
const recentCalls = 20

// calls is the record of an upstream's last calls.
type calls struct {
	mu           sync.Mutex
	last         [recentCalls]bool
	count        int
	success      time.Time
	timedOut     bool      // the last call did
	backoffUntil time.Time // the upstream refused the secret, and is not called before this time (D8.6)
}

// note records how a call ended. An upstream that refused the secret is not called for a while; backsOff says that this
// begins now.
func (c *calls) note(now time.Time, call mapdata.UpstreamCall) (backsOff bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last[c.count%recentCalls] = call.OK
	c.count++
	c.timedOut = call.TimedOut
	if call.OK {
		c.success = now
	}
	backsOff = call.Refused && !now.Before(c.backoffUntil)
	if call.Refused {
		c.backoffUntil = now.Add(unauthorizedBackoff)
	}
	return backsOff
}

// Heard records a call that another node made, so that all nodes agree on an upstream's health and backoff.
func (s *Service) Heard(upstream string, c mapdata.UpstreamCall) {
	if i := slices.Index(s.names, upstream); i >= 0 {
		s.upstreams[i].calls.note(s.Now(), c)
	}
}

// state reports whether the upstream may be called at now, and whether its last call timed out.
func (c *calls) state(now time.Time) (open, timedOut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !now.Before(c.backoffUntil), c.timedOut
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

// Health is the health of the built-in source (D8.8): of the upstreams that were called, online when each one's last call
// succeeded, degraded when some did; offline when none did, when none was called yet, and when the live cache is out of
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
	case good == 0 || s.cacheDown.Load() || s.Reachable != nil && !s.Reachable():
		h.Status = mapdata.Offline
	case good < called:
		h.Status = mapdata.Degraded
	default:
		h.Status = mapdata.Online
	}
	return h
}
