package stream_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
	"wayside/internal/ratelimit"
	"wayside/internal/stream"
)

func caller(n byte) ratelimit.Key {
	return ratelimit.AccountKey(ratelimit.Streams, mapdata.AccountID{15: n, 14: 1})
}

// looked counts the looks of a stream, by their cause.
type looked struct {
	moved, time, beats int
	at                 []time.Time
}

// looks is what a stream does.
type looks struct {
	mu   sync.Mutex
	so   looked
	next time.Time
}

// far is once everybody sleeps.
func (l *looks) far() looked {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.so
}

func (l *looks) look(cause stream.Cause) (time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.so.at = append(l.so.at, time.Now())
	if cause == stream.Moved {
		l.so.moved++
	} else {
		l.so.time++
	}
	return l.next, nil
}

func (l *looks) beat(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.so.beats++
	return nil
}

// watch follows a stream until the test ends.
func watch(t *testing.T, h *stream.Hub, area geo.Circle) (*stream.Stream, *looks) {
	t.Helper()
	s, err := h.Open(caller(byte(h.Len()/stream.PerCaller)), area)
	if err != nil {
		t.Fatal(err)
	}
	l := new(looks)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := s.Follow(ctx, time.Time{}, stream.Client{
			Look: func(_ context.Context, cause stream.Cause) (time.Time, error) { return l.look(cause) },
			Beat: l.beat,
		})
		if err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		s.Close()
	})
	return s, l
}

// TestStreamsNearAreWoken says that a touch reaches those whose circle it meets, and nobody else, also over the
// antimeridian and at the poles.
func TestStreamsNearAreWoken(t *testing.T) {
	for _, tt := range []struct {
		name             string
		watched, touched geo.Circle
		want             int
	}{
		{"inside", geo.Circle{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 1000}, geo.Circle{Center: geo.Point{Lat: 52.001, Lng: 5}}, 1},
		{"outside", geo.Circle{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 1000}, geo.Circle{Center: geo.Point{Lat: 52.02, Lng: 5}, Radius: 1000}, 0},
		{"edges meet", geo.Circle{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 1200}, geo.Circle{Center: geo.Point{Lat: 52.02, Lng: 5}, Radius: 1100}, 1},
		{"far and wide", geo.Circle{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 50_000}, geo.Circle{Center: geo.Point{Lat: 51.4, Lng: 5}, Radius: 20_000}, 1},
		{"antimeridian", geo.Circle{Center: geo.Point{Lat: -17, Lng: 179.999}, Radius: 1000}, geo.Circle{Center: geo.Point{Lat: -17, Lng: -179.999}}, 1},
		{"pole", geo.Circle{Center: geo.Point{Lat: 89.999, Lng: 0}, Radius: 1000}, geo.Circle{Center: geo.Point{Lat: 89.999, Lng: 180}}, 1},
		{"other end", geo.Circle{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 1000}, geo.Circle{Center: geo.Point{Lat: -52, Lng: -175}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := stream.New(stream.Config{Now: time.Now})
				_, l := watch(t, h, tt.watched)
				time.Sleep(time.Second)
				h.Touched(mapdata.Touched{Areas: []geo.Circle{tt.touched}})
				if l.far().moved != tt.want {
					t.Errorf("%d looks, want %d", l.far().moved, tt.want)
				}
			})
		})
	}
}

// TestTouchIsTheRule compares whom a touch wakes with a look at every stream.
func TestTouchIsTheRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		anchor := rapid.SampledFrom([]geo.Point{{Lat: 52, Lng: 5}, {Lat: 89.9, Lng: 10}, {Lat: -89.99, Lng: -170}, {Lat: 0, Lng: 180}, {Lat: 60, Lng: -179.9}}).Draw(t, "anchor")
		draw := func(name string) geo.Circle {
			lat := anchor.Lat + rapid.Float64Range(-1, 1).Draw(t, name+" lat")
			lng := anchor.Lng + rapid.Float64Range(-2, 2).Draw(t, name+" lng")*min(60, 1/math.Max(0.001, math.Cos(anchor.Lat*math.Pi/180)))
			return geo.Circle{
				Center: geo.Point{Lat: max(-90, min(90, lat)), Lng: math.Remainder(lng, 360)},
				Radius: rapid.Float64Range(1, 50_000).Draw(t, name+" radius"),
			}
		}
		h := stream.New(stream.Config{Now: time.Now})
		touched := draw("touched")
		for i := range rapid.IntRange(1, 20).Draw(t, "streams") {
			watched := draw("watched")
			s, err := h.Open(caller(byte(i)), watched)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			h.Touched(mapdata.Touched{Areas: []geo.Circle{touched}})
			got := stream.Woken(s)
			if !got && watched.Meets(touched) {
				t.Fatalf("%v is not told of %v", watched, touched)
			}
			watched.Radius += 10
			if got && !watched.Meets(touched) {
				t.Fatalf("%v is told of %v", watched, touched)
			}
		}
	})
}

