package nav_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/guide"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/roadtest"
)

// said returns the announcements on a way, in a language.
func (w *town) said(places, code string) string {
	w.t.Helper()
	_, r, err := w.route(nav.RouteRequest{Places: w.places(places), Steps: true})
	if err != nil {
		return err.Error()
	}
	words, err := guide.ReadWords()
	if err != nil {
		w.t.Fatal(err)
	}
	told := guide.Teller{Graph: w.Graph, Words: words.In(code), Last: true}
	var texts []string
	for i := range r.Legs[0].Steps {
		for _, one := range told.Announcements(nil, r.Legs[0].Steps, i) {
			texts = append(texts, one.Text)
		}
	}
	return strings.Join(texts, " | ")
}

// TestPassengersSentences checks whole sentences: roundabouts that are only touched or begun in, streets that a sentence
// would name twice, lists of numbers, and ferries.
func TestPassengersSentences(t *testing.T) {
	circle := `
		      a
		      |
		i-----b
		     ' '
		h---g   c---d
		     ' '
		      e
		      |
		      f
	`
	around := func(tags string) []roadtest.Object {
		return []roadtest.Object{roadtest.Ways("ab gh ef", street), roadtest.Way("cd", street+", name=East"), roadtest.Way("bi", street+", name=Side"), roadtest.Way("bgecb", "highway=primary, "+tags)}
	}
	for _, c := range []struct {
		name    string
		metres  float64
		drawing string
		objects []roadtest.Object
		places  string
		want    map[string]string
	}{
		{"a roundabout that is entered and left at one node", 20, circle, around("junction=roundabout"), "ai", map[string]string{
			"en": "Head south, then at the roundabout, take the first exit onto Side | You have arrived at your destination",
			"de": "Nach Süden losfahren, danach im Kreisverkehr die erste Ausfahrt auf Side nehmen | Sie haben Ihr Ziel erreicht",
		}},
		{"a route that begins within a roundabout", 20, circle, around("junction=roundabout, name=Circus"), "gd", map[string]string{
			"en": "Head southeast on Circus, then at the roundabout, take the second exit onto East | At Circus, take the second exit onto East, then you will arrive at your destination | You have arrived at your destination",
		}},
		{"two turns that keep the road's name", 20, `
			a---b
			    |
			    c---d
			    |
			    e
		`, []roadtest.Object{roadtest.Way("abc", "highway=residential, name=Eppelheimer"), roadtest.Way("cd", "highway=residential, name=Eppelheimer"), roadtest.Way("ce", "highway=residential, name=Other")}, "ad", map[string]string{
			"en": "Head east on Eppelheimer, then turn left | Turn left to stay on Eppelheimer, then you will arrive at your destination | Turn left | You have arrived at your destination",
		}},
		{"a turn onto a road that has one of the names before it", 20, `
			a---b---d
			    |
			    c
		`, []roadtest.Object{roadtest.Way("abd", "highway=residential, name=Rivoltana;SP14"), roadtest.Way("bc", "highway=residential, name=Rivoltana")}, "ac", map[string]string{
			"en": "Head east on Rivoltana, SP14, then turn right | Turn right onto Rivoltana, then you will arrive at your destination | Turn right | You have arrived at your destination",
		}},
		{"a road with two numbers", 100, `
			a---b---c
		`, []roadtest.Object{roadtest.Way("ab", street+", name=Main"), roadtest.Way("bc", street+", ref=IC 1;IC 23;IC1")}, "ac", map[string]string{
			"en": "Head east on Main | In 200 meters, continue onto IC 1, IC 23 | Continue onto IC 1, IC 23 | In 200 meters, you will arrive at your destination | You have arrived at your destination",
			"fr": "Partez vers l’est sur Main | Dans 200 mètres, continuez sur IC 1, IC 23 | Continuez sur IC 1, IC 23 | Dans 200 mètres, vous arriverez à destination | Vous êtes arrivé à destination",
		}},
		{"aboard a ferry", 200, `
			a---b~~~~~~~~~~~~~~~~~~c---d
		`, []roadtest.Object{roadtest.Way("ab", street+", name=Quay"), roadtest.Way("bc", "route=ferry, name=Line"), roadtest.Way("cd", street+", name=Island")}, "ad", map[string]string{
			"en": "Head east on Quay | In 200 meters, take the ferry Line | Take the ferry Line | Drive off the ferry onto Island | In 200 meters, you will arrive at your destination | You have arrived at your destination",
		}},
	} {
		w := build(t, roadtest.Map(t, c.metres, c.drawing, c.objects...))
		for code, want := range c.want {
			if got := w.said(c.places, code); got != want {
				t.Errorf("%s, %s: got  %s\nwant %s", c.name, code, got, want)
			}
		}
	}
}

// TestClassesBetweenJunctions checks that the classes of a road change at intersections, also where no roads meet.
func TestClassesBetweenJunctions(t *testing.T) {
	w := draw(t, "a---b---c---d---e", roadtest.Way("ab", street), roadtest.Way("bc", street+", tunnel=yes"), roadtest.Way("cd", street+", toll=yes"), roadtest.Way("de", street+", toll=yes"))
	_, r, err := w.route(nav.RouteRequest{Places: w.places("ae"), Steps: true})
	if err != nil {
		t.Fatal(err)
	}
	var at []string
	for _, i := range r.Legs[0].Steps[0].Intersections {
		at = append(at, fmt.Sprintf("%.0f m: %x of %d", i.At, i.Classes&guide.Classes, len(i.Roads)))
	}
	want := []string{"0 m: 0 of 1", fmt.Sprintf("400 m: %x of 2", graph.Tunnel), fmt.Sprintf("800 m: %x of 2", graph.Toll)}
	if !slices.Equal(at, want) {
		t.Errorf("got %q, want %q", at, want)
	}
}

// TestMovedFar checks the warning about places that were moved more than 100 m to a road.
func TestMovedFar(t *testing.T) {
	w := draw(t, `
		a----b----c
		  x    y


		    z
	`, roadtest.Way("abc", street+", name=Main"))
	for places, want := range map[string]string{
		"xy":  "",
		"xz":  "The destination was moved 400 m to a road: Main, at 0.00000, 0.00360.",
		"zy":  "The start was moved 400 m to a road: Main, at 0.00000, 0.00360.",
		"xzy": "Stop 1 was moved 400 m to a road: Main, at 0.00000, 0.00360.",
	} {
		_, r, err := w.route(nav.RouteRequest{Places: w.places(places)})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.Warnings, " "); got != want {
			t.Errorf("%s: got %q, want %q", places, got, want)
		}
	}
	p := w.places("zzzzzzzzz")
	if _, r, err := w.route(nav.RouteRequest{Places: p}); err != nil || len(r.Warnings) != 5 {
		t.Errorf("nine places: %v, %q", err, r.Warnings)
	}
}
