package graph_test

import (
	"testing"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/roadtest"
)

// TestD15_8DrivingSide checks that a way's location determines the driving side, and that its tag takes precedence.
func TestD15_8DrivingSide(t *testing.T) {
	for name, places := range map[string]struct{ left, right []geo.Point }{
		"Europe": {
			left:  []geo.Point{{Lat: 35.9, Lng: 14.5}, {Lat: 36.05, Lng: 14.25}, {Lat: 51.5, Lng: 0}, {Lat: 51.13, Lng: 1.32}, {Lat: 60.15, Lng: -1.15}, {Lat: 58.2, Lng: -6.4}, {Lat: 53.3, Lng: -6.3}, {Lat: 49.21, Lng: -2.1}, {Lat: 49.45, Lng: -2.55}, {Lat: 35.17, Lng: 33.36}},
			right: []geo.Point{{Lat: 50.95, Lng: 1.86}, {Lat: 49.64, Lng: -1.62}, {Lat: 48.65, Lng: -2.0}, {Lat: 62.0, Lng: -6.8}, {Lat: 43.73, Lng: 7.42}, {Lat: 37.5, Lng: 15.1}, {Lat: 36.8, Lng: 34.6}, {Lat: 45.46, Lng: 9.19}},
		},
		"Asia": {
			left:  []geo.Point{{Lat: 35.68, Lng: 139.7}, {Lat: 43.06, Lng: 141.35}, {Lat: 26.2, Lng: 127.7}, {Lat: 34.3, Lng: 129.3}, {Lat: 28.6, Lng: 77.2}, {Lat: 24.86, Lng: 67}, {Lat: 27.7, Lng: 85.3}, {Lat: 23.8, Lng: 90.4}, {Lat: 6.9, Lng: 79.86}, {Lat: 13.75, Lng: 100.5}, {Lat: 3.14, Lng: 101.7}, {Lat: 1.35, Lng: 103.8}, {Lat: -6.2, Lng: 106.8}, {Lat: 5.98, Lng: 116.07}, {Lat: 22.28, Lng: 114.16}, {Lat: 22.19, Lng: 113.54}, {Lat: -8.55, Lng: 125.57}},
			right: []geo.Point{{Lat: 35.1, Lng: 129.04}, {Lat: 25.03, Lng: 121.5}, {Lat: 33.5, Lng: 126.5}, {Lat: 16.85, Lng: 96.2}, {Lat: 17.97, Lng: 102.6}, {Lat: 11.55, Lng: 104.9}, {Lat: 14.6, Lng: 121}, {Lat: 7.07, Lng: 125.6}, {Lat: 34.53, Lng: 69.17}, {Lat: 29.65, Lng: 91.1}, {Lat: 22.54, Lng: 114.06}, {Lat: 46.96, Lng: 142.7}, {Lat: 10.22, Lng: 103.97}},
		},
		"Africa": {
			left:  []geo.Point{{Lat: -33.92, Lng: 18.42}, {Lat: -26.2, Lng: 28}, {Lat: -22.57, Lng: 17.08}, {Lat: -24.65, Lng: 25.9}, {Lat: -29.31, Lng: 27.5}, {Lat: -15.4, Lng: 28.3}, {Lat: -13.97, Lng: 33.8}, {Lat: -25.97, Lng: 32.58}, {Lat: -6.8, Lng: 39.28}, {Lat: -1.29, Lng: 36.8}, {Lat: 0.35, Lng: 32.58}, {Lat: -20.16, Lng: 57.5}, {Lat: -4.62, Lng: 55.45}},
			right: []geo.Point{{Lat: -8.84, Lng: 13.23}, {Lat: -11.66, Lng: 27.48}, {Lat: -1.95, Lng: 30.06}, {Lat: -3.38, Lng: 29.36}, {Lat: 9.03, Lng: 38.74}, {Lat: 2.04, Lng: 45.34}, {Lat: -18.88, Lng: 47.5}, {Lat: -20.88, Lng: 55.45}},
		},
		"America": {
			left:  []geo.Point{{Lat: 17.97, Lng: -76.8}, {Lat: 25.06, Lng: -77.35}, {Lat: 13.1, Lng: -59.6}, {Lat: 10.65, Lng: -61.5}, {Lat: 6.8, Lng: -58.16}, {Lat: 5.85, Lng: -55.2}, {Lat: 32.3, Lng: -64.78}, {Lat: 18.34, Lng: -64.93}, {Lat: -51.7, Lng: -57.86}},
			right: []geo.Point{{Lat: 25.76, Lng: -80.2}, {Lat: 23.13, Lng: -82.4}, {Lat: 18.47, Lng: -66.1}, {Lat: 14.6, Lng: -61.07}, {Lat: 16.25, Lng: -61.5}, {Lat: 18.07, Lng: -63.08}, {Lat: 5.5, Lng: -54.02}, {Lat: 4.94, Lng: -52.33}, {Lat: 39.96, Lng: -83}},
		},
		"Oceania": {
			left:  []geo.Point{{Lat: -33.87, Lng: 151.2}, {Lat: -31.95, Lng: 115.86}, {Lat: -42.88, Lng: 147.3}, {Lat: -36.85, Lng: 174.76}, {Lat: -9.44, Lng: 147.2}, {Lat: -17.8, Lng: 177.4}, {Lat: -16.8, Lng: -179.9}, {Lat: -13.83, Lng: -171.77}, {Lat: -21.13, Lng: -175.2}},
			right: []geo.Point{{Lat: -22.27, Lng: 166.45}, {Lat: -17.74, Lng: 168.3}, {Lat: -14.28, Lng: -170.7}, {Lat: -17.54, Lng: -149.57}, {Lat: 21.3, Lng: -157.86}, {Lat: 13.47, Lng: 144.75}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, at := range places.left {
				holdSide(t, at, true)
			}
			for _, at := range places.right {
				holdSide(t, at, false)
			}
		})
	}
}

func holdSide(t *testing.T, at geo.Point, left bool) {
	t.Helper()
	for tag, want := range map[string]bool{"": left, ", driving_side=left": true, ", driving_side=right": false, ", driving_side=middle": left} {
		n := roadtest.MapAt(t, at, 100, "a-b", roadtest.Way("ab", "highway=primary"+tag))
		g, _ := roadtest.Build(t, graph.BuildOptions{}, n.File(t))
		for _, arc := range g.Arcs {
			if got := arc.Flags&graph.DriveLeft != 0; got != want {
				t.Errorf("%v%s: on the left %v, want %v", at, tag, got, want)
			}
		}
	}
}
