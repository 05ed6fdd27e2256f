package car_test

import (
	"testing"
)

func TestD15_6Speed(t *testing.T) {
	for name, table := range map[string][]figure{
		"route_speed first": {
			{"route=ferry", 5, 5},
			{"route=shuttle_train", 10, 10},
			{"highway=primary, route=ferry", 5, 5},
			{"highway=primary, route=bus", 65, 65},
			{"route=ferry_man", 0, 0},
			{"route=ferry, bridge=movable", 5, 5},
			{"route=ferry, maxspeed=20", 16, 16},
		},
		"then bridge=movable": {
			{"highway=primary, bridge=movable", 5, 5},
			{"highway=primary, bridge=yes", 65, 65},
			{"highway=primary, bridge=movable, maxspeed=50", 40, 40},
		},
		"then highway_speed": {
			{"highway=motorway, oneway=no", 90, 90},
			{"highway=motorway_link", 45, 45},
			{"highway=trunk", 85, 85},
			{"highway=trunk_link", 40, 40},
			{"highway=primary", 65, 65},
			{"highway=primary_link", 30, 30},
			{"highway=secondary", 55, 55},
			{"highway=secondary_link", 25, 25},
			{"highway=tertiary", 40, 40},
			{"highway=tertiary_link", 20, 20},
			{"highway=unclassified", 25, 25},
			{"highway=residential", 25, 25},
			{"highway=living_street", 10, 10},
			{"highway=service", 15, 15},
			{"highway=winter_road", 20, 20},
			{"highway=ice_road", 15, 15},
		},
		"then other_speed where access says open or something unknown": {
			{"highway=track, access=yes", 10, 10},
			{"highway=runway, motorcar=permissive", 10, 10},
			{"highway=footway, access=some_tag", 10, 10},
			{"highway=pedestrian, vehicle:forward=yes", 10, 0},
			{"highway=pedestrian, vehicle:backward=some_tag", 0, 10},
			{"route=bicycle, motor_vehicle=yes", 10, 10},
		},
		"otherwise closed": {
			{"highway=track", 0, 0},
			{"highway=road", 0, 0},
			{"highway=path, maxspeed=50", 0, 0},
			{"highway=track, access=private", 0, 0},
			{"highway=runway, surface=asphalt", 0, 0},
		},
	} {
		t.Run(name, func(t *testing.T) { speeds(t, table) })
	}
}

func TestD15_6Duration(t *testing.T) {
	p := profile(t)
	for value, want := range map[string]float64{
		"0:10": 600, "00:01:00": 60, "01:30": 5400, "1:02:03": 3723, "100:00": 360_000, "0:90": 5400,
		"5": 300, "120": 7200, "0": 1, "00:00": 1, "00:00:01": 1, "00:00:02": 2,
		"PT1M": 60, "PT1H30M": 5400, "PT1H": 3600, "PT45S": 45, "P1D": 86_400, "P1DT2H": 93_600, "P1W": 604_800, "PT1.5H": 5400,
		"PT0,5H": 1800, "PT01:30:00": 5400, "pt1m": 0, "PT1h30m": 5400,
		"": 0, "P": 0, "PT": 0, "P1DT": 0, "P1Y": 0, "P1M": 0, "PT1M1H": 0, "PT1": 0, "PTM": 0, "PT1H30": 0, "PT1:30": 0, "P1D1W": 0,
		"1:2:3:4": 0, ":": 0, "1:": 0, ":30": 0, "1h": 0, "10 minutes": 0, "-5": 0, "1.5": 0, "1:30pm": 0, "30 min": 0,
		"99999999999999999999": 0, "P15D": 0, "P14D": 1_209_600, "400:00": 0,
	} {
		w, ok := p.Way(tags("route=ferry, duration=" + value))
		if !ok || w.Duration != want {
			t.Errorf("duration=%s: %v s, want %v", value, w.Duration, want)
		}
	}
	if w, _ := p.Way(tags("highway=primary, bridge=movable, duration=00:10:00")); w.Duration != 600 {
		t.Errorf("movable bridge: %v s", w.Duration)
	}
	if w, _ := p.Way(tags("highway=primary, duration=00:10:00")); w.Duration != 0 {
		t.Errorf("a road that is no ferry: %v s", w.Duration)
	}
}

