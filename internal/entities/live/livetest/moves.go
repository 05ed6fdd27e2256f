package livetest

import (
	"time"

	"wayside/internal/entities/live"
	"wayside/internal/ground/geo"
)

func moveTests() map[string]func(*fixture) {
	return map[string]func(*fixture){
		"to another tile within the circle":    movesWithin,
		"from outside the circle":              movesIn,
		"from an untouched tile":               movesFar,
		"from an untouched tile, then removed": movesFarGone,
		"to outside the circle":                movesOut,
		"later of two places wins":             movesTwice,
		"shorter lifetime after a move":        movesShort,
		"older answer at another place":        movesOlderElsewhere,
		"older answer at the old place":        movesOlder,
	}
}

// around returns north's answer for another centre.
func (w *fixture) around(center geo.Point, pins ...live.Pin) *live.Answer {
	a := w.answer(pins...)
	a.Center = center
	return a
}

func movesWithin(w *fixture) {
	a := w.answer(pin("a", center), pin("b", near))
	a.Radius = wideRadius
	w.take(a)
	w.advanceClock(minute)
	moved := pin("a", far)
	moved.Digest = 2
	a = w.answer(moved, pin("b", far))
	a.Radius = wideRadius
	w.take(a)
	w.expectShown("a", "b")
	p := w.onlyPin("a")
	if p.Point != far || !p.FirstSeenAt.Equal(start) || !p.ChangedAt.Equal(w.now()) {
		w.Errorf("a is at %v, first seen %v, changed %v", p.Point, p.FirstSeenAt, p.ChangedAt)
	}
	if p := w.onlyPin("b"); !p.ChangedAt.Equal(start) {
		w.Errorf("b changed %v", p.ChangedAt)
	}
	if got := w.near(center, radius, north); len(got) != 0 {
		w.Errorf("%d pins are left where they were", len(got))
	}
}

// movesIn uses a pin in a touched tile, but outside of the circle.
func movesIn(w *fixture) {
	w.update(pin("a", edge))
	w.advanceClock(minute)
	a := w.answer(pin("a", center))
	a.Radius = 1000
	w.take(a)
	w.expectShown("a")
	if p := w.onlyPin("a"); p.Point != center || !p.FirstSeenAt.Equal(start) {
		w.Errorf("a is at %v, first seen %v", p.Point, p.FirstSeenAt)
	}
}

func movesFar(w *fixture) {
	w.update(pin("a", center))
	w.advanceClock(minute)
	w.take(w.around(far, pin("a", far)))
	w.expectShown("a")
	if p := w.onlyPin("a"); p.Point != far {
		w.Errorf("a is at %v", p.Point)
	}
	w.advanceClock(minute)
	w.update(pin("a", near))
	w.expectShown("a")
	if p := w.onlyPin("a"); p.Point != near {
		w.Errorf("a is at %v", p.Point)
	}
}

func movesFarGone(w *fixture) {
	w.update(pin("a", center))
	w.advanceClock(minute)
	w.take(w.around(far, pin("a", far)))
	w.advanceClock(minute)
	w.take(w.around(far))
	w.expectShown()
	w.expectHidden("a")
	w.advanceClock(live.Freshness)
	w.expectShown()
}

func movesOut(w *fixture) {
	late := w.answer(pin("a", center))
	w.advanceClock(minute)
	w.take(w.around(far, pin("a", far)))
	w.take(late)
	w.advanceClock(minute)
	w.update()
	w.expectShown("a")
	if p := w.onlyPin("a"); p.Point != far {
		w.Errorf("a is at %v", p.Point)
	}
}

func movesShort(w *fixture) {
	w.update(pin("a", center))
	w.advanceClock(time.Second)
	p := pin("a", far)
	p.Lifetime = minute
	w.take(w.around(far, p))
	w.expectShown("a")
	w.advanceClock(minute)
	w.expectShown()
	w.expectHidden("a")
}

func movesOlder(w *fixture) {
	late := w.answer(pin("a", center))
	w.advanceClock(time.Second)
	a := w.answer(pin("a", far))
	a.Radius = wideRadius
	w.take(a)
	late.Radius = wideRadius
	w.take(late)
	w.expectShown("a")
	if p := w.onlyPin("a"); p.Point != far {
		w.Errorf("a is at %v", p.Point)
	}
}

// movesOlderElsewhere uses a pin that was renewed in place after the late answer was produced.
func movesOlderElsewhere(w *fixture) {
	w.update(pin("a", center))
	w.advanceClock(minute)
	late := w.around(far, pin("a", far))
	w.advanceClock(minute)
	w.update(pin("a", center))
	w.take(late)
	w.expectShown("a")
	if p := w.onlyPin("a"); p.Point != center {
		w.Errorf("a is at %v", p.Point)
	}
	if got := w.find("a", north); len(got) != 1 || got[0].Point != center {
		w.Errorf("found %d, elsewhere", len(got))
	}
}

// movesTwice takes an answer that covers all places of a pin: the latest one continues.
func movesTwice(w *fixture) {
	third := geo.Point{Lat: 52.15, Lng: 4.90}
	for _, places := range [][2]geo.Point{{center, far}, {far, center}} {
		w.take(w.around(places[0], pin("a", places[0])))
		w.advanceClock(minute)
		w.take(w.around(places[1], pin("a", places[1])))
		began := w.now()
		w.advanceClock(minute)
		a := w.answer(pin("a", third))
		a.Radius = wideRadius
		w.take(a)
		w.expectShown("a")
		if p := w.onlyPin("a"); p.Point != third || !p.FirstSeenAt.Equal(began) {
			w.Errorf("a is at %v, first seen %v, want %v", p.Point, p.FirstSeenAt, began)
		}
		w.advanceClock(live.Freshness * 3) // everything has expired
	}
}
