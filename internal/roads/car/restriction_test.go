package car_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"wayside/internal/roads/car"
)

// members parses members written as "from w1, via n2, to w3".
func members(text string) []car.Member {
	var all []car.Member
	for one := range strings.SplitSeq(text, ", ") {
		role, ref, _ := strings.Cut(one, " ")
		id, err := strconv.ParseInt(ref[1:], 10, 64)
		if err != nil {
			panic(err)
		}
		kind := map[byte]car.MemberKind{'n': car.NodeMember, 'w': car.WayMember, 'r': car.RelationMember}[ref[0]]
		all = append(all, car.Member{Kind: kind, Ref: id, Role: role})
	}
	return all
}

// drawn returns a restriction as text: "no 1 n2 3", "only 1 w5,6 3 4".
func drawn(r car.Restriction) string {
	words := []string{map[bool]string{true: "only", false: "no"}[r.Only]}
	via := fmt.Sprint("n", r.ViaNode)
	if len(r.ViaWays) > 0 {
		via = "w" + strings.Trim(strings.ReplaceAll(fmt.Sprint(r.ViaWays), " ", ","), "[]")
	}
	for from, to := range r.Pairs() {
		words = append(words, fmt.Sprint(from, " ", via, " ", to))
	}
	return strings.Join(words, " ")
}

const overNode = "from w1, via n2, to w3"

func TestD15_9Tags(t *testing.T) {
	for name, table := range map[string][]struct {
		tags    string
		outcome car.Outcome
		want    string
	}{
		"no_ and only_": {
			{"type=restriction, restriction=no_left_turn", car.Restricts, "no 1 n2 3"},
			{"type=restriction, restriction=no_anything", car.Restricts, "no 1 n2 3"},
			{"type=restriction, restriction=only_straight_on", car.Restricts, "only 1 n2 3"},
			{"type=restriction, restriction=left_turn", car.UnknownValueIgnored, ""},
			{"type=restriction, restriction=no", car.UnknownValueIgnored, ""},
		},
		"types and keys": {
			{"type=restriction, restriction:motorcar=no_u_turn", car.Restricts, "no 1 n2 3"},
			{"type=restriction, restriction:motor_vehicle=no_u_turn", car.Restricts, "no 1 n2 3"},
			{"type=restriction, restriction:vehicle=no_u_turn", car.Restricts, "no 1 n2 3"},
			{"type=restriction, restriction:hgv=no_u_turn", car.NoRestriction, ""},
			{"type=restriction:motorcar, restriction=no_u_turn", car.Restricts, "no 1 n2 3"},
			{"type=restriction:vehicle, restriction:vehicle=no_u_turn", car.Restricts, "no 1 n2 3"},
			{"type=restriction:hgv, restriction=no_u_turn", car.NoRestriction, ""},
			{"type=route, restriction=no_u_turn", car.NoRestriction, ""},
			{"restriction=no_u_turn", car.NoRestriction, ""},
			{"type=restriction", car.NoRestriction, ""},
			{"type=restriction, restriction=", car.NoRestriction, ""},
		},
		"except": {
			{"type=restriction, restriction=no_u_turn, except=motorcar", car.NoRestriction, ""},
			{"type=restriction, restriction=only_u_turn, except=bus;motor_vehicle", car.NoRestriction, ""},
			{"type=restriction, restriction=no_u_turn, except=bicycle; vehicle", car.NoRestriction, ""},
			{"type=restriction, restriction=no_u_turn, except=bus;bicycle", car.Restricts, "no 1 n2 3"},
			{"type=restriction, restriction=no_u_turn, except=", car.Restricts, "no 1 n2 3"},
		},
		"the first key counts": {
			{"type=restriction, restriction:motorcar=only_right_turn, restriction=no_u_turn", car.Restricts, "no 1 n2 3"},
			{"type=restriction, restriction:vehicle=no_u_turn, restriction:motorcar=only_right_turn", car.Restricts, "only 1 n2 3"},
			{"type=restriction, restriction=nothing, restriction:motorcar=no_u_turn", car.UnknownValueIgnored, ""},
			{"type=restriction, restriction=, restriction:motorcar=no_u_turn", car.Restricts, "no 1 n2 3"},
		},
		"on red not at all": {
			{"type=restriction, restriction=no_right_turn_on_red", car.NoRestriction, ""},
			{"type=restriction, restriction=no_turn_on_red", car.NoRestriction, ""},
			{"type=restriction, restriction=only_right_turn_on_red", car.NoRestriction, ""},
		},
		"conditional and timed are ignored, and counted": {
			{"type=restriction, restriction:conditional=no_left_turn @ (Mo-Fr 07:00-09:00)", car.ConditionalIgnored, ""},
			{"type=restriction, restriction:motorcar:conditional=no_left_turn @ (Mo-Fr)", car.ConditionalIgnored, ""},
			{"type=restriction, restriction:hgv:conditional=no_left_turn @ (Mo-Fr)", car.NoRestriction, ""},
			{"type=restriction, restriction=no_left_turn, day_on=Monday", car.ConditionalIgnored, ""},
			{"type=restriction, restriction=no_left_turn, hour_on=07:00, hour_off=09:00", car.ConditionalIgnored, ""},
			{"type=restriction, restriction=no_left_turn, day_on=", car.Restricts, "no 1 n2 3"},
			{"type=restriction, restriction=no_left_turn, restriction:conditional=none @ (Su)", car.Restricts, "no 1 n2 3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, row := range table {
				holdRestriction(t, row.tags, overNode, row.outcome, row.want)
			}
		})
	}
}