func TestD15_6DurationBeatsSpeed(t *testing.T) {
	p := profile(t)
	for _, row := range []struct {
		tags                 string
		piece, whole         float64
		wantTime, wantWeight float64
	}{
		{"route=ferry", 1000, 1000, 720, 720},
		{"route=ferry, duration=0:10", 1000, 1000, 600, 600},
		{"route=ferry, duration=0:10, maxspeed=50", 250, 1000, 150, 150},
		{"route=ferry, duration=0:10, lanes=1", 1000, 1000, 600, 1200},
		{"route=ferry, duration=0:10, service=parking_aisle", 1000, 1000, 600, 1200},
		{"route=ferry, duration=0:10", 0, 0, 600, 600},
		{"highway=primary, maxspeed=45, lanes=1", 100, 5000, 10, 20},
	} {
		w, _ := p.Way(tags(row.tags))
		time, weight := w.Cost(0, row.piece, row.whole)
		if !near(time, row.wantTime) || !near(weight, row.wantWeight) {
			t.Errorf("%s, %v of %v m: %v s weigh %v, want %v and %v", row.tags, row.piece, row.whole, time, weight, row.wantTime, row.wantWeight)
		}
	}
}

func TestD15_6Maxspeed(t *testing.T) {
	for name, table := range map[string][]figure{
		"the first key, by direction": {
			{"highway=residential, maxspeed=90", 72, 72},
			{"highway=residential, maxspeed:advisory=45, maxspeed=90", 36, 36},
			{"highway=residential, maxspeed=45, source:maxspeed=DE:rural", 36, 36},
			{"highway=residential, source:maxspeed=FR:urban, maxspeed:type=DE:rural", 40, 40},
			{"highway=residential, maxspeed:type=DE:rural", 80, 80},
			{"highway=primary, maxspeed:forward=60", 48, 65},
			{"highway=primary, maxspeed:backward=60", 65, 48},
			{"highway=primary, maxspeed=15, maxspeed:forward=30, maxspeed:backward=60", 24, 48},
			{"highway=residential, maxspeed:advisory:forward=45, maxspeed:forward=90", 36, 25},
			{"highway=residential, maxspeed:advisory=45, maxspeed:forward=90", 36, 36},
			{"highway=primary, maxspeed=20, maxspeed:backward=30, oneway=-1", 0, 24},
		},
		"leading digits, and mph": {
			{"highway=primary, maxspeed=50.5", 40, 40},
			{"highway=primary, maxspeed=50;30", 40, 40},
			{"highway=primary, maxspeed=50 km/h", 40, 40},
			{"highway=primary, maxspeed=50 mph", 50 * 1.609 * 0.8, 50 * 1.609 * 0.8},
			{"highway=primary, maxspeed=50mp/h", 50 * 1.609 * 0.8, 50 * 1.609 * 0.8},
		},
		"named, in lower case": {
			{"highway=primary, maxspeed=none", 112, 112},
			{"highway=primary, maxspeed=None", 112, 112},
			{"highway=primary, maxspeed=CH:rural", 64, 64},
			{"highway=primary, maxspeed=CH:trunk", 80, 80},
			{"highway=primary, maxspeed=CH:motorway", 96, 96},
			{"highway=primary, maxspeed=DE:rural", 80, 80},
			{"highway=primary, maxspeed=BE-BRU:urban", 24, 24},
			{"highway=primary, maxspeed=GB:nsl_single", 96.54 * 0.8, 96.54 * 0.8},
			{"highway=living_street, maxspeed=LV:living_street", 16, 16},
		},
		"the zone behind a country's two letters": {
			{"highway=primary, maxspeed=DE:urban", 40, 40},
			{"highway=primary, maxspeed=FR:urban", 40, 40},
			{"highway=primary, maxspeed=XX:rural", 72, 72},
			{"highway=primary, maxspeed=it:trunk", 88, 88},
			{"highway=primary, maxspeed=IT:motorway", 104, 104},
			{"highway=primary, maxspeed=BE-VLG:urban", 40, 40},
			{"highway=primary, maxspeed=DE:zone30", 65, 65},
			{"highway=primary, maxspeed=DE:zone:urban", 65, 65},
			{"highway=primary, maxspeed=urban", 65, 65},
			{"highway=primary, maxspeed=d:urban", 65, 65},
		},
		"0 or unreadable changes nothing": {
			{"highway=primary, maxspeed=0", 65, 65},
			{"highway=primary, maxspeed=DE:motorway", 65, 65},
			{"highway=primary, maxspeed=walk", 65, 65},
			{"highway=primary, maxspeed=signals", 65, 65},
			{"highway=primary, maxspeed=-5", 65, 65},
			{"highway=primary, maxspeed=:", 65, 65},
			{"highway=primary, maxspeed=99999", 65, 65},
			{"highway=primary, maxspeed=9999999999999999999999", 65, 65},
			{"highway=primary, maxspeed:advisory=walk, maxspeed=30", 65, 65},
		},
	} {
		t.Run(name, func(t *testing.T) { speeds(t, table) })
	}
}

