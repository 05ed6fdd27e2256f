package car_test

import (
	"testing"

	"wayside/internal/roads/car"
)

func TestD15_7Barriers(t *testing.T) {
	p := profile(t)
	for name, table := range map[string]map[string]string{
		"with an access tag, closed ends roads": {
			"access=no": "barred", "motorcar=no": "barred", "vehicle=no, motor_vehicle=yes": "", "access=yes, motorcar=no": "barred",
			"access=agricultural;forestry": "barred", "access=no;yes": "", "access=private": "", "access=some_tag": "", "access=unknown": "",
			"access:forward=no": "", "barrier=wall, access=yes": "", "barrier=wall, access=private": "", "barrier=wall, access=some_tag": "",
			"barrier=gate, access=no": "barred", "barrier=gate, access=yes": "", "barrier=gate, access=": "60 s",
		},
		"without, a barrier ends them": {
			"barrier=bollard": "barred", "barrier=wall": "barred", "barrier=block": "barred", "barrier=some_tag": "barred", "barrier=": "",
		},
		"unless it is of barrier_open": {
			"barrier=cattle_grid": "", "barrier=border_control": "", "barrier=toll_booth": "", "barrier=sally_port": "", "barrier=no": "",
			"barrier=entrance": "", "barrier=arch": "", "barrier=height_restrictor": "",
		},
		"or something lets cars through": {
			"barrier=bollard, bollard=rising": "", "barrier=bollard, bollard=removable": "barred",
			"barrier=kerb": "barred", "barrier=kerb, kerb=lowered": "", "barrier=kerb, kerb=flush": "", "barrier=kerb, kerb=raised": "barred",
			"barrier=kerb, highway=crossing": "", "barrier=bollard, highway=crossing": "barred",
			"barrier=fence": "barred", "barrier=fence, sensory=audible": "", "barrier=fence, sensory=audio": "", "barrier=wall, sensory=audio": "barred",
		},
		"or of barrier_delay, which costs seconds": {
			"barrier=gate": "60 s", "barrier=lift_gate": "60 s", "barrier=swing_gate": "barred",
		},
		"a height restrictor below the vehicle ends them too": {
			"barrier=height_restrictor, maxheight=1.9": "barred", "barrier=height_restrictor, maxheight=2": "",
			"barrier=height_restrictor, maxheight=default": "", "barrier=height_restrictor, maxheight:physical=1.9": "barred",
			"barrier=height_restrictor, bollard=rising, maxheight=1": "barred", "barrier=toll_booth, maxheight=1": "",
			"barrier=height_restrictor, maxheight=1, access=yes": "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for text, want := range table {
				got := map[float64]string{60: "60 s"}[p.Node(tags(text)).BarrierDelay]
				if p.Node(tags(text)).Barred {
					got += "barred"
				}
				if got != want {
					t.Errorf("%s: %q, want %q", text, got, want)
				}
			}
		})
	}
}

func TestD15_7Delays(t *testing.T) {
	p := profile(t)
	for name, table := range map[string][]struct {
		tags              string
		forward, backward float64
	}{
		"in both directions": {
			{"highway=traffic_signals", 2, 2},
			{"highway=stop", 2, 2},
			{"highway=give_way", 1, 1},
			{"highway=crossing", 0, 0},
			{"barrier=gate", 60, 60},
			{"barrier=gate, highway=stop", 62, 62},
			{"highway=stop, direction=both", 2, 2},
			{"highway=stop, direction=90", 2, 2},
		},
		"or in that of direction": {
			{"highway=stop, direction=forward", 2, 0},
			{"highway=stop, direction=backward", 0, 2},
			{"highway=give_way, direction=forward", 1, 0},
			{"highway=give_way, direction=backward", 0, 1},
			{"highway=traffic_signals, direction=backward", 0, 2},
			{"barrier=gate, highway=stop, direction=forward", 62, 60},
		},
		"traffic_signals:direction is for signals alone, and comes first": {
			{"highway=traffic_signals, traffic_signals:direction=forward", 2, 0},
			{"highway=traffic_signals, traffic_signals:direction=backward, direction=forward", 0, 2},
			{"highway=traffic_signals, traffic_signals:direction=both, direction=forward", 2, 2},
			{"highway=stop, traffic_signals:direction=forward", 2, 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, row := range table {
				n := p.Node(tags(row.tags))
				forward := n.Seconds(car.Passage{Direction: car.Forward, Ends: 4, In: 500, Out: 500, Speed: 50, Fastest: 90})
				backward := n.Seconds(car.Passage{Direction: car.Backward, Ends: 4, In: 500, Out: 500, Speed: 50, Fastest: 90})
				if forward != row.forward || backward != row.backward {
					t.Errorf("%s: %v s forward and %v backward, want %v and %v", row.tags, forward, backward, row.forward, row.backward)
				}
			}
		})
	}
}

