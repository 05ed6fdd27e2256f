package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/ratelimit"
)

// When clients are notified, and how often another route is searched.
const (
	minGain       = time.Minute      // the time by which another route must be better …
	minGainShare  = 10               // … and the part of the rest of the way, a tenth (D15.21)
	minArrival    = 30 * time.Second // the shift of the arrival that is reported (D15.21)
	searchPause   = 10 * time.Second // between searches for a better route
	judgePause    = time.Second      // between two judgements of one session
	answerTimeout = 5 * time.Second  // for one search
	headingRange  = 60               // degrees to both sides in which a route may leave the driver's position
)

// positionLimit returns how many positions of one session are accepted: two a second, and thirty in a burst.
func positionLimit() ratelimit.Limit { return ratelimit.Limit{Count: 30, Per: 15 * time.Second} }

// Reasons why the route changed.
const (
	ReasonClosed = "closed" // the rest of the old route was closed
	ReasonFaster = "faster"
	ReasonLeft   = "left"   // the driver left the route
	ReasonRegion = "region" // the roads were imported anew
)

// Position is a position sent by a client.
type Position struct {
	At      geo.Point
	Heading float64 // degrees from north; negative: unknown
}

// Admit counts a position that the client sends, before it is read, and reports whether it is to be read. It waits for no search.
func (s *Session) Admit() (decision ratelimit.Decision) {
	now := s.hub.Now()
	s.lastRequest.Store(now.UnixNano())
	s.limiting.Lock()
	defer s.limiting.Unlock()
	s.bucket, decision = ratelimit.Decide(s.bucket, now, positionLimit(), 1)
	return decision
}

// Position records the driver's position, which Admit has counted. If the position is off the route, Position searches for a new route and
// returns it.
func (s *Session) Position(ctx context.Context, p Position) (route []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.hub.Now()
	s.hub.shares.use(s)
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	n, err := s.hub.Routes.Current()
	if err != nil {
		return nil, err
	}
	n.Release() // what was read of n stays valid, and the search may have to wait
	s.driver.at, s.driver.known, s.driver.heading = p.At, true, p.Heading
	defer s.wake()
	reason := ReasonRegion
	if n.DataVersion == s.way.dataVersion {
		reason = ReasonLeft
		distance := s.way.progress(n, p.At, p.Heading)
		s.show()
		switch {
		case distance <= onWay:
			s.driver.strayed, s.driver.left = 0, false
			return nil, nil
		case distance <= nearWay && s.driver.strayed < maxStrayed:
			s.driver.strayed++
			return nil, nil
		}
	}
	if !s.maySearch(now) {
		s.driver.left = true // the stream reroutes as soon as a search is allowed
		return nil, nil
	}
	if err := s.reroute(ctx, reason, nil); err != nil {
		if errors.Is(err, ratelimit.ErrBusy) {
			err = nil // the driver keeps the route
		}
		return nil, err
	}
	s.reported.pending = false // this answer delivers the route
	return s.text(), nil
}

// reroute adopts the best route from the driver's position.
func (s *Session) reroute(ctx context.Context, reason string, entities []string) error {
	var a nav.RouteAnswer
	if err := s.search(ctx, &a); err != nil {
		return err
	}
	return s.adopt(&a, reason, entities)
}

// adopt makes the first route of an answer the session's route.
func (s *Session) adopt(a *nav.RouteAnswer, reason string, entities []string) error {
	passed := s.way.passed()
	if err := s.take(a, 0); err != nil {
		return err
	}
	for range passed { // do not route to the passed waypoints again
		s.forgetWaypoint()
	}
	s.reported.pending, s.reported.reason, s.reported.entities = true, reason, entities
	return nil
}

// remaining returns the request for the rest of the route, from the driver's position.
func (s *Session) remaining() nav.RouteRequest {
	q := s.request
	skip := s.way.passed()
	p := &q.Places
	p.Coordinates = slices.Clone(p.Coordinates[skip:])
	p.Bearings, p.Radiuses, p.Approaches = cut(p.Bearings, skip), cut(p.Radiuses, skip), cut(p.Approaches, skip)
	q.Waypoints = nil
	if !s.driver.known {
		return q
	}
	p.Coordinates[0] = s.driver.at
	if len(p.Radiuses) > 0 {
		p.Radiuses[0] = nav.Unlimited
	}
	if len(p.Approaches) > 0 {
		p.Approaches[0] = nav.Unrestricted
	}
	if s.driver.heading >= 0 {
		if p.Bearings == nil {
			p.Bearings = make([]nav.Bearing, len(p.Coordinates))
		}
		p.Bearings[0] = nav.Bearing{Given: true, Value: s.driver.heading, Range: headingRange}
	}
	return q
}

// forgetWaypoint drops the first place of the request, because the driver passed the second one.
func (s *Session) forgetWaypoint() {
	p := &s.request.Places
	p.Coordinates = p.Coordinates[1:]
	p.Bearings, p.Radiuses, p.Approaches = cut(p.Bearings, 1), cut(p.Radiuses, 1), cut(p.Approaches, 1)
}

