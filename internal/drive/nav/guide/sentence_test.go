package guide_test

import (
	"fmt"
	"strings"
	"testing"

	"wayside/internal/drive/nav/guide"
	"wayside/internal/roads/graph"
)

// roads is a graph of one arc for each combination of texts on a road.
type roads struct {
	graph.Graph
	named []string
}

func newRoads() *roads {
	r := &roads{}
	text := func(s string) graph.TextRange {
		at := graph.TextRange{Start: uint32(len(r.Texts)), Length: uint32(len(s))}
		r.Texts = append(r.Texts, s...)
		return at
	}
	add := func(what, name, ref, destination, exit string, flags graph.Flags) {
		r.Signs = append(r.Signs, graph.Signs{Destination: text(destination), Exit: text(exit)})
		r.Ways = append(r.Ways, graph.Way{Name: text(name), Ref: text(ref), Signs: uint32(len(r.Signs))})
		r.Pieces = append(r.Pieces, graph.Piece{Way: uint32(len(r.Ways) - 1)})
		r.Arcs = append(r.Arcs, graph.Arc{Piece: uint32(len(r.Pieces) - 1), Flags: flags})
		r.named = append(r.named, what)
	}
	add("nothing", "", "", "", "", 0)
	add("name", "Market Street", "", "", "", 0)
	add("number", "", "B 96;E 251", "", "", 0)
	add("signs", "", "A 1", "A 1, A 2: Berlin, Hamburg", "12", graph.DriveLeft)
	add("ferry", "Harbour Line", "", "", "", graph.Ferry)
	return r
}

// kinds returns all maneuvers, with their possible directions.
func kinds() (all []guide.Step) {
	for kind := guide.Depart; kind <= guide.ExitRotary; kind++ {
		for dir := guide.NoDirection; dir <= guide.SharpRight; dir++ {
			exits := []int{0}
			if kind == guide.Roundabout || kind == guide.Rotary || kind == guide.RoundaboutTurn || kind == guide.ExitRoundabout || kind == guide.ExitRotary {
				exits = []int{0, 1, 10, 11}
			}
			for _, exit := range exits {
				all = append(all, guide.Step{Kind: kind, Direction: dir, Exit: exit, After: 45 * int(dir)})
			}
		}
	}
	return all
}

// hangs are words of each language that must not end a sentence.
var hangs = map[string][]string{
	"en": {"on", "onto", "toward", "for", "in", "the", "at"}, "de": {"auf", "Richtung", "für", "in", "die", "danach"}, "fr": {"sur", "vers", "de", "la", "dans", "puis"},
	"nl": {"naar", "richting", "de", "over", "daarna"}, "es": {"por", "hacia", "a", "la", "en", "luego"}, "it": {"su", "per", "direzione", "la", "tra", "poi"},
}

// hasGap returns what is wrong with a sentence, or "".
func hasGap(code, text string) string {
	switch {
	case strings.TrimSpace(text) != text || text == "":
		return "blanks at its ends"
	case strings.ContainsAny(text, "{}[]"):
		return "a blank that is not filled in"
	case strings.Contains(text, ";"):
		return "a semicolon"
	case strings.Contains(text, "  "), strings.Contains(text, " ,"), strings.Contains(text, " ."), strings.HasSuffix(text, ","), strings.HasSuffix(text, ":"):
		return "a gap"
	}
	for _, word := range hangs[code] {
		if strings.HasSuffix(text, " "+word) {
			return "an end that is none"
		}
	}
	return ""
}

