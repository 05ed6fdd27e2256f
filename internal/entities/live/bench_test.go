package live_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"wayside/internal/entities/live"
	"wayside/internal/entities/live/memory"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

var center = geo.Point{Lat: 52.35, Lng: 4.9}

// answerOf returns an answer with count pins in the circle around center.
func answerOf(count int, radius float64) *live.Answer {
	random := rand.New(rand.NewPCG(1, 2))
	a := &live.Answer{Upstream: "north", Center: center, Radius: radius, At: time.Now()}
	for len(a.Pins) < count {
		span := radius / 111_000
		at := geo.Point{Lat: center.Lat + (2*random.Float64()-1)*span, Lng: center.Lng + (2*random.Float64()-1)*span*1.6}
		if geo.Distance(center, at) > radius*0.99 {
			continue
		}
		a.Pins = append(a.Pins, live.Pin{Prior: 0.5, Entity: mapdata.Entity{
			ExternalID: fmt.Sprintf("incident-%06d", len(a.Pins)), Kind: 1, Point: at, Digest: uint64(len(a.Pins)),
			Properties: []byte(`{"street":"Damrak","confidence":0.7,"reliability":7,"text":"stopped on the right lane"}`),
		}})
	}
	return a
}

func encode(dst []byte, e *mapdata.Entity) []byte {
	return append(append(append(dst, e.ExternalID...), ' '), e.Properties...)
}

// noon returns a constant time, so that the values of a benchmark stay fresh.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func BenchmarkNear(b *testing.B) {
	for _, radius := range []float64{5_000, 50_000} {
		for _, count := range []int{0, 300} {
			b.Run(fmt.Sprintf("%v km, %d pins", radius/1000, count), func(b *testing.B) {
				c := live.New(memory.New(noon), encode, noon)
				a := answerOf(count, radius)
				a.At = noon()
				if err := c.Take(b.Context(), a); err != nil {
					b.Fatal(err)
				}
				var pins []*live.Pin
				b.ReportAllocs()
				for b.Loop() {
					var err error
					if pins, err = c.Near(b.Context(), []string{"north"}, center, radius, pins[:0]); err != nil || len(pins) != count {
						b.Fatal(len(pins), err)
					}
				}
			})
		}
	}
}

func BenchmarkTake(b *testing.B) {
	for _, radius := range []float64{5_000, 50_000} {
		b.Run(fmt.Sprintf("%v km, 300 pins", radius/1000), func(b *testing.B) {
			c := live.New(memory.New(noon), encode, noon)
			a := answerOf(300, radius)
			a.At = noon()
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Take(b.Context(), a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkNearAfterTake measures the first read after a new answer.
func BenchmarkNearAfterTake(b *testing.B) {
	c := live.New(memory.New(noon), encode, noon)
	a := answerOf(300, 5000)
	a.At = noon()
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		if err := c.Take(b.Context(), a); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := c.Near(b.Context(), []string{"north"}, center, 5000, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	c := live.New(memory.New(noon), encode, noon)
	a := answerOf(300, 5000)
	a.At = noon()
	if err := c.Take(b.Context(), a); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if pins, err := c.Find(b.Context(), []string{"north"}, "incident-000123"); err != nil || len(pins) != 1 {
			b.Fatal(len(pins), err)
		}
	}
}