// cut returns a copy of a list without its first skip values, or nil if the list is empty.
func cut[T any](list []T, skip int) []T {
	if len(list) == 0 {
		return nil
	}
	return slices.Clone(list[skip:])
}

// judge judges the rest of the route. It returns the events for the client, and after how long the session must be
// judged again even if nothing changes; 0 means never.
func (s *Session) judge(ctx context.Context) (events []Event, again time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	n, err := s.hub.Routes.Current()
	if err != nil {
		return nil, 0, err
	}
	n.Release() // what was read of n stays valid, and the search may have to wait
	if n.DataVersion != s.way.dataVersion {
		if err := s.reroute(ctx, ReasonRegion, nil); err != nil {
			return nil, 0, err
		}
	}
	left, err := s.followLeft(ctx)
	if err != nil {
		return nil, 0, err
	}
	r := s.way.rest(n)
	if again, err = s.searchBetter(ctx, n, &r); err != nil {
		return nil, 0, err
	}
	if left > 0 && (again == 0 || left < again) {
		again = left
	}
	now := s.hub.Now().UTC()
	if !s.reported.pending {
		return s.tell(&r, now), again, nil
	}
	r = s.way.rest(n)
	s.reported.pending, s.reported.arrival = false, now.Add(r.left)
	return []Event{{Name: "reroute", Reason: s.reported.reason, EntityIDs: s.reported.entities, Route: s.text(), Left: r.left, At: now}}, again, nil
}

// followLeft reroutes a driver who left the route at a time when no search was allowed. It returns after how long to try
// again; 0 means never.
func (s *Session) followLeft(ctx context.Context) (again time.Duration, err error) {
	now := s.hub.Now()
	switch {
	case !s.driver.left:
		return 0, nil
	case s.untilSearch(now) > 0:
		return s.untilSearch(now), nil
	case !s.maySearch(now):
		return minSearchPause, nil
	}
	s.driver.left = false // one attempt; the next position shows whether the driver is still off the route
	return 0, keepWay(s.reroute(ctx, ReasonLeft, nil))
}

// searchBetter takes another route if the rest of the current one is closed, or if conditions changed and the other
// route is much better. It returns after how long to try again; 0 means never.
func (s *Session) searchBetter(ctx context.Context, n *nav.Network, r *rest) (again time.Duration, err error) {
	pause := searchPause
	switch changed := n.Version() != s.reported.metric; {
	case changed && len(r.closed) > 0:
		pause = 0 // the driver may be at the closure soon
	case !changed && len(r.closed) == 0:
		return 0, nil
	}
	if wait := max(pause-s.hub.Now().Sub(s.tried), s.untilSearch(s.hub.Now())); wait > 0 {
		return wait, nil
	}
	s.reported.metric = n.Version()
	var a nav.RouteAnswer
	if err := s.search(ctx, &a); err != nil {
		err = keepWay(err)
		r.blocked = err == nil && len(r.closed) > 0
		return 0, err
	}
	best := time.Duration(a.Routes[0].Duration) * time.Millisecond
	switch {
	case len(r.closed) > 0:
		err = s.adopt(&a, ReasonClosed, r.closed)
	case best+minGain <= r.left && best+r.left/minGainShare <= r.left:
		err = s.adopt(&a, ReasonFaster, r.conditions)
	}
	return 0, keepWay(err)
}

// keepWay returns nil instead of an error after which the client keeps the current route: no other route, no road near
// the driver, no memory for another route, or too many searches waiting. It returns other errors unchanged.
func keepWay(err error) error {
	if errors.Is(err, ErrFull) || errors.Is(err, ratelimit.ErrBusy) {
		return nil
	}
	if refused := new(nav.Error); errors.As(err, &refused) && (refused.Code == nav.NoRoute || refused.Code == nav.NoSegment) {
		return nil
	}
	return err
}

// tell returns the events for the changes on the rest of the route.
func (s *Session) tell(r *rest, now time.Time) (events []Event) {
	came, gone := difference(r.conditions, s.reported.conditions), difference(s.reported.conditions, r.conditions)
	for _, changed := range []struct {
		reason string
		ids    []string
	}{{"came", came}, {"gone", gone}} {
		if len(changed.ids) > 0 {
			events = append(events, Event{Name: "condition", Reason: changed.reason, EntityIDs: changed.ids, Left: r.left, At: now})
		}
	}
	s.reported.conditions = r.conditions
	if r.blocked && !slices.Equal(r.closed, s.reported.closed) {
		events = append(events, Event{Name: "condition", Reason: "closed", EntityIDs: r.closed, Left: r.left, At: now})
		s.reported.closed = r.closed
	} else if len(r.closed) == 0 {
		s.reported.closed = nil
	}
	if moved := now.Add(r.left).Sub(s.reported.arrival); moved.Abs() >= minArrival {
		events = append(events, Event{Name: "eta", Left: r.left, At: now})
		s.reported.arrival = now.Add(r.left)
	}
	return events
}

// difference returns the elements of a that are not in b. Both must be sorted.
func difference(a, b []string) []string {
	var only []string
	for _, id := range a {
		if _, ok := slices.BinarySearch(b, id); !ok {
			only = append(only, id)
		}
	}
	return only
}
