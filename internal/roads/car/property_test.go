package car_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"wayside/internal/roads/car"
)

// Random tags are drawn from the keys and values of the rules, and nonsense.
var (
	someKeys = strings.Fields(`highway highway highway route bridge duration construction proposed hov hov:lanes surface tracktype
		smoothness service lane_markings width est_width maxwidth maxheight maxlength maxweight lanes side_road priority driving_side
		access motorcar motor_vehicle vehicle maxspeed maxspeed:advisory source:maxspeed turn:lanes toll oneway oneway:motorcar junction
		barrier bollard kerb sensory stop direction traffic_signals:direction area impassable restriction type except day_on`)
	someValues = strings.Fields(`primary motorway service track ferry movable yes no private destination designated designated|no -1 1
		alternating reversible roundabout 0 0:10 PT1H P1W 30 50mph none DE:urban de:motorway 1.9 6'7" 4400lbs 3,5t 99999999999999999999
		mud grade5 impassable alley forward backward both left reverse|left wall gate height_restrictor rising stop give_way
		traffic_signals minor no_left_turn only_straight_on restriction ; : ' . NaN Inf -Inf 1e400 ` + "\xff\x00")
)

func randomTags(r *rand.Rand) car.Tags {
	all := make(car.Tags, 1+r.IntN(7))
	for i := range all {
		key := someKeys[r.IntN(len(someKeys))]
		switch r.IntN(6) {
		case 0:
			key += ":forward"
		case 1:
			key += ":backward"
		}
		all[i] = car.Tag{Key: key, Value: someValues[r.IntN(len(someValues))]}
	}
	return append(all, car.Tag{Key: "highway", Value: "primary"})
}

// holds returns what is wrong with the results of a profile for some tags, or "".
func holds(p *car.Profile, all car.Tags) string {
	w, ok := p.Way(all)
	if ok != (w.Forward.Access != car.Closed || w.Backward.Access != car.Closed) {
		return "a way counts that is closed, or the reverse"
	}
	if !ok && w != (car.Way{}) {
		return "a closed way is not empty"
	}
	for _, d := range []car.Direction{car.Forward, car.Backward} {
		drive := w.Direction(d)
		if drive.Access == car.Closed {
			if drive != (car.Drive{}) {
				return "a closed direction is not empty"
			}
			continue
		}
		if !(drive.Rate > 0 && drive.Rate <= drive.Speed && drive.Speed <= 1000) {
			return "rate and speed are not in order"
		}
		for _, piece := range []float64{0, 0.001, 1, 1e7} {
			duration, weight := w.Cost(d, piece, 1e7)
			if !(duration >= 0 && weight >= duration*(1-1e-12)) || math.IsInf(weight, 0) {
				return "a cost is negative or not finite, or weighs less than it takes"
			}
		}
	}
	if !(w.Duration >= 0 && w.Duration <= 14*24*3600) {
		return "the duration is out of bounds"
	}
	n := p.Node(all)
	for _, passage := range []car.Passage{{}, {Direction: car.Backward, Ends: 2, In: 1, Out: 30}, {Speed: 90, Fastest: 50}} {
		if seconds := n.Seconds(passage); !(seconds >= 0 && seconds <= n.BarrierDelay+n.Delay) {
			return "a node costs less than nothing or more than its delays"
		}
	}
	return ""
}

// directed reports whether tags can make the directions of a way differ.
func directed(all car.Tags) bool {
	return slices.ContainsFunc(all, func(t car.Tag) bool {
		return strings.HasSuffix(t.Key, "ward") || strings.HasPrefix(t.Key, "oneway") || t.Key == "priority" || t.Key == "junction" ||
			t.Value == "motorway"
	})
}

func TestRandomWays(t *testing.T) {
	p := profile(t)
	r := rand.New(rand.NewPCG(15, 3))
	open, symmetric := 0, 0
	for range 200_000 {
		all := randomTags(r)
		if wrong := holds(p, all); wrong != "" {
			t.Fatalf("%v: %s", all, wrong)
		}
		w, ok := p.Way(all)
		if ok {
			open++
		}
		if !directed(all) {
			symmetric++
			if w.Forward != w.Backward {
				t.Fatalf("%v: %+v forward and %+v backward", all, w.Forward, w.Backward)
			}
		}
		// A tag with an empty value counts as absent, and unknown keys change nothing, at any position.
		more := slices.Insert(slices.Clone(all), r.IntN(len(all)), car.Tag{Key: all[0].Key}, car.Tag{Key: "name", Value: "no"})
		if again, _ := p.Way(more); again != w {
			t.Fatalf("%v: %+v, and with an empty tag more %+v", all, w, again)
		}
	}
	if open < 20_000 || symmetric < 10_000 {
		t.Errorf("only %d ways were open, and %d without a direction", open, symmetric)
	}
}

func TestRandomTurns(t *testing.T) {
	p := profile(t)
	for _, left := range []bool{false, true} {
		for angle := -180.0; angle <= 180; angle++ {
			duration, weight := p.Turn(car.Turn{Ends: 3, Angle: angle, DrivingLeft: left})
			if !(duration > 0 && duration < 7.5) || weight != duration {
				t.Errorf("%v°: %v s", angle, duration)
			}
			if angle != 0 && angle > -180 && angle < 180 {
				mirrored, _ := p.Turn(car.Turn{Ends: 3, Angle: -angle, DrivingLeft: !left})
				sharper, _ := p.Turn(car.Turn{Ends: 3, Angle: angle + math.Copysign(1, angle), DrivingLeft: left})
				if mirrored != duration || sharper <= duration {
					t.Errorf("%v°: %v s, mirrored %v, sharper %v", angle, duration, mirrored, sharper)
				}
			}
		}
	}
}

// FuzzTags checks that any tags can be read as those of a way, a node and a relation.
func FuzzTags(f *testing.F) {
	for _, seed := range []string{
		"highway=primary\nmaxspeed=50 mph\nwidth=6'7\"", "route=ferry\nduration=P1DT1.5H", "highway=service\naccess=private;no",
		"type=restriction\nrestriction=no_left_turn", "barrier=height_restrictor\nmaxheight=1,9", "highway=x\nsource:maxspeed=be-vlg:urban",
		"highway=stop\nstop=minor\ndirection=both", "highway=primary\nmaxweight=99999999999999999 lbs\nlanes=1",
	} {
		f.Add(seed)
	}
	p := profile(f)
	f.Fuzz(func(t *testing.T, text string) {
		var all car.Tags
		for line := range strings.Lines(text) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			all = append(all, car.Tag{Key: key, Value: value})
		}
		if wrong := holds(p, all); wrong != "" {
			t.Fatalf("%q: %s", text, wrong)
		}
		members := []car.Member{{Kind: car.WayMember, Ref: 1, Role: "from"}, {Ref: 2, Role: "via"}, {Kind: car.WayMember, Ref: 3, Role: "to"}}
		if r, outcome := car.ParseRestriction(all, members); (outcome == car.Restricts) != (len(r.From) > 0) {
			t.Fatalf("%q: outcome %d, %+v", text, outcome, r)
		}
	})
}
