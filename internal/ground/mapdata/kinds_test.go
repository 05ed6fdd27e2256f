package mapdata_test

import (
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestCatalogue compares the list of kinds with D2.1 and D2.3.
func TestCatalogue(t *testing.T) {
	const h, d = time.Hour, 24 * time.Hour
	want := []struct {
		id              string
		normal, longest time.Duration
	}{
		{"alert.police", h, 4 * h},
		{"alert.accident", 2 * h, 12 * h},
		{"alert.road_closed", 24 * h, 180 * d},
		{"alert.construction", 7 * d, 180 * d},
		{"alert.hazard", 2 * h, 24 * h},
		{"alert.hazard.car_stopped", h, 12 * h},
		{"alert.hazard.object_on_road", 2 * h, 24 * h},
		{"alert.hazard.pothole", 7 * d, 90 * d},
		{"alert.hazard.animal", 30 * time.Minute, 12 * h},
		{"alert.hazard.fog", 2 * h, 24 * h},
		{"alert.hazard.ice", 4 * h, 24 * h},
		{"alert.hazard.flooding", 6 * h, 14 * d},
		{"camera.speed", 0, 0},
		{"camera.red_light", 0, 0},
		{"camera.avg_speed", 0, 0},
		{"charger.supercharger", 0, 0},
		{"charger.destination", 0, 0},
		{"traffic.jam", 20 * time.Minute, 4 * h},
	}
	if mapdata.KindCount != 18 || len(want) != 18 {
		t.Fatalf("the catalogue has %d kinds, this table %d; want 18", mapdata.KindCount, len(want))
	}
	for _, w := range want {
		t.Run(w.id, func(t *testing.T) {
			k, ok := mapdata.ParseKind(w.id)
			if !ok || k.ID() != w.id {
				t.Fatal("not in the catalogue")
			}
			if got := k.Lifetime(0); got != w.normal {
				t.Errorf("default lifetime %v, want %v", got, w.normal)
			}
			if k.Persistent() != (w.normal == 0) {
				t.Errorf("persistent: %v", k.Persistent())
			}
			// D2.4: a longer ttl is cut; a persistent kind with a ttl does expire.
			if w.longest == 0 {
				if got := k.Lifetime(1000 * d); got != 1000*d {
					t.Errorf("a ttl of 1000 days became %v", got)
				}
				return
			}
			if got := k.Lifetime(w.longest + time.Second); got != w.longest {
				t.Errorf("a ttl beyond the longest became %v, want %v", got, w.longest)
			}
			if got := k.Lifetime(w.longest - time.Second); got != w.longest-time.Second {
				t.Errorf("a ttl below the longest became %v", got)
			}
			wantMerge := 120.0
			if w.id == "traffic.jam" {
				wantMerge = 300
			}
			if got := k.Info().MergeDistance; got != wantMerge {
				t.Errorf("merge distance %v m, want %v (D10.2)", got, wantMerge)
			}
		})
	}
}

func TestSelectKinds(t *testing.T) {
	count := func(s mapdata.KindSet) int {
		n := 0
		for k := range mapdata.Kind(mapdata.KindCount) {
			if s.Has(k) {
				n++
			}
		}
		return n
	}
	tests := []struct {
		id   string
		want int
	}{
		{"alert.hazard", 8}, // D2.6: itself and its seven subtypes
		{"alert.hazard.ice", 1},
		{"alert.police", 1},
		{"traffic.jam", 1},
		{"alert", 0},
		{"", 0},
		{"camera.", 0},
		{"ALERT.POLICE", 0},
		{"alert.hazard.", 0},
	}
	for _, tt := range tests {
		if got := count(mapdata.SelectKinds(tt.id)); got != tt.want {
			t.Errorf("%q selects %d kinds, want %d", tt.id, got, tt.want)
		}
	}
	if got := count(mapdata.AllKinds); got != mapdata.KindCount {
		t.Errorf("AllKinds holds %d", got)
	}
}
