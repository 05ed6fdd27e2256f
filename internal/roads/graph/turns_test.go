package graph_test

import (
	"math"
	"testing"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/roadtest"
)

// turnSeconds computes the formula of D15.8, written independently from its text: degrees to the right, or to the left
// if negative.
func turnSeconds(degrees float64, drivingLeft bool) float64 {
	b := 1.075
	if (degrees < 0) != drivingLeft {
		b = 1 / b
	}
	return 7.5 / (1 + math.Exp(-(13/b*math.Abs(degrees)/180 - 6.5*b)))
}

var backSeconds = turnSeconds(180, false) + 20

func (d *drawn) holdTurn(from, to string, seconds float64) {
	d.Helper()
	turn, ok := d.turn(from, to)
	if !ok || !near(turn.Weight, seconds) || turn.Weight != turn.Duration {
		d.Errorf("%s to %s: %+v (%v), want %.3f s", from, to, turn, ok, seconds)
	}
}

// holdStraightOn checks for a turn straight on, to either side, because a hundredth of a degree decides which side it
// is.
func (d *drawn) holdStraightOn(from, to string) {
	d.Helper()
	turn, ok := d.turn(from, to)
	if !ok || !near(turn.Weight, turnSeconds(0.001, false)) && !near(turn.Weight, turnSeconds(-0.001, false)) {
		d.Errorf("%s to %s: %+v (%v)", from, to, turn, ok)
	}
}

func (d *drawn) holdOnto(from, want string) {
	d.Helper()
	if got := d.onto(from); got != want {
		d.Errorf("from %s onto %q, want %q", from, got, want)
	}
}

const crossing = `
	a--b--c
	   |
	   d
`

func TestD15_8TurnCosts(t *testing.T) {
	for name, corner := range map[string]geo.Point{"on the right": {}, "on the left": {Lat: 35.9, Lng: 14.5}, "at 80 degrees north": {Lat: 80, Lng: 30}} {
		t.Run(name, func(t *testing.T) {
			left := corner.Lng == 14.5
			d := drawAt(t, corner, 100, crossing, roadtest.Ways("abc bd", road))
			d.holdStraightOn("ab", "bc")
			d.holdTurn("ab", "bd", turnSeconds(90, left))
			d.holdTurn("cb", "bd", turnSeconds(-90, left))
			d.holdTurn("db", "ba", turnSeconds(-90, left))
			d.holdTurn("db", "bc", turnSeconds(90, left))
			d.holdTurn("bc", "cb", turnSeconds(180, left)+20)
			d.holdOnto("ab", "bc bd")
		})
	}
	d := draw(t, 100, crossing, roadtest.Way("abc", road), roadtest.Way("bd", road+", driving_side=left"))
	d.holdTurn("db", "ba", turnSeconds(-90, true))
	d.holdTurn("cb", "bd", turnSeconds(-90, false))
	d = draw(t, 100, crossing, roadtest.Ways("ab bd", road))
	d.holdTurn("ab", "bd", 0) // two ends meet
	d.holdTurn("db", "ba", 0)
	d = draw(t, 100, crossing, roadtest.Way("ab", road), roadtest.Way("bd", "route=ferry"))
	d.holdTurn("ab", "bd", turnSeconds(90, false))
	d.holdTurn("db", "ba", turnSeconds(-90, false))
	d = draw(t, 100, crossing, roadtest.Ways("ab bd", "route=ferry"))
	d.holdTurn("ab", "bd", 0) // no ferry begins or ends
}

// TestD15_8Bearings checks that a bearing is measured to the place 20 m along the piece, or to its end.
func TestD15_8Bearings(t *testing.T) {
	const steps = `
		     e
		a----b----c
		      d
	`
	// From b 14.1 m south-east to d, and from there 44.7 m to the east-north-east; 5.9 m of that lie within 20 m.
	d := draw(t, 10, steps, roadtest.Way("abdc", road), roadtest.Way("be", road))
	share := (20 - 10*math.Sqrt2) / (10 * math.Sqrt(16+1))
	d.holdTurn("ab", "bdc", turnSeconds(degrees(1+share*4, 1-share), false))
	d = draw(t, 10, steps, roadtest.Ways("ab bd dc be", road))
	d.holdTurn("ab", "bd", turnSeconds(45, false)) // the piece ends earlier
	d = draw(t, 100, steps, roadtest.Ways("abdc be", road))
	d.holdTurn("ab", "bdc", turnSeconds(45, false)) // its first part is longer
}

