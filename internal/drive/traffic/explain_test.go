package traffic_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wayside/internal/drive/traffic"
	"wayside/internal/ground/geo"
)

// TestExplanationsAreBounded checks that an explanation matches only a bounded number of unknown conditions, and reports
// that there are more.
func TestExplanationsAreBounded(t *testing.T) {
	w := newWorld()
	network := traffic.NewNetwork(w.town.g, w.town.x)
	var line []string
	for i := range 500 {
		p := place(float64(i%2)*1000, float64(i%6)*blockMetres)
		line = append(line, fmt.Sprintf("[%.6f,%.6f]", p.Lng, p.Lat))
	}
	for i := range 40 {
		w.pins.set(fmt.Sprint(i), "alert.road_closed", `{"line":[`+strings.Join(line, ",")+`]}`, place(500, 500))
	}
	area := geo.Circle{Center: place(500, 500), Radius: 2000}
	x, err := network.Explain(t.Context(), &w.pins, w.State(), area, 200, time.Now())
	if err != nil || !x.Truncated || len(x.Conditions) == 0 || len(x.Conditions) > 10 || network.Matched() > 10 {
		t.Errorf("%d conditions, truncated: %t, %d matched (%v)", len(x.Conditions), x.Truncated, network.Matched(), err)
	}
	for i := range 40 {
		w.pins.set(fmt.Sprint(i), "alert.road_closed", `{}`, place(300, 210))
	}
	if x, err = network.Explain(t.Context(), &w.pins, w.State(), area, 200, time.Now()); err != nil || x.Truncated || len(x.Conditions) != 40 || x.Unmatched != 0 {
		t.Errorf("%d conditions, truncated: %t (%v)", len(x.Conditions), x.Truncated, err)
	}
	w.pins.set("away", "alert.road_closed", `{}`, place(300, 300))
	if x, err = network.Explain(t.Context(), &w.pins, w.State(), area, 200, time.Now()); err != nil || len(x.Conditions) != 40 || x.Unmatched != 1 {
		t.Errorf("%d conditions, %d on no road (%v)", len(x.Conditions), x.Unmatched, err)
	}
	both := x.Network.Stretch(x.Conditions[0].Condition, 3)
	if len(both.Streets) != 1 || both.Streets[0] != "Street" || both.Length != blockMetres || !both.Both {
		t.Errorf("a closed block is %+v", both)
	}
	w.pins.set("one", "alert.road_closed", `{"bearing":270}`, place(500, 210))
	if x, err = network.Explain(t.Context(), &w.pins, w.State(), geo.Circle{Center: place(500, 210), Radius: 20}, 200, time.Now()); err != nil || len(x.Conditions) != 1 {
		t.Fatalf("%d conditions (%v)", len(x.Conditions), err)
	}
	if one := x.Network.Stretch(x.Conditions[0].Condition, 3); one.Length != blockMetres || one.Both {
		t.Errorf("a block closed in one direction is %+v", one)
	}
}
