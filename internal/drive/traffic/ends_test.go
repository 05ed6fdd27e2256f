package traffic_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/roads/graph"
)

// watched is a Reader that counts reads, and fails while fail is set. A test looks at its counters only when the
// follower waits, which synctest.Wait ensures.
type watched struct {
	*pins
	fail                   atomic.Bool
	failed, circles, boxes int
}

func (r *watched) Read(ctx context.Context, area geo.Circle, within *geo.Box, kinds mapdata.KindSet, limit int, each func(*mapdata.Hit)) (bool, error) {
	if r.fail.Load() {
		r.failed++
		return false, errors.New("the cache cannot be reached")
	}
	if within == nil {
		r.circles++
	} else {
		r.boxes++
	}
	return r.pins.Read(ctx, area, within, kinds, limit, each)
}

// watch makes the world's follower read through a watched Reader, and returns that Reader.
func (w *world) watch() *watched {
	r := &watched{pins: &w.pins}
	w.Reader, w.Failed = r, func(error) {}
	return r
}

func closedUntil(at time.Time) string { return `{"ends_at":"` + at.Format(time.RFC3339) + `"}` }

func (w *world) countCosts() (count int) {
	for range w.State().Costs {
		count++
	}
	return count
}

// TestEndsAreNotLostWhenAReadFails checks that conditions that end in one instant all end once reads work again, even if
// there are too many of them to be read one by one.
func TestEndsAreNotLostWhenAReadFails(t *testing.T) {
	for _, count := range []int{1, 100, 4_100} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				r := w.watch()
				ends := time.Now().Add(time.Hour)
				for i := range count {
					w.pins.set(fmt.Sprint(i), "alert.road_closed", closedUntil(ends), place(float64(i%1000), float64(i/1000)*200))
				}
				w.run(t, func() {
					if w.State().Empty() {
						t.Fatal("nothing is closed")
					}
					time.Sleep(time.Hour - 10*time.Second)
					r.fail.Store(true)
					time.Sleep(15 * time.Second) // the ends lie in this time
					synctest.Wait()
					if r.failed == 0 {
						t.Fatal("no read failed")
					}
					r.fail.Store(false)
					time.Sleep(8 * time.Second) // the longest pause between attempts
					synctest.Wait()
					if left := w.countCosts(); left > 0 {
						t.Errorf("%d arcs are still closed", left)
					}
				})
			})
		})
	}
}

// TestChangesAreNotLostWhenAReadFails checks that changes that were notified while reads failed are read later, whatever
// came between.
func TestChangesAreNotLostWhenAReadFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		r := w.watch()
		w.run(t, func() {
			r.fail.Store(true)
			w.tell(w.pins.set("first", "alert.road_closed", `{}`, place(300, 200)))
			w.moved.Notify(mapdata.Touched{Returns: []mapdata.Return{{EntityID: "feed:x:hidden", At: time.Now().Add(20 * time.Second), Area: geo.Circle{Center: place(300, 600), Radius: 1}}}})
			w.tell(w.pins.set("second", "alert.road_closed", `{}`, place(300, 400)))
			time.Sleep(10 * time.Second)
			r.fail.Store(false)
			time.Sleep(8 * time.Second)
			synctest.Wait()
			w.want(t, "1,1 east", graph.Closed, graph.Closed)
			w.want(t, "1,2 east", graph.Closed, graph.Closed)
			w.pins.set("hidden", "alert.road_closed", `{}`, place(300, 600))
			time.Sleep(2 * time.Second)
			synctest.Wait()
			w.want(t, "1,3 east", graph.Closed, graph.Closed)
		})
	})
}

// TestFailedReadsAreRetriedLater checks the pauses between attempts: notifications do not shorten them, and the end of
// the context ends them.
func TestFailedReadsAreRetriedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		r := w.watch()
		w.run(t, func() {
			r.fail.Store(true)
			for range 600 { // at 0, 1, 3, 7, 15, 23, 31, 39, 47 and 55 s
				w.tell(geo.Circle{Center: place(300, 200), Radius: 1})
				time.Sleep(100 * time.Millisecond)
			}
			if r.failed != 10 {
				t.Errorf("%d attempts in a minute, want 10", r.failed)
			}
		})
	})
}

