package nav_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/guide"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// told returns the instructions on a way: each maneuver with its exit, name and lanes.
func (w *town) told(places string) string {
	w.t.Helper()
	_, r, err := w.route(nav.RouteRequest{Places: w.places(places), Steps: true})
	if err != nil {
		return err.Error()
	}
	var all []string
	for i := range r.Legs[0].Steps {
		s := &r.Legs[0].Steps[i]
		text := s.Kind.String()
		if d := s.Direction.String(); d != "" && s.Kind != guide.Depart && s.Kind != guide.Arrive {
			text += " " + d
		}
		if s.Exit > 0 {
			text += fmt.Sprintf(" exit %d", s.Exit)
		}
		if s.Rotary != nil {
			text += " of " + w.Graph.Text(s.Rotary.Name)
		}
		if s.Exits.Length > 0 {
			text += " number " + w.Graph.Text(s.Exits)
		}
		way := &w.Graph.Ways[w.Graph.Pieces[w.Graph.Arcs[s.Arc].Piece].Way]
		text += " (" + w.Graph.Text(way.Name)
		if d := w.Graph.Text(w.Graph.SignsOf(way).Destination); d != "" {
			text += " to " + d
		}
		text += ")"
		for k := range s.Intersections {
			for _, lane := range s.Intersections[k].Lanes {
				var marks []string
				guide.Indications(lane.Marks, func(name string) { marks = append(marks, name) })
				text += " " + strings.Join(marks, "+")
				if lane.Valid {
					text += "*"
				}
			}
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// TestGuidance checks the instructions on drawn roads with the given metres for each character.
func TestGuidance(t *testing.T) {
	const dual = street + ", oneway=yes, name="
	for _, c := range []struct {
		name    string
		metres  float64
		drawing string
		objects []roadtest.Object
		want    map[string]string
	}{
		{"a junction", 50, `
			    d
			    |
			a---b---c
			    |
			    e
		`, []roadtest.Object{roadtest.Way("abc", street+", name=Main"), roadtest.Way("dbe", street+", name=Cross")}, map[string]string{
			"ac": "depart (Main), arrive (Main)",
			"ad": "depart (Main), turn left (Cross), arrive (Cross)",
			"ae": "depart (Main), turn right (Cross), arrive (Cross)",
		}},
		{"from one aisle of a car park to the next but one", 9, `
			g h i
			| | |
			| | |
			| | |
			| | |
			m-p-q-r
			| | |
			| | |
			| | |
			| | |
			a b c
		`, []roadtest.Object{roadtest.Ways("amg cqi hpb", "highway=service, oneway=yes"), roadtest.Way("mpqr", "highway=service")}, map[string]string{
			"ai": "depart (), turn right (), turn left (), arrive ()",
			"ar": "depart (), turn right (), arrive ()",
		}},
		{"a bend of the road beside a smaller one", 50, `
			a---b---c
			    |
			    d
		`, []roadtest.Object{roadtest.Way("abd", "highway=primary, name=Main"), roadtest.Way("bc", "highway=service, service=alley, name=Alley")}, map[string]string{
			"ad": "depart (Main), arrive (Main)",
			"ac": "depart (Main), turn straight (Alley), arrive (Alley)",
		}},
		{"a bridge with a name of its own", 20, `
			a---b--c---d
		`, []roadtest.Object{roadtest.Way("ab", street+", name=Main"), roadtest.Way("bc", street+", bridge=yes, name=Bridge"), roadtest.Way("cd", street+", name=Main")}, map[string]string{
			"ad": "depart (Main), arrive (Main)",
		}},
		{"another name for long", 100, `
			a---b---c
		`, []roadtest.Object{roadtest.Way("ab", street+", name=42 North"), roadtest.Way("bc", street+", name=Other")}, map[string]string{
			"ac": "depart (42 North), new name straight (Other), arrive (Other)",
		}},
		{"a road that keeps its name while its number goes to and fro", 100, `
			a---b---c---d
		`, []roadtest.Object{roadtest.Way("ab", street+", name=Ring, ref=A 44"), roadtest.Way("bc", street+", name=Ring, ref=IC 23"), roadtest.Way("cd", street+", name=Ring, ref=A 44")}, map[string]string{
			"ad": "depart (Ring), arrive (Ring)",
		}},
		{"one number in two spellings, and another that begins like it", 100, `
			a---b---c---d---e
		`, []roadtest.Object{
			roadtest.Way("ab", street+", ref=IP1"), roadtest.Way("bc", street+", ref=ip 1"), roadtest.Way("cd", street+", ref=E 80;IP 1"), roadtest.Way("de", street+", ref=IP 12"),
		}, map[string]string{
			"ad": "depart (), arrive ()",
			"ae": "depart (), new name straight (), arrive ()",
		}},
		{"another part of the same road", 100, `
			a---b---c
		`, []roadtest.Object{roadtest.Way("ab", street+", name=42 North"), roadtest.Way("bc", street+", name=42 South")}, map[string]string{
			"ac": "depart (42 North), arrive (42 South)",
		}},
		{"the end of the road, and one that is reached by turning onto it", 100, `
			    c
			    |
			a-e-b-f-g
			  | |   |
			  h d   i
		`, []roadtest.Object{roadtest.Way("aeb", street+", name=Main"), roadtest.Way("cbd", street+", name=Cross"), roadtest.Way("eh", street+", name=Side"), roadtest.Ways("bfg", street+", name=Far"), roadtest.Way("gi", street+", name=Far")}, map[string]string{
			"ah": "depart (Main), turn right (Side), arrive (Side)",
		}},
		{"a T", 100, `
			      c
			      |
			a--e--b
			   |  |
			   h  d
		`, []roadtest.Object{roadtest.Way("aeb", street+", name=Main"), roadtest.Way("cbd", street+", name=Cross"), roadtest.Way("eh", street+", name=Side")}, map[string]string{
			"ac": "depart (Main), end of road left (Cross), arrive (Cross)",
			"hc": "depart (Side), turn right (Main), turn left (Cross), arrive (Cross)",
		}},
		{"an exit of a motorway", 100, `
			a-----b-----c
			       '--d---e
		`, []roadtest.Object{
			roadtest.Way("abc", "highway=motorway, name=M 1"), roadtest.Way("bde", "highway=motorway_link, oneway=yes, destination=Town;Harbour, destination:ref=A 2"),
			roadtest.Node("b", "highway=motorway_junction, ref=12"),
		}, map[string]string{
			"ac": "depart (M 1), arrive (M 1)",
			"ae": "depart (M 1), off ramp slight right number 12 ( to A 2: Town, Harbour), arrive ( to A 2: Town, Harbour)",
		}},
		{"a fork", 100, `
			      c
			a---b'
			     'd
		`, []roadtest.Object{roadtest.Way("ab", street+", name=Main"), roadtest.Way("bc", street+", name=Left"), roadtest.Way("bd", street+", name=Right")}, map[string]string{
			"ac": "depart (Main), fork slight left (Left), arrive (Left)",
			"ad": "depart (Main), fork slight right (Right), arrive (Right)",
		}},
		{"a ferry", 100, `
			a---b~~~c---d
		`, []roadtest.Object{roadtest.Way("ab", street+", name=Quay"), roadtest.Way("bc", "route=ferry, name=Line"), roadtest.Way("cd", street+", name=Island")}, map[string]string{
			"ad": "depart (Quay), notification straight (Line), notification straight (Island), arrive (Island)",
		}},
		{"lanes", 50, `
			    d
			    |
			a---b---c
			    |
			    e
		`, []roadtest.Object{roadtest.Way("ab", street+", oneway=yes, name=Main, lanes=3, turn:lanes=left|through|through;right"), roadtest.Way("bc", street+", name=Main"), roadtest.Way("dbe", street+", name=Cross")}, map[string]string{
			"ac": "depart (Main) left straight* straight+right*, arrive (Main)",
			"ad": "depart (Main), turn left (Cross) left* straight straight+right, arrive (Cross)",
			"ae": "depart (Main), turn right (Cross) left straight straight+right*, arrive (Cross)",
		}},
		{"lanes that are wrong for the junction", 50, `
			a---b---c
			    |
			    e
		`, []roadtest.Object{roadtest.Way("ab", street+", oneway=yes, name=Main, turn:lanes=left|left"), roadtest.Way("bc", street+", name=Main"), roadtest.Way("be", street+", name=Cross")}, map[string]string{
			"ae": "depart (Main), turn right (Cross), arrive (Cross)",
		}},
		{"a crossing of two roads with two carriageways", 8, `
			      g     j
			      |     |
			      |     |
			f-----e-----d-----m
			      |     |
			      |     |
			a-----b-----c-----l
			      |     |
			      |     |
			      h     k
		`, []roadtest.Object{
			roadtest.Ways("ab bc cl", dual+"Main"), roadtest.Ways("md de ef", dual+"Main"),
			roadtest.Ways("ge eb bh", dual+"Cross"), roadtest.Ways("kc cd dj", dual+"Cross"),
		}, map[string]string{
			"al": "depart (Main), arrive (Main)",
			"aj": "depart (Main), turn left (Cross), arrive (Cross)",
			"ah": "depart (Main), turn right (Cross), arrive (Cross)",
			"af": "depart (Main), continue uturn (Main), arrive (Main)",
		}},
		{"a road that goes on a little beside", 2, `
			      f
			      |
			a-----b
			      |
			      c-----d
			      |
			      e
		`, []roadtest.Object{roadtest.Way("ab", street+", name=Oak"), roadtest.Way("cd", street+", name=Oak"), roadtest.Way("fbce", street+", name=Cedar")}, map[string]string{
			"ad": "depart (Oak), arrive (Oak)",
		}},
		{"a sliproad", 20, `
			        d
			        |
			a--b----c----f
			    \   |
			     '--e
			        |
			        g
		`, []roadtest.Object{roadtest.Ways("abcf", street+", name=Main"), roadtest.Way("dceg", street+", name=Cross"), roadtest.Way("be", "highway=primary_link, oneway=yes")}, map[string]string{
			"ag": "depart (Main), turn right (Cross), arrive (Cross)",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := build(t, roadtest.Map(t, c.metres, c.drawing, c.objects...))
			for places, want := range c.want {
				if got := w.told(places); got != want {
					t.Errorf("%s: got  %s\nwant %s", places, got, want)
				}
			}
		})
	}
}

// TestRoundabouts checks the instructions at roundabouts of several sizes.
func TestRoundabouts(t *testing.T) {
	drawing := `
			      a
			      |
			      b
			     ' '
			h---g   c---d
			     ' '
			      e
			      |
			      f
		`
	objects := func(circle string) []roadtest.Object {
		return []roadtest.Object{
			roadtest.Way("ab", street+", name=North"), roadtest.Way("cd", street+", name=East"), roadtest.Way("ef", street+", name=South"),
			roadtest.Way("gh", street+", name=West"), roadtest.Way("bgecb", street+", "+circle),
		}
	}
	for _, c := range []struct {
		name   string
		metres float64
		circle string
		want   map[string]string
	}{
		{"a small one", 3, "junction=roundabout", map[string]string{
			"ah": "depart (North), roundabout turn right exit 1 (West), arrive (West)",
			"af": "depart (North), roundabout turn straight exit 2 (South), arrive (South)",
			"ad": "depart (North), roundabout turn left exit 3 (East), arrive (East)",
		}},
		{"a large one without a name", 30, "junction=roundabout", map[string]string{
			"af": "depart (North), roundabout right exit 2 (South), exit roundabout right (South), arrive (South)",
			"he": "depart (West), roundabout right (), arrive ()",
		}},
		{"a large one with a name", 30, "junction=roundabout, name=Circus", map[string]string{
			"ad": "depart (North), rotary right exit 3 of Circus (East), exit rotary right (East), arrive (East)",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := build(t, roadtest.Map(t, c.metres, drawing, objects(c.circle)...))
			for places, want := range c.want {
				if got := w.told(places); got != want {
					t.Errorf("%s: got  %s\nwant %s", places, got, want)
				}
			}
		})
	}
}

// TestTouchedRoundabout checks that a route that enters and leaves a roundabout at one node, or begins within it, has the
// number of the exit, because there is no entry to announce it.
func TestTouchedRoundabout(t *testing.T) {
	w := build(t, roadtest.Map(t, 20, `
		      a
		      |
		i-----b
		     ' '
		h---g   c---d
		     ' '
		      e
		      |
		      f
	`, roadtest.Ways("ab gh ef", street), roadtest.Way("cd", street+", name=East"), roadtest.Way("bi", street+", name=Side"), roadtest.Way("bgecb", "highway=primary, junction=roundabout")))
	for places, want := range map[string]string{
		"ai": "depart (), exit roundabout right exit 1 (Side), arrive (Side)",
		"ed": "depart (), exit roundabout right exit 1 (East), arrive (East)",
		"gd": "depart (), exit roundabout right exit 2 (East), arrive (East)",
	} {
		if got := w.told(places); got != want {
			t.Errorf("%s: got  %s\nwant %s", places, got, want)
		}
	}
}

// TestCrowdedJunction checks that turning back at a junction of more roads than are considered takes no longer than
// elsewhere.
func TestCrowdedJunction(t *testing.T) {
	drawing := roadtest.Map(t, 100, "a---b", roadtest.Way("ab", street+", name=Main"))
	for i := range 3000 {
		angle := 2 * math.Pi * float64(i) / 3000
		id := int64(100_000 + i)
		middle := drawing.Nodes[1]
		drawing.Nodes = append(drawing.Nodes, osmpbf.Node{ID: id, Lat: middle.Lat + int64(1e6*math.Sin(angle)/100)*100, Lng: middle.Lng + int64(1e6*math.Cos(angle)/100)*100})
		drawing.Ways = append(drawing.Ways, osmpbf.Way{ID: id, Refs: []int64{middle.ID, id}, Tags: roadtest.Tags(street + ", oneway=yes, name=Ray")})
	}
	w := build(t, drawing)
	places := nav.Places{Coordinates: []geo.Point{drawing.Place(t, "a"), drawing.Place(t, "a")}, Bearings: []nav.Bearing{{Given: true, Value: 90, Range: 20}, {Given: true, Value: 270, Range: 20}}}
	began := roadtest.ProcessorTime(t)
	_, r, err := w.route(nav.RouteRequest{Places: places, Steps: true})
	if err != nil || len(r.Legs[0].Steps) != 3 || r.Legs[0].Steps[1].Direction != guide.UTurn || len(r.Legs[0].Steps[1].Intersections[0].Roads) > 65 {
		t.Fatalf("%v, %+v", err, r)
	}
	if took := roadtest.ProcessorTime(t) - began; took > time.Second {
		t.Errorf("it took %v of a processor", took)
	}
}
