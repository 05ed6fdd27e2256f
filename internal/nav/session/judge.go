package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"wayside/internal/geo"
	"wayside/internal/nav"
	"wayside/internal/ratelimit"
)

// When something is told, and how often another way is searched.
const (
	minGain       = time.Minute      // another way is better by this …
	minGainShare  = 10               // … and by a tenth of what is left (D15.21)
	minArrival    = 30 * time.Second // the arrival moves by this (D15.21)
	searchPause   = 10 * time.Second // between searches for a better way
	judgePause    = time.Second      // between looks at the way
	answerTimeout = 5 * time.Second  // for one search
	headingRange  = 60               // degrees to both sides in which a route goes on
)

// positionLimit is how many positions of one session are read: two a second, and thirty at once.
func positionLimit() ratelimit.Limit { return ratelimit.Limit{Count: 30, Per: 15 * time.Second} }

// Why a route is another one.
const (
	ReasonClosed = "closed" // the rest of the way was
	ReasonFaster = "faster"
	ReasonLeft   = "left"   // the driver left the way
	ReasonRegion = "region" // the roads were imported anew
)

// Position is what a client says of where it is.
type Position struct {
	At      geo.Point
	Heading float64 // degrees from north; negative: unknown
}

// Position notes where the driver is. If that is beside the way, it finds another one, and route is that.
func (s *Session) Position(ctx context.Context, p Position) (route []byte, decision ratelimit.Decision, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.hub.Now()
	s.lastWord.Store(now.UnixNano())
	s.hub.shares.use(s)
	if s.bucket, decision = ratelimit.Decide(s.bucket, now, positionLimit(), 1); !decision.OK {
		return nil, decision, nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	n, err := s.hub.Routes.Current()
	if err != nil {
		return nil, decision, err
	}
	n.Release() // what is read of it stays valid, and a search may have to wait
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
			return nil, decision, nil
		case distance <= nearWay && s.driver.strayed < maxStrayed:
			s.driver.strayed++
			return nil, decision, nil
		}
	}
	if !s.maySearch(now) {
		s.driver.left = true // the stream tells another way when there may be one
		return nil, decision, nil
	}
	if err := s.reroute(ctx, reason, nil); err != nil {
		if errors.Is(err, ratelimit.ErrBusy) {
			err = nil // the driver keeps the way
		}
		return nil, decision, err
	}
	s.told.pending = false // the answer tells it
	return s.text(), decision, nil
}

// reroute takes the best way from where the driver is.
func (s *Session) reroute(ctx context.Context, reason string, entities []string) error {
	var a nav.RouteAnswer
	if err := s.search(ctx, &a); err != nil {
		return err
	}
	return s.adopt(&a, reason, entities)
}

// adopt makes the first route of an answer the way.
func (s *Session) adopt(a *nav.RouteAnswer, reason string, entities []string) error {
	passed := s.way.passed()
	if err := s.take(a, 0); err != nil {
		return err
	}
	for range passed { // waypoints that lie behind are not asked for again
		s.forgetWaypoint()
	}
	s.told.pending, s.told.reason, s.told.entities = true, reason, entities
	return nil
}

// remaining is the request from where the driver is.
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

// forgetWaypoint drops the first place of the request: the driver passed the second one.
func (s *Session) forgetWaypoint() {
	p := &s.request.Places
	p.Coordinates = p.Coordinates[1:]
	p.Bearings, p.Radiuses, p.Approaches = cut(p.Bearings, 1), cut(p.Radiuses, 1), cut(p.Approaches, 1)
}

// cut is a copy of a list without its first values; an empty list stays empty.
func cut[T any](list []T, skip int) []T {
	if len(list) == 0 {
		return nil
	}
	return slices.Clone(list[skip:])
}

// judge looks at the rest of the way: what the client is to be told, and after how long it is to be looked at again though nothing
// happens; 0: not.
func (s *Session) judge(ctx context.Context) (events []Event, again time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	n, err := s.hub.Routes.Current()
	if err != nil {
		return nil, 0, err
	}
	n.Release() // what is read of it stays valid, and a search may have to wait
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
	if !s.told.pending {
		return s.tell(&r, now), again, nil
	}
	r = s.way.rest(n)
	s.told.pending, s.told.arrival = false, now.Add(r.left)
	return []Event{{Name: "reroute", Reason: s.told.reason, EntityIDs: s.told.entities, Route: s.text(), Left: r.left, At: now}}, again, nil
}

// followLeft leads a driver on who left the way when no search was allowed. It returns after how long it is to be tried again; 0: not.
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
	s.driver.left = false // tried once: the next position says whether the driver is still beside the way
	return 0, keepWay(s.reroute(ctx, ReasonLeft, nil))
}

// searchBetter takes another way if the rest is closed, or if conditions changed and another one is much better. It says after how long
// it is to be tried again.
func (s *Session) searchBetter(ctx context.Context, n *nav.Network, r *rest) (again time.Duration, err error) {
	pause := searchPause
	switch changed := n.Version() != s.told.metric; {
	case changed && len(r.closed) > 0:
		pause = judgePause
	case !changed && len(r.closed) == 0:
		return 0, nil
	}
	if wait := max(pause-s.hub.Now().Sub(s.tried), s.untilSearch(s.hub.Now())); wait > 0 {
		return wait, nil
	}
	s.told.metric = n.Version()
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

// keepWay ignores that there is no way, no road near the driver, no room for another route, or too much to be searched before it: the client
// keeps what it has.
func keepWay(err error) error {
	if errors.Is(err, ErrFull) || errors.Is(err, ratelimit.ErrBusy) {
		return nil
	}
	if refused := new(nav.Error); errors.As(err, &refused) && (refused.Code == nav.NoRoute || refused.Code == nav.NoSegment) {
		return nil
	}
	return err
}

// tell says what changed on the rest of the way.
func (s *Session) tell(r *rest, now time.Time) (events []Event) {
	came, gone := difference(r.conditions, s.told.conditions), difference(s.told.conditions, r.conditions)
	for _, changed := range []struct {
		reason string
		ids    []string
	}{{"came", came}, {"gone", gone}} {
		if len(changed.ids) > 0 {
			events = append(events, Event{Name: "condition", Reason: changed.reason, EntityIDs: changed.ids, Left: r.left, At: now})
		}
	}
	s.told.conditions = r.conditions
	if r.blocked && !slices.Equal(r.closed, s.told.closed) {
		events = append(events, Event{Name: "condition", Reason: "closed", EntityIDs: r.closed, Left: r.left, At: now})
		s.told.closed = r.closed
	} else if len(r.closed) == 0 {
		s.told.closed = nil
	}
	if moved := now.Add(r.left).Sub(s.told.arrival); moved.Abs() >= minArrival {
		events = append(events, Event{Name: "eta", Left: r.left, At: now})
		s.told.arrival = now.Add(r.left)
	}
	return events
}

// difference is what a has and b has not; both are in order.
func difference(a, b []string) []string {
	var only []string
	for _, id := range a {
		if _, ok := slices.BinarySearch(b, id); !ok {
			only = append(only, id)
		}
	}
	return only
}
