package session_test

import (
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/session"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
)

// guest returns a caller without an account, at an address.
func guest(n byte) session.Caller {
	key := ratelimit.ClientKey(ratelimit.Routes, netip.AddrFrom4([4]byte{127, 0, 0, n}))
	return session.Caller{Key: key, Address: key}
}

// owner returns a caller with an account, at an address.
func owner(n, address byte) session.Caller {
	return session.Caller{Key: ratelimit.AccountKey(ratelimit.Routes, mapdata.AccountID{n}), Address: guest(address).Key, IsAccount: true}
}

func (d *drives) beginAs(c session.Caller) (*session.Session, error) {
	d.t.Helper()
	q := nav.RouteRequest{}
	for _, name := range []string{"a", "d"} {
		q.Places.Coordinates = append(q.Places.Coordinates, d.drawn.Place(d.t, name))
	}
	var a nav.RouteAnswer
	if err := d.routes.Route(d.t.Context(), &q, &a); err != nil {
		d.t.Fatal(err)
	}
	seat, err := d.Reserve(c, 1)
	if err != nil {
		return nil, err
	}
	defer seat.Release()
	return d.Open(seat, &q, &a, 0, d.letters)
}

func isLimited(err error) bool {
	limited := new(mapdata.LimitError)
	return errors.As(err, &limited)
}

// TestSharesOfCallers checks that an address has at most 20 sessions and an account 5, that places are counted when they
// are reserved and freed at the end, and that all callers of an address together have at most 5 % of the node's sessions
// (T2).
func TestSharesOfCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrives(t, session.Options{MaxSessions: 1000}) // an address may have 50 of them
		begin := func(c session.Caller, want int) (last *session.Session) {
			t.Helper()
			for i := range want + 1 {
				s, err := d.beginAs(c)
				if isLimited(err) != (i == want) || err != nil && i < want {
					t.Fatalf("session %d: %v", i+1, err)
				}
				if err == nil {
					last = s
				}
			}
			return last
		}
		last := begin(guest(1), 20)
		begin(guest(2), 20)
		for n := range byte(6) {
			begin(owner(n, 1), 5)
		}
		begin(owner(6, 1), 0) // 20 of guests and 30 of accounts
		begin(owner(6, 2), 5)

		d.Close(last.ID)
		if _, err := d.Reserve(guest(1), 1); err != nil {
			t.Errorf("a place of a session that ended: %v", err)
		}
		if _, err := d.Reserve(guest(1), 1); !isLimited(err) {
			t.Errorf("a place is counted before its session opens: %v", err)
		}
	})
}

// TestSessionsMakeRoom checks which sessions end to make room: of the caller's own, those without a reader, never used
// ones first; of the node's, only never used ones.
func TestSessionsMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrives(t, session.Options{PerAddress: 2, MaxSessions: 4})
		there := func(s *session.Session) bool { return d.Find(s.ID) != nil }
		begin := func(c session.Caller) *session.Session {
			t.Helper()
			s, err := d.beginAs(c)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		used, unused := begin(guest(1)), begin(guest(1))
		d.position(used, d.along("a", "b", 0.5, 0), -1)
		if _, err := d.beginAs(guest(1)); !isLimited(err) {
			t.Errorf("a session of a moment ago made room: %v", err)
		}
		time.Sleep(31 * time.Second)
		third := begin(guest(1))
		if there(unused) || !there(used) {
			t.Error("what was never used goes first")
		}
		d.position(third, d.along("a", "b", 0.5, 0), -1)
		time.Sleep(31 * time.Second)
		begin(guest(1))
		if there(used) || !there(third) {
			t.Error("then what was silent for longest")
		}

		begin(guest(2))
		one := begin(guest(2))
		d.position(one, d.along("a", "b", 0.5, 0), -1)
		if _, err := d.beginAs(guest(3)); !errors.Is(err, session.ErrFull) {
			t.Errorf("on a full node: %v", err)
		}
		time.Sleep(31 * time.Second)
		begin(guest(3))
		begin(guest(3))
		if _, err := d.beginAs(guest(4)); !errors.Is(err, session.ErrFull) || !there(third) || !there(one) {
			t.Errorf("a drive of others made room: %v", err)
		}
	})
}