// TestSentences checks every sentence of every language, and with -v prints some 200 of each for native speakers to
// read.
func TestSentences(t *testing.T) {
	words, err := guide.ReadWords()
	if err != nil {
		t.Fatal(err)
	}
	r := newRoads()
	for _, code := range guide.Languages() {
		language := words.In(code)
		if language.Code != code {
			t.Fatalf("the language of %s is %s", code, language.Code)
		}
		count, printed := 0, 0
		for _, last := range []bool{true, false} {
			for _, imperial := range []bool{false, true} {
				told := guide.Teller{Graph: &r.Graph, Words: language, Last: last, Imperial: imperial}
				for i, s := range kinds() {
					for arc, what := range r.named {
						s.Arc, s.Flags = uint32(arc), r.Arcs[arc].Flags
						if s.Kind == guide.Rotary {
							s.Rotary = &r.Ways[1]
						}
						for _, soon := range []bool{false, true} {
							text := told.Sentence(&s, soon)
							if gap := hasGap(code, text); gap != "" {
								t.Errorf("%s: %v %v, %s: %q has %s", code, s.Kind, s.Direction, what, text, gap)
							}
							count++
							if last && !imperial && !soon && arc == i%len(r.named) && s.Exit != 10 {
								printed++
								t.Logf("%s %-16v %-12v %-8s %s", code, s.Kind, s.Direction, what, text)
							}
						}
						for _, metres := range []float64{1, 60, 120, 240, 480, 900, 999, 1499, 1700, 2600, 12_345, 900_000} {
							steps := []guide.Step{{Kind: guide.Turn, Direction: guide.Left, Distance: metres, Duration: uint64(metres * 60), Arc: 1}, s, {Kind: guide.Arrive, Arc: 1}}
							for _, a := range told.Announcements(nil, steps, 0) {
								if gap := hasGap(code, a.Text); gap != "" || a.At > metres+0.1 || a.At < 0 {
									t.Errorf("%s at %.1f of %.1f: %q has %s", code, a.At, metres, a.Text, gap)
								}
							}
							for _, b := range told.Banners(nil, steps, 0) {
								if gap := hasGap(code, b.Primary.Text); gap != "" || len(b.Primary.Components) == 0 {
									t.Errorf("%s: banner %q has %s", code, b.Primary.Text, gap)
								}
							}
						}
					}
				}
			}
		}
		t.Logf("%s: %d sentences, %d printed", code, count, printed)
	}
}

// TestDistances checks the spoken form of distances.
func TestDistances(t *testing.T) {
	words, err := guide.ReadWords()
	if err != nil {
		t.Fatal(err)
	}
	r := newRoads()
	said := func(code string, imperial bool, metres, speed float64) string {
		told := guide.Teller{Graph: &r.Graph, Words: words.In(code), Last: true, Imperial: imperial}
		steps := []guide.Step{{Kind: guide.Turn, Distance: metres, Duration: uint64(metres * 1000 / speed), Arc: 1}, {Kind: guide.Turn, Direction: guide.Left, Arc: 1, Distance: 5000, Duration: 1000}, {Kind: guide.Arrive}}
		var all []string
		for _, a := range told.Announcements(nil, steps, 0) {
			all = append(all, fmt.Sprintf("%.0f %s", a.At, a.Text))
		}
		return strings.Join(all, " | ")
	}
	for _, c := range []struct {
		code     string
		imperial bool
		metres   float64
		speed    float64 // m/s
		want     string
	}{
		{"en", false, 20, 30, "20 Turn left onto Market Street"},
		{"en", false, 1400, 30, "1000 In 1 kilometer, turn left onto Market Street | 400 In 400 meters, turn left onto Market Street | 174 Turn left onto Market Street"},
		{"en", false, 350, 30, "270 Turn left onto Market Street"},
		{"de", false, 6400, 30, "6400 6 Kilometer weiter auf Market Street | 2000 In 2 Kilometern links abbiegen auf Market Street | 1000 In einem Kilometer links abbiegen auf Market Street | 400 In 400 Metern links abbiegen auf Market Street | 174 Links abbiegen auf Market Street"},
		{"en", true, 6400, 30, "6400 Continue on Market Street for 4 miles | 1609 In 1 mile, turn left onto Market Street | 805 In half a mile, turn left onto Market Street | 400 In a quarter of a mile, turn left onto Market Street | 174 Turn left onto Market Street"},
		{"en", false, 900, 13.8, "200 In 200 meters, turn left onto Market Street | 80 Turn left onto Market Street | 34 Turn left"},
		{"de", false, 900, 8.4, "200 In 200 Metern links abbiegen auf Market Street | 80 Links abbiegen auf Market Street | 21 Links abbiegen"},
		{"en", false, 150, 13.8, "124 Turn left onto Market Street | 34 Turn left"},
		{"en", false, 60, 13.8, "60 Turn left onto Market Street"}, // no time for a second sentence
		{"en", false, 2000, 19, "250 In 250 meters, turn left onto Market Street | 110 Turn left onto Market Street | 40 Turn left"},
	} {
		if got := said(c.code, c.imperial, c.metres, c.speed); got != c.want {
			t.Errorf("%s, %.0f m: %s\nwant %s", c.code, c.metres, got, c.want)
		}
	}
}