// degrees returns the angle of a vector in units to the east and to the south, clockwise from east.
func degrees(east, south float64) float64 { return math.Atan2(south, east) * 180 / math.Pi }

func TestD15_8TurningBack(t *testing.T) {
	ways := roadtest.Ways("ab bc bd", road)
	for name, row := range map[string]struct {
		objects []roadtest.Object
		from    string
		want    string
	}{
		"not at a junction":                     {[]roadtest.Object{ways}, "ab", "bc bd"},
		"where the road ends":                   {[]roadtest.Object{ways}, "bc", "cb"},
		"where it is barred":                    {[]roadtest.Object{ways, roadtest.Node("b", "barrier=bollard")}, "ab", "ba"},
		"at a turning circle":                   {[]roadtest.Object{ways, roadtest.Node("b", "highway=turning_circle")}, "ab", "ba bc bd"},
		"at a turning loop":                     {[]roadtest.Object{ways, roadtest.Node("b", "highway=turning_loop")}, "ab", "ba bc bd"},
		"at a mini roundabout":                  {[]roadtest.Object{ways, roadtest.Node("b", "highway=mini_roundabout")}, "ab", "ba bc bd"},
		"where nothing else is allowed":         {[]roadtest.Object{ways, roadtest.Restriction("no_left_turn", "ab b bc"), roadtest.Restriction("no_right_turn", "ab b bd")}, "ab", "ba"},
		"not where something else is":           {[]roadtest.Object{ways, roadtest.Restriction("no_left_turn", "ab b bc")}, "ab", "bd"},
		"where all others come":                 {[]roadtest.Object{roadtest.Way("ab", road), roadtest.Ways("cb db", road+", oneway=yes")}, "ab", "ba"},
		"where one road is open both ways":      {[]roadtest.Object{roadtest.Way("ab", road), roadtest.Ways("cb bd", road+", oneway=yes")}, "ab", "ba bd"},
		"not where two are":                     {[]roadtest.Object{roadtest.Ways("ab bd", road), roadtest.Ways("cb", road+", oneway=yes")}, "ab", "bd"},
		"not within a road":                     {[]roadtest.Object{roadtest.Ways("ab bc", road)}, "ab", "bc"},
		"from a lane marked reverse":            {[]roadtest.Object{roadtest.Way("ab", road+", turn:lanes:forward=reverse|through"), roadtest.Ways("bc bd", road)}, "ab", "ba bc bd"},
		"not from the other direction":          {[]roadtest.Object{roadtest.Way("ba", road+", turn:lanes:forward=reverse|through"), roadtest.Ways("bc bd", road)}, "ab", "bc bd"},
		"not on a one-way road":                 {[]roadtest.Object{roadtest.Way("ab", road+", oneway=yes")}, "ab", ""},
		"never if no_u_turn says so":            {[]roadtest.Object{roadtest.Way("ab", road), roadtest.Ways("cb bd", road+", oneway=yes"), roadtest.Restriction("no_u_turn", "ab b ab")}, "ab", "bd"},
		"nor where nothing else is allowed":     {[]roadtest.Object{ways, roadtest.Restriction("only_right_turn", "ab b bd"), roadtest.Restriction("no_right_turn", "ab b bd")}, "ab", ""},
		"but where only_u_turn leaves no other": {[]roadtest.Object{ways, roadtest.Restriction("only_u_turn", "ab b ab")}, "ab", "ba"},
	} {
		t.Run(name, func(t *testing.T) { draw(t, 100, crossing, row.objects...).holdOnto(row.from, row.want) })
	}
	d := draw(t, 100, crossing, ways, roadtest.Node("b", "highway=turning_circle"))
	d.holdTurn("ab", "ba", backSeconds)
	d = draw(t, 100, "a-b", roadtest.Way("ab", road))
	d.holdTurn("ab", "ba", backSeconds)
}

