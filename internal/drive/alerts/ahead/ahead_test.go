package ahead_test

import (
	"encoding/base64"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"wayside/internal/drive/alerts/ahead"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/match"
	"wayside/internal/roads/roadtest"
)

// began is the time of the first fix of a test.
var began = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

// drawn is a map with its index.
type drawn struct {
	*roadtest.Network
	ahead.Roads
	t *testing.T
}

func draw(t *testing.T, metres float64, drawing string, objects ...roadtest.Object) *drawn {
	t.Helper()
	n := roadtest.Map(t, metres, drawing, objects...)
	g := n.Graph(t)
	return &drawn{Network: n, Roads: ahead.Roads{Graph: g, Index: match.NewIndex(g), Version: 1}, t: t}
}

// junctions returns a main road from west to east with a side street, a carriageway of the other direction, and a bridge
// over both.
func junctions(t *testing.T) *drawn {
	return draw(t, 20, `
		           p
		           |
		h----------o-------------g
		a---1---b--x-----c---2---d
		        |  |     |
		        |  y     |
		        e        f
	`,
		roadtest.Way("abxcd", "highway=primary, oneway=yes, name=Ring"),
		roadtest.Way("goh", "highway=primary, oneway=yes, name=Ring"),
		roadtest.Ways("be cf", "highway=residential"))
}

// fixAt returns a fix at a number of metres north of a place.
func (d *drawn) fixAt(place string, north, heading, speed float64, seconds int) ahead.Fix {
	at := d.Place(d.t, place)
	at.Lat += north / 111_195
	return ahead.Fix{At: at, Heading: heading, Speed: speed, Now: began.Add(time.Duration(seconds) * time.Second)}
}

// find returns the pins on the most probable ways from a fix, each as its index and distance in metres.
func (d *drawn) find(f ahead.Fix, pins ...ahead.Pin) string {
	d.t.Helper()
	var w ahead.Walk
	if _, ok := w.Probable(d.Roads, f, nil, 3000); !ok {
		return "no road"
	}
	var all []string
	for i := range pins {
		if place, ok := w.Find(&pins[i]); ok {
			all = append(all, fmt.Sprintf("%d:%.0f", i, place.Distance))
		}
	}
	return strings.Join(all, " ")
}

// pinAt returns a pin at a number of metres north of a place.
func (d *drawn) pinAt(place string, north float64) ahead.Pin {
	at := d.Place(d.t, place)
	at.Lat += north / 111_195
	return ahead.Pin{At: at}
}

// TestOnlyThisWay checks that pins on the other carriageway, behind the car, and for the other direction of a street are
// not ahead.
func TestOnlyThisWay(t *testing.T) {
	d := junctions(t)
	west := d.pinAt("2", 0)
	west.Bearing, west.Directed = 270, true
	east := west
	east.Bearing = 95
	pins := []ahead.Pin{d.pinAt("2", -3), d.pinAt("o", 2), d.pinAt("a", 0), west, east}
	if got, want := d.find(d.fixAt("1", 4, 92, 14, 0), pins...), "0:340 4:340"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	if got := d.find(d.fixAt("1", 4, 0, 14, 0), pins...); got != "no road" {
		t.Errorf("across the road: %s", got)
	}
	if got := d.find(d.fixAt("1", 0, 0, 14, 0), pins...); got != "no road" {
		t.Errorf("across the road: %s", got)
	}
}

// TestForks checks that the most probable way goes straight on, and includes a side street only when the car is in it.
func TestForks(t *testing.T) {
	d := junctions(t)
	pins := []ahead.Pin{d.pinAt("e", 5), d.pinAt("f", 5), d.pinAt("d", 0)}
	if got, want := d.find(d.fixAt("1", 0, 90, 14, 0), pins...), "2:420"; got != want {
		t.Errorf("straight on: %s, want %s", got, want)
	}
	if got, want := d.find(d.fixAt("e", 40, 180, 8, 0), pins...), "0:35"; got != want {
		t.Errorf("in the side street: %s, want %s", got, want)
	}
}

