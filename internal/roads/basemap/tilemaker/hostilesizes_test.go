//go:build !race

package tilemaker

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// TestHostileSizes makes maps of much in one place, and of little in many, within a minute of a processor each.
func TestHostileSizes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func(x *extract){
		"one tile full of houses": func(x *extract) {
			for range 60_000 {
				x.node(35.9+random.Float64()/200, 14.4+random.Float64()/200, "addr:housenumber", "12345678901234567890")
			}
			x.way(x.line(35.9, 14.4, 35.9, 14.401), "highway", "residential")
		},
		"a way to and fro": func(x *extract) {
			a := x.line(35.9, 14.4, 36, 14.6, 35.8, 14.2, 35.95, 14.3)
			var refs []int64
			for i := range 100_000 {
				refs = append(refs, a[i%len(a)])
			}
			x.way(refs, "highway", "primary", "name", "To and fro")
		},
		"an area of spikes": func(x *extract) {
			var at []float64
			for i := range 5_000 {
				angle := float64(i) / 5000 * 2 * math.Pi
				r := 0.01 + 0.2*random.Float64()
				at = append(at, 35.9+r*math.Sin(angle), 14.4+r*math.Cos(angle))
			}
			x.way(x.ring(at...), "natural", "wood")
			x.way(x.line(35.9, 14.4, 35.9, 14.401), "highway", "residential")
		},
		"an area that crosses itself everywhere": func(x *extract) {
			var at []float64
			for range 20_000 {
				at = append(at, 35.9+random.Float64()/10, 14.4+random.Float64()/10)
			}
			x.way(x.ring(at...), "natural", "wood")
			x.way(x.line(35.9, 14.4, 35.9, 14.401), "highway", "residential")
		},
		"a relation of thousands of rings, again and again": func(x *extract) {
			var ways []int64
			for i := range 5_000 {
				lat, lng := 35.9+float64(i%100)/1000, 14.4+float64(i/100)/1000
				ways = append(ways, x.way(x.ring(lat, lng, lat+0.0005, lng, lat, lng+0.0005)))
			}
			for range 10 {
				x.area(ways, "natural", "wood")
			}
			x.way(x.line(35.9, 14.4, 35.9, 14.401), "highway", "residential")
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := new(extract)
			draw(x)
			f := x.open(t)
			began := roadtest.ProcessorTime(t)
			archive, counts, err := Make(t.Context(), []*osmpbf.File{f}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			took := roadtest.ProcessorTime(t) - began
			t.Logf("%.1f s for %d bytes, %d bytes of tiles, left out %v", took.Seconds(), f.Size(), len(archive), counts.LeftOut)
			if took > time.Minute {
				t.Errorf("it took %v", took)
			}
			for at, data := range differentTiles(allTiles(t, archive)) {
				checkTile(t, at, data)
			}
		})
	}
}