func TestD15_6Caps(t *testing.T) {
	for name, table := range map[string][]figure{
		"surface": {
			{"highway=trunk, surface=asphalt", 85, 85},
			{"highway=trunk, surface=compacted", 80, 80},
			{"highway=trunk, surface=paving_stones", 60, 60},
			{"highway=trunk, surface=gravel", 40, 40},
			{"highway=trunk, surface=cobblestone", 30, 30},
			{"highway=trunk, surface=sand", 20, 20},
			{"highway=trunk, surface=laterite", 15, 15},
			{"highway=trunk, surface=mud", 10, 10},
			{"highway=service, surface=gravel", 15, 15},
			{"highway=trunk, surface=nonsense", 85, 85},
		},
		"tracktype": {
			{"highway=trunk, tracktype=grade1", 60, 60},
			{"highway=trunk, tracktype=grade5", 20, 20},
		},
		"smoothness": {
			{"highway=trunk, smoothness=good", 85, 85},
			{"highway=trunk, smoothness=intermediate", 80, 80},
			{"highway=trunk, smoothness=very_horrible", 5, 5},
		},
		"the smallest caps what maxspeed gave": {
			{"highway=motorway, oneway=no, tracktype=grade1, surface=mud", 10, 10},
			{"highway=motorway, oneway=no, tracktype=grade1, surface=asphalt, smoothness=very_horrible", 5, 5},
			{"highway=motorway, oneway=no, tracktype=grade5, surface=asphalt", 20, 20},
			{"highway=primary, maxspeed=100, surface=gravel", 40, 40},
			{"highway=primary, maxspeed=30, surface=gravel", 24, 24},
		},
		"0 closes": {
			{"highway=primary, smoothness=impassable", 0, 0},
			{"highway=primary, access=yes, smoothness=impassable, maxspeed=50", 0, 0},
			{"route=ferry, duration=0:10, smoothness=impassable", 0, 0},
		},
	} {
		t.Run(name, func(t *testing.T) { speeds(t, table) })
	}
}

