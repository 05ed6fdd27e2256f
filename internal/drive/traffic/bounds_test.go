package traffic_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/drive/traffic"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/roads/graph"
)

// TestMergeDistance checks that pins up to 285 m from a change are read again, because a pin that was merged into a
// removed one becomes a condition of its own.
func TestMergeDistance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.run(t, func() {
			w.tell(w.pins.set("shown", "alert.accident", `{}`, place(300, 200)))
			gone := w.pins.delete("shown")
			w.pins.set("was merged", "alert.road_closed", `{}`, place(585, 205)) // 285 m away, and never announced itself
			w.tell(gone)
			w.want(t, "2,1 east", graph.Closed, graph.Closed)
		})
	})
}

// TestGravestEffect checks that among merged pins that close, slow and delay, the gravest effect counts, whichever pin
// is shown.
func TestGravestEffect(t *testing.T) {
	kinds := []string{"alert.road_closed", "traffic.jam", "alert.accident"} // the gravest first
	for i, shown := range kinds {
		for k, merged := range kinds {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				kind, _ := mapdata.ParseKind(merged)
				other := mapdata.Entity{ExternalID: "other", Kind: kind, Point: place(310, 200), Properties: []byte(`{}`)}
				w.pins.set("a", shown, `{}`, place(300, 200), func(h *mapdata.Hit) {
					h.Merged = []mapdata.MergedID{{Source: "feed:y", ExternalID: []byte("other"), Prepared: wire.EncodeEntity(nil, &other), Point: other.Point, Kind: kind}}
				})
				w.run(t, func() {
					want := []uint32{graph.Closed, 3 * blockMS, blockMS + 90_000}[min(i, k)]
					w.want(t, "1,1 east", want, want)
				})
			})
		}
	}
}

// TestDescriptions checks that a description is cut at 300 characters.
func TestDescriptions(t *testing.T) {
	for length, want := range map[int]int{299: 299, 300: 300, 301: 300, 3000: 300} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.pins.set("a", "alert.road_closed", `{"description":"`+strings.Repeat("é", length)+`"}`, place(300, 200))
			w.run(t, func() {
				for c := range w.State().Conditions(w.town.g.Pieces[w.town.roads["1,1 east"]].Forward).All() {
					if got := len([]rune(c.Description)); got != want {
						t.Errorf("%d characters of %d are kept, want %d", got, length, want)
					}
				}
			})
		})
	}
}

// counted is a Router that counts its updates.
type counted struct {
	weights
	updates int
}

func (r *counted) Update(ctx context.Context, changed []traffic.Cost, s *traffic.State) error {
	r.updates++
	return r.weights.Update(ctx, changed, s)
}

// TestRounds checks that lines are published in rounds of some 10 000 places while they are matched: 600 lines of 1 km
// have 204 places each, and a closure that is pushed in between waits for at most one round.
func TestRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		r := &counted{weights: weights{now: map[uint32]uint32{}}}
		w.Router = r
		w.run(t, func() {
			r.updates = 0
			for i := range 600 {
				w.pins.set(fmt.Sprint("line", i), "traffic.jam", fmt.Sprintf(`{"line":[[9,45.00001],[%v,45.00001]]}`, place(1000, 0).Lng), place(float64(i), 0))
			}
			w.tell(geo.Circle{Center: place(300, 0), Radius: 1000})
			if r.updates < 6 || r.updates > 20 {
				t.Errorf("600 lines were published in %d rounds, want some 12", r.updates)
			}
			for i := range 5 {
				w.want(t, fmt.Sprintf("%d,0 east", i), 3*blockMS, blockMS)
			}
		})
	})
}

// TestAppliesOnAnyArc checks that an explanation finds a condition in force if it shares any arc with the state, because
// the state keeps an earlier line until the new one is matched.
func TestAppliesOnAnyArc(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		line := func(from, to float64) string {
			return fmt.Sprintf(`{"line":[[%v,45.00001],[%v,45.00001]]}`, place(from, 0).Lng, place(to, 0).Lng)
		}
		w.pins.set("a", "alert.road_closed", line(200, 800), place(500, 0))
		w.pins.set("elsewhere", "alert.road_closed", `{}`, place(500, 600))
		w.run(t, func() {
			w.pins.set("a", "alert.road_closed", line(0, 800), place(500, 0)) // it begins one block earlier, and the follower has not been notified yet
			w.pins.set("new", "alert.road_closed", line(0, 800), place(500, 0))
			x, err := w.Network.Explain(t.Context(), &w.pins, w.State(), geo.Circle{Center: place(500, 0), Radius: 700}, 10, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for _, c := range x.Conditions {
				got[c.EntityID] = c.Applies
			}
			if len(got) != 3 || !got[mapdata.EntityID("feed:x", "a")] || !got[mapdata.EntityID("feed:x", "elsewhere")] || got[mapdata.EntityID("feed:x", "new")] {
				t.Errorf("in force: %v", got)
			}
		})
	})
}

// TestAppliesIfMerged checks that an explanation finds a condition in force if guests see it merged into another one.
func TestAppliesIfMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		kind, _ := mapdata.ParseKind("alert.road_closed")
		other := mapdata.Entity{ExternalID: "other", Kind: kind, Point: place(310, 200), Properties: []byte(`{}`)}
		w.pins.set("a", "alert.road_closed", `{}`, place(300, 200), func(h *mapdata.Hit) {
			h.Merged = []mapdata.MergedID{{Source: "feed:x", ExternalID: []byte("other"), Prepared: wire.EncodeEntity(nil, &other), Point: other.Point, Kind: kind}}
		})
		w.run(t, func() {
			own := new(pins)
			own.set("other", "alert.road_closed", fmt.Sprintf(`{"line":[[%v,%v],[%v,%v]]}`, place(0, 200).Lng, place(0, 201).Lat, place(600, 200).Lng, place(600, 201).Lat), place(310, 200))
			x, err := w.Network.Explain(t.Context(), own, w.State(), geo.Circle{Center: place(310, 200), Radius: 20}, 10, time.Now())
			if err != nil || !slices.ContainsFunc(x.Conditions, func(c traffic.Explained) bool { return c.Applies }) {
				t.Errorf("a merged pin is not in force: %+v, %v", x.Conditions, err)
			}
		})
	})
}
