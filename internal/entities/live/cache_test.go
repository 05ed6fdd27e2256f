package live_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/live"
	"wayside/internal/entities/live/memory"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// recorder is a driver that records the writes made through it.
type recorder struct {
	live.Driver
	mu      sync.Mutex
	written map[string][]byte
	swaps   []string // keys, as often as they were swapped
	refuse  bool     // every swap
	fail    error    // of every call that writes
	failGet error
}

func record(now func() time.Time) *recorder {
	return &recorder{Driver: memory.New(now), written: make(map[string][]byte)}
}

func (r *recorder) Get(ctx context.Context, keys []string) ([][]byte, error) {
	if r.failGet != nil {
		return nil, r.failGet
	}
	return r.Driver.Get(ctx, keys)
}

func (r *recorder) Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.swaps = append(r.swaps, key)
	if r.refuse || r.fail != nil {
		return false, r.fail
	}
	r.written[key] = value
	return r.Driver.Swap(ctx, key, old, value, ttl)
}

func (r *recorder) tiles() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r.written)), func(key string) bool { return !strings.HasPrefix(key, "pins/") })
}

func take(t *testing.T, c *live.Cache, a *live.Answer) {
	t.Helper()
	if err := c.Take(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}

func near(t *testing.T, c *live.Cache) []*live.Pin {
	t.Helper()
	pins, err := c.Near(t.Context(), []string{"north"}, center, 20_000, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pins
}

// TestKeysAndValuesHoldNoDriverPosition checks that the values stored for two drivers' answers are the same if these have the same pins,
// and that an answer without pins stores nothing (D13.1).
func TestKeysAndValuesHoldNoDriverPosition(t *testing.T) {
	pins := answerOf(20, 500).Pins
	centers := []geo.Point{{Lat: 52.3512345678, Lng: 4.9012345678}, {Lat: 52.3487654321, Lng: 4.8987654321}}
	var stored []*recorder
	for _, center := range centers {
		r := record(noon)
		c := live.New(r, encode, noon)
		take(t, c, &live.Answer{Upstream: "north", Center: center, Radius: 7_654.321, At: noon()})
		if len(r.written) != 0 {
			t.Errorf("an answer without pins leaves %d keys", len(r.written))
		}
		take(t, c, &live.Answer{Upstream: "north", Center: center, Radius: 7_654.321, At: noon(), Pins: pins})
		stored = append(stored, r)
		for key, value := range r.written {
			for _, n := range []float64{center.Lat, center.Lng, 7_654.321} {
				if bytes.Contains(value, binary.LittleEndian.AppendUint64(nil, math.Float64bits(n))) {
					t.Errorf("%s holds %v", key, n)
				}
			}
		}
	}
	a, b := stored[0].written, stored[1].written
	if diff := cmp.Diff(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))); diff != "" {
		t.Errorf("keys differ:\n%s", diff)
	}
	for key := range a {
		x, y := a[key], b[key]
		if strings.HasPrefix(key, "pins/") {
			x, y = x[16:], y[16:] // the head is random
		}
		if !bytes.Equal(x, y) {
			t.Errorf("values of %s differ", key)
		}
	}
}

// TestRenewingWritesTilesOnly checks that an unchanged pin costs one write a tile, and one of its locator every five minutes.
func TestRenewingWritesTilesOnly(t *testing.T) {
	now := noon()
	clock := func() time.Time { return now }
	r := record(clock)
	c := live.New(r, encode, clock)
	a := answerOf(50, 5_000)
	locators := make([]int, 0, 12)
	for range 12 {
		r.swaps = nil
		a.At = now
		take(t, c, a)
		count := 0
		for _, key := range r.swaps {
			if strings.HasPrefix(key, "at/") {
				count++
			}
		}
		locators = append(locators, count)
		if tiles := len(r.swaps) - count; tiles != len(r.tiles()) {
			t.Errorf("%d writes for %d tiles", tiles, len(r.tiles()))
		}
		now = now.Add(time.Minute)
	}
	if diff := cmp.Diff([]int{50, 0, 0, 0, 0, 50, 0, 0, 0, 0, 50, 0}, locators); diff != "" {
		t.Errorf("locators written (-want +got):\n%s", diff)
	}
}

func TestOnlyChangedValuesAreParsed(t *testing.T) {
	encoded := 0
	c := live.New(memory.New(noon), func(dst []byte, e *mapdata.Entity) []byte {
		encoded++
		return encode(dst, e)
	}, noon)
	a := answerOf(50, 500)
	a.At = noon()
	take(t, c, a)
	first := near(t, c)
	for range 3 {
		if again := near(t, c); len(again) != 50 || again[0] != first[0] || encoded != 50 {
			t.Fatalf("%d pins, %d encoded", len(again), encoded)
		}
	}
	a.Pins = a.Pins[:49]
	take(t, c, a)
	if again := near(t, c); len(again) != 49 || encoded != 99 {
		t.Errorf("%d pins, %d encoded", len(again), encoded)
	}
}

