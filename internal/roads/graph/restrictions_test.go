package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"wayside/internal/roads/graph"
	"wayside/internal/roads/roadtest"
)

// streets is a map on which many restrictions can be drawn: two junctions, b and c, on a road from a to d.
//
//	e   g
//	|   |
//	a---b---c---d
//	    |   |
//	    f   h
const streets = `
	    e   g
	a---b---c---d
	    f   h
`

const allStreets = "ab bc cd eb bf gc ch"

func streetsWith(t testing.TB, objects ...roadtest.Object) *drawn {
	t.Helper()
	return draw(t, 100, streets, append([]roadtest.Object{roadtest.Ways(allStreets, road)}, objects...)...)
}

func (d *drawn) holdAfter(rows map[string]string) {
	d.Helper()
	for path, want := range rows {
		if got := d.after(path); got != want {
			d.Errorf("after %s onto %q, want %q", path, got, want)
		}
	}
}

func (d *drawn) holdRestrictions(applied, ignored int, reason string) {
	d.Helper()
	if got := d.counts.Restrictions; got.Applied != applied || got.Ignored != ignored {
		d.Errorf("%+v, want %d applied and %d ignored", got, applied, ignored)
	}
	if reason != "" && d.counts.LeftOut[reason] != ignored {
		d.Errorf("left out %v, want %d %s", d.counts.LeftOut, ignored, reason)
	}
}

func (d *drawn) holdCopies(want string) {
	d.Helper()
	var all []string
	for arc := range d.Arcs {
		if a := d.Arcs[arc]; a.CopyOf != uint32(arc) {
			all = append(all, d.name(uint32(arc)))
			original := d.Arcs[a.CopyOf]
			original.CopyOf, original.Flags, original.Island = a.CopyOf, original.Flags&^graph.MayBegin, a.Island
			if a != original || a.Flags&graph.MayBegin != 0 {
				d.Errorf("the copy %+v is not the same as %+v", a, original)
			}
		}
	}
	if got := strings.Join(all, " "); got != want {
		d.Errorf("copies of %q, want %q", got, want)
	}
}

func TestD15_9OverNodes(t *testing.T) {
	for name, row := range map[string]struct {
		restrictions []roadtest.Object
		applied      int
		after        map[string]string
	}{
		"no_ forbids one turn": {
			[]roadtest.Object{roadtest.Restriction("no_right_turn", "ab b bf")},
			1,
			map[string]string{"ab": "bc be", "eb": "ba bc bf", "cb": "ba be bf"},
		},
		"only_ forbids all others": {
			[]roadtest.Object{roadtest.Restriction("only_straight_on", "ab b bc")},
			1,
			map[string]string{"ab": "bc", "eb": "ba bc bf", "cb": "ba be bf"},
		},
		"also turning back": {
			[]roadtest.Object{roadtest.Restriction("only_straight_on", "ab b bc"), roadtest.Node("b", "highway=turning_circle")},
			1,
			map[string]string{"ab": "bc", "eb": "ba bc be bf"},
		},
		"several count together": {
			[]roadtest.Object{roadtest.Restriction("no_right_turn", "ab b bf"), roadtest.Restriction("no_left_turn", "ab b eb")},
			2,
			map[string]string{"ab": "bc"},
		},
		"several only_ leave nothing": {
			[]roadtest.Object{roadtest.Restriction("only_straight_on", "ab b bc"), roadtest.Restriction("only_right_turn", "ab b bf")},
			2,
			map[string]string{"ab": ""},
		},
		"no_entry has several from": {
			[]roadtest.Object{roadtest.Restriction("no_entry", "ab,eb b bc")},
			1,
			map[string]string{"ab": "be bf", "eb": "ba bf", "fb": "ba bc be"},
		},
		"no_exit has several to": {
			[]roadtest.Object{roadtest.Restriction("no_exit", "ab b bc,bf")},
			1,
			map[string]string{"ab": "be", "eb": "ba bc bf"},
		},
		"no_u_turn at a turning circle": {
			[]roadtest.Object{roadtest.Restriction("no_u_turn", "ab b ab"), roadtest.Node("b", "highway=turning_circle")},
			1,
			map[string]string{"ab": "bc be bf", "eb": "ba bc be bf"},
		},
		"the same twice": {
			[]roadtest.Object{roadtest.Restriction("no_right_turn", "ab b bf"), roadtest.Restriction("no_right_turn", "ab b bf")},
			2,
			map[string]string{"ab": "bc be"},
		},
		"the middle of a way that meets others there is no via of that way": {
			[]roadtest.Object{roadtest.Way("ebf", road), roadtest.Restriction("no_right_turn", "ab b bf")},
			1,
			map[string]string{"ab": "bc be be bf"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := streetsWith(t, row.restrictions...)
			d.holdAfter(row.after)
			d.holdRestrictions(row.applied, 0, "")
			d.holdCopies("")
		})
	}
}

