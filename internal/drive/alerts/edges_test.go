package alerts_test

import (
	"math"
	"testing"

	"wayside/internal/drive/alerts"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// north returns the place that is the given number of metres north of 0, 0, exactly if the number is whole.
func north(t *testing.T, metres float64) geo.Point {
	t.Helper()
	p := geo.Point{Lat: metres / geo.EarthRadius * 180 / math.Pi}
	for range 100 {
		switch d := geo.Distance(geo.Point{}, p); {
		case d < metres:
			p.Lat = math.Nextafter(p.Lat, 1)
		case d > metres:
			p.Lat = math.Nextafter(p.Lat, 0)
		default:
			return p
		}
	}
	if metres == math.Trunc(metres) {
		t.Fatalf("no place is exactly %v m away", metres)
	}
	return p
}

// TestEdges checks where the corridor and the stages end; a pin on an edge is inside.
func TestEdges(t *testing.T) {
	hazard, _ := mapdata.ParseKind("alert.hazard")
	camera, _ := mapdata.ParseKind("camera.speed")
	jam, _ := mapdata.ParseKind("traffic.jam")
	aside := func(metres, angle float64) float64 { return metres / math.Sin(angle*math.Pi/180) }
	for _, tt := range []struct {
		name     string
		kind     mapdata.Kind
		distance float64
		heading  float64
		speed    float64
		zone     float64
		want     string // stage, and due if the pin is due; empty: not listed
	}{
		{"the range", hazard, 2000, 0, 20, 0, "ahead"},
		{"beyond the range", hazard, 2000.1, 0, 20, 0, ""},
		{"the shortest lead", hazard, 150, 0, 5, 0, "ahead due"},
		{"beyond the shortest lead", hazard, 150.1, 0, 5, 0, "ahead"},
		{"the longest lead", hazard, 750, 0, 70, 0, "ahead due"},
		{"beyond the longest lead", hazard, 750.1, 0, 70, 0, "ahead"},
		{"the longest lead of a camera", camera, 600, 0, 70, 0, "ahead due"},
		{"beyond the longest lead of a camera", camera, 600.1, 0, 70, 0, "ahead"},
		{"the longest lead of a jam", jam, 3000, 0, 70, 0, "ahead due"},
		{"beyond the range of jams", jam, 3000.1, 0, 70, 0, ""},
		{"the edge of the far cone", jam, 1000, 15, 20, 0, "ahead due"},
		{"beside the far cone", jam, 1000, 15.1, 20, 0, "ahead"},
		{"beside the far cone, but at the ordinary lead", jam, 300, 15.1, 20, 0, "near due"},
		{"the near stage", camera, 100, 0, 5, 0, "near due"},
		{"before the near stage", camera, 100.1, 0, 5, 0, "ahead due"},
		{"the lowest speed", hazard, 100, 0, 2, 0, "ahead due"},
		{"below the lowest speed", hazard, 100, 0, 1.99, 0, "ahead"},
		{"the edge of the cone", hazard, 1000, 30, 20, 0, "ahead"},
		{"beside the cone", hazard, 1000, 30.1, 20, 0, ""},
		{"within the strip", hazard, aside(59.9, 45), 45, 20, 0, "ahead due"},
		{"beside the strip", hazard, aside(60.1, 45), 45, 20, 0, ""},
		{"the largest angle", hazard, 20, 75, 20, 0, "ahead due"},
		{"beyond the largest angle", hazard, 20, 75.1, 20, 0, ""},
		{"so close that a direction means something", hazard, 1, 0, 20, 0, "ahead due"},
		{"too close", hazard, 0.9, 0, 20, 0, ""},
		{"the edge of a zone that lies behind", camera, 150, 180, 20, 300, "ahead due"},
		{"outside a zone that lies behind", camera, 150.1, 180, 20, 300, ""},
	} {
		car := alerts.Car{Heading: tt.heading, Directed: true, Speed: tt.speed}
		got := ""
		for _, a := range car.List([]alerts.Pin{{At: north(t, tt.distance), Kind: tt.kind, Zone: tt.zone}}, plain) {
			if got += string(a.Stage); a.Due {
				got += " due"
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestOrderAtEqualDistances checks that pins at equal distances keep their order.
func TestOrderAtEqualDistances(t *testing.T) {
	hazard, _ := mapdata.ParseKind("alert.hazard")
	near, far := alerts.Pin{At: north(t, 10), Kind: hazard}, alerts.Pin{At: north(t, 20), Kind: hazard}
	car := alerts.Car{Speed: 20}
	var order []int
	for _, a := range car.List([]alerts.Pin{far, near, far, near}, plain) {
		order = append(order, a.Pin)
	}
	if len(order) != 4 || order[0] != 1 || order[1] != 3 || order[2] != 0 || order[3] != 2 {
		t.Errorf("order %v, want [1 3 0 2]", order)
	}
}

// TestNothingToAnnounce checks the results for no announcement and no time, and the constants that clients rely on.
func TestNothingToAnnounce(t *testing.T) {
	if i := alerts.First([]alerts.Alert{{Due: true}, {}}, func(int) bool { return true }); i != -1 {
		t.Errorf("First = %d, want -1", i)
	}
	if s, ok := alerts.Seconds(100, 1.9); s != 0 || ok {
		t.Errorf("Seconds = %v, %v, want 0, false", s, ok)
	}
	if alerts.MinPause != 5 || alerts.MaxListed != 20 {
		t.Errorf("pause %d s, %d listed", alerts.MinPause, alerts.MaxListed)
	}
}
