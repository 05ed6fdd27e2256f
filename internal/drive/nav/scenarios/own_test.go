package scenarios

import (
	"math"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/cch"
	"wayside/internal/roads/match"
	"wayside/internal/roads/roadtest"
)

// drawn is a scenario of our own: roads on a map of 100 metres for each character, and routes.
type drawn struct {
	name    string
	drawing string
	objects []roadtest.Object
	rows    []row
}

// row is a requested route. Roads are the names of the driven roads, in order; empty: there is no route.
type row struct {
	places  string // letters and digits of the map
	options string // "key=value, key=value"
	roads   string
	seconds float64 // 0: not compared
}

const (
	street = "highway=residential" // 25 km/h: 14.4 s for 100 m
	avenue = "highway=primary"     // 65 km/h: 5.5 s
)

func named(name, nodes, tags string) roadtest.Object {
	return roadtest.Way(nodes, "name="+name+", "+tags)
}

// ownScenarios are cases found while comparing with OSRM's scenarios.
var ownScenarios = []drawn{
	{
		"a yard that can only be left", `
			a----b----c-2-d-e-f-g-h-i-j-k-l-m
			     |
			     1
			     |
			     x
		`,
		[]roadtest.Object{roadtest.Ways("ab bc cd de ef fg gh hi ij jk kl lm", "name=Quay, "+street), named("Yard", "xb", street+", oneway=yes")},
		[]row{
			{places: "12", roads: "Yard,Quay", seconds: 129.6 + 2.1},
			{places: "21", roads: "Quay"}, // to the place where the road leaves the yard
		},
	},
	{
		"a bollard between like halves", "a-1-b-2-c",
		[]roadtest.Object{named("Lane", "abc", street), roadtest.Node("b", "barrier=bollard")},
		[]row{{places: "12"}, {places: "21"}, {places: "1b", roads: "Lane", seconds: 28.8}},
	},
	{
		"a gate costs a minute, and one that is open nothing", `
			a-1-b-2-c
			d-3-e-4-f
		`,
		[]roadtest.Object{
			named("Gated", "abc", street), roadtest.Node("b", "barrier=gate"),
			named("Grid", "def", street), roadtest.Node("e", "barrier=cattle_grid"),
		},
		[]row{{places: "12", roads: "Gated", seconds: 57.6 + 60}, {places: "34", roads: "Grid", seconds: 57.6}},
	},
	{
		"the corner of a block", `
			a-----b
			|     |
			d-----c
		`,
		[]roadtest.Object{named("North", "ab", street+", oneway=yes"), named("East", "bc", street), named("South", "cd", street), named("West", "da", street)},
		[]row{{places: "ba", roads: "East,South,West"}, {places: "da", roads: "West", seconds: 28.8}},
	},
	{
		"a road for residents is no way through", `
			a-1-b-3-c-2-d
			    |   |
			    e---f
		`,
		[]roadtest.Object{
			named("Main", "ab", avenue), named("Residents", "bc", street+", access=destination"), named("Main", "cd", avenue), named("Around", "befc", street),
		},
		[]row{{places: "12", roads: "Main,Around,Main"}, {places: "13", roads: "Main,Residents"}, {places: "31", roads: "Residents,Main"}},
	},
	{
		"a route may use a ferry, and begins on the quay", "a-1-b-------c-2-d",
		[]roadtest.Object{named("Old Quay", "ab", avenue), named("Ferry", "bc", "route=ferry, duration=0:10"), named("New Quay", "cd", avenue)},
		[]row{{places: "12", roads: "Old Quay,Ferry,New Quay", seconds: 622.2}, {places: "b2", roads: "Ferry,New Quay"}},
	},
	{
		"a private driveway is where a route ends only if it is asked to", "a---b-1-c",
		[]roadtest.Object{named("Road", "ab", avenue), named("Drive", "bc", "highway=service, access=private")},
		[]row{{places: "a1", roads: "Road"}, {places: "a1", options: "snapping=any", roads: "Road,Drive"}},
	},
	{
		"no left turn, but around the block", `
			    a
			    |
			    1
			    |
			b-2-c---d
			    |   |
			    e---f
		`,
		[]roadtest.Object{
			named("Stem", "ac", street+", oneway=yes"), named("Left", "cb", street), named("Right", "dc", street+", oneway=yes"), named("Down", "ce", street+", oneway=yes"),
			named("Back", "efd", street+", oneway=yes"), roadtest.Restriction("no_right_turn", "ac c cb"),
		},
		[]row{{places: "12", roads: "Stem,Down,Back,Right,Left"}},
	},
	{
		"only straight on, over a piece of road", `
			    f   g
			    |   |
			    |   |
			    |   |
			a-1-b---c-2-d
			    |   |
			    h   i
		`,
		[]roadtest.Object{
			named("In", "ab", street+", oneway=yes"), named("Middle", "bc", street+", oneway=yes"), named("Out", "cd", street+", oneway=yes"),
			named("North", "cg", street+", oneway=yes"), named("Side", "fb", street+", oneway=yes"), roadtest.Restriction("only_straight_on", "ab bc cd"),
		},
		[]row{{places: "12", roads: "In,Middle,Out"}, {places: "1g"}, {places: "fg", roads: "Side,Middle,North"}},
	},
	{
		"on which side one drives decides what a turn costs", `
			a--b--c  x--y--z
			   |        |
			   d        w
		`,
		[]roadtest.Object{
			named("Left", "ab", street), named("Right", "bc", street), named("Stem", "db", street),
			named("Near", "xy", street+", driving_side=left"), named("Far", "yz", street+", driving_side=left"), named("Foot", "wy", street+", driving_side=left"),
		},
		[]row{
			{places: "da", roads: "Stem,Left", seconds: 72 + 5.4},
			{places: "dc", roads: "Stem,Right", seconds: 72 + 2.1},
			{places: "wx", roads: "Foot,Near", seconds: 72 + 2.1},
			{places: "wz", roads: "Foot,Far", seconds: 72 + 5.4},
		},
	},
	{
		"signals cost two seconds, in the direction that they are for", "a---b---c",
		[]roadtest.Object{named("Road", "abc", street), roadtest.Node("b", "highway=traffic_signals, traffic_signals:direction=forward")},
		[]row{{places: "ac", roads: "Road", seconds: 117.2}, {places: "ca", roads: "Road", seconds: 115.2}},
	},
	{
		"a bearing decides which way a route begins", `
			a-1-b
			|   |
			c---d
		`,
		[]roadtest.Object{named("Ring", "abdca", street)},
		[]row{{places: "1b", options: "bearings=90,20;", roads: "Ring", seconds: 28.8}, {places: "1b", options: "bearings=270,20;", roads: "Ring", seconds: 144}},
	},
}