// TestPinsOfOneStreet checks that a pin counts on the road that it names, even if another road is nearer.
func TestPinsOfOneStreet(t *testing.T) {
	d := draw(t, 20, `
		a--1-----x------b

		c--2-----y------d
	`, roadtest.Way("axb", "highway=primary, name=North Street, ref=N 1"), roadtest.Way("cyd", "highway=primary, name=South Street"))
	pin := d.pinAt("x", -18)
	if got := d.find(d.fixAt("2", 0, 90, 14, 0), pin); got != "" {
		t.Errorf("without a name it is on both: %s", got)
	}
	pin.Street = "South street"
	if got := d.find(d.fixAt("2", 0, 90, 14, 0), pin); got != "0:120" {
		t.Errorf("on its own street: %s", got)
	}
	if got := d.find(d.fixAt("1", 0, 90, 14, 0), pin); got != "" {
		t.Errorf("on the other one: %s", got)
	}
	pin = d.pinAt("y", 17)
	pin.Street = "n 1"
	if got := d.find(d.fixAt("1", 0, 90, 14, 0), pin); got != "0:120" {
		t.Errorf("by its reference: %s", got)
	}
}

// TestZonesAndLines checks that the distance to a zone is that to its edge along the road, and the distance to a line
// that to its beginning, if the line leads the same way.
func TestZonesAndLines(t *testing.T) {
	d := draw(t, 20, "a---1-----b-----------c", roadtest.Way("abc", "highway=primary"))
	b, c := d.Place(t, "b"), d.Place(t, "c")
	zone := ahead.Pin{At: b, Zone: 100}
	line := ahead.Pin{At: b, Line: []geo.Point{b, c}, Directed: true}
	against := ahead.Pin{At: b, Line: []geo.Point{c, b}, Directed: true}
	both := ahead.Pin{At: b, Line: []geo.Point{c, b}}
	if got, want := d.find(d.fixAt("1", 0, 90, 14, 0), zone, line, against, both), "0:70 1:120 3:120"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	var w ahead.Walk
	w.Probable(d.Roads, d.fixAt("b", 0, 90, 14, 0), nil, 3000)
	for _, p := range []ahead.Pin{zone, line} {
		if place, ok := w.Find(&p); !ok || place.Distance > 0.01 || !place.Reached {
			t.Errorf("inside: %+v, %v", place, ok)
		}
	}
}

// TestWhatWasLearnedTellsRoadsApart checks that the state from earlier fixes decides between two parallel roads where a
// single fix cannot.
func TestWhatWasLearnedTellsRoadsApart(t *testing.T) {
	d := draw(t, 10, `
		a---1----------2----------b
		c---3----------4----------d
	`, roadtest.Way("ab", "highway=primary"), roadtest.Way("cd", "highway=primary"))
	between := d.fixAt("2", -5.5, 90, 11, 10) // a little nearer to the other road
	var w ahead.Walk
	first, _ := w.Probable(d.Roads, d.fixAt("1", 6, 90, 11, 0), nil, 3000)
	text := string(first.Append(nil))
	before, ok := ahead.ParseState(text)
	if !ok {
		t.Fatalf("the token %s cannot be read", text)
	}
	north, _ := w.Probable(d.Roads, between, before, 3000)
	alone, _ := w.Probable(d.Roads, between, nil, 3000)
	if north.Arc() != first.Arc() || alone.Arc() == first.Arc() {
		t.Errorf("on arc %d before, then %d, and %d without knowing", first.Arc(), north.Arc(), alone.Arc())
	}
	late := between
	late.Now = began.Add(time.Hour)
	if old, _ := w.Probable(d.Roads, late, before, 3000); old.Arc() != alone.Arc() {
		t.Error("what was learned an hour ago counts")
	}
	other := d.Roads
	other.Version++
	if old, _ := w.Probable(other, between, before, 3000); old.Arc() != alone.Arc() {
		t.Error("what was learned of other roads counts")
	}
}