func TestAFailingDriver(t *testing.T) {
	broken := errors.New("broken")
	r := record(noon)
	c := live.New(r, encode, noon)
	a := answerOf(5, 500)
	a.At = noon()
	r.fail = broken
	if err := c.Take(t.Context(), a); !errors.Is(err, broken) {
		t.Errorf("take: %v", err)
	}
	r.failGet, r.fail = broken, nil
	if err := c.Take(t.Context(), a); !errors.Is(err, broken) {
		t.Errorf("take: %v", err)
	}
	if _, err := c.Near(t.Context(), []string{"north"}, center, 500, nil); !errors.Is(err, broken) {
		t.Errorf("near: %v", err)
	}
	if _, err := c.Find(t.Context(), []string{"north"}, "a"); !errors.Is(err, broken) {
		t.Errorf("find: %v", err)
	}
}

func TestTakeFailsAfterTooManyConflicts(t *testing.T) {
	r := record(noon)
	r.refuse = true
	a := answerOf(1, 500)
	a.At = noon()
	if err := live.New(r, encode, noon).Take(t.Context(), a); !errors.Is(err, mapdata.ErrConflict) || len(r.swaps) > 100 {
		t.Errorf("after %d swaps: %v", len(r.swaps), err)
	}
}

// TestForeignValuesCountAsAbsent checks that a value of another version, or a corrupt one, hides only itself, and that the next answer
// overwrites it.
func TestForeignValuesCountAsAbsent(t *testing.T) {
	for name, spoil := range map[string]func([]byte) []byte{
		"another version": func(v []byte) []byte { v[0]++; return v },
		"cut":             func(v []byte) []byte { return v[:len(v)-1] },
		"very short":      func([]byte) []byte { return []byte{1} },
		"spoilt":          func(v []byte) []byte { v[len(v)-1] ^= 1; return v },
	} {
		t.Run(name, func(t *testing.T) {
			r := record(noon)
			c := live.New(r, encode, noon)
			a := answerOf(10, 500)
			a.At = noon()
			take(t, c, a)
			for key, value := range maps.Clone(r.written) {
				if done, err := r.Swap(t.Context(), key, value, spoil(bytes.Clone(value)), time.Hour); err != nil || !done {
					t.Fatal(done, err)
				}
			}
			if got := near(t, c); len(got) != 0 {
				t.Errorf("%d pins", len(got))
			}
			if got, err := c.Find(t.Context(), []string{"north"}, a.Pins[0].ExternalID); err != nil || len(got) != 0 {
				t.Errorf("found %d, %v", len(got), err)
			}
			take(t, c, a)
			if got := near(t, c); len(got) != 10 {
				t.Errorf("%d pins after the next answer", len(got))
			}
			if got, err := c.Find(t.Context(), []string{"north"}, a.Pins[0].ExternalID); err != nil || len(got) != 1 {
				t.Errorf("found %d, %v after the next answer", len(got), err)
			}
		})
	}
}

// TestErrorsHoldNoPosition checks that errors, which may be logged, contain no position (D13.1).
func TestErrorsHoldNoPosition(t *testing.T) {
	r := record(noon)
	r.refuse = true
	a := answerOf(3, 500)
	a.At = noon()
	c := live.New(r, encode, noon)
	_, far := c.Near(t.Context(), []string{"north"}, geo.Point{Lat: 91, Lng: 4.9}, 500, nil)
	for _, err := range []error{c.Take(t.Context(), a), far} {
		if err == nil || strings.ContainsAny(fmt.Sprint(err), "0123456789") {
			t.Errorf("error: %v", err)
		}
	}
}

// TestKeysArePlain checks that no name of an upstream and no external id can corrupt a key.
func TestKeysArePlain(t *testing.T) {
	for _, upstream := range []string{"", "a/b", "a b\n", "é\xff", "%2F"} {
		r := record(noon)
		a := answerOf(2, 500)
		a.At, a.Upstream, a.Pins[0].ExternalID = noon(), upstream, "x y/\n\x00é"
		take(t, live.New(r, encode, noon), a)
		for key := range r.written {
			want := 1
			if strings.HasPrefix(key, "pins/") {
				want = 3
			}
			if strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }) || strings.Count(key, "/") != want {
				t.Errorf("%q makes the key %q", upstream, key)
			}
		}
	}
}
