package livetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"pgregory.net/rapid"

	"wayside/internal/entities/live"
	"wayside/internal/ground/geo"
)

func concurrencyTests() map[string]func(*fixture) {
	return map[string]func(*fixture){
		"interleaved writers":         interleavedWriters,
		"overlapping answers":         overlappingAnswers,
		"concurrent reads and writes": readWhileWriting,
		"matches the model":           matchesModel,
	}
}

// racingDriver is a driver with a concurrent writer: each function of before runs once, before one of the first swaps.
type racingDriver struct {
	live.Driver
	mu     sync.Mutex
	before []func()
}

func (r *racingDriver) Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error) {
	r.mu.Lock()
	if len(r.before) > 0 {
		first := r.before[0]
		r.before = r.before[1:]
		first()
	}
	r.mu.Unlock()
	return r.Driver.Swap(ctx, key, old, value, ttl)
}

// interleavedWriters checks that of two writers to one tile, the slower one does not overwrite the faster one's changes.
func interleavedWriters(w *fixture) {
	other := func(pins ...live.Pin) func() {
		return func() {
			a := w.around(edge, pins...)
			a.Radius = 500
			w.take(a)
		}
	}
	r := &racingDriver{Driver: w.driver}
	slow := live.New(r, encode, w.now)
	for _, before := range [][]func(){
		{other(pin("b", edge))}, {func() {}, other(pin("b", edge))}, {func() {}, other(pin("b", edge)), other(pin("b", edge))},
	} {
		r.before = before
		a := w.answer(pin("a", center))
		a.Radius = 1000
		if err := slow.Take(w.ctx(), a); err != nil {
			w.Fatal(err)
		}
		w.expectShown("a", "b")
		w.update()
		w.expectShown()
		w.advanceClock(live.Freshness * 3) // everything has expired
	}
}

// overlappingAnswers takes answers concurrently from several processes, each for its own circle, with shared tiles.
func overlappingAnswers(w *fixture) {
	const writers = 8
	caches := []*live.Cache{w.cache, w.newCache(), w.newCache()}
	var all []live.Pin
	for i := range 200 {
		all = append(all, pin(fmt.Sprint(i), geo.Point{Lat: 52.29 + float64(i/10)*0.004, Lng: 4.88 + float64(i%10)*0.004}))
	}
	covered := make(map[string]bool)
	var group sync.WaitGroup
	for writer := range writers {
		center := geo.Point{Lat: 52.29 + float64(writer)*0.01, Lng: 4.9} // 1.1 km from the next
		a := &live.Answer{Upstream: north, Center: center, Radius: 2500, At: w.now()}
		for i := range all {
			if geo.Distance(center, all[i].Point) <= a.Radius {
				a.Pins = append(a.Pins, all[i])
				covered[all[i].ExternalID] = true
			}
		}
		group.Go(func() {
			for range 5 {
				if err := caches[writer%len(caches)].Take(w.ctx(), a); err != nil {
					w.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	w.expectShown(slices.Collect(maps.Keys(covered))...)
}

func readWhileWriting(w *fixture) {
	const rounds = 20
	w.update(pin("a", center), pin("b", near))
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		defer close(done)
		for i := range rounds {
			if err := w.cache.Take(w.ctx(), w.answer(pin("a", center), pin("b", near), pin(fmt.Sprint(i), center))); err != nil {
				w.Error(err)
				return
			}
		}
	})
	for reader := range 2 {
		group.Go(func() {
			cache := []*live.Cache{w.cache, w.newCache()}[reader]
			for {
				select {
				case <-done:
					return
				default:
				}
				pins, err := cache.Near(w.ctx(), []string{north}, center, radius, nil)
				if err != nil || len(pins) < 2 || len(pins) > 3 {
					w.Errorf("%d pins, %v", len(pins), err)
					return
				}
			}
		})
	}
	group.Wait()
}

// modelPin is the model's state of a pin: its last position and time.
type modelPin struct {
	at   geo.Point
	seen int64 // value of fixture.elapsed
}

// matchesModel compares random answers, each newer than the last, with a simple model: an answer replaces all pins in its
// circle.
func matchesModel(w *fixture) {
	run := 0
	rapid.Check(w, func(t *rapid.T) {
		run++
		upstream := fmt.Sprint("model ", run) // so that all runs can share a driver
		model := make(map[string]modelPin)
		for range rapid.IntRange(1, 12).Draw(t, "answers") {
			w.advanceClock(time.Duration(rapid.IntRange(1, 3).Draw(t, "minutes")) * minute)
			a := &live.Answer{
				Upstream: upstream, Center: drawPoint(t), At: w.now(),
				Radius: rapid.SampledFrom([]float64{500, 5_000, 20_000}).Draw(t, "radius"),
			}
			for range rapid.IntRange(0, 6).Draw(t, "pins") {
				a.Pins = append(a.Pins, pin(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "id"), drawPoint(t)))
			}
			if err := w.cache.Take(w.ctx(), a); err != nil {
				t.Fatal(err)
			}
			w.applyToModel(model, a)
			w.compare(t, upstream, model)
		}
	})
}

func drawPoint(t *rapid.T) geo.Point {
	return geo.Point{
		Lat: 52.35 + float64(rapid.IntRange(-20, 20).Draw(t, "lat"))*0.01,
		Lng: 4.9 + float64(rapid.IntRange(-20, 20).Draw(t, "lng"))*0.01,
	}
}

func (w *fixture) applyToModel(model map[string]modelPin, a *live.Answer) {
	for id, p := range model {
		if geo.Distance(a.Center, p.at) <= a.Radius {
			delete(model, id)
		}
	}
	for i := range a.Pins {
		if p := &a.Pins[i]; geo.Distance(a.Center, p.Point) <= a.Radius {
			model[p.ExternalID] = modelPin{p.Point, w.elapsed.Load()}
		}
	}
}

func (w *fixture) compare(t *rapid.T, upstream string, model map[string]modelPin) {
	pins, err := w.cache.Near(w.ctx(), []string{upstream}, center, 100_000, nil)
	if err != nil {
		t.Fatal(err)
	}
	shown := make(map[string]geo.Point)
	for _, p := range pins {
		if _, twice := shown[p.ExternalID]; twice {
			t.Fatalf("%s is shown twice", p.ExternalID)
		}
		shown[p.ExternalID] = p.Point
	}
	for id, p := range model {
		fresh := w.elapsed.Load()-p.seen < int64(live.Freshness)
		at, ok := shown[id]
		if ok != fresh || ok && at != p.at {
			t.Fatalf("%s is shown: %v, at %v; want %v, at %v", id, ok, at, fresh, p.at)
		}
		found, err := w.cache.Find(w.ctx(), []string{upstream}, id)
		if err != nil || (len(found) == 1) != fresh || fresh && found[0].Point != p.at {
			t.Fatalf("%s is found %d times, %v", id, len(found), err)
		}
		delete(shown, id)
	}
	if len(shown) > 0 {
		t.Fatalf("shown, and must not be: %v", shown)
	}
}
