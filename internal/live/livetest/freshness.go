package livetest

import (
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/live"
)

const (
	millisecond = time.Millisecond
	minute      = time.Minute
)

func freshnessTests() map[string]func(*fixture) {
	return map[string]func(*fixture){
		"five minutes, to the millisecond":        fiveMinutes,
		"less where the row says less":            shorterLifetime,
		"never more":                              longerLifetime,
		"a new answer renews":                     renews,
		"a replay renews nothing":                 replays,
		"a replay does not bring back":            replaysGone,
		"an answer from beside forgets no replay": replaysBeside,
		"a replay of something else is an answer": otherStamp,
		"times of a pin":                          timesOfAPin,
		"what comes back is new":                  comesBack,
		"when a row says it began":                began,
	}
}

func fiveMinutes(w *fixture) {
	w.pass(123 * millisecond)
	w.says(pin("a", center))
	w.shows("a")
	w.pass(live.Freshness - millisecond)
	w.shows("a")
	w.pass(millisecond)
	w.shows()
	w.hides("a")
}

func shorterLifetime(w *fixture) {
	p := pin("a", center)
	p.Lifetime = minute
	w.says(p, pin("b", near))
	w.pass(minute - millisecond)
	w.shows("a", "b")
	w.pass(millisecond)
	w.shows("b")
	w.hides("a")
}

func longerLifetime(w *fixture) {
	long, none := pin("a", center), pin("b", center)
	long.Lifetime, none.Lifetime = time.Hour, 0
	w.says(long, none)
	w.pass(live.Freshness - millisecond)
	w.shows("a", "b")
	w.pass(millisecond)
	w.shows()
}

func renews(w *fixture) {
	for range 5 {
		w.says(pin("a", center))
		w.pass(4 * minute)
		w.shows("a")
	}
	w.pass(minute)
	w.shows()
}

// stamped is an answer with the upstream's own time.
func (w *fixture) stamped(stamp time.Time, pins ...live.Pin) *live.Answer {
	a := w.answer(pins...)
	a.Stamp = stamp
	return a
}

func replays(w *fixture) {
	stamp := w.now().Add(-3 * time.Second)
	w.take(w.stamped(stamp, pin("a", center)))
	for range 4 {
		w.pass(minute)
		w.take(w.stamped(stamp, pin("a", center)))
		w.shows("a")
		if got := w.the("a").SeenAt; !got.Equal(start) {
			w.Errorf("seen at %v, want %v", got, start)
		}
	}
	w.pass(minute - millisecond)
	w.shows("a")
	w.pass(millisecond)
	w.shows()
	w.hides("a")
	// Nor does it pass for new, however long it goes on.
	for range 12 {
		w.take(w.stamped(stamp, pin("a", center)))
		w.shows()
		w.pass(minute)
	}
	w.take(w.stamped(w.now(), pin("a", center)))
	w.shows("a")
}

// replaysGone is about a provider of which one part is behind the other.
func replaysGone(w *fixture) {
	first := w.now()
	w.take(w.stamped(first, pin("a", center)))
	w.pass(minute)
	w.take(w.stamped(w.now()))
	w.shows()
	w.pass(minute)
	w.take(w.stamped(first, pin("a", center)))
	w.shows("a") // it is the newest answer, but its time goes on from the first
	if got := w.the("a").ChangedAt; !got.Equal(w.now()) {
		w.Errorf("changed %v, want %v: it was hidden", got, w.now())
	}
	w.pass(3*minute - millisecond)
	w.shows("a")
	w.pass(millisecond)
	w.shows()
}

// beside takes an answer from beside the center's centre, which writes the tile anew.
func (w *fixture) beside() {
	w.Helper()
	a := w.around(edge, pin("beside", edge))
	a.Radius = 500
	w.take(a)
}

// replaysBeside is about a pin that expires early, by its own row.
func replaysBeside(w *fixture) {
	stamp, p := w.now(), pin("a", center)
	p.Lifetime = minute
	w.take(w.stamped(stamp, p))
	w.pass(2 * minute)
	w.beside()
	w.take(w.stamped(stamp, p, pin("beside", edge)))
	w.shows("beside")
}

func otherStamp(w *fixture) {
	w.take(w.stamped(w.now(), pin("a", center)))
	w.pass(4 * minute)
	w.take(w.stamped(w.now().Add(-minute), pin("a", center)))
	w.pass(4 * minute)
	w.shows("a")
}

func timesOfAPin(w *fixture) {
	times := func(seen, changed time.Duration) {
		w.Helper()
		p := w.the("a")
		want := []time.Time{start, start.Add(seen), start.Add(changed)}
		if diff := cmp.Diff(want, []time.Time{p.FirstSeenAt, p.SeenAt, p.ChangedAt}); diff != "" {
			w.Errorf("first seen, seen, changed (-want +got):\n%s", diff)
		}
	}
	w.says(pin("a", center))
	times(0, 0)
	w.pass(minute)
	w.says(pin("a", center))
	times(minute, 0)
	w.pass(minute)
	changed := pin("a", center)
	changed.Digest = 2
	w.says(changed)
	times(2*minute, 2*minute)
	w.pass(minute)
	w.says(changed)
	times(3*minute, 2*minute)
}

func comesBack(w *fixture) {
	w.says(pin("a", center))
	w.pass(minute)
	w.says()
	w.pass(minute)
	w.says(pin("a", center))
	for range 2 { // after it went, and after it expired
		p := w.the("a")
		if !p.FirstSeenAt.Equal(w.now()) || !p.ChangedAt.Equal(w.now()) {
			w.Errorf("first seen %v and changed %v, want %v", p.FirstSeenAt, p.ChangedAt, w.now())
		}
		w.pass(live.Freshness)
		w.says(pin("a", center))
	}
}

func began(w *fixture) {
	first := func(row, want time.Duration) {
		w.Helper()
		p := pin("a", center)
		p.FirstSeenAt = start.Add(row)
		w.says(p)
		if got := w.the("a").FirstSeenAt; !got.Equal(start.Add(want)) {
			w.Errorf("first seen %v, want %v", got, start.Add(want))
		}
	}
	first(3*minute, 0) // what lies ahead is not believed (D3.5)
	w.pass(2 * minute)
	first(minute, 0)
	first(-time.Hour, -time.Hour)
	first(-minute, -time.Hour)
}
