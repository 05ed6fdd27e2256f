package livetest

import (
	"fmt"
	"strings"

	"wayside/internal/entities/live"
)

func findTests() map[string]func(*fixture) {
	return map[string]func(*fixture){
		"one per upstream":    findEach,
		"nothing":             findNothing,
		"any id":              findAnyID,
		"while it is renewed": findRenewed,
		"after many tiles":    findWandered,
		"by another process":  findElsewhere,
	}
}

func findEach(w *fixture) {
	for _, upstream := range []string{"x", "y", "z"} {
		a := w.answer(pin("a", center), pin("only "+upstream, center))
		a.Upstream = upstream
		w.take(a)
	}
	got := w.find("a", "z", "x", "none")
	if len(got) != 2 || got[0].Upstream != "z" || got[1].Upstream != "x" {
		w.Errorf("found %d", len(got))
	}
	if got := w.find("only y", "x", "y", "z"); len(got) != 1 || got[0].Upstream != "y" {
		w.Errorf("found %d", len(got))
	}
}

func findNothing(w *fixture) {
	w.update(pin("a", center))
	for _, id := range []string{"", "b", "A", "a "} {
		if got := w.find(id, north); len(got) != 0 {
			w.Errorf("%q is found", id)
		}
	}
	if got := w.find("a"); len(got) != 0 {
		w.Error("found of no upstream")
	}
}

func findAnyID(w *fixture) {
	ids := []string{"x/y", "x%2Fy", "x y", "é", "\x7f\xff", strings.Repeat("long ", 51)}
	pins := make([]live.Pin, len(ids))
	for i, id := range ids {
		pins[i] = pin(id, center)
	}
	w.update(pins...)
	w.expectShown(ids...)
}

// findRenewed exceeds the TTL of the index that Find uses.
func findRenewed(w *fixture) {
	for range 30 {
		w.update(pin("a", center))
		w.advanceClock(minute)
		w.expectShown("a")
	}
}

func findWandered(w *fixture) {
	at := center
	for range 12 {
		at.Lat += 0.1
		w.take(w.around(at, pin("a", at)))
		w.advanceClock(millisecond)
		if got := w.find("a", north); len(got) != 1 || got[0].Point != at {
			w.Fatalf("at %v, found %d", at, len(got))
		}
	}
}

func findElsewhere(w *fixture) {
	w.update(pin("a", center))
	w.cache = w.newCache()
	w.expectShown("a")
	for i := range 5 {
		id := fmt.Sprint(i)
		if err := w.newCache().Take(w.ctx(), w.answer(pin("a", center), pin(id, near))); err != nil {
			w.Fatal(err)
		}
		w.expectShown("a", id)
		w.advanceClock(minute)
	}
}
