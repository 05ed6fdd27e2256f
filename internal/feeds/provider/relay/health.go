package relay

import (
	"slices"
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
)

// recentCalls is the number of an upstream's calls that its health covers (D8.8).
const recentCalls = 20

// calls is the record of an upstream's last calls.
type calls struct {
	mu           sync.Mutex
	last         [recentCalls]bool
	count        int
	at           time.Time // of the last call
	success      time.Time
	timedOut     bool      // the last call timed out
	backoffUntil time.Time // the upstream refused the secret, and is not called before this time (D8.6)
}

// note records the result of a call. An upstream that refused the secret is not called for a while.
func (c *calls) note(now time.Time, call mapdata.UpstreamCall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last[c.count%recentCalls] = call.OK
	c.count++
	c.at = now
	c.timedOut = call.TimedOut
	if call.OK {
		c.success = now
	}
	if call.Refused {
		c.backoffUntil = now.Add(unauthorizedBackoff)
	}
}

// Heard records a call that another node made, so that all nodes agree on an upstream's health and backoff. The other node logs its
// consequence.
func (s *Service) Heard(upstream string, c mapdata.UpstreamCall) {
	if i := slices.Index(s.names, upstream); i >= 0 {
		now := s.Now()
		s.upstreams[i].calls.note(now, c)
		s.upstreams[i].condition.note(now, c.OK)
	}
}

// state reports whether the upstream may be called at now, and whether its last call timed out.
func (c *calls) state(now time.Time) (open, timedOut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !now.Before(c.backoffUntil), c.timedOut
}

// judgedFor is how long after its end a call determines the state of an upstream (D8.8).
const judgedFor = 5 * time.Minute

// add adds the calls to a health and reports whether the upstream failed: whether its last call did, unless that is long ago. vain means
// that a reader waits in vain for a call that may not be recorded yet, and that counts as failed.
func (c *calls) add(h *mapdata.Health, now time.Time, vain bool) (failed bool) {
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
	failed = c.count > 0 && !c.last[(c.count-1)%recentCalls] && now.Sub(c.at) < judgedFor
	if vain && !failed {
		h.Fail++
	}
	return failed || vain
}

// Health returns the health of the built-in source (D8.8): online when no upstream failed, degraded when some did; offline when all did,
// and when the live cache is out of reach. An upstream that was not called yet, or not in the last five minutes, did not fail.
func (s *Service) Health() mapdata.Health { return s.healthAfter(nil) }

// healthAfter returns the health for a reader who waited for some upstreams in vain.
func (s *Service) healthAfter(vain []*upstream) mapdata.Health {
	h := mapdata.Health{Status: mapdata.Online}
	now, failed := s.Now(), 0
	for _, u := range s.upstreams {
		if u.calls.add(&h, now, slices.Contains(vain, u)) {
			failed++
		}
	}
	switch {
	case failed > 0 && failed == len(s.upstreams) || s.cacheDown.Load() || s.Reachable != nil && !s.Reachable():
		h.Status = mapdata.Offline
	case failed > 0:
		h.Status = mapdata.Degraded
	}
	return h
}