// TestOneProviderDelaysNoOther checks that the conditions of other providers end to the second while one provider moves
// the ends of its own with each push, 40 000 times (280 000 if WAYSIDE_TEST_FULL is set).
func TestOneProviderDelaysNoOther(t *testing.T) {
	rounds := 20
	if os.Getenv("WAYSIDE_TEST_FULL") != "" {
		rounds = 140
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		far := time.Now().Add(300 * 24 * time.Hour)
		mine := make([]string, 2_000)
		for i := range mine {
			mine[i] = fmt.Sprint("mine", i)
			w.pins.set(mine[i], "alert.construction", `{}`, place(float64(i%1000), float64(i/1000)*200))
		}
		w.run(t, func() {
			for round := range rounds {
				for _, id := range mine {
					h := w.pins.hits[id]
					h.ExpiresAt = far.Add(time.Duration(round) * time.Second).UnixMilli()
					w.pins.hits[id] = h
				}
				w.moved.Notify(mapdata.Touched{Everywhere: true})
				time.Sleep(time.Second)
				synctest.Wait()
			}
			ends := time.Now().Add(time.Hour)
			w.tell(w.pins.set("other", "alert.road_closed", closedUntil(ends), place(300, 1000)))
			time.Sleep(time.Until(ends) - time.Second)
			synctest.Wait()
			w.want(t, "1,5 east", graph.Closed, graph.Closed)
			time.Sleep(time.Second)
			synctest.Wait()
			w.want(t, "1,5 east", blockMS, blockMS)
		})
	})
}

// TestManyAreasAreReadAsOne checks that the follower reads up to 4 096 areas one by one, and rereads the whole network
// once if there are more.
func TestManyAreasAreReadAsOne(t *testing.T) {
	for count, boxes := range map[int]bool{1_000: false, 4_096: false, 4_097: true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			r := w.watch()
			w.run(t, func() {
				r.circles, r.boxes = 0, 0
				areas := make([]geo.Circle, count)
				for i := range areas {
					areas[i] = geo.Circle{Center: place(float64(i%1200), float64(i/1200)*200), Radius: 1}
				}
				w.moved.NotifyAreas(areas)
				synctest.Wait()
				if boxes && (r.boxes == 0 || r.circles > 0) || !boxes && (r.boxes > 0 || r.circles != count) {
					t.Errorf("%d areas were read as %d circles and %d boxes", count, r.circles, r.boxes)
				}
				// Areas far from the network are not read at all.
				r.circles, r.boxes = 0, 0
				for i := range areas {
					areas[i].Center = geo.Point{Lat: 46, Lng: 9}
				}
				w.moved.NotifyAreas(areas)
				synctest.Wait()
				if r.boxes+r.circles > 0 {
					t.Errorf("%d areas elsewhere were read as %d circles and %d boxes", count, r.circles, r.boxes)
				}
			})
		})
	}
}

// TestAwait checks that Await returns once the state shows all earlier notifications, or when its context ends.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		r := w.watch()
		w.run(t, func() {
			began := time.Now()
			w.Await(t.Context())
			w.moved.NotifyAreas([]geo.Circle{w.pins.set("a", "alert.road_closed", `{}`, place(300, 200))})
			w.Await(t.Context())
			w.want(t, "1,1 east", graph.Closed, graph.Closed)
			w.moved.NotifyAreas([]geo.Circle{{Center: geo.Point{Lat: -10}, Radius: 1}}) // changes nothing here
			w.Await(t.Context())
			if took := time.Since(began); took != 0 {
				t.Errorf("waited %v", took)
			}
			r.fail.Store(true)
			w.tell(w.pins.delete("a"))
			short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			began = time.Now()
			w.Await(short)
			if took := time.Since(began); took != 50*time.Millisecond {
				t.Errorf("a wait for what cannot be read took %v", took)
			}
			r.fail.Store(false)
			w.Await(t.Context())
			w.want(t, "1,1 east", blockMS, blockMS)
		})
	})
}