// serve answers requests about a drawn map, as a running service does.
func serve(t *testing.T, m *roadtest.Network) *asker {
	t.Helper()
	g := m.Graph(t)
	topology, err := cch.Prepare(t.Context(), g, cch.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	live, err := nav.NewLive(t.Context(), nav.NewRoads(g, match.NewIndex(g), "drawn"), topology)
	if err != nil {
		t.Fatal(err)
	}
	return &asker{service: nav.New(live.Network)}
}

func TestOwnScenarios(t *testing.T) {
	for _, s := range ownScenarios {
		t.Run(s.name, func(t *testing.T) {
			m := roadtest.Map(t, 100, s.drawing, s.objects...)
			k := serve(t, m)
			for _, r := range s.rows {
				k.check(t, m, r)
			}
		})
	}
}

// check requests the route of a row.
func (k *asker) check(t *testing.T, m *roadtest.Network, r row) {
	t.Helper()
	places := m.Places(t, r.places)
	o := options{"steps": "true"}
	for _, tag := range roadtest.Tags(r.options) {
		o[tag.Key] = tag.Value
	}
	a, err := k.ask(t.Context(), osrm.Route, places, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.roads == "" {
		if a.Code != nav.NoRoute {
			t.Errorf("%s: %s, want no route", r.places, a.Code)
		}
		return
	}
	if len(a.Routes) == 0 {
		t.Errorf("%s: %s", r.places, a.Code)
		return
	}
	got := &a.Routes[0]
	if !got.sameRoads(r.roads) {
		t.Errorf("%s: over %s, want %s", r.places, got.names(), r.roads)
	}
	if r.seconds > 0 && math.Abs(got.Duration-r.seconds) > 0.2 {
		t.Errorf("%s: %.1f s, want %.1f", r.places, got.Duration, r.seconds)
	}
}

// TestNodesOfNearestRoad checks that the nodes of a nearest road are those before and after the place, in the direction
// of a one-way road.
func TestNodesOfNearestRoad(t *testing.T) {
	m := roadtest.Map(t, 100, `
		1-a-2-b


		c-3-d-4
	`, named("East", "ab", street+", oneway=yes"), named("West", "cd", street+", oneway=-1"))
	k := serve(t, m)
	for place, nodes := range map[string]string{"1": "ab", "2": "ab", "3": "dc", "4": "dc"} {
		a, err := k.ask(t.Context(), osrm.Nearest, []geo.Point{m.Place(t, place)}, nil)
		if err != nil || len(a.Waypoints) != 1 {
			t.Fatal(place, a, err)
		}
		if got := string([]rune{rune(a.Waypoints[0].Nodes[0]), rune(a.Waypoints[0].Nodes[1])}); got != nodes {
			t.Errorf("%s: between %q, want %s", place, got, nodes)
		}
	}
}