// TestManyAreasWakeAll says that a stream is not overlooked when more was touched than each stream is held against.
func TestManyAreasWakeAll(t *testing.T) {
	h := stream.New(stream.Config{Now: time.Now})
	s, err := h.Open(caller(1), geo.Circle{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var areas []geo.Circle
	for i := range 1000 {
		areas = append(areas, geo.Circle{Center: geo.Point{Lat: 52.1 - float64(i)*0.0001, Lng: 5}})
	}
	h.Touched(mapdata.Touched{Areas: areas})
	if !stream.Woken(s) {
		t.Error("the last area was forgotten")
	}
}

// TestLooksAreSpaced says that a stream looks at once, and then four times a second at most, whatever is touched; and that
// nothing is lost by it.
func TestLooksAreSpaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := stream.New(stream.Config{Now: time.Now})
		area := geo.Circle{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 1000}
		_, l := watch(t, h, area)
		time.Sleep(time.Second)
		began := time.Now()
		for range 100 {
			h.Touched(mapdata.Touched{Areas: []geo.Circle{area}})
			time.Sleep(10 * time.Millisecond)
		}
		last := time.Now()
		time.Sleep(time.Second)
		if l.far().moved < 4 || l.far().moved > 6 {
			t.Errorf("%d looks in a second", l.far().moved)
		}
		if !l.far().at[0].Equal(began) {
			t.Errorf("the first look came after %v", l.far().at[0].Sub(began))
		}
		if end := l.far().at[len(l.far().at)-1]; end.Before(last.Add(-10 * time.Millisecond)) {
			t.Errorf("nobody looked after the last touch")
		}
	})
}

// TestTimeAndBeats says that a stream looks every five seconds, and is a sign of life within every 25.
func TestTimeAndBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := stream.New(stream.Config{Now: time.Now})
		_, l := watch(t, h, geo.Circle{Radius: 1})
		time.Sleep(time.Minute + time.Second)
		if l.far().time != 12 || l.far().beats != 3 || l.far().moved != 0 {
			t.Errorf("%d looks and %d beats in a minute, %d because of a touch", l.far().time, l.far().beats, l.far().moved)
		}
	})
}

// TestExpiriesAreLookedAt says that a stream looks when what its client has expires, and does not spin.
func TestExpiriesAreLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := stream.New(stream.Config{Now: time.Now})
		_, l := watch(t, h, geo.Circle{Radius: 1})
		due := time.Now().Add(2300 * time.Millisecond)
		l.mu.Lock()
		l.next = due
		l.mu.Unlock()
		h.Touched(mapdata.Touched{Everywhere: true})
		time.Sleep(2300*time.Millisecond + time.Nanosecond)
		if l.far().moved != 2 || !l.far().at[1].Equal(due) {
			t.Errorf("looked at %v, want %v", l.far().at, due)
		}
		time.Sleep(time.Second) // the client says again and again that it is due
		if l.far().moved > 2+5 {
			t.Errorf("%d looks within a second", l.far().moved)
		}
	})
}

