package session

import (
	"context"
	"time"

	"wayside/internal/drive/nav"
)

// minSearchPause is the minimum time between two searches of one session, whatever causes them. The search that opened
// the session does not count, because the client paid for it.
const minSearchPause = 5 * time.Second

// untilSearch returns how long the session must wait before it may search again; 0 means that it may search now. The
// caller must hold s.mu.
func (s *Session) untilSearch(now time.Time) time.Duration {
	return max(0, s.searched.Add(minSearchPause).Sub(now))
}

// maySearch reports whether a search that a position caused may begin now. It must not follow another search too soon,
// and it must be one of the account's or address's free searches (one every freeEvery) or be charged as a route. The
// caller must hold s.mu.
func (s *Session) maySearch(now time.Time) bool {
	if s.untilSearch(now) > 0 {
		return false
	}
	if s.hub.Charge == nil || s.hub.shares.isFree(s.caller, now) {
		return true
	}
	return s.hub.Charge(s.caller, s.cost)
}

// search waits for the caller's turn, and then searches the route from the driver's position over the remaining
// waypoints.
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
