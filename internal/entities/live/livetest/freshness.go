package livetest

import (
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/live"
)

const (
	millisecond = time.Millisecond
	minute      = time.Minute
)

func freshnessTests() map[string]func(*fixture) {
	return map[string]func(*fixture){
		"five minutes, to the millisecond": fiveMinutes,
		"shorter lifetime of a row":        shorterLifetime,
		"longer lifetime is capped":        longerLifetime,
		"new answer renews":                renews,
		"replay does not renew":            replays,
		"replay after removal":             replayAfterRemoval,
		"replay after another answer":      replayAfterOtherAnswer,
		"another stamp is no replay":       otherStamp,
		"times of a pin":                   timesOfAPin,
		"reappearing pin is new":           reappears,
		"first seen from the row":          began,
	}
}

func fiveMinutes(w *fixture) {
	w.advanceClock(123 * millisecond)
	w.update(pin("a", center))
	w.expectShown("a")
	w.advanceClock(live.Freshness - millisecond)
	w.expectShown("a")
	w.advanceClock(millisecond)
	w.expectShown()
	w.expectHidden("a")
}

func shorterLifetime(w *fixture) {
	p := pin("a", center)
	p.Lifetime = minute
	w.update(p, pin("b", near))
	w.advanceClock(minute - millisecond)
	w.expectShown("a", "b")
	w.advanceClock(millisecond)
	w.expectShown("b")
	w.expectHidden("a")
}

func longerLifetime(w *fixture) {
	long, none := pin("a", center), pin("b", center)
	long.Lifetime, none.Lifetime = time.Hour, 0
	w.update(long, none)
	w.advanceClock(live.Freshness - millisecond)
	w.expectShown("a", "b")
	w.advanceClock(millisecond)
	w.expectShown()
}

func renews(w *fixture) {
	for range 5 {
		w.update(pin("a", center))
		w.advanceClock(4 * minute)
		w.expectShown("a")
	}
	w.advanceClock(minute)
	w.expectShown()
}

// stamped returns an answer with the upstream's timestamp.
func (w *fixture) stamped(stamp time.Time, pins ...live.Pin) *live.Answer {
	a := w.answer(pins...)
	a.Stamp = stamp
	return a
}

func replays(w *fixture) {
	stamp := w.now().Add(-3 * time.Second)
	w.take(w.stamped(stamp, pin("a", center)))
	for range 4 {
		w.advanceClock(minute)
		w.take(w.stamped(stamp, pin("a", center)))
		w.expectShown("a")
		if got := w.onlyPin("a").SeenAt; !got.Equal(start) {
			w.Errorf("seen at %v, want %v", got, start)
		}
	}
	w.advanceClock(minute - millisecond)
	w.expectShown("a")
	w.advanceClock(millisecond)
	w.expectShown()
	w.expectHidden("a")
	// Repeated replays are never taken for new answers.
	for range 12 {
		w.take(w.stamped(stamp, pin("a", center)))
		w.expectShown()
		w.advanceClock(minute)
	}
	w.take(w.stamped(w.now(), pin("a", center)))
	w.expectShown("a")
}

// replayAfterRemoval simulates a provider with an outdated replica.
func replayAfterRemoval(w *fixture) {
	first := w.now()
	w.take(w.stamped(first, pin("a", center)))
	w.advanceClock(minute)
	w.take(w.stamped(w.now()))
	w.expectShown()
	w.advanceClock(minute)
	w.take(w.stamped(first, pin("a", center)))
	w.expectShown("a") // it is shown, but expires as first seen
	if got := w.onlyPin("a").ChangedAt; !got.Equal(w.now()) {
		w.Errorf("changed %v, want %v: it was hidden", got, w.now())
	}
	w.advanceClock(3*minute - millisecond)
	w.expectShown("a")
	w.advanceClock(millisecond)
	w.expectShown()
}

// takeBeside takes an answer for a circle next to center, which rewrites the tile.
func (w *fixture) takeBeside() {
	w.Helper()
	a := w.around(edge, pin("beside", edge))
	a.Radius = 500
	w.take(a)
}

// replayAfterOtherAnswer uses a pin with a short lifetime of its own.
func replayAfterOtherAnswer(w *fixture) {
	stamp, p := w.now(), pin("a", center)
	p.Lifetime = minute
	w.take(w.stamped(stamp, p))
	w.advanceClock(2 * minute)
	w.takeBeside()
	w.take(w.stamped(stamp, p, pin("beside", edge)))
	w.expectShown("beside")
}

func otherStamp(w *fixture) {
	w.take(w.stamped(w.now(), pin("a", center)))
	w.advanceClock(4 * minute)
	w.take(w.stamped(w.now().Add(-minute), pin("a", center)))
	w.advanceClock(4 * minute)
	w.expectShown("a")
}

func timesOfAPin(w *fixture) {
	times := func(seen, changed time.Duration) {
		w.Helper()
		p := w.onlyPin("a")
		want := []time.Time{start, start.Add(seen), start.Add(changed)}
		if diff := cmp.Diff(want, []time.Time{p.FirstSeenAt, p.SeenAt, p.ChangedAt}); diff != "" {
			w.Errorf("first seen, seen, changed (-want +got):\n%s", diff)
		}
	}
	w.update(pin("a", center))
	times(0, 0)
	w.advanceClock(minute)
	w.update(pin("a", center))
	times(minute, 0)
	w.advanceClock(minute)
	changed := pin("a", center)
	changed.Digest = 2
	w.update(changed)
	times(2*minute, 2*minute)
	w.advanceClock(minute)
	w.update(changed)
	times(3*minute, 2*minute)
}

func reappears(w *fixture) {
	w.update(pin("a", center))
	w.advanceClock(minute)
	w.update()
	w.advanceClock(minute)
	w.update(pin("a", center))
	for range 2 { // after its removal, and after its expiry
		p := w.onlyPin("a")
		if !p.FirstSeenAt.Equal(w.now()) || !p.ChangedAt.Equal(w.now()) {
			w.Errorf("first seen %v and changed %v, want %v", p.FirstSeenAt, p.ChangedAt, w.now())
		}
		w.advanceClock(live.Freshness)
		w.update(pin("a", center))
	}
}

func began(w *fixture) {
	first := func(row, want time.Duration) {
		w.Helper()
		p := pin("a", center)
		p.FirstSeenAt = start.Add(row)
		w.update(p)
		if got := w.onlyPin("a").FirstSeenAt; !got.Equal(start.Add(want)) {
			w.Errorf("first seen %v, want %v", got, start.Add(want))
		}
	}
	first(3*minute, 0) // times in the future are ignored (D3.5)
	w.advanceClock(2 * minute)
	first(minute, 0)
	first(-time.Hour, -time.Hour)
	first(-minute, -time.Hour)
}