// TestSuppressionsEnd says that what votes hide is looked for when it comes back.
func TestSuppressionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := stream.New(stream.Config{Now: time.Now})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.Run(ctx) }()
		area := geo.Circle{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 1000}
		_, near := watch(t, h, area)
		_, far := watch(t, h, geo.Circle{Radius: 1000})
		until := time.Now().Add(30*time.Minute + time.Millisecond)
		h.Touched(mapdata.Touched{Returns: []mapdata.Return{{At: until.Add(time.Hour), Area: area}, {At: until, Area: area}, {At: until, Area: area}}})
		time.Sleep(30 * time.Minute)
		if near.far().moved != 0 {
			t.Error("looked too early")
		}
		time.Sleep(2 * time.Millisecond)
		if near.far().moved != 1 || far.far().moved != 0 {
			t.Errorf("%d looks, and %d far away", near.far().moved, far.far().moved)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestVotesOnLiveIncidentsAreLocated says that a vote on a live incident wakes those around it, and that one which is not
// there wakes nobody.
func TestVotesOnLiveIncidentsAreLocated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here := geo.Point{Lat: 52, Lng: 5}
		police, _ := mapdata.ParseKind("alert.police")
		h := stream.New(stream.Config{Now: time.Now, Locate: func(_ context.Context, id string) (mapdata.Voted, error) {
			if id != "a" {
				return mapdata.Voted{}, mapdata.ErrNotFound
			}
			return mapdata.Voted{Entity: mapdata.Entity{Point: here, Kind: police}}, nil
		}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.Run(ctx) }()
		_, near := watch(t, h, geo.Circle{Center: here, Radius: 100})
		_, far := watch(t, h, geo.Circle{Center: geo.Point{Lat: 53}, Radius: 100})
		time.Sleep(time.Second)
		h.Touched(mapdata.Touched{Live: []mapdata.Tally{{ExternalID: "moose"}, {ExternalID: "a", Disputes: 3, LastDisputeAt: time.Now()}}})
		if near.far().moved != 1 || far.far().moved != 0 {
			t.Errorf("%d looks, and %d far away", near.far().moved, far.far().moved)
		}
		time.Sleep(30*time.Minute + time.Second)
		if near.far().moved != 2 {
			t.Errorf("%d looks after the suppression", near.far().moved)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestLimits says who may open how many.
func TestLimits(t *testing.T) {
	h := stream.New(stream.Config{Now: time.Now})
	open := func(n int) (*stream.Stream, error) {
		key := caller(byte(n))
		if n >= 256 {
			key = ratelimit.AccountKey(ratelimit.Streams, mapdata.AccountID{15: byte(n), 13: byte(n >> 8)})
		}
		return h.Open(key, geo.Circle{Radius: 1})
	}
	var mine []*stream.Stream
	for range stream.PerCaller {
		s, err := open(1)
		if err != nil {
			t.Fatal(err)
		}
		mine = append(mine, s)
	}
	var limit *mapdata.LimitError
	if _, err := open(1); !errors.As(err, &limit) || limit.RetryAfter <= 0 {
		t.Errorf("the fifth: %v", err)
	}
	mine[0].Close()
	if s, err := open(1); err != nil {
		t.Errorf("after one was closed: %v", err)
	} else {
		mine[0] = s
	}
	all := mine
	for i := range stream.AtOnce - stream.PerCaller {
		s, err := open(2 + i/stream.PerCaller)
		if err != nil {
			t.Fatalf("stream %d: %v", i, err)
		}
		all = append(all, s)
	}
	if _, err := open(1 << 15); !errors.Is(err, mapdata.ErrUnavailable) {
		t.Errorf("one too many: %v", err)
	}
	for _, s := range all {
		s.Close()
	}
	if got := stream.Held(h); h.Len() != 0 || got != "0 callers, 0 cubes" {
		t.Errorf("something stays behind: %d, %s", h.Len(), got)
	}
}

// TestTheEnd says that all streams end when the hub does, and that nobody opens another.
func TestTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := stream.New(stream.Config{Now: time.Now})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.Run(ctx) }()
		s, err := h.Open(caller(1), geo.Circle{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ended := make(chan error)
		go func() {
			ended <- s.Follow(t.Context(), time.Time{}, stream.Client{})
		}()
		cancel()
		if err := errors.Join(<-done, <-ended); err != nil {
			t.Error(err)
		}
		if _, err := h.Open(caller(2), geo.Circle{}); !errors.Is(err, mapdata.ErrUnavailable) {
			t.Errorf("after the end: %v", err)
		}
	})
}

func BenchmarkTouched(b *testing.B) {
	h := stream.New(stream.Config{Now: time.Now})
	for i := range 10_000 {
		key := ratelimit.AccountKey(ratelimit.Streams, mapdata.AccountID{15: byte(i), 14: byte(i >> 8)})
		if _, err := h.Open(key, geo.Circle{Center: geo.Point{Lat: 52 + float64(i%100)*0.002, Lng: 5 + float64(i/100)*0.003}, Radius: 5000}); err != nil {
			b.Fatal(err)
		}
	}
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var areas []geo.Circle
			for i := range n {
				areas = append(areas, geo.Circle{Center: geo.Point{Lat: 52 + float64(i%100)*0.002, Lng: 5 + float64(i/100)*0.003}, Radius: 1700})
			}
			for b.Loop() {
				stream.Sleep(h)
				h.Touched(mapdata.Touched{Areas: areas})
			}
		})
	}
}
