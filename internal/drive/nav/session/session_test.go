package session_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/session"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/roadtest"
)

// town returns roads with a short way from a to d by b and c, and a longer one by x and y.
func town(t *testing.T) *roadtest.Network {
	return roadtest.Map(t, 250, `
		a------b------c------d
		       |      |
		       |      |
		       x------y
		       |      |
		       e      f
	`, roadtest.Ways("abcd bxyc xe yf", "highway=residential, maxspeed=30"))
}

// TestClosuresAheadLeadAround checks that a closure ahead changes the route within a second, and that one behind the
// driver does not (D15.21).
func TestClosuresAheadLeadAround(t *testing.T) {
	inBubble(t, func(t *testing.T, d *drives) {
		s := d.begin("ad")
		events, _ := d.follow(t.Context(), s)
		d.want(events, "route  bc")
		time.Sleep(5 * time.Second)
		d.change("works", map[string]time.Duration{"bc": 0})
		time.Sleep(time.Second)
		d.want(events, "reroute closed works bxyc")
		again, _ := d.follow(t.Context(), s)
		d.want(again, "route closed works bxyc") // the event may have been lost with the earlier stream

		time.Sleep(5 * time.Second)
		d.position(s, d.along("b", "x", 0.5, 0), 180)
		d.change("works", map[string]time.Duration{"ab": 0})
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, e := range again.take() {
			if strings.HasPrefix(e, "reroute closed") {
				t.Errorf("%s, for a closure behind the driver", e)
			}
		}
	})
}

// TestWithoutAnotherWayTheRouteStays checks that a closure that cannot be avoided is reported as a condition, and once
// as closing the route.
func TestWithoutAnotherWayTheRouteStays(t *testing.T) {
	inBubble(t, func(t *testing.T, d *drives) {
		events, _ := d.follow(t.Context(), d.begin("ad"))
		d.want(events, "route  bc")
		time.Sleep(5 * time.Second)
		d.change("works", map[string]time.Duration{"bc": 0, "xy": 0})
		time.Sleep(11 * time.Second)
		d.want(events, "condition came works", "condition closed works")
		d.change("works", map[string]time.Duration{"bc": 0, "xy": 0})
		time.Sleep(11 * time.Second)
		d.want(events)
		d.change("works", nil)
		time.Sleep(11 * time.Second)
		d.want(events, "condition gone works")
		d.change("works", map[string]time.Duration{"bc": 0, "xy": 0})
		time.Sleep(2 * time.Second)
		d.want(events, "condition came works", "condition closed works", "eta") // because the car stands
	})
}

// TestClosedNamesAnEntityOnce checks that the event of a closed route names the closing entity once, not once for each
// arc.
func TestClosedNamesAnEntityOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, d *drives) {
		events, _ := d.follow(t.Context(), d.begin("af"))
		d.want(events, "route  bcy")
		time.Sleep(5 * time.Second)
		d.change("works", map[string]time.Duration{"bc": 0, "cy": 0, "xy": 0})
		time.Sleep(11 * time.Second)
		d.want(events, "condition came works", "condition closed works")
	})
}

// TestBetterWays checks that another route is offered when it is better by a minute and by a tenth of the remaining time
// (D15.21).
func TestBetterWays(t *testing.T) {
	for _, c := range []struct {
		ends  string
		share float64 // of the required gain
		tenth bool    // whether a tenth exceeds a minute
		want  bool
	}{{"bc", 0.95, false, false}, {"bc", 1.05, false, true}, {"ad", 0.95, true, false}, {"ad", 1.05, true, true}} {
		inBubble(t, func(t *testing.T, d *drives) {
			s := d.begin(c.ends)
			d.change("jam", map[string]time.Duration{"bc": time.Hour})
			around := d.duration(c.ends)
			d.change("jam", nil)
			direct := d.duration(c.ends)
			needed := max(time.Minute, around/9)
			if (around/9 > time.Minute) != c.tenth {
				t.Fatalf("the way around takes %v: the map does not fit the test", around)
			}
			events, _ := d.follow(t.Context(), s)
			synctest.Wait()
			time.Sleep(20 * time.Second)
			synctest.Wait()
			events.take()
			d.change("jam", map[string]time.Duration{"bc": around - direct + time.Duration(c.share*float64(needed))})
			time.Sleep(11 * time.Second)
			synctest.Wait()
			all := events.take()
			if got := slices.ContainsFunc(all, func(e string) bool { return strings.HasPrefix(e, "reroute faster jam") }); got != c.want {
				t.Errorf("%s with %v of what is needed: %q", c.ends, c.share, all)
			}
		})
	}
}