// TestAverageSpeedSections checks that the mean speed is measured from the beginning to the end of a section, with no
// other state than the token.
func TestAverageSpeedSections(t *testing.T) {
	d := draw(t, 100, "a-1------------------b", roadtest.Way("ab", "highway=motorway"))
	camera, end := d.Place(t, "1"), d.Place(t, "1")
	camera.Lng += 300 / 111_195.0
	end.Lng += 1500 / 111_195.0
	var w ahead.Walk
	var state *ahead.State
	for second := 0; second <= 70; second += 2 {
		metres := 25 * float64(second)
		f := d.fixAt("1", 0, 90, 25, second)
		f.At.Lng += metres / 111_195
		next, ok := w.Probable(d.Roads, f, state, 3000)
		if !ok {
			t.Fatal("no road")
		}
		switch sections := next.Sections(); {
		case metres < 300 || metres > 1550:
			if len(sections) != 0 {
				t.Errorf("after %.0f m in a section", metres)
			}
		case metres > 400 && metres < 1480:
			mean, ok := 0.0, false
			if len(sections) == 1 {
				mean, ok = sections[0].Mean(f.Now)
			}
			if !ok || math.Abs(mean-25) > 1 || sections[0].Limit != 90 || math.Abs(sections[0].Driven-(metres-300)) > 10 {
				t.Errorf("after %.0f m: %+v, a mean of %.1f m/s", metres, sections, mean)
			}
		}
		if place, ok := w.Find(&ahead.Pin{At: camera}); ok {
			next.Comes(end, 90, place.Distance)
		}
		text := string(next.Append(nil))
		if len(text) > ahead.MaxStateLength {
			t.Fatalf("the token has %d bytes", len(text))
		}
		state, _ = ahead.ParseState(text)
	}
}

// TestRoutes checks that along a route, roads beside it do not count, and that nothing lies beyond the route's end.
func TestRoutes(t *testing.T) {
	d := junctions(t)
	var arcs []uint32
	g := d.Roads.Graph
	for _, nodes := range []string{"ab", "be"} {
		for i := range g.Arcs {
			if a := &g.Arcs[i]; g.Nodes[a.From].OSM == d.NodeID(t, nodes[:1]) && g.Nodes[a.To].OSM == d.NodeID(t, nodes[1:]) {
				arcs = append(arcs, uint32(i))
			}
		}
	}
	route := func(yield func(uint32, float64, float64) bool) {
		for _, arc := range append(arcs, math.MaxUint32) {
			if !yield(arc, 0, 1) {
				return
			}
		}
	}
	var w ahead.Walk
	if _, ok := w.Along(d.Roads, d.fixAt("1", 3, 90, 14, 0), route, nil, 3000); !ok {
		t.Fatal("the car is not on its route")
	}
	side, straight := d.pinAt("e", 10), d.pinAt("2", 0)
	if place, ok := w.Find(&side); !ok || math.Abs(place.Distance-130) > 5 || place.Unsure() {
		t.Errorf("on the route: %+v, %v", place, ok)
	}
	if place, ok := w.Find(&straight); ok {
		t.Errorf("beside the route: %+v", place)
	}
	for _, f := range []ahead.Fix{d.fixAt("2", 0, 90, 14, 0), d.fixAt("1", 0, 270, 14, 0)} {
		if _, ok := w.Along(d.Roads, f, route, nil, 3000); ok {
			t.Error("a car that left the route is on it")
		}
	}
}

// FuzzParseState checks that a forged token is refused or harmless, and that a parsed token is written unchanged.
func FuzzParseState(f *testing.F) {
	f.Add("")
	f.Add("AQAAAAE")
	f.Add("AQAAAAE\r\r\rAAAGaAAAAAAEAAAAJ____AA") // decoders skip line breaks
	f.Add(base64.RawURLEncoding.EncodeToString(append([]byte{1, 0, 0, 0, 1, 0, 0, 1, 0x9a, 0, 0, 0, 0, 1}, 0, 0, 0, 9, 255, 255, 255, 0)))
	f.Add(strings.Repeat("A", 512))
	f.Fuzz(func(t *testing.T, text string) {
		state, ok := ahead.ParseState(text)
		if !ok {
			return
		}
		if again := string(state.Append(nil)); len(again) > ahead.MaxStateLength || again != text {
			t.Fatalf("%q becomes %q", text, again)
		}
		d := junctions(t)
		d.Version = state.Roads
		fix := d.fixAt("1", 0, 90, 14, 0)
		fix.Now = state.At.Add(time.Second)
		var w ahead.Walk
		if learned, ok := w.Probable(d.Roads, fix, state, 3000); !ok || len(learned.Append(nil)) > ahead.MaxStateLength {
			t.Fatal("with this state no road is found")
		}
		for _, s := range state.Sections() {
			if mean, ok := s.Mean(fix.Now); ok && (math.IsNaN(mean) || math.IsInf(mean, 0)) {
				t.Fatalf("a mean of %v", mean)
			}
		}
	})
}

