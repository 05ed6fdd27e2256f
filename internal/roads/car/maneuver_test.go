package car_test

import (
	"reflect"
	"testing"

	"wayside/internal/roads/car"
)

func TestParseManeuver(t *testing.T) {
	member := func(kind car.MemberKind, ref int64, role string) car.Member {
		return car.Member{Kind: kind, Ref: ref, Role: role}
	}
	plain := []car.Member{member(car.WayMember, 1, "from"), member(car.NodeMember, 2, "via"), member(car.WayMember, 3, "to")}
	with := func(more ...car.Member) []car.Member { return append(append([]car.Member{}, plain...), more...) }
	tags := func(pairs ...string) (t car.Tags) {
		for i := 0; i < len(pairs); i += 2 {
			t = append(t, car.Tag{Key: pairs[i], Value: pairs[i+1]})
		}
		return t
	}
	for name, c := range map[string]struct {
		tags    car.Tags
		members []car.Member
		want    car.Maneuver
		is, ok  bool
	}{
		"a fork":          {tags("type", "manoeuvre", "maneuver", "turn", "manoeuvre", "fork", "direction", "slight_left"), plain, car.Maneuver{Via: 2, From: 1, To: 3, Type: car.ForkManeuver, Heading: car.HeadingSlightLeft}, true, true},
		"over a way":      {tags("type", "maneuver", "maneuver", "suppress"), with(member(car.WayMember, 4, "via")), car.Maneuver{Via: 2, From: 1, To: 3, Over: []int64{4}, Type: car.SuppressManeuver}, true, true},
		"a U-turn":        {tags("type", "maneuver", "maneuver", "uturn"), plain, car.Maneuver{Via: 2, From: 1, To: 3, Type: car.TurnManeuver, Heading: car.HeadingUTurn}, true, true},
		"two via nodes":   {tags("type", "maneuver", "maneuver", "turn"), with(member(car.NodeMember, 9, "via")), car.Maneuver{}, true, false},
		"no way to":       {tags("type", "maneuver", "maneuver", "turn"), plain[:2], car.Maneuver{}, true, false},
		"an unknown word": {tags("type", "maneuver", "maneuver", "jump"), plain, car.Maneuver{}, true, false},
		"says nothing":    {tags("type", "maneuver"), plain, car.Maneuver{}, true, false},
		"a restriction":   {tags("type", "restriction", "restriction", "no_left_turn"), plain, car.Maneuver{}, false, false},
	} {
		got, is, ok := car.ParseManeuver(c.tags, c.members)
		if is != c.is || ok != c.ok || ok && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v %t %t, want %+v %t %t", name, got, is, ok, c.want, c.is, c.ok)
		}
	}
}
