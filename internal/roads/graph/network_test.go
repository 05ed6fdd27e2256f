package graph_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// drawn is the graph of a drawn map. Its arcs are named by the letters of their nodes.
type drawn struct {
	testing.TB
	*roadtest.Network
	*graph.Graph
	counts graph.Counts
}

func draw(t testing.TB, metres float64, drawing string, objects ...roadtest.Object) *drawn {
	t.Helper()
	return drawAt(t, geo.Point{}, metres, drawing, objects...)
}

func drawAt(t testing.TB, corner geo.Point, metres float64, drawing string, objects ...roadtest.Object) *drawn {
	t.Helper()
	n := roadtest.MapAt(t, corner, metres, drawing, objects...)
	g, counts := roadtest.Build(t, graph.BuildOptions{}, n.File(t))
	return &drawn{t, n, g, counts}
}

// name returns the letters of an arc's nodes.
func (d *drawn) name(arc uint32) string {
	a := d.Arcs[arc]
	p := d.Pieces[a.Piece]
	var letters []rune
	for _, id := range d.LineNodes[p.FirstLine : p.FirstLine+p.Positions] {
		letters = append(letters, rune(id))
	}
	if a.Flags&graph.Backward != 0 {
		slices.Reverse(letters)
	}
	return string(letters)
}

