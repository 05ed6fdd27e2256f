package car

import (
	"strconv"
	"strings"
)

// Lane is the set of arrows on a lane; 0 means none.
type Lane uint16

// The arrows on lanes, from the far left to the far right.
const (
	LaneReverse Lane = 1 << iota
	LaneSharpLeft
	LaneLeft
	LaneSlightLeft
	LaneThrough
	LaneSlightRight
	LaneRight
	LaneSharpRight
	LaneMergeToLeft
	LaneMergeToRight

	// AllLaneMarks has every arrow.
	AllLaneMarks = LaneMergeToRight<<1 - 1
)

// maxLanes is the maximum number of lanes in one direction of a road. The widest roads have about that many.
const maxLanes = 16

// LaneOutcome is the result of reading the lanes of a direction.
type LaneOutcome uint8

// The outcomes. A list that cannot be read is left out as a whole, because a wrong lane is worse than none.
const (
	NoLanes       LaneOutcome = iota
	LanesRead                 // at least one lane has an arrow
	LanesInvalid              // too many lanes, or an unknown arrow
	LanesDisagree             // other tags state another number of lanes
)

// Lanes appends the lanes that cars may use in an open direction of a way, from left to right. onlyThere means that the
// other direction is closed.
func Lanes(into []Lane, tags Tags, d Direction, onlyThere bool) ([]Lane, LaneOutcome) {
	list := directed(tags, "turn:lanes", d)
	if list == "" && (d == Forward || onlyThere) {
		list = tags.Value("turn:lanes") // applies to the direction in which the way is drawn, unless a tag names the direction
	}
	if strings.Trim(list, "| ") == "" {
		return into, NoLanes
	}
	first := len(into)
	for one := range strings.SplitSeq(list, "|") {
		lane, ok := laneMarks(one)
		if !ok || len(into)-first >= maxLanes {
			return into[:first], LanesInvalid
		}
		into = append(into, lane)
	}
	all := len(into) - first
	into = dropClosedLanes(into, first, tags, d)
	into = dropBusLanes(into, first, all, tags, d)
	if n := namedLanes(tags, d, onlyThere); n > 0 && n != all && n != len(into)-first {
		return into[:first], LanesDisagree
	}
	var marked Lane
	for _, lane := range into[first:] {
		marked |= lane
	}
	if marked == 0 {
		return into[:first], NoLanes
	}
	return into, LanesRead
}

// directed returns the value of a key that applies to one direction only.
func directed(tags Tags, key string, d Direction) string {
	if d == Backward {
		return tags.Value(key + ":backward")
	}
	return tags.Value(key + ":forward")
}

// laneMarks parses the arrows on one lane. It returns false for an unknown arrow.
func laneMarks(text string) (lane Lane, ok bool) {
	for mark := range strings.SplitSeq(text, ";") {
		switch strings.TrimSpace(mark) {
		case "", "none":
		case "reverse":
			lane |= LaneReverse
		case "sharp_left":
			lane |= LaneSharpLeft
		case "left":
			lane |= LaneLeft
		case "slight_left":
			lane |= LaneSlightLeft
		case "through":
			lane |= LaneThrough
		case "slight_right":
			lane |= LaneSlightRight
		case "right":
			lane |= LaneRight
		case "sharp_right":
			lane |= LaneSharpRight
		case "merge_to_left":
			lane |= LaneMergeToLeft
		case "merge_to_right":
			lane |= LaneMergeToRight
		default:
			return 0, false
		}
	}
	return lane, true
}

// dropClosedLanes drops the lanes that are not for cars. It ignores a list whose length differs from that of the arrows.
func dropClosedLanes(lanes []Lane, first int, tags Tags, d Direction) []Lane {
	for _, rule := range [...]struct {
		key    string
		closes func(value string) bool
	}{
		{"access:lanes", isClosedLane},
		{"vehicle:lanes", isClosedLane},
		{"motor_vehicle:lanes", isClosedLane},
		{"motorcar:lanes", isClosedLane},
		{"bus:lanes", isForOthers},
		{"psv:lanes", isForOthers},
		{"bicycle:lanes", isForOthers},
	} {
		list := directed(tags, rule.key, d)
		if list == "" {
			list = tags.Value(rule.key)
		}
		if list == "" || strings.Count(list, "|")+1 != len(lanes)-first {
			continue
		}
		kept, i := first, first
		for value := range strings.SplitSeq(list, "|") {
			if !rule.closes(strings.TrimSpace(value)) {
				lanes[kept] = lanes[i]
				kept++
			}
			i++
		}
		if kept > first { // a tag that closes every lane is wrong
			lanes = lanes[:kept]
		}
	}
	return lanes
}

func isClosedLane(value string) bool { return value == "no" }

func isForOthers(value string) bool { return value == "designated" }

// dropBusLanes drops as many lanes without arrows on the right as there are bus lanes, unless other tags identify these.
func dropBusLanes(lanes []Lane, first, all int, tags Tags, d Direction) []Lane {
	for _, key := range [...]string{"lanes:psv", "lanes:bus"} {
		text := directed(tags, key, d)
		if text == "" {
			text = tags.Value(key)
		}
		buses, err := strconv.Atoi(text)
		if err != nil {
			continue
		}
		for ; buses > all-(len(lanes)-first) && len(lanes) > first+1 && lanes[len(lanes)-1] == 0; buses-- {
			lanes = lanes[:len(lanes)-1]
		}
	}
	return lanes
}

// namedLanes returns the number of lanes that the tags state for a direction, or 0.
func namedLanes(tags Tags, d Direction, onlyThere bool) int {
	text := directed(tags, "lanes", d)
	if text == "" && onlyThere {
		text = tags.Value("lanes")
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
