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

	"wayside/internal/entities/stream"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/ground/signal"
)

func callerKey(n byte) ratelimit.Key {
	return ratelimit.AccountKey(ratelimit.Streams, mapdata.AccountID{15: n, 14: 1})
}

// counts holds the numbers of a stream's updates, by their cause, and of its heartbeats.
type counts struct {
	changed, periodic, heartbeats int
	at                            []time.Time
}

// recorder is a client that counts.
type recorder struct {
	mu     sync.Mutex
	counts counts
	next   time.Time
}

// wait returns the counts once all goroutines of the bubble are blocked.
func (l *recorder) wait() counts {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

func (l *recorder) update(cause stream.Cause) (time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts.at = append(l.counts.at, time.Now())
	if cause == stream.Changed {
		l.counts.changed++
	} else {
		l.counts.periodic++
	}
	return l.next, nil
}

func (l *recorder) heartbeat(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts.heartbeats++
	return nil
}

// openStream runs a stream until the test ends.
func openStream(t *testing.T, h *stream.Hub, area geo.Circle) (*stream.Stream, *recorder) {
	t.Helper()
	s, err := h.Open(callerKey(byte(h.Len()/stream.MaxPerCaller)), area)
	if err != nil {
		t.Fatal(err)
	}
	l := new(recorder)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := s.Run(ctx, time.Time{}, stream.Client{
			Update:    func(_ context.Context, cause stream.Cause) (time.Time, error) { return l.update(cause) },
			Heartbeat: l.heartbeat,
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

// TestTouchedWakesStreamsThatMeet checks that a change wakes the streams whose circle it meets and no others, also across the
// antimeridian and at the poles.
func TestTouchedWakesStreamsThatMeet(t *testing.T) {
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
				_, l := openStream(t, h, tt.watched)
				time.Sleep(time.Second)
				h.Touched(mapdata.Touched{Areas: []geo.Circle{tt.touched}})
				if l.wait().changed != tt.want {
					t.Errorf("%d updates, want %d", l.wait().changed, tt.want)
				}
			})
		})
	}
}

// TestTouchedMatchesBruteForce compares the woken streams with a comparison of all circles.
func TestTouchedMatchesBruteForce(t *testing.T) {
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
			s, err := h.Open(callerKey(byte(i)), watched)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			h.Touched(mapdata.Touched{Areas: []geo.Circle{touched}})
			got := stream.TakeWakeup(s)
			if !got && watched.Meets(touched) {
				t.Fatalf("%v is not woken by %v", watched, touched)
			}
			watched.Radius += 10
			if got && !watched.Meets(touched) {
				t.Fatalf("%v is woken by %v", watched, touched)
			}
		}
	})
}

// TestManyTouchedAreasWakeAllStreamsOfACube checks that a stream is woken even if more areas changed than are compared with it.
func TestManyTouchedAreasWakeAllStreamsOfACube(t *testing.T) {
	h := stream.New(stream.Config{Now: time.Now})
	s, err := h.Open(callerKey(1), geo.Circle{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var areas []geo.Circle
	for i := range 1000 {
		areas = append(areas, geo.Circle{Center: geo.Point{Lat: 52.1 - float64(i)*0.0001, Lng: 5}})
	}
	h.Touched(mapdata.Touched{Areas: areas})
	if !stream.TakeWakeup(s) {
		t.Error("the last area did not wake the stream")
	}
}

// TestUpdatesAreRateLimited checks that a stream updates immediately, then at most four times a second, and always after the last
// change.
func TestUpdatesAreRateLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := stream.New(stream.Config{Now: time.Now})
		area := geo.Circle{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 1000}
		_, l := openStream(t, h, area)
		time.Sleep(time.Second)
		began := time.Now()
		for range 100 {
			h.Touched(mapdata.Touched{Areas: []geo.Circle{area}})
			time.Sleep(10 * time.Millisecond)
		}
		last := time.Now()
		time.Sleep(time.Second)
		if l.wait().changed < 4 || l.wait().changed > 6 {
			t.Errorf("%d updates in a second", l.wait().changed)
		}
		if !l.wait().at[0].Equal(began) {
			t.Errorf("the first update came after %v", l.wait().at[0].Sub(began))
		}
		if end := l.wait().at[len(l.wait().at)-1]; end.Before(last.Add(-10 * time.Millisecond)) {
			t.Errorf("there is no update after the last change")
		}
	})
}

