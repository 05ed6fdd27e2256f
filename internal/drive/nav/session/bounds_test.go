package session_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/drive/nav/session"
	"wayside/internal/roads/roadtest"
)

// TestLimitsOfANode checks the bounds of a hub for which no test sets others.
func TestLimitsOfANode(t *testing.T) {
	h := session.New(session.Options{})
	got := fmt.Sprint(h.MaxSessions, h.MaxBytes, h.PerAddress, h.PerAccount, h.AddressSessions, h.AddressBytes)
	if want := fmt.Sprint(20_000, 400<<20, 20, 5, 1000, 20<<20); got != want {
		t.Errorf("bounds of sessions, bytes, and shares of callers: %s, want %s", got, want)
	}
}

// TestSearchesForBetterWays checks that a session searches for a better route every ten seconds, however often conditions change.
func TestSearchesForBetterWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		searches := 0
		newDrivesOn(t, town(t), session.Options{Admit: func(context.Context, session.Caller, int) (func(), error) {
			searches++
			return func() {}, nil
		}}).whileRunning(t, func(t *testing.T, d *drives) {
			d.follow(t.Context(), d.begin("ad"))
			for i := range 120 {
				d.change("jam", map[string]time.Duration{"bc": time.Duration(1+i%2) * time.Second})
				time.Sleep(time.Second)
			}
			synctest.Wait()
			if searches < 11 || searches > 13 {
				t.Errorf("%d searches in two minutes, want 12", searches)
			}
		})
	})
}

// TestRoutesFollowTheHeading checks that a new route leaves within 60° of the car's heading: a car that drives south-west on the road to
// the south does not turn to the shorter way in the north.
func TestRoutesFollowTheHeading(t *testing.T) {
	inBubble(t, func(t *testing.T, d *drives) {
		for heading, want := range map[float64]string{180: "xyc", 210: "xyc", 238: "xyc", 330: "bc"} {
			s := d.begin("ad")
			if route := d.position(s, d.along("b", "x", 0.3, 0), heading); route != want {
				t.Errorf("heading %v: by %q, want %q", heading, route, want)
			}
			d.Close(s.ID)
		}
	})
}

// TestDriverIsSoughtBehind checks that after one wrong position far ahead, the driver is found on the last kilometre behind that place, and no
// further back.
func TestDriverIsSoughtBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drawn := roadtest.Map(t, 125, `
			a-b-c-d-e-f-g-h-i-j-k
			  | | | | | | | | |
			  l m n o p q r s t
		`, roadtest.Ways("abcdefghijk bl cm dn eo fp gq hr is jt", "highway=residential, maxspeed=30"))
		d := newDrivesOn(t, drawn, session.Options{})
		for from, found := range map[string]bool{"fg": true, "ef": true, "ab": false} { // 750, 1000 and 2000 m before the wrong place
			s := d.begin("ak")
			d.position(s, d.along("i", "j", 0.5, 0), 90)
			if route := d.position(s, d.along(from[:1], from[1:], 0.5, 0), 90); (route == "") != found {
				t.Errorf("between %s the way is %q; want another one: %t", from, route, !found)
			}
		}
	})
}

// TestHeadingTellsCarriageways checks that a driver between two carriageways of the route is on the one that leads along the heading, even if the
// other one is nearer.
func TestHeadingTellsCarriageways(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drawn := roadtest.Map(t, 15, `
			a--------------------------b
			d--------------------------c
		`, roadtest.Ways("ab bc cd", "highway=residential, maxspeed=30, oneway=yes"))
		newDrivesOn(t, drawn, session.Options{}).whileRunning(t, func(t *testing.T, d *drives) {
			s := d.begin("ad")
			left := time.Duration(-1)
			go s.Follow(t.Context(), session.Client{
				Send: func(_ context.Context, list []session.Event) error {
					left = list[len(list)-1].Left
					return nil
				},
				Heartbeat: func(context.Context) error { return nil },
			})
			synctest.Wait()
			d.position(s, d.along("a", "b", 0.5, 0), 90)
			time.Sleep(2 * time.Second)
			d.position(s, d.along("a", "b", 0.5, 4), 270)
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if left < 15*time.Second || left > 35*time.Second {
				t.Errorf("%v are left of the way back, want some 25 s for 200 m", left)
			}
		})
	})
}