func TestD15_9Members(t *testing.T) {
	for _, row := range []struct {
		value, members string
		outcome        car.Outcome
		want           string
	}{
		{"no_left_turn", "to w3, from w1, via n-2", car.Restricts, "no 1 n-2 3"},
		{"no_u_turn", "from w1, via n2, to w1", car.Restricts, "no 1 n2 1"},
		{"no_left_turn", "from w1, via w2, to w3", car.Restricts, "no 1 w2 3"},
		{"only_left_turn", "from w1, via w7, via w5, to w3", car.Restricts, "only 1 w7,5 3"},
		{"no_left_turn", "from w1, via n2, via n2, to w3", car.Restricts, "no 1 n2 3"},
		{"no_left_turn", "from w1, from w1, via n2, to w3", car.Restricts, "no 1 n2 3"},
		{"no_left_turn", "from w1, via n2, to w3, location_hint n9, from n8, to r7", car.Restricts, "no 1 n2 3"},
		{"no_entry", "from w1, from w4, via n2, to w3", car.Restricts, "no 1 n2 3 4 n2 3"},
		{"no_entry", "from w1, from w4, via w2, to w3", car.Restricts, "no 1 w2 3 4 w2 3"},
		{"no_exit", "from w1, via n2, to w3, to w4", car.Restricts, "no 1 n2 3 1 n2 4"},
		{"no_exit", "from w1, from w4, via n2, to w3", car.MembersIgnored, ""},
		{"no_entry", "from w1, via n2, to w3, to w4", car.MembersIgnored, ""},
		{"no_left_turn", "from w1, from w4, via n2, to w3", car.MembersIgnored, ""},
		{"only_left_turn", "from w1, via n2, to w3, to w4", car.MembersIgnored, ""},
		{"no_left_turn", "via n2, to w3", car.MembersIgnored, ""},
		{"no_left_turn", "from w1, to w3", car.MembersIgnored, ""},
		{"no_left_turn", "from w1, via n2", car.MembersIgnored, ""},
		{"no_left_turn", "from n1, via n2, to w3", car.MembersIgnored, ""},
		{"no_left_turn", "from w1, via r2, to w3", car.MembersIgnored, ""},
		{"no_left_turn", "from w1, via n2, via n4, to w3", car.MembersIgnored, ""},
		{"no_left_turn", "from w1, via n2, via w4, to w3", car.MembersIgnored, ""},
	} {
		holdRestriction(t, "type=restriction, restriction="+row.value, row.members, row.outcome, row.want)
	}
	many := strings.TrimSuffix(strings.Repeat("from w1, ", 201), ", ") + ", via n2, to w3"
	holdRestriction(t, "type=restriction, restriction=no_entry", many, car.MembersIgnored, "")
}

func holdRestriction(t *testing.T, text, of string, want car.Outcome, restriction string) {
	t.Helper()
	r, outcome := car.ParseRestriction(tags(text), members(of))
	if outcome != want || outcome == car.Restricts && drawn(r) != restriction {
		t.Errorf("%s of %s: outcome %d, %q, want %d, %q", text, of, outcome, drawn(r), want, restriction)
	}
	if ignored := want >= car.ConditionalIgnored; outcome.Ignored() != ignored {
		t.Errorf("%s of %s: ignored %v, want %v", text, of, outcome.Ignored(), ignored)
	}
}
