package nav_test

import (
	"slices"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/guide"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// FuzzGuidance writes any text on lanes and into a relation that names a turn. It checks that each route is described
// from its departure to its arrival, along its whole line, and that a recommended lane has the arrow that the route
// follows.
func FuzzGuidance(f *testing.F) {
	f.Add("left|through;right", "|none|right", "turn", "slight_left", "name")
	f.Add("reverse|left;reverse|", "merge_to_left|slight_right;sharp_right", "suppress", "", "")
	f.Add("through|through|slight_right", "left|left", "uturn", "up", "Main")
	f.Add("right|left|through", "|||||||||||||||||", "fork", "uturn", "Süd S")
	f.Fuzz(func(t *testing.T, first, second, maneuver, direction, name string) {
		m := roadtest.Map(t, 20, `
			    d    g
			    |    |
			a---b----c---e
			    |   .|
			    f   .|
			     '-.-h
		`, roadtest.Way("abc", street), roadtest.Way("ce", street), roadtest.Way("dbf", street), roadtest.Way("gc", street), roadtest.Way("ch", street+", oneway=yes"),
			roadtest.Way("fh", "highway=primary_link"), roadtest.Relation("type=maneuver", "abc c ch"), roadtest.Relation("type=maneuver", "dbf c,abc ce"))
		for i := range m.Ways {
			m.Ways[i].Tags = append(m.Ways[i].Tags, osmpbf.Tag{Key: "name", Value: name}, osmpbf.Tag{Key: "turn:lanes:forward", Value: first}, osmpbf.Tag{Key: "turn:lanes:backward", Value: second})
			name = name[:len(name)/2]
		}
		for i := range m.Relations {
			m.Relations[i].Tags = append(m.Relations[i].Tags, osmpbf.Tag{Key: "maneuver", Value: maneuver}, osmpbf.Tag{Key: "direction", Value: direction})
		}
		w := build(t, m)
		for _, places := range []string{"ae", "ah", "ea", "df", "dg", "fe", "ga", "fh", "hd"} {
			_, r, err := w.route(nav.RouteRequest{Places: w.places(places), Steps: true})
			if err != nil {
				continue // there may be no way
			}
			checkTold(t, &r.Legs[0])
		}
	})
}

func checkTold(t *testing.T, l *nav.Leg) {
	t.Helper()
	last := len(l.Steps) - 1
	if last < 1 || l.Steps[0].Kind != guide.Depart || l.Steps[last].Kind != guide.Arrive || l.Steps[0].First != 0 || l.Steps[last].Last != len(l.Locations)-1 {
		t.Fatalf("%+v", l.Steps)
	}
	for i := range l.Steps {
		s := &l.Steps[i]
		if i > 0 && s.First != l.Steps[i-1].Last || s.Kind == guide.Silent || len(s.Intersections) == 0 {
			t.Errorf("step %d: %+v", i, s)
		}
		for _, at := range s.Intersections {
			for _, lane := range at.Lanes {
				if lane.Taken&^lane.Marks != 0 || !lane.Valid && lane.Taken != 0 {
					t.Errorf("lane %+v", lane)
				}
			}
			if len(at.Lanes) > 0 && !slices.ContainsFunc(at.Lanes, func(l guide.Lane) bool { return l.Valid }) {
				t.Errorf("no lane of %+v is recommended", at.Lanes)
			}
		}
	}
}