// probability returns how probable it is that a car comes to a place; 0 if the place is not on the walk.
func (d *drawn) probability(f ahead.Fix, place string) float64 {
	d.t.Helper()
	var w ahead.Walk
	if _, ok := w.Probable(d.Roads, f, nil, 3000); !ok {
		d.t.Fatal("no road")
	}
	pin := d.pinAt(place, 0)
	found, _ := w.Find(&pin)
	return found.Probability
}

// TestForksAreAsProbableAsTheyAreTaken checks that one driver in five leaves a road at a crossing with a similar road,
// and none onto a road that ends.
func TestForksAreAsProbableAsTheyAreTaken(t *testing.T) {
	crossing := func(sides string) *drawn {
		return draw(t, 40, `
			      n-----m
			      |     |
			a--1--x--2--b--3--e--f
			      |     |     |
			      s-----k     z
		`, roadtest.Way("axbef", "highway=residential, name=Long Street"), roadtest.Ways("mn nx xs sk kb bm ez", sides))
	}
	equal, local := crossing("highway=residential"), crossing("highway=service, service=driveway")
	atEqual, atLocal := equal.probability(equal.fixAt("1", 0, 90, 10, 0), "2"), local.probability(local.fixAt("1", 0, 90, 10, 0), "2")
	if atEqual < 0.6 || atEqual > 0.8 {
		t.Errorf("%.3f go straight on at a crossing of like roads", atEqual)
	}
	if atLocal < 0.9 || atLocal <= atEqual {
		t.Errorf("%.3f go straight on at a crossing with driveways", atLocal)
	}
	if onward := equal.probability(equal.fixAt("3", 0, 90, 10, 0), "f"); onward < 0.6 || onward > 0.9 {
		t.Errorf("%.3f go on where both ways end", onward)
	}
	var w ahead.Walk
	pin := equal.pinAt("2", 0)
	w.Probable(equal.Roads, equal.fixAt("1", 0, 90, 10, 0), nil, 3000)
	if place, ok := w.Find(&pin); !ok || !place.Unsure() {
		t.Errorf("beyond a crossing of like roads it is announced: %+v", place)
	}
	past := equal.fixAt("x", 0, 90, 10, 0)
	past.At.Lng += 20 / 111_195.0
	w.Probable(equal.Roads, past, nil, 3000)
	if place, ok := w.Find(&pin); !ok || place.Unsure() {
		t.Errorf("behind the crossing it is not announced: %+v", place)
	}
}

// TestFarRoadsDoNotDecide checks that only the roads about as near as the walk's nearest one decide on which road a pin
// is.
func TestFarRoadsDoNotDecide(t *testing.T) {
	d := draw(t, 10, `
		a--1--------2--------b

		c-----------3--------d
	`, roadtest.Way("ab", "highway=primary"), roadtest.Way("cd", "highway=primary"))
	from := d.fixAt("1", 0, 90, 14, 0)
	for _, c := range []struct {
		north float64
		want  string
	}{{12, "0:90"}, {-7, "0:90"}, {-9.5, "0:90"}, {-10.8, "0:90"}, {-13, ""}, {-19, ""}} {
		if got := d.find(from, d.pinAt("2", c.north)); got != c.want {
			t.Errorf("%.1f m north: %q, want %q", c.north, got, c.want)
		}
	}
}
