package livetest

import (
	"time"

	"wayside/internal/geo"
	"wayside/internal/live"
)

func moveTests() map[string]func(*fixture) {
	return map[string]func(*fixture){
		"to another tile within the circle":         movesWithin,
		"from where it was not asked for":           movesIn,
		"from a tile that was not touched":          movesFar,
		"from a tile that was not touched, gone":    movesFarGone,
		"to where it is not asked for":              movesOut,
		"the later of two places goes on":           movesTwice,
		"a row's shorter life counts where it went": movesShort,
		"an older answer from elsewhere":            movesOlderElsewhere,
		"an older answer from where it was":         movesOlder,
	}
}

// around is north's answer on another place.
func (w *fixture) around(center geo.Point, pins ...live.Pin) *live.Answer {
	a := w.answer(pins...)
	a.Center = center
	return a
}

func movesWithin(w *fixture) {
	a := w.answer(pin("a", center), pin("b", near))
	a.Radius = wide
	w.take(a)
	w.pass(minute)
	moved := pin("a", far)
	moved.Digest = 2
	a = w.answer(moved, pin("b", far))
	a.Radius = wide
	w.take(a)
	w.shows("a", "b")
	p := w.the("a")
	if p.Point != far || !p.FirstSeenAt.Equal(start) || !p.ChangedAt.Equal(w.now()) {
		w.Errorf("a is at %v, first seen %v, changed %v", p.Point, p.FirstSeenAt, p.ChangedAt)
	}
	if p := w.the("b"); !p.ChangedAt.Equal(start) {
		w.Errorf("b changed %v", p.ChangedAt)
	}
	if got := w.near(center, radius, north); len(got) != 0 {
		w.Errorf("%d pins are left where they were", len(got))
	}
}

// movesIn is about a pin that stood in a touched tile, but outside of the circle.
func movesIn(w *fixture) {
	w.says(pin("a", edge))
	w.pass(minute)
	a := w.answer(pin("a", center))
	a.Radius = 1000
	w.take(a)
	w.shows("a")
	if p := w.the("a"); p.Point != center || !p.FirstSeenAt.Equal(start) {
		w.Errorf("a is at %v, first seen %v", p.Point, p.FirstSeenAt)
	}
}

func movesFar(w *fixture) {
	w.says(pin("a", center))
	w.pass(minute)
	w.take(w.around(far, pin("a", far)))
	w.shows("a")
	if p := w.the("a"); p.Point != far {
		w.Errorf("a is at %v", p.Point)
	}
	w.pass(minute)
	w.says(pin("a", near))
	w.shows("a")
	if p := w.the("a"); p.Point != near {
		w.Errorf("a is at %v", p.Point)
	}
}

func movesFarGone(w *fixture) {
	w.says(pin("a", center))
	w.pass(minute)
	w.take(w.around(far, pin("a", far)))
	w.pass(minute)
	w.take(w.around(far))
	w.shows()
	w.hides("a")
	w.pass(live.Freshness)
	w.shows()
}

func movesOut(w *fixture) {
	late := w.answer(pin("a", center))
	w.pass(minute)
	w.take(w.around(far, pin("a", far)))
	w.take(late)
	w.pass(minute)
	w.says()
	w.shows("a")
	if p := w.the("a"); p.Point != far {
		w.Errorf("a is at %v", p.Point)
	}
}

func movesShort(w *fixture) {
	w.says(pin("a", center))
	w.pass(time.Second)
	p := pin("a", far)
	p.Lifetime = minute
	w.take(w.around(far, p))
	w.shows("a")
	w.pass(minute)
	w.shows()
	w.hides("a")
}

func movesOlder(w *fixture) {
	late := w.answer(pin("a", center))
	w.pass(time.Second)
	a := w.answer(pin("a", far))
	a.Radius = wide
	w.take(a)
	late.Radius = wide
	w.take(late)
	w.shows("a")
	if p := w.the("a"); p.Point != far {
		w.Errorf("a is at %v", p.Point)
	}
}

// movesOlderElsewhere is about a pin that was renewed where it is, which the late answer did not know.
func movesOlderElsewhere(w *fixture) {
	w.says(pin("a", center))
	w.pass(minute)
	late := w.around(far, pin("a", far))
	w.pass(minute)
	w.says(pin("a", center))
	w.take(late)
	w.shows("a")
	if p := w.the("a"); p.Point != center {
		w.Errorf("a is at %v", p.Point)
	}
	if got := w.find("a", north); len(got) != 1 || got[0].Point != center {
		w.Errorf("found %d, elsewhere", len(got))
	}
}

// movesTwice is about an answer on all of a pin's places: the later word on it is the one that goes on.
func movesTwice(w *fixture) {
	third := geo.Point{Lat: 52.15, Lng: 4.90}
	for _, places := range [][2]geo.Point{{center, far}, {far, center}} {
		w.take(w.around(places[0], pin("a", places[0])))
		w.pass(minute)
		w.take(w.around(places[1], pin("a", places[1])))
		began := w.now()
		w.pass(minute)
		a := w.answer(pin("a", third))
		a.Radius = wide
		w.take(a)
		w.shows("a")
		if p := w.the("a"); p.Point != third || !p.FirstSeenAt.Equal(began) {
			w.Errorf("a is at %v, first seen %v, want %v", p.Point, p.FirstSeenAt, began)
		}
		w.pass(live.Freshness * 3) // nothing is known any more
	}
}