func TestD15_9OverWays(t *testing.T) {
	for name, row := range map[string]struct {
		restrictions []roadtest.Object
		after        map[string]string
		copies       string
	}{
		"no_ forbids from, via, to": {
			[]roadtest.Object{roadtest.Restriction("no_right_turn", "ab bc ch")},
			map[string]string{"ab bc": "cd cg", "eb bc": "cd cg ch", "bc": "cd cg ch", "gc cb": "ba be bf"},
			"bc",
		},
		"only_ forbids all else": {
			[]roadtest.Object{roadtest.Restriction("only_left_turn", "ab bc gc")},
			map[string]string{"ab bc": "cg", "eb bc": "cd cg ch", "bc": "cd cg ch"},
			"bc",
		},
		"two with one via": {
			[]roadtest.Object{roadtest.Restriction("no_right_turn", "ab bc ch"), roadtest.Restriction("no_left_turn", "eb bc gc")},
			map[string]string{"ab bc": "cd cg", "eb bc": "cd ch", "bf fb bc": "cd cg ch"},
			"bc bc",
		},
		"two that begin the same": {
			[]roadtest.Object{roadtest.Restriction("no_right_turn", "ab bc ch"), roadtest.Restriction("no_straight_on", "ab bc cd")},
			map[string]string{"ab bc": "cg", "eb bc": "cd cg ch"},
			"bc",
		},
		"one over a node within": {
			[]roadtest.Object{roadtest.Restriction("no_right_turn", "ab bc ch"), roadtest.Restriction("no_straight_on", "bc c cd")},
			map[string]string{"ab bc": "cg", "eb bc": "cg ch"},
			"bc",
		},
		"the same as one over a node needs no copy": {
			[]roadtest.Object{roadtest.Restriction("no_right_turn", "ab bc ch"), roadtest.Restriction("no_right_turn", "bc c ch")},
			map[string]string{"ab bc": "cd cg", "eb bc": "cd cg"},
			"",
		},
		"nor what nobody can come to": {
			[]roadtest.Object{roadtest.Restriction("no_right_turn", "ab bc ch"), roadtest.Restriction("no_straight_on", "ab b bc")},
			map[string]string{"ab": "be bf", "eb bc": "cd cg ch"},
			"",
		},
		"several from": {
			[]roadtest.Object{roadtest.Restriction("no_entry", "ab,eb bc ch")},
			map[string]string{"ab bc": "cd cg", "eb bc": "cd cg", "bf fb bc": "cd cg ch"},
			"bc bc",
		},
		"turning back over a link": {
			[]roadtest.Object{roadtest.Restriction("no_u_turn", "eb bc gc")},
			map[string]string{"eb bc": "cd ch"},
			"bc",
		},
		"where nothing else is allowed one may turn back": {
			[]roadtest.Object{
				roadtest.Restriction("no_right_turn", "ab bc ch"), roadtest.Restriction("no_straight_on", "ab bc cd"), roadtest.Restriction("no_left_turn", "ab bc gc"),
			},
			map[string]string{"ab bc": "cb", "eb bc": "cd cg ch"},
			"bc",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := streetsWith(t, row.restrictions...)
			d.holdAfter(row.after)
			d.holdCopies(row.copies)
			d.holdRestrictions(len(row.restrictions), 0, "")
		})
	}
}

// TestD15_9ViaChains checks restrictions over several ways, and over ways of several pieces.
func TestD15_9ViaChains(t *testing.T) {
	const drawing = `
		    p   q   r
		a---b---c---d---e
		    s   u   v
	`
	for name, via := range map[string]string{"two ways": "bc,cd", "against their direction": "cb,dc", "one way over a junction": "bcd"} {
		t.Run(name, func(t *testing.T) {
			d := draw(t, 100, drawing, roadtest.Ways("ab de bp bs cq cu dr dv "+strings.ReplaceAll(via, ",", " "), road),
				roadtest.Restriction("no_right_turn", "ab "+via+" dv"), roadtest.Restriction("only_straight_on", "bp "+via+" de"))
			d.holdRestrictions(2, 0, "")
			d.holdAfter(map[string]string{
				"ab bc cd": "de dr", "pb bc cd": "de", "sb bc cd": "de dr dv", "bc cd": "de dr dv", "ab bc cu uc cd": "de dr dv", "ab bc": "cd cq cu",
			})
			d.holdCopies("bc cd bc cd")
		})
	}
	// The path of one restriction ends with the beginning of another's: a-b-c-d forbidden onto r, b-c-d-e onto the road
	// back.
	d := draw(t, 100, drawing+"\n\t\t                f", roadtest.Ways("ab bc cd de dr ef bp cq", road),
		roadtest.Restriction("no_left_turn", "ab bc,cd dr"), roadtest.Restriction("no_right_turn", "bc cd,de ef"))
	d.holdRestrictions(2, 0, "")
	d.holdAfter(map[string]string{"ab bc cd": "de", "ab bc cd de": "ed", "pb bc cd": "de dr", "pb bc cd de": "ed", "qc cd de": "ef"})
}