func TestD15_7Stops(t *testing.T) {
	p := profile(t)
	for name, table := range map[string][]struct {
		tags    string
		passage car.Passage
		want    float64
	}{
		"stop=minor costs those from a slower road than the fastest": {
			{"highway=stop, stop=minor", car.Passage{Ends: 4, Speed: 55, Fastest: 65}, 2},
			{"highway=stop, stop=minor", car.Passage{Ends: 4, Speed: 65, Fastest: 65}, 0},
			{"highway=stop, stop=minor", car.Passage{Ends: 4, Speed: 65, Fastest: 55}, 0},
			{"highway=stop, stop=all", car.Passage{Ends: 4, Speed: 65, Fastest: 55}, 2},
			{"highway=give_way, stop=minor", car.Passage{Ends: 4, Speed: 65, Fastest: 55}, 1},
			{"highway=stop, stop=minor, direction=forward", car.Passage{Direction: car.Backward, Ends: 4, Speed: 55, Fastest: 65}, 0},
			{"highway=stop, stop=minor", car.Passage{Ends: 2, In: 5, Out: 50, Speed: 55, Fastest: 65}, 2},
		},
		"a stop without a direction, behind the junction, costs nothing": {
			{"highway=stop", car.Passage{Ends: 2, In: 19.9, Out: 20.1}, 0},
			{"highway=stop", car.Passage{Ends: 2, In: 20, Out: 50}, 2},
			{"highway=stop", car.Passage{Ends: 2, In: 5, Out: 20}, 2},
			{"highway=stop", car.Passage{Ends: 3, In: 5, Out: 50}, 2},
			{"highway=stop", car.Passage{Ends: 2, In: 50, Out: 5}, 2},
			{"highway=stop, direction=both", car.Passage{Ends: 2, In: 5, Out: 50}, 2},
			{"highway=stop, direction=forward", car.Passage{Ends: 2, In: 5, Out: 50}, 2},
			{"highway=give_way", car.Passage{Ends: 2, In: 5, Out: 50}, 1},
			{"highway=traffic_signals", car.Passage{Ends: 2, In: 5, Out: 50}, 2},
			{"barrier=gate, highway=stop", car.Passage{Ends: 2, In: 5, Out: 50}, 60},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, row := range table {
				if got := p.Node(tags(row.tags)).Seconds(row.passage); got != row.want {
					t.Errorf("%s, %+v: %v s, want %v", row.tags, row.passage, got, row.want)
				}
			}
		})
	}
}

// TestNodesWithoutEffect checks that a node without effect on cars becomes the zero value, so that an import need not
// keep it.
func TestNodesWithoutEffect(t *testing.T) {
	p := profile(t)
	for _, text := range []string{"", "name=A", "highway=crossing, direction=forward", "barrier=entrance", "access=private, barrier=gate", "highway=speed_camera"} {
		if got := p.Node(tags(text)); got != (car.Node{}) {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestD15_8NodesThatEndPieces(t *testing.T) {
	p := profile(t)
	for text, want := range map[string]bool{
		"":                         false,
		"name=A":                   false,
		"highway=crossing":         false,
		"highway=turning_circle":   false,
		"access=yes, barrier=gate": false,
		"barrier=gate":             true,
		"barrier=bollard":          true,
		"highway=stop":             true,
	} {
		if got := p.Node(tags(text)).EndsPieces(); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]bool{
		"highway=turning_circle": true, "highway=turning_loop": true, "highway=mini_roundabout": true, "highway=stop": false,
	} {
		if got := p.Node(tags(text)).TurningPlace; got != want {
			t.Errorf("%q is a turning place: %v, want %v", text, got, want)
		}
	}
}