func TestD15_6Rate(t *testing.T) {
	for name, table := range map[string][]figure{
		"service": {
			{"highway=service", 1, 1},
			{"highway=service, service=alley", 0.5, 0.5},
			{"highway=service, service=parking", 0.5, 0.5},
			{"highway=service, service=driveway, oneway=yes", 0.5, 0},
			{"highway=service, service=drive-thru", 0.5, 0.5},
			{"highway=service, service=bus", 1, 1},
		},
		"no markings, on roads open in both directions": {
			{"highway=primary, lane_markings=no", 0.75, 0.75},
			{"highway=primary, lane_markings=yes", 1, 1},
			{"highway=primary, lane_markings=no, oneway=yes", 1, 0},
			{"highway=primary, lane_markings=no, access:backward=no", 1, 0},
		},
		"replaced by the first width that is not reached": {
			{"highway=primary, width=2.5", 0.5, 0.5},
			{"highway=primary, width=3", 0.5, 0.5},
			{"highway=primary, width=9'", 0.5, 0.5},
			{"highway=primary, width=3.1", 0.6, 0.6},
			{"highway=primary, width=4", 0.75, 0.75},
			{"highway=primary, width=5", 0.8, 0.8},
			{"highway=primary, width=6", 1, 1},
			{"highway=primary, width=20'", 1, 1},
			{"highway=primary, width=5.5, lane_markings=no", 0.8, 0.8},
			{"highway=primary, width=7, lane_markings=no", 0.75, 0.75},
			{"highway=primary, width=3, lane_markings=no", 0.5, 0.5},
			{"highway=primary, width=3, oneway=yes", 1, 0},
			{"highway=primary, maxwidth=3", 1, 1},
		},
		"replaced by a single lane": {
			{"highway=primary, lanes=1", 0.5, 0.5},
			{"highway=primary, lanes=0", 0.5, 0.5},
			{"highway=primary, lanes=1.5", 0.5, 0.5},
			{"highway=primary, lanes=2", 1, 1},
			{"highway=primary, lanes=-1", 1, 1},
			{"highway=primary, lanes=two", 1, 1},
			{"highway=primary, lanes=1, width=5.5", 0.5, 0.5},
			{"highway=primary, lanes=1, oneway=-1", 0, 1},
			{"highway=primary, lanes=2, lane_markings=no", 0.75, 0.75},
		},
		"alternating, of the one-way tag": {
			{"highway=primary, oneway=alternating", 0.4, 0.4},
			{"highway=primary, oneway=alternating, junction=roundabout", 0.4, 0},
			{"highway=primary, oneway:motorcar=no, oneway=alternating", 1, 1},
			{"highway=primary, oneway:motorcar=alternating, oneway=no", 0.4, 0.4},
		},
		"side_road": {
			{"highway=primary, side_road=yes", 0.8, 0.8},
			{"highway=primary, side_road=rotary", 0.8, 0.8},
			{"highway=primary, side_road=no", 1, 1},
		},
		"against_priority": {
			{"highway=primary, priority=forward", 1, 0.7},
			{"highway=primary, priority=backward", 0.7, 1},
			{"highway=primary, priority=both", 1, 1},
			{"highway=primary, priority=backward, oneway=yes", 0.7, 0},
			{"highway=primary, priority=forward, oneway=-1", 0, 0.7},
		},
		"the smallest that holds": {
			{"highway=service, service=alley, oneway=alternating", 0.4, 0.4},
			{"highway=service, service=alley, side_road=yes", 0.5, 0.5},
			{"highway=primary, lanes=1, priority=forward", 0.5, 0.5},
			{"highway=primary, side_road=yes, priority=forward", 0.8, 0.7},
			{"highway=primary, lane_markings=no, side_road=yes", 0.75, 0.75},
		},
	} {
		t.Run(name, func(t *testing.T) { factors(t, table) })
	}
}

// TestWayClasses checks what else graph and router need of a way's tags: D15.8 (lanes, driving side), D15.10 and D15.18.
func TestWayClasses(t *testing.T) {
	p := profile(t)
	type classes struct {
		Begin, Ferry, Motorway, Toll, Reverse string // F and B, or yes
		Side                                  int
	}
	sides := func(forward, backward bool) (s string) {
		if forward {
			s = "F"
		}
		if backward {
			s += "B"
		}
		return s
	}
	yes := map[bool]string{true: "yes"}
	for text, want := range map[string]classes{
		"highway=primary":                                                       {Begin: "FB"},
		"highway=primary, access=private":                                       {Begin: "FB"},
		"highway=service":                                                       {Begin: "FB"},
		"highway=service, access=private":                                       {},
		"highway=service, access=private;customers":                             {},
		"highway=service, access=private;yes":                                   {Begin: "FB"},
		"highway=service, access=destination":                                   {Begin: "FB"},
		"highway=service, access:forward=private":                               {Begin: "B"},
		"route=ferry":                                                           {Ferry: "yes"},
		"route=ferry, toll=yes":                                                 {Ferry: "yes", Toll: "FB"},
		"highway=motorway":                                                      {Begin: "F", Motorway: "yes"},
		"highway=motorway_link, toll:backward=yes":                              {Begin: "FB", Motorway: "yes", Toll: "B"},
		"highway=primary, toll=no, driving_side=left":                           {Begin: "FB", Side: 2},
		"highway=primary, driving_side=right":                                   {Begin: "FB", Side: 1},
		"highway=primary, turn:lanes:forward=reverse;left|through":              {Begin: "FB", Reverse: "F"},
		"highway=primary, turn:lanes=left|through; reverse":                     {Begin: "FB", Reverse: "FB"},
		"highway=primary, turn:lanes=left|through, turn:lanes:backward=reverse": {Begin: "FB", Reverse: "B"},
		"highway=primary, turn:lanes=no_reverse":                                {Begin: "FB"},
	} {
		w, _ := p.Way(tags(text))
		got := classes{
			sides(w.Forward.MayBegin, w.Backward.MayBegin), yes[w.Ferry], yes[w.Motorway],
			sides(w.Forward.Toll, w.Backward.Toll), sides(w.Forward.ReverseLane, w.Backward.ReverseLane), int(w.DrivingSide),
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}