// TestSessionThatMadeRoomTakesNoReader checks that a session that was chosen to end is over at once for a client that comes back
// before it is closed: a client that found it open would be led by it for a moment, and then cut off.
func TestSessionThatMadeRoomTakesNoReader(t *testing.T) {
	for name, options := range map[string]session.Options{"the caller's own": {PerAddress: 1}, "the node's": {MaxSessions: 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDrives(t, options)
				s, err := d.beginAs(guest(1))
				if err != nil {
					t.Fatal(err)
				}
				other := guest(1)
				if options.MaxSessions == 1 {
					other = guest(2)
				}
				if d.ChooseEvicted(other) != nil {
					t.Error("a session of a moment ago makes room")
				}
				time.Sleep(31 * time.Second)
				if d.ChooseEvicted(other) != s {
					t.Fatal("the idle session does not make room")
				}
				closed := false
				s.Attach(session.Client{Close: func(*session.Event, bool) { closed = true }})
				if !closed {
					t.Error("a client reads a session that is about to end")
				}
			})
		})
	}
}

// TestStreamsOfAnAddress checks that guests of one address read at most 8 sessions at the same time, that a reopened
// stream does not count twice, and that an account may read all of its own (T2).
func TestStreamsOfAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrives(t, session.Options{})
		var all []*session.Session
		for i := range 9 {
			s, err := d.beginAs(guest(1))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
			if err := s.MayRead(); isLimited(err) != (i == 8) {
				t.Fatalf("stream %d: %v", i+1, err)
			}
			if i < 8 {
				defer s.Attach(session.Client{Close: func(*session.Event, bool) {}})()
			}
		}
		if err := all[0].MayRead(); err != nil {
			t.Errorf("the stream of a session again: %v", err)
		}
		for range 5 {
			s, err := d.beginAs(owner(1, 1))
			if err != nil || s.MayRead() != nil {
				t.Fatal(err, s.MayRead())
			}
			defer s.Attach(session.Client{Close: func(*session.Event, bool) {}})()
		}
	})
}

// TestBytesOfAnAddress checks that the routes of one address's sessions stay within its share of the node's memory,
// which is freed when they end.
func TestBytesOfAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrives(t, session.Options{AddressBytes: 1000})
		var all []*session.Session
		for {
			s, err := d.beginAs(guest(1))
			if err != nil {
				break
			}
			all = append(all, s)
		}
		if len(all) == 0 || len(all) > 10 {
			t.Fatalf("%d sessions in 1000 bytes", len(all))
		}
		if _, err := d.beginAs(guest(2)); err != nil {
			t.Errorf("another address: %v", err)
		}
		for range 50 {
			d.Close(all[0].ID)
			s, err := d.beginAs(guest(1))
			if err != nil {
				t.Fatal(err)
			}
			all[0] = s
		}
	})
}

// TestSearchesOfPositions checks that a session searches at most once in five seconds, that a caller has one free search
// in five seconds and four in a burst, that further searches are charged, and that a driver beyond the limit keeps the
// route (T9, F4).
func TestSearchesOfPositions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		charged, left := 0, 3
		d := newDrives(t, session.Options{Charge: func(c session.Caller, cost int) bool {
			if c != guest(1) || cost != 1 {
				t.Errorf("%d routes of %v", cost, c)
			}
			if left < cost {
				return false
			}
			charged, left = charged+cost, left-cost
			return true
		}})
		var all []*session.Session
		for range 10 {
			s, err := d.beginAs(guest(1))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		}
		beside := func(s *session.Session) bool { return d.position(s, d.drawn.Place(t, "y"), -1) != "" }
		led := 0
		for _, s := range all {
			if beside(s) {
				led++
			}
		}
		if led != 7 || charged != 3 {
			t.Errorf("%d of ten drives were led another way, %d routes were counted; want 7 and 3", led, charged)
		}
		away := func(s *session.Session) bool { return d.position(s, d.drawn.Place(t, "e"), -1) != "" }
		left = 100
		time.Sleep(4 * time.Second)
		if away(all[0]) {
			t.Error("a second search within five seconds")
		}
		time.Sleep(time.Second)
		if !away(all[0]) || charged != 3 {
			t.Errorf("after five seconds the driver is led on, for nothing; %d routes were counted", charged)
		}
	})
}

// TestStreamLeadsOn checks that the stream reroutes a driver who left the route when no search was allowed, as soon as
// one is.
func TestStreamLeadsOn(t *testing.T) {
	inBubble(t, func(t *testing.T, d *drives) {
		s := d.begin("ad")
		events, _ := d.follow(t.Context(), s)
		d.want(events, "route  bc")
		if route := d.position(s, d.drawn.Place(t, "y"), -1); route == "" {
			t.Fatal("not led another way")
		}
		time.Sleep(time.Second)
		if route := d.position(s, d.drawn.Place(t, "e"), -1); route != "" {
			t.Fatalf("led by %s a second later", route)
		}
		time.Sleep(4 * time.Second)
		d.want(events, "reroute left xbc")
	})
}