// TestPeriodicUpdatesAndHeartbeats checks that without any change, a stream updates every 5 s and sends a heartbeat every 20 s.
func TestPeriodicUpdatesAndHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := stream.New(stream.Config{Now: time.Now})
		_, l := openStream(t, h, geo.Circle{Radius: 1})
		time.Sleep(time.Minute + time.Second)
		if l.wait().periodic != 12 || l.wait().heartbeats != 3 || l.wait().changed != 0 {
			t.Errorf("%d updates and %d heartbeats in a minute, %d because of a change", l.wait().periodic, l.wait().heartbeats, l.wait().changed)
		}
	})
}

// TestStreamUpdatesAtExpiry checks that a stream updates when an entity expires that its client has, and does not spin if the
// client keeps returning the same expiry.
func TestStreamUpdatesAtExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := stream.New(stream.Config{Now: time.Now})
		_, l := openStream(t, h, geo.Circle{Radius: 1})
		due := time.Now().Add(2300 * time.Millisecond)
		l.mu.Lock()
		l.next = due
		l.mu.Unlock()
		h.Touched(mapdata.Touched{Everywhere: true})
		time.Sleep(2300*time.Millisecond + time.Nanosecond)
		if l.wait().changed != 2 || !l.wait().at[1].Equal(due) {
			t.Errorf("updates at %v, want %v", l.wait().at, due)
		}
		time.Sleep(time.Second) // the client keeps returning a time that has passed
		if l.wait().changed > 2+5 {
			t.Errorf("%d updates within a second", l.wait().changed)
		}
	})
}