func TestD15_8LocalTurns(t *testing.T) {
	d := draw(t, 100, crossing, roadtest.Ways("ab bc", road), roadtest.Way("bd", road+", access=destination"))
	onto, _ := d.turn("ab", "bd")
	if !near(onto.Duration, turnSeconds(90, false)) || onto.Weight != onto.Duration+3_000_000 {
		t.Errorf("onto a local road: %+v", onto)
	}
	d.holdTurn("db", "bc", turnSeconds(90, false))
	d = draw(t, 100, crossing, roadtest.Way("bc", road), roadtest.Ways("ab bd", road+", access=destination"))
	d.holdTurn("ab", "bd", turnSeconds(90, false))
}

func TestD15_7NodesThatCost(t *testing.T) {
	through := func(objects ...roadtest.Object) *drawn {
		t.Helper()
		return draw(t, 100, crossing, append([]roadtest.Object{roadtest.Way("abc", road)}, objects...)...)
	}
	d := through(roadtest.Node("b", "highway=traffic_signals"))
	d.holdTurn("ab", "bc", 2)
	d.holdTurn("cb", "ba", 2)
	d = through(roadtest.Node("b", "barrier=gate"))
	d.holdTurn("ab", "bc", 60)
	d = through(roadtest.Node("b", "highway=traffic_signals, traffic_signals:direction=backward"))
	d.holdTurn("ab", "bc", 0)
	d.holdTurn("cb", "ba", 2)
	d = through(roadtest.Way("bd", road), roadtest.Node("b", "highway=give_way, direction=forward"))
	d.holdTurn("ab", "bd", 1+turnSeconds(90, false))
	d.holdTurn("cb", "bd", turnSeconds(-90, false))
	d = through(roadtest.Node("b", "barrier=bollard"))
	d.holdOnto("ab", "ba")
	d.holdOnto("cb", "bc")
	d = through(roadtest.Way("bd", road), roadtest.Node("b", "access=no"))
	d.holdOnto("ab", "ba")
	// A minor stop is for cars from the slower road, here the one to the south.
	d = through(roadtest.Way("db", "highway=secondary"), roadtest.Node("b", "highway=stop, stop=minor"))
	d.holdTurn("db", "bc", 2+turnSeconds(90, false))
	d.holdTurn("ab", "bd", turnSeconds(90, false))
	d.holdStraightOn("ab", "bc")
}

// TestD15_7StopsBehindAJunction checks that a stop without a direction does not apply to cars that have just left the
// junction.
func TestD15_7StopsBehindAJunction(t *testing.T) {
	const drawing = `
		e
		ab---------c
		d
	`
	d := draw(t, 15, drawing, roadtest.Ways("dae abc", road), roadtest.Node("b", "highway=stop"))
	d.holdTurn("ab", "bc", 0)
	d.holdTurn("cb", "ba", 2)
	d = draw(t, 30, drawing, roadtest.Ways("dae abc", road), roadtest.Node("b", "highway=stop"))
	d.holdTurn("ab", "bc", 2)
}

// TestLoops checks turns at a piece that begins and ends at one node.
func TestLoops(t *testing.T) {
	const drawing = `
		a--b--c
		   |  |
		   e--d
	`
	d := draw(t, 100, drawing, roadtest.Way("ab", road), roadtest.Way("bcdeb", road))
	d.holdOnto("ab", "bcdeb bedcb")
	d.holdOnto("bcdeb", "ba bcdeb")
	d = draw(t, 100, drawing, roadtest.Way("ab", road), roadtest.Way("bcdeb", road+", junction=roundabout"))
	d.holdOnto("ab", "ba bcdeb")
	d.holdOnto("bcdeb", "ba bcdeb")
	d = draw(t, 100, drawing, roadtest.Way("bcdeb", road))
	d.holdOnto("bcdeb", "bcdeb")
}

func TestD15_10WhereRoutesBegin(t *testing.T) {
	for tags, want := range map[string]string{
		road: "se", "highway=service": "se", "highway=service, access=private": "-", "route=ferry": "-",
	} {
		d := draw(t, 100, "a-b", roadtest.Way("ab", tags))
		if e := parseExport(t, export(t, d.Graph)); e.arcs[0].flags != want {
			t.Errorf("%s: %q, want %q", tags, e.arcs[0].flags, want)
		}
	}
}
