package livetest

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"wayside/internal/entities/live"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

func answerTests() map[string]func(*fixture) {
	return map[string]func(*fixture){
		"preserves all of a pin":          preservesPin,
		"removes missing pins":            removesMissing,
		"keeps pins outside the circle":   keepsOutside,
		"ignores rows outside the circle": ignoresOutside,
		"upstreams are independent":       twoUpstreams,
		"last duplicate wins":             lastDuplicateWins,
		"ignores an older answer":         ignoresOlder,
		"older answer does not restore":   olderDoesNotRestore,
		"older answer after rewrite":      olderAfterRewrite,
		"older answer adds new pins":      olderAddsNew,
		"idempotent":                      idempotent,
		"only pins within the circle":     withinCircle,
		"the antimeridian and the poles":  antimeridianAndPoles,
		"invalid area":                    invalidArea,
	}
}

func preservesPin(w *fixture) {
	p := pin("ünï/\x01\xff", near)
	p.Line = []geo.Point{near, center, {Lat: -1.5, Lng: 179.25}}
	p.Properties = []byte(`{"speed":42,"text":"\u0000é"}`)
	p.Network, p.Kind, p.Digest, p.Prior = "net", 3, math.MaxUint64-5, 0.7
	p.Lifetime = 90 * time.Second
	p.FirstSeenAt = start.Add(-minute)
	stamp := w.now().Add(-1500 * millisecond)
	w.take(w.stamped(stamp, p, pin("b", center)))

	want := p
	want.Upstream, want.Stamp, want.At = north, stamp, near.Vector()
	want.SeenAt, want.ChangedAt = start, start
	want.Prepared = encode(nil, &p.Entity)
	for range 2 { // in this process, and in another one
		if diff := cmp.Diff(&want, w.onlyPin(p.ExternalID)); diff != "" {
			w.Errorf("near (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]*live.Pin{&want}, w.find(p.ExternalID, north)); diff != "" {
			w.Errorf("found (-want +got):\n%s", diff)
		}
		w.cache = w.newCache()
	}
}

func removesMissing(w *fixture) {
	w.update(pin("a", center), pin("b", near))
	w.advanceClock(10 * time.Second)
	w.update(pin("b", near))
	w.expectShown("b")
	w.expectHidden("a")
	w.update()
	w.expectShown()
	w.expectHidden("a", "b")
}

// edge is 2 km from center, in its tile.
var edge = geo.Point{Lat: 52.368, Lng: 4.90}

func keepsOutside(w *fixture) {
	w.update(pin("a", center), pin("b", edge))
	w.advanceClock(2 * minute)
	a := w.answer(pin("c", center))
	a.Radius = 1000
	w.take(a)
	w.expectShown("b", "c")
	if got := w.onlyPin("b").SeenAt; !got.Equal(start) {
		w.Errorf("seen at %v, want %v", got, start)
	}
	w.advanceClock(3*minute - millisecond)
	w.expectShown("b", "c")
	w.advanceClock(millisecond)
	w.expectShown("c")
}

func ignoresOutside(w *fixture) {
	nowhere, noKind := pin("d", geo.Point{Lat: math.NaN()}), pin("e", center)
	noKind.Kind = 255
	a := w.answer(pin("a", center), pin("b", edge), pin("c", far), nowhere, noKind)
	a.Radius = 1000
	w.take(a)
	w.expectShown("a")
	w.expectHidden("b", "c", "d", "e")
}

func twoUpstreams(w *fixture) {
	names := []string{"n", "n/1423", "n%2F1423", "ñ ", ""}
	for i, name := range names {
		a := w.answer(pin("a", center), pin(string(rune('p'+i)), center))
		a.Upstream = name
		w.take(a)
	}
	gone := w.answer()
	gone.Upstream = names[0]
	w.take(gone)
	for i, name := range names {
		got := w.near(center, radius, name)
		if i == 0 && len(got) != 0 || i > 0 && len(got) != 2 {
			w.Errorf("%q shows %d pins", name, len(got))
		}
		for _, p := range got {
			if p.Upstream != name {
				w.Errorf("a pin of %q has upstream %q", name, p.Upstream)
			}
		}
	}
	if got := w.near(center, radius, names...); len(got) != 8 {
		w.Errorf("together, they show %d pins, want 8", len(got))
	}
	if got := w.find("a", names...); len(got) != 4 {
		w.Errorf("a is found %d times, want 4", len(got))
	}
	if got := w.near(center, radius); len(got) != 0 {
		w.Errorf("%d pins shown without upstreams", len(got))
	}
}

func lastDuplicateWins(w *fixture) {
	changed := pin("a", far)
	a := w.answer(pin("a", center), changed, pin("a", near))
	w.take(a)
	w.expectShown("a")
	if got := w.onlyPin("a").Point; got != near {
		w.Errorf("a is at %v", got)
	}
}

func ignoresOlder(w *fixture) {
	old := w.answer(pin("a", center), pin("b", center))
	old.Pins[0].Digest = 7
	w.advanceClock(time.Second)
	w.update(pin("a", near), pin("c", near))
	w.take(old)
	w.expectShown("a", "b", "c") // b has no tombstone, because it was never stored
	if p := w.onlyPin("a"); p.Point != near || !p.SeenAt.Equal(w.now()) {
		w.Error("the older answer replaced a newer one")
	}
	w.take(&live.Answer{Upstream: north, Center: center, Radius: radius, At: start})
	w.expectShown("a", "c")
}

func olderDoesNotRestore(w *fixture) {
	w.update(pin("a", center))
	w.advanceClock(time.Second)
	late := w.answer(pin("a", center))
	w.advanceClock(time.Second)
	w.update()
	w.take(late)
	w.expectShown()
	w.advanceClock(live.Freshness - time.Second - millisecond)
	w.take(late)
	w.expectShown()
}

// olderAfterRewrite uses a pin with a short lifetime of its own.
func olderAfterRewrite(w *fixture) {
	p := pin("a", center)
	p.Lifetime = minute
	w.update(p)
	w.advanceClock(time.Second)
	late := w.answer(pin("a", center), pin("beside", edge))
	w.advanceClock(time.Second)
	w.update()
	w.advanceClock(2 * minute)
	w.takeBeside()
	w.take(late)
	w.expectShown("beside")
}

func olderAddsNew(w *fixture) {
	late := w.answer(pin("b", edge))
	w.advanceClock(time.Second)
	a := w.answer(pin("a", center))
	a.Radius = 1000
	w.take(a)
	w.take(late)
	w.expectShown("a", "b")
}

func idempotent(w *fixture) {
	a := w.answer(pin("a", center), pin("b", near))
	w.take(a)
	w.take(a)
	w.expectShown("a", "b")
}

func withinCircle(w *fixture) {
	var pins []live.Pin
	for i := range 400 {
		at := geo.Point{Lat: center.Lat + float64(i/20-10)*0.01, Lng: center.Lng + float64(i%20-10)*0.016}
		pins = append(pins, pin(string(rune('a'+i/20))+string(rune('a'+i%20)), at))
	}
	a := w.answer(pins...)
	a.Radius = wideRadius
	w.take(a)
	for _, radius := range []float64{1, 500, 2500, 8_000, 12_000, wideRadius} {
		want := make([]string, 0, len(pins))
		for i := range pins {
			if geo.Distance(center, pins[i].Point) <= radius {
				want = append(want, pins[i].ExternalID)
			}
		}
		got := make([]string, 0, len(pins))
		for _, p := range w.near(center, radius, north) {
			got = append(got, p.ExternalID)
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			w.Errorf("within %v m (-want +got):\n%s", radius, diff)
		}
	}
}

func antimeridianAndPoles(w *fixture) {
	at := func(center geo.Point, radius float64, points ...geo.Point) {
		w.Helper()
		a := &live.Answer{Upstream: north, Center: center, Radius: radius, At: w.now()}
		for i, p := range points {
			a.Pins = append(a.Pins, pin(string(rune('a'+i)), p))
		}
		w.take(a)
		if got := w.near(center, radius, north); len(got) != len(points) {
			w.Errorf("around %v: %d pins, want %d", center, len(got), len(points))
		}
		w.take(&live.Answer{Upstream: north, Center: center, Radius: radius, At: w.now()})
		if got := w.near(center, radius, north); len(got) != 0 {
			w.Errorf("around %v: %d pins are left", center, len(got))
		}
	}
	at(geo.Point{Lng: 180}, 20_000, geo.Point{Lng: 179.9}, geo.Point{Lng: -179.9}, geo.Point{Lng: -180}, geo.Point{Lng: 180})
	at(geo.Point{Lat: 89.9, Lng: 10}, 30_000, geo.Point{Lat: 89.9, Lng: -170}, geo.Point{Lat: 90}, geo.Point{Lat: 89.95, Lng: 100})
	at(geo.Point{Lat: -90}, 20_000, geo.Point{Lat: -89.9, Lng: -90}, geo.Point{Lat: -90, Lng: 77}, geo.Point{Lat: -89.9, Lng: 180})
	at(geo.Point{}, 1000, geo.Point{Lat: 0.001}, geo.Point{Lat: -0.001}, geo.Point{Lng: 0.001}, geo.Point{Lng: -0.001})
}

func invalidArea(w *fixture) {
	bad := []struct {
		center geo.Point
		radius float64
	}{
		{center, 0},
		{center, -1},
		{center, math.NaN()},
		{center, live.MaxRadius + 1},
		{center, math.Inf(1)},
		{geo.Point{Lat: 91}, radius},
		{geo.Point{Lng: math.NaN()}, radius},
	}
	for _, b := range bad {
		if err := w.cache.Take(w.ctx(), &live.Answer{Upstream: north, Center: b.center, Radius: b.radius, At: w.now()}); !errors.Is(err, mapdata.ErrMalformed) {
			w.Errorf("take %v: %v", b, err)
		}
		if _, err := w.cache.Near(w.ctx(), []string{north}, b.center, b.radius, nil); !errors.Is(err, mapdata.ErrMalformed) {
			w.Errorf("near %v: %v", b, err)
		}
	}
}