// TestStreamUpdatesWhenASuppressionEnds checks that the streams around an entity that votes hide are woken when it is shown again.
func TestStreamUpdatesWhenASuppressionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := stream.New(stream.Config{Now: time.Now})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.Run(ctx) }()
		area := geo.Circle{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 1000}
		_, near := openStream(t, h, area)
		_, far := openStream(t, h, geo.Circle{Radius: 1000})
		until := time.Now().Add(30*time.Minute + time.Millisecond)
		h.Touched(mapdata.Touched{Returns: []mapdata.Return{{At: until.Add(time.Hour), Area: area}, {At: until, Area: area}, {At: until, Area: area}}})
		time.Sleep(30 * time.Minute)
		if near.wait().changed != 0 {
			t.Error("the update is too early")
		}
		time.Sleep(2 * time.Millisecond)
		if near.wait().changed != 1 || far.wait().changed != 0 {
			t.Errorf("%d updates, and %d far away", near.wait().changed, far.wait().changed)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestVoteOnLiveIncidentWakesStreamsAround checks that a vote on a live incident wakes the streams around it, and one on an unknown
// incident wakes none.
func TestVoteOnLiveIncidentWakesStreamsAround(t *testing.T) {
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
		_, near := openStream(t, h, geo.Circle{Center: here, Radius: 100})
		_, far := openStream(t, h, geo.Circle{Center: geo.Point{Lat: 53}, Radius: 100})
		time.Sleep(time.Second)
		h.Touched(mapdata.Touched{Live: []mapdata.Tally{{ExternalID: "moose"}, {ExternalID: "a", Disputes: 3, LastDisputeAt: time.Now()}}})
		if near.wait().changed != 1 || far.wait().changed != 0 {
			t.Errorf("%d updates, and %d far away", near.wait().changed, far.wait().changed)
		}
		time.Sleep(30*time.Minute + time.Second)
		if near.wait().changed != 2 {
			t.Errorf("%d updates after the suppression", near.wait().changed)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestHubWithoutLiveIncidents checks that a vote on a live incident is ignored by a hub without live incidents.
func TestHubWithoutLiveIncidents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := stream.New(stream.Config{Now: time.Now})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.Run(ctx) }()
		_, near := openStream(t, h, geo.Circle{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 100})
		time.Sleep(time.Second)
		h.Touched(mapdata.Touched{Live: []mapdata.Tally{{ExternalID: "a"}}})
		if got := near.wait().changed; got != 0 {
			t.Errorf("%d updates", got)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestMovedWakesStreams checks that Run wakes streams for the changes that Moved delivers, also while the live cache does not
// answer.
func TestMovedWakesStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here := geo.Circle{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 100}
		moved := signal.NewMoved()
		h := stream.New(stream.Config{Now: time.Now, Moved: moved, Locate: func(ctx context.Context, _ string) (mapdata.Voted, error) {
			<-ctx.Done()
			return mapdata.Voted{}, ctx.Err()
		}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.Run(ctx) }()
		_, near := openStream(t, h, here)
		_, far := openStream(t, h, geo.Circle{Center: geo.Point{Lat: 53}, Radius: 100})
		time.Sleep(time.Second)
		h.Touched(mapdata.Touched{Live: []mapdata.Tally{{ExternalID: "a"}}})
		synctest.Wait()
		moved.NotifyAreas([]geo.Circle{here})
		if near.wait().changed != 1 || far.wait().changed != 0 {
			t.Errorf("%d updates, and %d far away", near.wait().changed, far.wait().changed)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestOpenLimits checks that a caller may open four streams, all callers together 20 000, and that closed ones are removed.
func TestOpenLimits(t *testing.T) {
	h := stream.New(stream.Config{Now: time.Now})
	open := func(n int) (*stream.Stream, error) {
		key := callerKey(byte(n))
		if n >= 256 {
			key = ratelimit.AccountKey(ratelimit.Streams, mapdata.AccountID{15: byte(n), 13: byte(n >> 8)})
		}
		return h.Open(key, geo.Circle{Radius: 1})
	}
	var mine []*stream.Stream
	for range 4 {
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
	if _, err := open(1); !errors.As(err, &limit) {
		t.Errorf("the fifth, once one was closed and another one opened: %v", err)
	}
	all := mine
	for i := range 20_000 - 4 {
		s, err := open(2 + i/4)
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
	if got := stream.Contents(h); h.Len() != 0 || got != "0 callers, 0 cubes, 0 watchers of apps" {
		t.Errorf("after all were closed: %d, %s", h.Len(), got)
	}
}

// TestCallersAreCheckedAgain checks that a change of an account makes its streams, and no others, check their callers, and that a
// stream goes on unless the check fails.
func TestCallersAreCheckedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := stream.New(stream.Config{Now: time.Now})
		account, area := mapdata.AccountID{15: 1}, geo.Circle{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 1000}
		s, err := h.Open(ratelimit.AccountKey(ratelimit.Streams, account), area)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		errEnded := errors.New("the session has ended")
		var verdict error
		checks, l, ended := 0, new(recorder), make(chan error, 1)
		go func() {
			ended <- s.Run(t.Context(), time.Time{}, stream.Client{
				Update:      func(_ context.Context, cause stream.Cause) (time.Time, error) { return l.update(cause) },
				Heartbeat:   l.heartbeat,
				CheckCaller: func(context.Context) error { checks++; return verdict },
			})
		}()
		for i, who := range []mapdata.AccountID{{15: 2}, account} {
			h.Touched(mapdata.Touched{Accounts: []mapdata.AccountID{who}})
			if synctest.Wait(); checks != i {
				t.Errorf("%d checks after a change of account %d", checks, i)
			}
		}
		h.Touched(mapdata.Touched{Areas: []geo.Circle{area}})
		if time.Sleep(time.Second); l.wait().changed != 1 {
			t.Errorf("%d updates after a check that was passed", l.wait().changed)
		}
		verdict = errEnded
		h.Touched(mapdata.Touched{Accounts: []mapdata.AccountID{account}})
		if err := <-ended; !errors.Is(err, errEnded) {
			t.Errorf("the stream ends with %v", err)
		}
	})
}

// TestHubEndsItsStreams checks that all streams end when the hub stops, and that none can be opened afterwards.
func TestHubEndsItsStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := stream.New(stream.Config{Now: time.Now})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.Run(ctx) }()
		s, err := h.Open(callerKey(1), geo.Circle{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ended := make(chan error)
		go func() {
			ended <- s.Run(t.Context(), time.Time{}, stream.Client{})
		}()
		cancel()
		if err := errors.Join(<-done, <-ended); err != nil {
			t.Error(err)
		}
		if _, err := h.Open(callerKey(2), geo.Circle{}); !errors.Is(err, mapdata.ErrUnavailable) {
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
				stream.ClearWakeups(h)
				h.Touched(mapdata.Touched{Areas: areas})
			}
		})
	}
}
