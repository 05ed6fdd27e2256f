package livetest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/entities/live"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Option describes a capability of a driver under test.
type Option func(*suite)

// WithClock is for drivers with a virtual clock: advance advances that of every opened driver. Without it, the tests
// advance only the cache's clock, and wait for the driver's real TTLs.
func WithClock(advance func(time.Duration)) Option { return func(s *suite) { s.advance = advance } }

type suite struct {
	open    func(t *testing.T) live.Driver
	advance func(time.Duration) // nil: the driver uses real time
}

// Run runs the contract tests for a driver. open returns an empty one that is closed with the test.
func Run(t *testing.T, open func(t *testing.T) live.Driver, options ...Option) {
	s := suite{open: open}
	for _, option := range options {
		option(&s)
	}
	areas := []struct {
		name  string
		tests map[string]func(*fixture)
	}{
		{"driver", driverTests()},
		{"freshness", freshnessTests()},
		{"answers", answerTests()},
		{"moves", moveTests()},
		{"find", findTests()},
		{"concurrency", concurrencyTests()},
	}
	for _, area := range areas {
		t.Run(area.name, func(t *testing.T) {
			for name, test := range area.tests {
				t.Run(name, func(t *testing.T) { test(s.newFixture(t)) })
			}
		})
	}
}

// start is the cache's time at the start of each test.
var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// fixture is a driver, a cache on top of it and their clock.
type fixture struct {
	*testing.T
	driver  live.Driver
	cache   *live.Cache
	advance func(time.Duration)
	elapsed atomic.Int64
}

func (s suite) newFixture(t *testing.T) *fixture {
	w := &fixture{T: t, driver: s.open(t), advance: s.advance}
	w.cache = w.newCache()
	return w
}

// newCache creates a cache on the same driver, as another process would.
func (w *fixture) newCache() *live.Cache { return live.New(w.driver, encode, w.now) }

func encode(dst []byte, e *mapdata.Entity) []byte {
	return append(append(append(dst, e.ExternalID...), ' '), e.Properties...)
}

func (w *fixture) now() time.Time { return start.Add(time.Duration(w.elapsed.Load())) }

// advanceClock advances the clock.
func (w *fixture) advanceClock(d time.Duration) {
	w.elapsed.Add(int64(d))
	if w.advance != nil {
		w.advance(d)
	}
}

func (w *fixture) ctx() context.Context { return w.Context() }

// center is some kilometres from the edges of its tile; the others are around it.
var (
	center = geo.Point{Lat: 52.35, Lng: 4.90}
	near   = geo.Point{Lat: 52.352, Lng: 4.903}
	far    = geo.Point{Lat: 52.55, Lng: 4.90} // 22 km from center: another tile
)

const (
	north      = "north"
	radius     = 5_000.0
	wideRadius = 40_000.0
)

// pin returns a pin as decoded from an upstream's row.
func pin(id string, at geo.Point) live.Pin {
	return live.Pin{
		Entity: mapdata.Entity{ExternalID: id, Kind: 1, Point: at, Properties: []byte(`{}`), Digest: 1, Lifetime: live.Freshness},
		Prior:  mapdata.DefaultPrior,
	}
}

// answer returns north's current answer for center.
func (w *fixture) answer(pins ...live.Pin) *live.Answer {
	return &live.Answer{Upstream: north, Center: center, Radius: radius, At: w.now(), Pins: pins}
}

func (w *fixture) take(a *live.Answer) {
	w.Helper()
	if err := w.cache.Take(w.ctx(), a); err != nil {
		w.Fatal(err)
	}
}

// update takes north's answer for center.
func (w *fixture) update(pins ...live.Pin) {
	w.Helper()
	w.take(w.answer(pins...))
}

func (w *fixture) near(center geo.Point, radius float64, upstreams ...string) []*live.Pin {
	w.Helper()
	pins, err := w.cache.Near(w.ctx(), upstreams, center, radius, nil)
	if err != nil {
		w.Fatal(err)
	}
	return pins
}

func (w *fixture) find(id string, upstreams ...string) []*live.Pin {
	w.Helper()
	pins, err := w.cache.Find(w.ctx(), upstreams, id)
	if err != nil {
		w.Fatal(err)
	}
	return pins
}

// expectShown checks that Near and Find return exactly these of north's pins.
func (w *fixture) expectShown(ids ...string) {
	w.Helper()
	shown := make(map[string]int)
	for _, p := range w.near(center, wideRadius, north) {
		shown[p.ExternalID]++
	}
	for _, id := range ids {
		if shown[id] != 1 {
			w.Errorf("%s is shown %d times, want once", id, shown[id])
		}
		if got := w.find(id, north); len(got) != 1 || got[0].ExternalID != id {
			w.Errorf("%s is found %d times, want once", id, len(got))
		}
		delete(shown, id)
	}
	for id := range shown {
		w.Errorf("%s is shown, and must not", id)
		if got := w.find(id, north); len(got) == 0 {
			w.Errorf("%s is shown, but not found", id)
		}
	}
}

// expectHidden checks that Find does not return the pins.
func (w *fixture) expectHidden(ids ...string) {
	w.Helper()
	for _, id := range ids {
		if got := w.find(id, north); len(got) > 0 {
			w.Errorf("%s is found, and must not", id)
		}
	}
}

// onlyPin returns the pin with the id that Near returns.
func (w *fixture) onlyPin(id string) *live.Pin {
	w.Helper()
	var found *live.Pin
	for _, p := range w.near(center, wideRadius, north) {
		if p.ExternalID == id {
			found = p
		}
	}
	if found == nil {
		w.Fatalf("%s is not shown", id)
	}
	return found
}