// duration returns how long the best route takes now.
func (d *drives) duration(ends string) time.Duration {
	d.t.Helper()
	var a nav.RouteAnswer
	q := nav.RouteRequest{Places: nav.Places{Coordinates: []geo.Point{d.drawn.Place(d.t, ends[:1]), d.drawn.Place(d.t, ends[1:])}}}
	if err := d.routes.Route(d.t.Context(), &q, &a); err != nil {
		d.t.Fatal(err)
	}
	return time.Duration(a.Routes[0].Duration) * time.Millisecond
}

// TestArrivalMoves checks that the arrival is reported when it shifts by half a minute (D15.21).
func TestArrivalMoves(t *testing.T) {
	for _, c := range []struct {
		delay time.Duration
		want  []string
	}{{25 * time.Second, []string{"condition came jam"}}, {35 * time.Second, []string{"condition came jam", "eta"}}} {
		inBubble(t, func(t *testing.T, d *drives) {
			s := d.begin("ad")
			events, _ := d.follow(t.Context(), s)
			d.want(events, "route  bc")
			time.Sleep(time.Second)
			d.change("jam", map[string]time.Duration{"cd": c.delay})
			time.Sleep(time.Second)
			d.want(events, c.want...)
		})
	}
}

// TestPositions checks that positions on the route change nothing, and that one off the route leads to a new route,
// without delay if it is far away.
func TestPositions(t *testing.T) {
	inBubble(t, func(t *testing.T, d *drives) {
		s := d.begin("ad")
		for i, at := range []geo.Point{d.along("a", "b", 0.5, 0), d.along("a", "b", 0.6, 30), d.along("a", "b", 0.7, 60), d.along("a", "b", 0.8, -60), d.along("a", "b", 0.9, 5)} {
			if route := d.position(s, at, -1); route != "" {
				t.Errorf("position %d: another route by %s", i, route)
			}
		}
		if route := d.position(s, d.along("b", "x", 0.5, 0), 180); route != "xyc" {
			t.Errorf("on the way to x: %q, want by x, y and c", route)
		}
		s = d.begin("ad")
		beside := d.along("a", "b", 0.5, 60)
		if first, second := d.position(s, beside, -1), d.position(s, beside, -1); first != "" || second != "" {
			t.Errorf("beside the way: %q, %q", first, second)
		}
		if route := d.position(s, beside, -1); route != "bc" {
			t.Errorf("three times beside the way: %q", route)
		}
		time.Sleep(5 * time.Second)
		if route := d.position(s, d.along("a", "b", 0.5, 300), -1); route != "bc" {
			t.Errorf("far beside the way: %q", route)
		}
	})
}

// TestOneWrongPosition checks that after a position far ahead on the route, the next positions find the driver at the
// car's place, and that a driver who goes back has left the route.
func TestOneWrongPosition(t *testing.T) {
	inBubble(t, func(t *testing.T, d *drives) {
		s := d.begin("ad")
		for i, at := range []geo.Point{d.along("a", "b", 0.4, 0), d.along("b", "c", 0.2, 0), d.along("a", "b", 0.5, 5), d.along("a", "b", 0.6, 60), d.along("a", "b", 0.7, 5), d.along("a", "b", 0.8, 5), d.along("b", "c", 0.1, 5)} {
			if route := d.position(s, at, 90); route != "" {
				t.Errorf("position %d: another route by %s", i, route)
			}
		}
		s = d.begin("ad")
		d.position(s, d.along("b", "c", 0.2, 0), 90)
		route := ""
		for range 3 {
			route += d.position(s, d.along("a", "b", 0.5, 0), 270)
		}
		if route == "" {
			t.Error("a driver who drives back is on the way")
		}
	})
}

// TestWaypointsThatWerePassed checks that a new route does not visit passed waypoints again.
func TestWaypointsThatWerePassed(t *testing.T) {
	inBubble(t, func(t *testing.T, d *drives) {
		s := d.begin("abd")
		d.position(s, d.along("b", "c", 0.5, 0), 90)
		d.change("works", map[string]time.Duration{"cd": time.Minute})
		if route := d.position(s, d.along("x", "y", 0.5, 0), 90); route != "yc" {
			t.Errorf("another route by %q, want by y and c", route)
		}
	})
}

// TestImports checks that the route is searched again when the roads are imported anew.
func TestImports(t *testing.T) {
	inBubble(t, func(t *testing.T, d *drives) {
		events, _ := d.follow(t.Context(), d.begin("ad"))
		d.want(events, "route  bc")
		time.Sleep(time.Minute)
		d.open("2")
		time.Sleep(time.Second)
		d.want(events, "reroute region bc")
	})
}

