package session_test

import (
	"testing"
	"time"
)

// TestClosuresWakeAtOnce checks that a closure on the way of a driver changes the route in the same instant, also right after the
// session began or was judged, while a second one waits until the pause between two searches is over.
func TestClosuresWakeAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, d *drives) {
		events, _ := d.follow(t.Context(), d.begin("ad"))
		d.want(events, "route  bc")
		began := time.Now()
		d.change("works", map[string]time.Duration{"bc": 0})
		d.want(events, "reroute closed works bxyc")
		d.change("works", nil)
		d.change("flood", map[string]time.Duration{"xy": 0})
		d.want(events, "condition came flood")
		d.pass(5 * time.Second)
		d.want(events, "reroute closed flood bc")
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// TestClosuresElsewhereWakeNobody checks that a closure beside the way ahead, or behind the driver, has the session judged no earlier than
// any other change.
func TestClosuresElsewhereWakeNobody(t *testing.T) {
	inBubble(t, func(t *testing.T, d *drives) {
		s := d.begin("ad")
		events, _ := d.follow(t.Context(), s)
		d.want(events, "route  bc")
		d.position(s, d.along("b", "c", 0.5, 0), 90)
		for _, elsewhere := range []string{"xy", "ab"} {
			d.Closed(nil)
			d.change("works", map[string]time.Duration{elsewhere: 0, "cd": 2 * time.Minute})
			d.want(events) // the delay ahead is told with the next judgement
			d.position(s, d.along("b", "c", 0.5, 0), 90)
		}
		d.pass(time.Second)
		d.want(events, "condition came works", "eta")
	})
}

// TestManyClosuresWakeNobodyAtOnce checks that of more than 65 536 arcs that are closed together, none is compared with the ways of
// drivers: they learn of it a second later.
func TestManyClosuresWakeNobodyAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, d *drives) {
		events, _ := d.follow(t.Context(), d.begin("ad"))
		d.want(events, "route  bc")
		d.beside = make([]uint32, 65_536)
		d.change("works", map[string]time.Duration{"bc": 0})
		d.want(events)
		d.pass(time.Second)
		d.want(events, "reroute closed works bxyc")
	})
}