// names returns the names of all arcs except copies, sorted.
func (d *drawn) names() string {
	var all []string
	for arc := range d.Arcs {
		if d.Arcs[arc].CopyOf == uint32(arc) {
			all = append(all, d.name(uint32(arc)))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// arc returns the first arc with a name.
func (d *drawn) arc(name string) uint32 {
	d.Helper()
	for arc := range d.Arcs {
		if d.name(uint32(arc)) == name {
			return uint32(arc)
		}
	}
	d.Fatalf("there is no arc %q; there are %s", name, d.names())
	return 0
}

// turn returns the turn from one arc onto another.
func (d *drawn) turn(from, to string) (graph.Turn, bool) {
	d.Helper()
	for _, turn := range d.TurnsFrom(d.arc(from)) {
		if d.name(turn.To) == to {
			return turn, true
		}
	}
	return graph.Turn{}, false
}

// onto returns the names of the arcs onto which a car may turn, sorted.
func (d *drawn) onto(from string) string {
	d.Helper()
	return d.namesOf(d.TurnsFrom(d.arc(from)))
}

func (d *drawn) namesOf(turns []graph.Turn) string {
	var all []string
	for _, turn := range turns {
		all = append(all, d.name(turn.To))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// after returns the names of the arcs onto which a car may turn after driving a path, or "-" if the path cannot be
// driven.
func (d *drawn) after(path string) string {
	d.Helper()
	names := strings.Fields(path)
	at := d.arc(names[0])
	for _, name := range names[1:] {
		i := slices.IndexFunc(d.TurnsFrom(at), func(turn graph.Turn) bool { return d.name(turn.To) == name })
		if i < 0 {
			return "-"
		}
		at = d.TurnsFrom(at)[i].To
	}
	return d.namesOf(d.TurnsFrom(at))
}

func (d *drawn) holdNames(want string) {
	d.Helper()
	if got := d.names(); got != want {
		d.Errorf("arcs %s, want %s", got, want)
	}
}

func (d *drawn) holdLeftOut(want string) {
	d.Helper()
	if got := strings.TrimPrefix(fmt.Sprint(d.counts.LeftOut), "map"); got != want {
		d.Errorf("left out %s, want %s", got, want)
	}
}

const road = "highway=primary"

// tolerance is the maximum error of costs. Positions are rounded to about a centimetre.
const tolerance = 3 // ms

func near(got uint32, seconds float64) bool { return math.Abs(float64(got)-seconds*1000) <= tolerance }

func TestD15_3References(t *testing.T) {
	for name, row := range map[string]struct{ way, arcs, leftOut string }{
		"a way":                             {"abc", "abc cba", "[]"},
		"that the extract lacks part a way": {"abXcd", "ab ba cd dc", "[missing_nodes:1]"},
		"at its ends":                       {"XabY", "ab ba", "[missing_nodes:2]"},
		"repeated in a row count once":      {"aabbbc", "abc cba", "[]"},
		"repeated with one between part it": {"aba", "aba aba", "[]"},
		"of a way that has one node left":   {"aXXb", "", "[missing_nodes:1 ways_of_one_node:1]"},
		"of a way of one node":              {"a", "", "[ways_of_one_node:1]"},
		"of a way of the same node":         {"aaa", "", "[ways_of_one_node:1]"},
		"of a way without any":              {"", "", "[ways_of_one_node:1]"},
	} {
		t.Run(name, func(t *testing.T) {
			d := draw(t, 100, "a-b-c-d", roadtest.Way(row.way, road))
			d.holdNames(row.arcs)
			d.holdLeftOut(row.leftOut)
		})
	}
}

func TestD15_8Pieces(t *testing.T) {
	for name, row := range map[string]struct {
		arcs    string
		objects []roadtest.Object
	}{
		"end where ways end":            {"abcd dcba", []roadtest.Object{roadtest.Way("abcd", road)}},
		"and meet, end to end":          {"ab ba bcd dcb", []roadtest.Object{roadtest.Ways("ab bcd", road)}},
		"and meet, end to middle":       {"abc cba cd ce dc ec", []roadtest.Object{roadtest.Ways("abcd ce", road)}},
		"and cross":                     {"abc cba cd ce cf dc ec fc", []roadtest.Object{roadtest.Ways("abcd ecf", road)}},
		"and cross themselves":          {"ab ba bcdeb bedcb bf fb", []roadtest.Object{roadtest.Way("abcdebf", road)}},
		"not where no car can drive":    {"abcd dcba", []roadtest.Object{roadtest.Way("abcd", road), roadtest.Way("ebf", "highway=footway, motor_vehicle=no")}},
		"and at nodes that cost":        {"ab ba bcd dcb", []roadtest.Object{roadtest.Way("abcd", road), roadtest.Node("b", "highway=stop")}},
		"and at barriers":               {"abc cba cd dc", []roadtest.Object{roadtest.Way("abcd", road), roadtest.Node("c", "barrier=bollard")}},
		"not at others":                 {"abcd dcba", []roadtest.Object{roadtest.Way("abcd", road), roadtest.Node("c", "highway=turning_circle")}},
		"where a closed way ends":       {"abca acba", []roadtest.Object{roadtest.Way("abca", road)}},
		"and where its exits begin":     {"ab bca bf fb", []roadtest.Object{roadtest.Way("abca", road+", junction=roundabout"), roadtest.Way("bf", road)}},
		"against the way":               {"dcba", []roadtest.Object{roadtest.Way("abcd", road+", oneway=-1")}},
		"over the same nodes once more": {"ab ab ba ba", []roadtest.Object{roadtest.Ways("ab ba", road)}},
	} {
		t.Run(name, func(t *testing.T) {
			draw(t, 100, "a-b-c-d\ne-f", row.objects...).holdNames(row.arcs)
		})
	}
}

func TestD15_11Costs(t *testing.T) {
	for name, row := range map[string]struct {
		tags             string
		weight, duration float64 // of the first of two pieces: 500 m of 2 000 m
	}{
		"speed":               {road, 500 / (65 / 3.6), 500 / (65 / 3.6)},
		"rate":                {"highway=service, service=alley", 500 / (7.5 / 3.6), 500 / (15 / 3.6)},
		"share of a duration": {"route=ferry, duration=01:00", 900, 900},
		"a limit":             {"highway=motorway, oneway=no, maxspeed=1000", 500 / (800 / 3.6), 500 / (800 / 3.6)},
	} {
		t.Run(name, func(t *testing.T) {
			d := draw(t, 500, "ab--c", roadtest.Way("abc", row.tags), roadtest.Node("b", "highway=give_way"))
			arc := d.Arcs[d.arc("ab")]
			if !near(arc.Weight, row.weight) || !near(arc.Duration, row.duration) {
				t.Errorf("weighs %d ms and takes %d, want %v s and %v", arc.Weight, arc.Duration, row.weight, row.duration)
			}
			if length := d.Pieces[arc.Piece].Length; math.Abs(float64(length)-500_000) > 20 {
				t.Errorf("%d mm long", length)
			}
		})
	}
	d := draw(t, 0.01, "ab", roadtest.Way("ab", "highway=motorway"))
	if arc := d.Arcs[0]; arc.Weight != 1 || arc.Duration != 1 {
		t.Errorf("a centimetre takes %d ms", arc.Duration)
	}
}

// TestLengthsAroundTheGlobe checks that lengths are those of great circles, also over the antimeridian and at the poles.
func TestLengthsAroundTheGlobe(t *testing.T) {
	for name, row := range map[string]struct {
		a, b   geo.Point
		metres float64
	}{
		"over the antimeridian": {geo.Point{Lat: 60, Lng: 179.99}, geo.Point{Lat: 60, Lng: -179.99}, 1111.95},
		"over the pole":         {geo.Point{Lat: 89.99, Lng: 10}, geo.Point{Lat: 89.99, Lng: -170}, 2223.90},
		"at the pole":           {geo.Point{Lat: -90, Lng: 10}, geo.Point{Lat: -90, Lng: 100}, 0},
		"180 is -180":           {geo.Point{Lat: 5, Lng: 180}, geo.Point{Lat: 5, Lng: -180}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			n := roadtest.Map(t, 1, "ab", roadtest.Way("ab", road))
			for i, at := range []geo.Point{row.a, row.b} {
				n.Nodes[i].Lat, n.Nodes[i].Lng = int64(math.Round(at.Lat*1e9)), int64(math.Round(at.Lng*1e9))
			}
			g, counts := roadtest.Build(t, graph.BuildOptions{}, n.File(t))
			if length := float64(g.Pieces[0].Length) / 1000; math.Abs(length-row.metres) > 0.02 {
				t.Errorf("%v m, want %v", length, row.metres)
			}
			if counts.RoadMetres != 0 && math.Abs(counts.RoadMetres-2*row.metres) > 0.04 {
				t.Errorf("%v m of roads", counts.RoadMetres)
			}
			if width := counts.Bounds.East - counts.Bounds.West; width > 180 {
				t.Errorf("bounds %+v", counts.Bounds)
			}
		})
	}
}

func TestNodesOffTheGlobe(t *testing.T) {
	n := roadtest.Map(t, 100, "a-b-c", roadtest.Way("abc", road))
	n.Nodes[1].Lat = 91e9
	g, counts := roadtest.Build(t, graph.BuildOptions{}, n.File(t))
	if len(g.Arcs) != 0 || counts.LeftOut["nodes_off_the_globe"] != 1 {
		t.Errorf("%d arcs, left out %v", len(g.Arcs), counts.LeftOut)
	}
}

// TestOrderAndRepetition checks that neither the order of objects in a file matters, nor a second file with the same
// objects.
func TestOrderAndRepetition(t *testing.T) {
	n := roadtest.Map(t, 100, "a-b-c\n  d", roadtest.Ways("ab bc", road+", name=Long Road"), roadtest.Way("bd", "highway=service"),
		roadtest.Node("b", "highway=traffic_signals"), roadtest.Restriction("no_u_turn", "ab b bd"))
	one, counts := roadtest.Build(t, graph.BuildOptions{}, n.File(t))
	want := export(t, one)
	hold := func(name string, files ...*osmpbf.File) {
		t.Helper()
		g, again := roadtest.Build(t, graph.BuildOptions{Workers: 3}, files...)
		if got := export(t, g); got != want || fmt.Sprint(counts) != fmt.Sprint(again) {
			t.Errorf("%s: %+v, want %+v, and\n%s, want\n%s", name, again, counts, got, want)
		}
	}
	hold("twice", n.File(t), n.File(t))
	all := []osmpbf.Types{osmpbf.Relations, osmpbf.Ways, osmpbf.Nodes}
	hold("the other way around", roadtest.Open(t, n.Encoded(t, osmpbf.WriterOptions{PlainNodes: true, BlockSize: 1}, all...)))
	slices.Reverse(n.Nodes)
	slices.Reverse(n.Ways)
	hold("the largest ids first", n.File(t))
	n.Nodes, n.Ways = append(n.Nodes, n.Nodes...), append(n.Ways, n.Ways...)
	hold("all of it twice", n.File(t))
	if counts.Nodes != 4 || counts.Ways != 3 || counts.Relations != 1 {
		t.Errorf("%+v", counts)
	}
}

// TestSameInputSameBytes checks that builds with different numbers of goroutines give the same bytes.
func TestSameInputSameBytes(t *testing.T) {
	for _, path := range extracts(t) {
		var before []graph.Section
		for _, workers := range []int{1, 4} {
			g, _ := roadtest.Build(t, graph.BuildOptions{Workers: workers}, openExtract(t, path))
			sections := g.Sections()
			for i := range before {
				if string(before[i].Bytes) != string(sections[i].Bytes) {
					t.Errorf("%s: %s differs", path, sections[i].Name)
				}
			}
			before = sections
		}
	}
}

// TestNames checks the properties that pieces get from their ways.
func TestNames(t *testing.T) {
	d := draw(t, 100, "a-b-c", roadtest.Way("ab", "highway=trunk_link, oneway=yes, name=Lange Straße, ref=A 1, destination=Wien, lanes=3, maxspeed=30 mph, maxspeed:backward=50"),
		roadtest.Way("bc", "route=ferry, name=\xff\xfe, ref="+strings.Repeat("x", 2000)+", name:pronunciation=a\x07b"))
	first, second := d.Graph.Ways[0], d.Graph.Ways[1]
	if d.Text(first.Name) != "Lange Straße" || d.Text(first.Ref) != "A 1" || d.Text(d.SignsOf(&first).Destination) != "Wien" || first.Lanes != 3 ||
		first.Class != graph.ClassTrunkLink || first.MaxSpeedForward != 48 || first.MaxSpeedBackward != 50 || first.OSM != d.WayID(t, "ab") {
		t.Errorf("%+v, %q", first, d.Texts)
	}
	if d.Text(second.Name) != "" || d.Text(second.Ref) != "" || second.Signs != 0 || second.Class != graph.ClassFerry {
		t.Errorf("%+v, %q", second, d.Texts)
	}
	d.holdLeftOut("[invalid_texts:3]")
}

// TestListsOfReferences checks that the numbers of a road are separated like those of signs and exits.
func TestListsOfReferences(t *testing.T) {
	d := draw(t, 100, "a-b", roadtest.Way("ab", "highway=primary, ref= A 1;E 55 ; "))
	if got := d.Text(d.Graph.Ways[0].Ref); got != "A 1; E 55" {
		t.Errorf("got %q", got)
	}
}

// TestSigns checks the signs along roads.
func TestSigns(t *testing.T) {
	for tags, want := range map[string][2]string{ // destination and exit
		"oneway=yes, destination=Berlin":                                       {"Berlin", ""},
		"oneway=yes, destination= Berlin ;; Hamburg;, destination:ref=A1;A2":   {"A1, A2: Berlin, Hamburg", ""},
		"oneway=yes, destination:ref=A1":                                       {"A1", ""},
		"oneway=yes, destination:street=Street, destination:ref=A1":            {"A1: Street", ""},
		"oneway=yes, destination:street=Street, destination=Berlin":            {"Berlin", ""},
		"oneway=-1, destination:backward=Hamburg, destination:forward=Berlin":  {"Hamburg", ""},
		"oneway=yes, destination:backward=Hamburg, destination:forward=Berlin": {"Berlin", ""},
		"destination=Berlin, destination:forward=Berlin, destination:ref=A1":   {"", ""}, // the direction that it applies to is unknown
		"junction:ref=10;12": {"", "10; 12"},
		"oneway=-1, junction:ref:backward=7, junction:ref:forward=8":             {"", "7"},
		"oneway=yes, destination=" + strings.Repeat("x", 40_000):                 {"", ""},
		"oneway=yes, destination=a\x1bb, junction:ref=\x00":                      {"", ""},
		"oneway=yes, destination=" + strings.Repeat("a;", 20_000) + ", ref=\xff": {"", ""},
	} {
		d := draw(t, 100, "a-b-c", roadtest.Way("abc", "highway=motorway_link, "+tags))
		signs := d.SignsOf(&d.Graph.Ways[0])
		if got := [2]string{d.Text(signs.Destination), d.Text(signs.Exit)}; got != want {
			t.Errorf("%.80s: %q, want %q", tags, got, want)
		}
	}
}

// TestLanesAndExits checks lanes by direction, and exits at nodes.
func TestLanesAndExits(t *testing.T) {
	d := draw(t, 100, "a-b-c-d", roadtest.Way("ab", "highway=primary, turn:lanes:forward=left|through|, turn:lanes:backward=right|"),
		roadtest.Way("bc", "highway=primary, turn:lanes=left|nowhere"), roadtest.Way("cd", "highway=primary, oneway=yes, lanes=4, turn:lanes=left|right"),
		roadtest.Node("b", "highway=motorway_junction, ref=7;8, name=Exit"), roadtest.Node("c", "highway=motorway_junction"), roadtest.Node("d", "ref=9"))
	lanes := func(nodes string) string { return fmt.Sprint(d.LanesOf(d.arc(nodes))) }
	if lanes("ab") != "[4 16 0]" || lanes("ba") != "[64 0]" || lanes("bc") != "[]" || lanes("cd") != "[]" {
		t.Errorf("%s %s %s %s", lanes("ab"), lanes("ba"), lanes("bc"), lanes("cd"))
	}
	e, ok := d.ExitAt(d.Arcs[d.arc("ab")].To)
	if !ok || d.Text(e.Ref) != "7; 8" || d.Text(e.Name) != "Exit" || len(d.Exits) != 1 {
		t.Errorf("%+v %v", d.Exits, ok)
	}
	d.holdLeftOut("[disagreeing_lanes:1 invalid_lanes:1]")
}
