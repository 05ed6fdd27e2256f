package car_test

import (
	"fmt"
	"strings"
	"testing"

	"wayside/internal/roads/car"
)

const (
	reverse = car.LaneReverse
	left    = car.LaneLeft
	through = car.LaneThrough
	right   = car.LaneRight
)

func TestLanes(t *testing.T) {
	for _, c := range []struct {
		tags    string
		d       car.Direction
		only    bool
		want    []car.Lane
		outcome car.LaneOutcome
		because string
	}{
		{"highway=primary", car.Forward, true, nil, car.NoLanes, "there are none"},
		{"turn:lanes=||", car.Forward, true, nil, car.NoLanes, "lanes without arrows say nothing"},
		{"turn:lanes=left|through|", car.Forward, true, []car.Lane{left, through, 0}, car.LanesRead, "from left to right"},
		{"turn:lanes=reverse;left| through ;right |none", car.Forward, true, []car.Lane{reverse | left, through | right, 0}, car.LanesRead, "several arrows, with blanks"},
		{"turn:lanes:forward=left|through, turn:lanes:backward=right|", car.Backward, false, []car.Lane{right, 0}, car.LanesRead, "the other direction"},
		{"turn:lanes=left|through", car.Backward, false, nil, car.NoLanes, "they are of the way as it is drawn"},
		{"turn:lanes=left|through", car.Backward, true, []car.Lane{left, through}, car.LanesRead, "of the one direction that is open"},
		{"turn:lanes=through|through|right, vehicle:lanes=yes|no|yes", car.Forward, true, []car.Lane{through, right}, car.LanesRead, "a closed lane"},
		{"turn:lanes=through|through|right, bus:lanes=|designated|", car.Forward, true, []car.Lane{through, right}, car.LanesRead, "a lane of buses"},
		{"turn:lanes=through|through|right, vehicle:lanes=yes|no", car.Forward, true, []car.Lane{through, through, right}, car.LanesRead, "a list of another length"},
		{"turn:lanes=through|right, vehicle:lanes=no|no", car.Forward, true, []car.Lane{through, right}, car.LanesRead, "all closed"},
		{"turn:lanes=through|right|, lanes:psv=1", car.Forward, true, []car.Lane{through, right}, car.LanesRead, "a lane of buses at the side"},
		{"turn:lanes=through|right|, lanes:psv=foo", car.Forward, true, []car.Lane{through, right, 0}, car.LanesRead, "no number of lanes"},
		{"turn:lanes=through|right|right, lanes:psv=9", car.Forward, true, []car.Lane{through, right, right}, car.LanesRead, "lanes with arrows stay"},
		{"turn:lanes=through||, bus:lanes=||designated, lanes:bus=1", car.Forward, true, []car.Lane{through, 0}, car.LanesRead, "one lane of buses said twice"},
		{"turn:lanes=left|through, lanes=3", car.Forward, true, nil, car.LanesDisagree, "more lanes than arrows"},
		{"turn:lanes=left|through|right, lanes=2", car.Forward, true, nil, car.LanesDisagree, "fewer lanes than arrows"},
		{"turn:lanes=left|through|right, lanes=2, vehicle:lanes=yes|yes|no", car.Forward, true, []car.Lane{left, through}, car.LanesRead, "as many as are open"},
		{"turn:lanes:forward=left|through, lanes=3", car.Forward, false, []car.Lane{left, through}, car.LanesRead, "lanes of both directions"},
		{"turn:lanes:forward=left|through, lanes:forward=3", car.Forward, false, nil, car.LanesDisagree, "lanes of this direction"},
		{"turn:lanes=left|thru", car.Forward, true, nil, car.LanesInvalid, "no arrow of that name"},
		{"turn:lanes=" + strings.Repeat("left|", 16), car.Forward, true, nil, car.LanesInvalid, "17 lanes"},
		{"turn:lanes=" + strings.Repeat("left;", 1000), car.Forward, true, []car.Lane{left}, car.LanesRead, "the same arrow again"},
	} {
		got, outcome := car.Lanes(nil, tags(c.tags), c.d, c.only)
		if outcome != c.outcome || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %.80s: %v, %d, want %v, %d", c.because, c.tags, got, outcome, c.want, c.outcome)
		}
	}
}

func FuzzLanes(f *testing.F) {
	f.Add("left|through;right|", "yes|no|yes", "3", true)
	f.Add("|||", "designated||", "-1", false)
	f.Add(strings.Repeat("|", 50), "", "99999999999999999999", true)
	f.Fuzz(func(t *testing.T, lanes, access, count string, only bool) {
		all := car.Tags{{"turn:lanes", lanes}, {"vehicle:lanes", access}, {"bus:lanes", access}, {"lanes:psv", count}, {"lanes", count}}
		kept := []car.Lane{car.LaneReverse}
		got, outcome := car.Lanes(kept, all, car.Forward, only)
		if (outcome == car.LanesRead) != (len(got) > 1) || len(got) > 17 || got[0] != car.LaneReverse {
			t.Errorf("%v, %d", got, outcome)
		}
		for _, lane := range got {
			if lane&^car.AllLaneMarks != 0 {
				t.Errorf("%b", lane)
			}
		}
	})
}
