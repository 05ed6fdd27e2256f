package scenarios

import (
	"testing"

	"wayside/internal/drive/nav/osrm"
	"wayside/internal/roads/roadtest"
)

// told is a scenario of our own for guidance.
type told struct {
	name    string
	metres  float64 // of a character of the map
	drawing string
	objects []roadtest.Object
	rows    []toldRow
}

// toldRow is a route: the names of its steps, their maneuvers, and the lanes if they are given.
type toldRow struct{ places, roads, turns, lanes string }

const (
	oneway    = avenue + ", oneway=yes"
	link      = "highway=primary_link, oneway=yes"
	secondary = "highway=secondary"
)

// ownGuidance are cases found while comparing guidance with OSRM's scenarios.
var ownGuidance = []told{
	{
		"mappers say what a turn is called", 10, `
			a-1-b-2-c
			    |
			    3
			    |
			    d
		`,
		[]roadtest.Object{named("Main", "abc", avenue), named("Side", "bd", street), roadtest.Relation("type=manoeuvre, manoeuvre=fork, direction=slight_right", "abc b bd")},
		[]toldRow{{"13", "Main,Side,Side", "depart,fork slight right,arrive", ""}, {"32", "Side,Main,Main", "depart,turn right,arrive", ""}},
	},
	{
		"mappers say it of those who come over one way alone", 20, `
			      e
			      |
			a--1--b--2--c
			      |
			x--3--d--4--y
		`,
		[]roadtest.Object{
			named("Main", "ab", avenue), named("Main", "bc", avenue), named("Short", "bd", street), named("Short", "eb", street), named("Low", "xdy", street),
			roadtest.Relation("type=maneuver, maneuver=turn, direction=sharp_left", "ab d,bd xdy"),
		},
		[]toldRow{
			{"14", "Main,Short,Low,Low", "depart,turn right,turn sharp left,arrive", ""},
			{"24", "Main,Short,Low,Low", "depart,turn left,turn left,arrive", ""},
		},
	},
	{
		"who leaves a ferry at a junction of roads turns there", 10, `
			      c
			      |
			a-1-b~d
			      2
			      e
		`,
		[]roadtest.Object{named("Quay", "ab", avenue), named("Ferry", "bd", "route=ferry"), named("Shore", "cde", avenue)},
		[]toldRow{{"12", "Quay,Ferry,Shore,Shore", "depart,notification straight,turn right,arrive", ""}},
	},
	{
		"a road that bends where another one leads off like it goes on by a turn", 10, `
			         d
			        .
			       .
			a--1--b
			       .
			        2
			         c
		`,
		[]roadtest.Object{named("Bend", "abc", street), named("Other", "bd", street)},
		[]toldRow{{"12", "Bend,Bend,Bend", "depart,continue right,arrive", ""}},
	},
	{
		"straight on, where the road turns off", 20, `
			       d
			       |
			       |
			a--1---b--2---c
		`,
		[]roadtest.Object{named("Road", "abd", street), named("Ahead", "bc", street)},
		[]toldRow{{"12", "Road,Ahead,Ahead", "depart,turn straight,arrive", ""}},
	},
	{
		"two right angles some metres apart are two turns", 10, `
			      f
			      |
			a--1--b
			      |
			      d--2--e
			      |
			      g
		`,
		[]roadtest.Object{named("West", "ab", street), named("Cross", "fbdg", street), named("West", "de", street)},
		[]toldRow{{"12", "West,Cross,West,West", "depart,turn right,turn left,arrive", ""}},
	},
	{
		"a link by which one turns back", 10, `
			h----2----g---------f
			         .
			        .
			a-1-----b-----------c
		`,
		[]roadtest.Object{named("Road", "ab", oneway+", turn:lanes=reverse|through|through"), named("Road", "bc", oneway), named("Road", "bg", link), named("Road", "fgh", oneway)},
		[]toldRow{{"12", "Road,Road,Road", "depart,continue uturn,arrive", ",uturn:true straight:false straight:false;,"}},
	},
	{
		"arrows show roads in their order", 10, `
			a
			          b-----------c
			                 d
		`,
		[]roadtest.Object{
			named("Way", "ab", "highway=motorway, turn:lanes=through|through|slight_right"), named("Way", "bc", "highway=motorway"),
			named("Ramp", "bd", "highway=motorway_link, oneway=yes"),
		},
		[]toldRow{
			{"ac", "Way,Way", "depart,arrive", ";straight:true straight:true slight right:false,"},
			{"ad", "Way,Ramp,Ramp", "depart,off ramp slight right,arrive", ",straight:false straight:false slight right:true,"},
		},
	},
	{
		"lanes without an arrow: one turns off from the outermost", 10, `
			       d
			       |
			a--1---b--2---c
			       |
			       e
		`,
		[]roadtest.Object{named("Road", "ab", oneway+", turn:lanes=left|none|none"), named("Road", "bc", oneway), named("Cross", "ebd", avenue)},
		[]toldRow{
			{"1e", "Road,Cross,Cross", "depart,turn right,arrive", ",left:false none:false none:true,"},
			{"12", "Road,Road", "depart,arrive", ";left:false none:true none:true,"},
		},
	},
	{
		"lanes that are painted before a junction that one passes", 10, `
			    e   f
			    |   |
			a-1-b---c-2-d
		`,
		[]roadtest.Object{named("Road", "ab", avenue+", turn:lanes:forward=left|through"), named("Road", "bcd", avenue), named("In", "eb", oneway), named("Turn", "cf", avenue)},
		[]toldRow{
			{"1f", "Road,Turn,Turn", "depart,turn left,arrive", ";left:true straight:false,left:true straight:false,"},
			{"12", "Road,Road", "depart,arrive", ";left:false straight:true;left:false straight:true,"},
		},
	},
	{
		"of lanes that turn together, those that the next junction needs", 10, `
			a---1---b----c
			        |
			        |
			d--e----f----g
			   |
			   h
		`,
		[]roadtest.Object{
			named("One", "ab", avenue+", turn:lanes:forward=through|right|right"), named("One", "bc", avenue), named("Two", "bf", avenue+", turn:lanes:forward=left|right|right"),
			named("Three", "fe", avenue+", turn:lanes:forward=left|through"), named("Three", "ed", avenue), named("Three", "fg", avenue), named("Four", "eh", avenue),
		},
		[]toldRow{{
			"1h", "One,Two,Three,Four,Four", "depart,turn right,turn right,turn left,arrive",
			",straight:false right:true right:false,left:false right:true right:false,left:true straight:false,",
		}},
	},
	{
		"ramps meet, and there is one way on", 20, `
			        .--1--a
			      .
			j--2--b-------x
		`,
		[]roadtest.Object{named("East", "xb", "highway=motorway_link, oneway=yes"), named("East", "bj", "highway=motorway_link, oneway=yes"), named("On", "ab", "highway=motorway_link, oneway=yes")},
		[]toldRow{{"12", "On,East", "depart,arrive", ""}},
	},
	{
		"a motorway that takes in another one goes on under its number", 10, `
			a--1-----b
			          '----c--2--d
			e--3-----f'
		`,
		[]roadtest.Object{
			roadtest.Way("abc", "highway=motorway, oneway=yes, ref=US 50"), roadtest.Way("efc", "highway=motorway, oneway=yes, ref=I 66"), roadtest.Way("cd", "highway=motorway, oneway=yes, ref=US 50;i66"),
		},
		[]toldRow{{"12", ",", "depart,arrive", ""}, {"32", ",", "depart,arrive", ""}},
	},
	{
		"a road that leads into another one", 10, `
			d
			a---1---b-----------------c
		`,
		[]roadtest.Object{named("Main", "abc", avenue), named("Side", "db", avenue)},
		[]toldRow{{"dc", "Side,Main,Main", "depart,turn straight,arrive", ""}},
	},
	{
		"two turns that both lead back", 10, `
			a-----------b
			c
			    d
		`,
		[]roadtest.Object{named("In", "ab", avenue), named("Far", "bc", avenue), named("Near", "bd", avenue)},
		[]toldRow{{"ac", "In,Far,Far", "depart,turn sharp right,arrive", ""}, {"ad", "In,Near,Near", "depart,turn sharp right,arrive", ""}},
	},
	{
		"the sliproad of a junction behind which another road begins", 10, `
			      d
			      |
			s-a---b
			    . |
			     .c--g
			      |
			      e
			      |
			      2
			      |
			      f
		`,
		[]roadtest.Object{
			named("Stem", "sab", avenue), named("Cross", "db", avenue), named("Cross", "bcef", avenue), named("Stem", "ae", link), named("Side", "cg", avenue),
			roadtest.Restriction("no_right_turn", "sab b bcef"),
		},
		[]toldRow{{"s2", "Stem,Cross,Cross", "depart,turn right,arrive", ""}},
	},
}

func TestOwnGuidance(t *testing.T) {
	for _, s := range ownGuidance {
		t.Run(s.name, func(t *testing.T) {
			m := roadtest.Map(t, s.metres, s.drawing, s.objects...)
			k := serve(t, m)
			for _, r := range s.rows {
				k.hear(t, m, r)
			}
		})
	}
}

// hear requests the route of a row and compares its instructions.
func (k *asker) hear(t *testing.T, m *roadtest.Network, r toldRow) {
	t.Helper()
	places := m.Places(t, r.places)
	a, err := k.ask(t.Context(), osrm.Route, places, options{"steps": "true"})
	if err != nil || len(a.Routes) == 0 {
		t.Errorf("%s: %s %v", r.places, a.Code, err)
		return
	}
	got := &a.Routes[0]
	if got.names() != r.roads || got.list(turnOf) != r.turns {
		t.Errorf("%s: over %s: %s\nwant %s: %s", r.places, got.names(), got.list(turnOf), r.roads, r.turns)
	}
	if lanes := got.list(lanesOf); r.lanes != "" && lanes != r.lanes {
		t.Errorf("%s: lanes %s, want %s", r.places, lanes, r.lanes)
	}
}