// TestSessionsEnd checks that sessions, and their streams of events, end ten minutes after the client's last request,
// when the client ends them, and with the hub.
func TestSessionsEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, d *drives) {
		if session.Lifetime != 10*time.Minute {
			t.Errorf("sessions live for %v", session.Lifetime)
		}
		silent, closed, talking := d.begin("ad"), d.begin("ad"), d.begin("ad")
		_, ended := d.follow(t.Context(), silent)
		_, over := d.follow(t.Context(), closed)
		_, last := d.follow(t.Context(), talking)
		synctest.Wait()
		if !d.Close(closed.ID) || d.Close(closed.ID) || d.Find(closed.ID) != nil {
			t.Error("a session that was closed is there")
		}
		<-over
		time.Sleep(session.Lifetime - time.Second)
		d.position(talking, d.along("a", "b", 0.5, 0), -1)
		if d.Find(silent.ID) == nil {
			t.Error("a session ended early")
		}
		time.Sleep(time.Second)
		if d.Find(silent.ID) != nil || d.Find(talking.ID) == nil {
			t.Error("a silent session is there, or one that is not silent is gone")
		}
		<-ended
		if d.Len() != 1 {
			t.Errorf("%d sessions are kept, want 1", d.Len())
		}
		select {
		case <-last:
			t.Error("the events of a session that goes on ended")
		default:
		}
	})
}

// TestBounds checks the number of sessions of a hub, the rate of positions, and that one client at a time follows a
// session.
func TestBounds(t *testing.T) {
	inBubble(t, func(t *testing.T, d *drives) {
		s := d.begin("ad")
		_, first := d.follow(t.Context(), s)
		synctest.Wait()
		again, _ := d.follow(t.Context(), s)
		<-first
		d.want(again, "route  bc")
		d.begin("ad")
		d.begin("ad")
		q := nav.RouteRequest{Places: nav.Places{Coordinates: []geo.Point{d.drawn.Place(t, "a"), d.drawn.Place(t, "d")}}}
		var a nav.RouteAnswer
		if err := d.routes.Route(t.Context(), &q, &a); err != nil {
			t.Fatal(err)
		}
		if _, err := d.lead(&q, &a, 0); err != session.ErrFull { //nolint:errorlint // returned unwrapped
			t.Errorf("a fourth session: %v", err)
		}
		if _, err := d.lead(&q, &a, 1); err == nil {
			t.Error("a session on a route that is not there")
		}
		read := 0
		for range 1000 {
			if !s.Admit().OK {
				continue
			}
			read++
			if _, err := s.Position(t.Context(), session.Position{At: d.along("a", "b", 0.5, 0), Heading: -1}); err != nil {
				t.Fatal(err)
			}
		}
		if read != 30 {
			t.Errorf("%d of 1000 positions were read at once, want 30", read)
		}
	})
}

// TestBytesAreBounded checks that the memory for routes is counted when sessions begin, change their route and end, and
// that the driver keeps the current route if there is no room for another.
func TestBytesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrives(t, session.Options{MaxBytes: 10_000, PerAddress: 1000})
		short := []string{"a", "b"}
		open := func(names ...string) (*session.Session, error) {
			q := nav.RouteRequest{}
			for _, name := range names {
				q.Places.Coordinates = append(q.Places.Coordinates, d.drawn.Place(t, name))
			}
			var a nav.RouteAnswer
			if err := d.routes.Route(t.Context(), &q, &a); err != nil {
				t.Fatal(err)
			}
			return d.lead(&q, &a, 0)
		}
		var all []*session.Session
		for !d.Full() && len(all) < 1000 {
			s, err := open(short...)
			if err != nil {
				break
			}
			all = append(all, s)
		}
		if len(all) < 20 || len(all) > 150 {
			t.Fatalf("%d sessions have room in 10 000 bytes", len(all))
		}
		if _, err := open("a", "d", "a", "d", "a", "d", "a", "d", "a", "d", "a", "d"); !errors.Is(err, session.ErrFull) {
			t.Errorf("a long route: %v", err)
		}
		for range 40 { // repeatedly make room for another one
			if !d.Close(all[0].ID) {
				t.Fatal("there is no session to close")
			}
			s, err := open(short...)
			if err != nil {
				t.Fatalf("after one was closed: %v", err)
			}
			all = append(all[1:], s)
		}
		far := session.Position{At: d.along("y", "f", 1, 0), Heading: -1}
		refused := 0
		for _, s := range all {
			if _, err := s.Position(t.Context(), far); errors.Is(err, session.ErrFull) {
				refused++
			} else if err != nil {
				t.Error(err)
			}
		}
		if refused == 0 {
			t.Error("all got a longer way, though there is no room")
		}
		for _, s := range all {
			d.Close(s.ID)
		}
		for range 3 {
			if _, err := open(short...); err != nil {
				t.Errorf("after all were closed: %v", err)
			}
		}
	})
}
