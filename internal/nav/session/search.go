package session

import (
	"context"
	"time"

	"wayside/internal/nav"
)

// minSearchPause is between two searches of one session, whatever causes them. What opened the session is none: it was paid for.
const minSearchPause = 5 * time.Second

// untilSearch returns how long it is until the session may search; 0: it may now. The caller holds the lock.
func (s *Session) untilSearch(now time.Time) time.Duration {
	return max(0, s.searched.Add(minSearchPause).Sub(now))
}

// maySearch reports whether a search that a position caused may begin: not soon after another one, and the first in five seconds of all that the
// caller's positions cause, or as a route of the caller's. The caller of this method holds the lock.
func (s *Session) maySearch(now time.Time) bool {
	if s.untilSearch(now) > 0 {
		return false
	}
	if s.hub.Charge == nil || s.hub.shares.isFree(s.caller, now) {
		return true
	}
	return s.hub.Charge(s.caller, s.cost)
}

// search asks for the route from where the driver is over the waypoints that are left, when the caller's turn has come.
func (s *Session) search(ctx context.Context, a *nav.RouteAnswer) error {
	if s.hub.Admit != nil {
		leave, err := s.hub.Admit(ctx, s.caller, s.cost)
		if err != nil {
			return err
		}
		defer leave()
	}
	q := s.remaining()
	s.tried = s.hub.Now()
	s.searched = s.tried
	return s.hub.Routes.Route(ctx, &q, a)
}