// TestD15_9Ignored checks which restrictions are ignored, and that they are counted by their reason.
func TestD15_9Ignored(t *testing.T) {
	for members, reason := range map[string]string{
		"xx b bf":     "restrictions_absent", // no such way
		"ab b xx":     "restrictions_absent", //
		"ab xx bf":    "restrictions_absent", //
		"ab z bf":     "restrictions_absent", // no such node
		"wb b bf":     "restrictions_absent", // no car can drive there
		"ab b bo":     "restrictions_absent", // not in that direction
		"ok o bo":     "restrictions_absent", //
		"ab bo ok":    "restrictions_absent", //
		"kl l lm":     "restrictions_absent", // a barrier
		"ab bc,bx hi": "restrictions_absent", //
		"ab c ch":     "restrictions_parted", // from does not end at the via
		"ab b ch":     "restrictions_parted", // to does not begin there
		"ijkli i ob":  "restrictions_parted", // from begins and ends there
		"ab ch gc":    "restrictions_parted", // the via does not begin where from ends
		"ab bc bf,eb": "restrictions_members",
		"ab bc bf":    "restrictions_parted", // to leads from the same end
		"ab bc,eb gc": "restrictions_parted", // vias that are not connected
		"ab b":        "restrictions_members",
		"ab n bf":     "restrictions_absent", // a node of no road
		"ab i bf":     "restrictions_parted", // a node of other roads
		"xb b bf":     "restrictions_absent", // nothing is left of the way with the nodes xb
	} {
		t.Run(members, func(t *testing.T) {
			d := draw(t, 100, `
				    e   g
				a---b---c---d
				    f   h
				 n  o   m-l-k
				          i-j
			`,
				roadtest.Ways(allStreets+" kl lm ijkli xb", road), roadtest.Way("wb", "highway=footway, access=no"), roadtest.Ways("ob ok", road+", oneway=yes"),
				roadtest.Way("bo", road+", oneway=-1"), roadtest.Node("l", "barrier=bollard"), roadtest.Restriction("no_right_turn", members))
			d.holdRestrictions(0, 1, reason)
			d.holdCopies("")
		})
	}
	d := streetsWith(t, roadtest.Relation("type=restriction, restriction:conditional=no_left_turn @ (Mo-Fr 07:00-09:00)", "ab b bf"),
		roadtest.Relation("type=restriction, restriction=no_left_turn, day_on=Monday", "ab b bf"))
	d.holdRestrictions(0, 2, "restrictions_timed")
	d = streetsWith(t, roadtest.Restriction("maybe", "ab b bf"))
	d.holdRestrictions(0, 1, "restrictions_unknown")
	d = streetsWith(t, roadtest.Restriction("no_left_turn", "ab,eb b bf"))
	d.holdRestrictions(0, 1, "restrictions_members")
	d = streetsWith(t, roadtest.Relation("type=restriction, restriction:hgv=no_left_turn", "ab b bf"), roadtest.Relation("type=route", "ab b bf"))
	d.holdRestrictions(0, 0, "")
	d.holdOnto("ab", "bc be bf")
}

// TestD15_9GapsInWays checks that a via must be complete, and a from or to must be complete at the via.
func TestD15_9GapsInWays(t *testing.T) {
	const drawing = `
		a--b--c--d
		   e  f
	`
	for _, row := range []struct {
		ways, members    string
		applied, ignored int
	}{
		{"Xab bc cd be cf", "Xab bc cd", 1, 0},
		{"aXb bc cd be cf", "aXb bc cd", 0, 1},
		{"ab bXc cd be cf", "ab bXc cd", 0, 1},
		{"ab bcX cd be cf", "ab bcX cd", 0, 1},
		{"ab bc cd be cf", "ab bc cd", 1, 0},
		{"ab bX be", "ab b bX", 0, 1},
		{"ab bXe bc", "ab b bXe", 0, 1},
		{"ab becb", "ab becb ab", 0, 1},
		{"cd ab bXXe", "ab b bXXe", 0, 1},
		{"cd ab bXXe", "bXXe b ab", 0, 1},
		{"cd ab bXXe", "ab bXXe cd", 0, 1},
	} {
		d := draw(t, 100, drawing, roadtest.Ways(row.ways, road), roadtest.Restriction("no_straight_on", row.members))
		if got := d.counts.Restrictions; got.Applied != row.applied || got.Ignored != row.ignored {
			t.Errorf("%s of %s: %+v, left out %v", row.members, row.ways, got, d.counts.LeftOut)
		}
	}
}

// TestRoutesEndOnCopies checks that a route may end on any copy of an arc and begins on none.
func TestRoutesEndOnCopies(t *testing.T) {
	d := streetsWith(t, roadtest.Restriction("no_right_turn", "ab bc ch"))
	e := parseExport(t, export(t, d.Graph))
	base := int(d.arc("bc"))
	var flags []string
	for arc, a := range e.arcs {
		if a.copyOf == base {
			flags = append(flags, fmt.Sprint(a.flags, arc == base))
		}
	}
	if got := strings.Join(flags, " "); got != "setrue efalse" {
		t.Errorf("%s", got)
	}
}
