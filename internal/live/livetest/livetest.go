package livetest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/geo"
	"wayside/internal/live"
	"wayside/internal/mapdata"
)

// Option says what a driver can do for its tests.
type Option func(*suite)

// WithClock is for drivers whose time the test may move: advance moves that of every driver that was opened. Without it,
// the tests move only the time of the rules, and wait for a driver's own.
func WithClock(advance func(time.Duration)) Option { return func(s *suite) { s.advance = advance } }

type suite struct {
	open    func(t *testing.T) live.Driver
	advance func(time.Duration) // nil: the driver's time cannot be moved
}

// Run holds a driver to its contract. open gives one over nothing stored, and closes it with the test.
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
		{"finding", findTests()},
		{"side by side", concurrencyTests()},
	}
	for _, area := range areas {
		t.Run(area.name, func(t *testing.T) {
			for name, test := range area.tests {
				t.Run(name, func(t *testing.T) { test(s.newFixture(t)) })
			}
		})
	}
}

// start is when each test's rules begin.
var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// fixture is the driver of one test, a cache over it and their clock.
type fixture struct {
	*testing.T
	driver  live.Driver
	cache   *live.Cache
	advance func(time.Duration)
	elapsed atomic.Int64
}

func (s suite) newFixture(t *testing.T) *fixture {
	w := &fixture{T: t, driver: s.open(t), advance: s.advance}
	w.cache = w.another()
	return w
}

// another makes a cache over the same driver, as another process would.
func (w *fixture) another() *live.Cache { return live.New(w.driver, encode, w.now) }

func encode(dst []byte, e *mapdata.Entity) []byte {
	return append(append(append(dst, e.ExternalID...), ' '), e.Properties...)
}

func (w *fixture) now() time.Time { return start.Add(time.Duration(w.elapsed.Load())) }

// pass advances the clock.
func (w *fixture) pass(d time.Duration) {
	w.elapsed.Add(int64(d))
	if w.advance != nil {
		w.advance(d)
	}
}

func (w *fixture) ctx() context.Context { return w.Context() }

// The center that the tests are about, some kilometres from the edges of tiles, and places around it.
var (
	center = geo.Point{Lat: 52.35, Lng: 4.90}
	near   = geo.Point{Lat: 52.352, Lng: 4.903}
	far    = geo.Point{Lat: 52.55, Lng: 4.90} // 22 km from center: another tile
)

const (
	north  = "north"
	radius = 5_000.0
	wide   = 40_000.0
)

// pin is a pin as an upstream's row makes it.
func pin(id string, at geo.Point) live.Pin {
	return live.Pin{
		Entity: mapdata.Entity{ExternalID: id, Kind: 1, Point: at, Properties: []byte(`{}`), Digest: 1, Lifetime: live.Freshness},
		Prior:  mapdata.DefaultPrior,
	}
}

// answer is what north says of the center just now.
func (w *fixture) answer(pins ...live.Pin) *live.Answer {
	return &live.Answer{Upstream: north, Center: center, Radius: radius, At: w.now(), Pins: pins}
}

func (w *fixture) take(a *live.Answer) {
	w.Helper()
	if err := w.cache.Take(w.ctx(), a); err != nil {
		w.Fatal(err)
	}
}

// says takes north's answer on the center.
func (w *fixture) says(pins ...live.Pin) {
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

// shows holds that readers are shown exactly these of north's pins, whichever way they look.
func (w *fixture) shows(ids ...string) {
	w.Helper()
	shown := make(map[string]int)
	for _, p := range w.near(center, wide, north) {
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

// hides holds that nobody finds the pins.
func (w *fixture) hides(ids ...string) {
	w.Helper()
	for _, id := range ids {
		if got := w.find(id, north); len(got) > 0 {
			w.Errorf("%s is found, and must not", id)
		}
	}
}

// the gives the one pin under the id that readers near the center are shown.
func (w *fixture) the(id string) *live.Pin {
	w.Helper()
	var found *live.Pin
	for _, p := range w.near(center, wide, north) {
		if p.ExternalID == id {
			found = p
		}
	}
	if found == nil {
		w.Fatalf("%s is not shown", id)
	}
	return found
}
