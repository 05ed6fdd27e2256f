//go:build !race

package nav_test

import (
	"cmp"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/guide"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/roads/roadtest"
)

// passenger listens to routes and reports what no passenger would say.
type passenger struct {
	t         *testing.T
	g         *graph.Graph
	languages []*guide.Language
	said      []guide.Announcement
	shown     []guide.Banner
	faults    map[string]int // by kind
	heard     struct{ routes, sentences, circles, touched, ferries, classes, moved int }
}

// maxFaults bounds the reported faults of a kind in an extract.
const maxFaults = 4

func (p *passenger) fault(places []geo.Point, format string, args ...any) {
	if p.faults[format]++; p.faults[format] <= maxFaults {
		p.t.Errorf("%v: "+format, append([]any{places}, args...)...)
	}
}

// TestPassenger checks on random routes of all real extracts, in every language, what holds for each sentence: a few
// hundred routes, and 10 000 if WAYSIDE_TEST_FULL is set.
func TestPassenger(t *testing.T) {
	extracts, err := filepath.Glob(filepath.Join(roadtest.Extracts(t), "*.osm.pbf"))
	if err != nil || len(extracts) == 0 {
		t.Skipf("NOT TESTED: no extracts: %v", err)
	}
	count := 400
	if os.Getenv("WAYSIDE_TEST_FULL") != "" {
		count = 10_000
	}
	words, err := guide.ReadWords()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range extracts {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			g, counts := roadtest.Build(t, graph.BuildOptions{}, roadtest.Open(t, roadtest.Extract(t, name)))
			topology, err := cch.Prepare(t.Context(), g, cch.PrepareOptions{})
			if err != nil {
				t.Fatal(err)
			}
			live, err := nav.NewLive(t.Context(), nav.NewRoads(g, match.NewIndex(g), name), topology)
			if err != nil {
				t.Fatal(err)
			}
			p := &passenger{t: t, g: g, faults: map[string]int{}}
			for _, code := range guide.Languages() {
				p.languages = append(p.languages, words.In(code))
			}
			service := nav.New(live.Network)
			random := rand.New(rand.NewPCG(31, 2))
			within := func(low, high float64) float64 { return low + random.Float64()*(high-low) }
			var a nav.RouteAnswer
			for tries := 0; p.heard.routes < count/len(extracts) && tries < 20*count; tries++ {
				q := nav.RouteRequest{Steps: true, JoinExits: tries%4 == 0}
				for range 2 {
					q.Coordinates = append(q.Coordinates, geo.Point{Lat: within(counts.Bounds.South, counts.Bounds.North), Lng: within(counts.Bounds.West, counts.Bounds.East)})
				}
				if service.Route(t.Context(), &q, &a) == nil {
					p.listen(&q, &a)
				}
			}
			t.Logf("%s: %+v, faults %v", name, p.heard, p.faults)
		})
	}
}

func (p *passenger) listen(q *nav.RouteRequest, a *nav.RouteAnswer) {
	p.heard.routes++
	p.checkMoved(q, a)
	for i := range a.Routes {
		for k := range a.Routes[i].Legs {
			leg := &a.Routes[i].Legs[k]
			p.checkCircles(q.Coordinates, leg)
			p.checkNames(q.Coordinates, leg)
			p.checkParts(q.Coordinates, leg)
			for _, language := range p.languages {
				p.hear(q.Coordinates, leg, &guide.Teller{Graph: p.g, Words: language, Last: true})
			}
		}
	}
}

// checkMoved checks that a place far from the road has a warning.
func (p *passenger) checkMoved(q *nav.RouteRequest, a *nav.RouteAnswer) {
	moved := 0
	for i, used := range a.Used {
		if geo.Distance(q.Coordinates[i], a.Spots[i].Places[used.Place].Point) > 100 {
			moved++
		}
	}
	p.heard.moved += moved
	warned := 0
	for _, text := range a.Routes[0].Warnings {
		if strings.Contains(text, " was moved ") {
			warned++
		}
	}
	if warned != moved {
		p.fault(q.Coordinates, "%d places were moved, the warnings are %q", moved, a.Routes[0].Warnings)
	}
}

// checkCircles checks that each exit of a roundabout has an entry before it, or the number of the exit.
func (p *passenger) checkCircles(at []geo.Point, leg *nav.Leg) {
	inside := false
	for i := range leg.Steps {
		switch s := &leg.Steps[i]; s.Kind {
		case guide.Roundabout, guide.Rotary:
			inside = true
			p.heard.circles++
		case guide.ExitRoundabout, guide.ExitRotary:
			if !inside {
				p.heard.touched++
				silent := *s
				silent.Exit = 0
				for _, language := range p.languages {
					told := guide.Teller{Graph: p.g, Words: language}
					if s.Exit == 0 || told.Sentence(s, false) == told.Sentence(&silent, false) {
						p.fault(at, "step %d in %s: %q without a roundabout before", i, language.Code, told.Sentence(s, false))
					}
				}
			}
			inside = false
		default:
			if inside && i < len(leg.Steps)-1 {
				inside = s.Kind == guide.Silent
			}
		}
	}
}

func (p *passenger) way(s *nav.Step) *graph.Way {
	return &p.g.Ways[p.g.Pieces[p.g.Arcs[s.Arc].Piece].Way]
}

// normalRef returns a reference as it is compared.
func normalRef(ref string) string {
	parts := strings.Split(strings.ToLower(strings.ReplaceAll(ref, " ", "")), ";")
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), ";")
}

// checkNames checks that a new name is one.
func (p *passenger) checkNames(at []geo.Point, leg *nav.Leg) {
	for i := 1; i < len(leg.Steps); i++ {
		s := &leg.Steps[i]
		if s.Kind != guide.NewName {
			continue
		}
		a, b := p.way(&leg.Steps[i-1]), p.way(s)
		name, ref := p.g.Text(b.Name), p.g.Text(b.Ref)
		if name != "" && name == p.g.Text(a.Name) || name == "" && a.Name.Length == 0 && normalRef(ref) == normalRef(p.g.Text(a.Ref)) {
			p.fault(at, "step %d: %q, %q is not new after %q", i, name, ref, p.g.Text(a.Ref))
		}
	}
}

// checkParts checks that ferries are steps, and that each change of classes is an intersection.
func (p *passenger) checkParts(at []geo.Point, leg *nav.Leg) {
	for i := range leg.Steps {
		s := &leg.Steps[i]
		next := 0
		var classes graph.Flags
		for k := range leg.Parts {
			part := &leg.Parts[k]
			if part.First < s.First || part.Last > s.Last || part.First == part.Last || p.g.Arcs[part.Arc].Flags&graph.Ferry != 0 && nothing(part) {
				continue
			}
			flags := p.g.Arcs[part.Arc].Flags
			for next < len(s.Intersections) && s.Intersections[next].At <= metresBefore(p.g, leg, k)+0.01 {
				classes = s.Intersections[next].Classes & guide.Classes
				next++
			}
			if flags&graph.Ferry != s.Flags&graph.Ferry {
				p.fault(at, "step %d, %s: part %d of it is on a ferry, or on land", i, s.Kind, k)
			}
			p.heard.classes++
			if flags&guide.Classes != classes {
				p.fault(at, "step %d, %s: part %d has the classes %x, the intersection before it %x", i, s.Kind, k, flags&guide.Classes, classes)
			}
		}
	}
}

func nothing(part *nav.Part) bool { return part.From == part.To }

func metresBefore(g *graph.Graph, leg *nav.Leg, k int) (metres float64) {
	for i := range k {
		p := &leg.Parts[i]
		metres += (p.To - p.From) * float64(g.Pieces[g.Arcs[p.Arc].Piece].Length) / 1000
	}
	return metres
}

// units are parts of the words for distances, in every language.
var units = []string{"meter", "metr", "mètr", "mile", "milla", "miglio", "mijl"}

// names returns the names of the roads of steps, the longest first, because a name may contain another one.
func (p *passenger) names(steps []nav.Step) (names []string) {
	for i := range steps {
		way := p.way(&steps[i])
		name := p.g.Text(way.Name)
		if name == "" {
			name = p.g.Text(way.Ref)
		}
		if len(name) > 4 && !strings.Contains(name, ";") { // shorter ones may be parts of words
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(names)
}

// hear checks the announcements and banners of a leg.
func (p *passenger) hear(at []geo.Point, leg *nav.Leg, told *guide.Teller) {
	for i := range leg.Steps {
		s := &leg.Steps[i]
		p.said = told.Announcements(p.said[:0], leg.Steps, i)
		aboard := s.Flags&graph.Ferry != 0
		if aboard {
			p.heard.ferries++
		}
		for _, one := range p.said {
			p.heard.sentences++
			if strings.Contains(one.Text, ";") {
				p.fault(at, "%s: a semicolon in %q", told.Words.Code, one.Text)
			}
			if aboard && slices.ContainsFunc(units, func(unit string) bool { return strings.Contains(strings.ToLower(one.Text), unit) }) {
				p.fault(at, "%s: aboard a ferry: %q", told.Words.Code, one.Text)
			}
			rest := one.Text
			for _, name := range p.names(leg.Steps[i:min(i+3, len(leg.Steps))]) {
				if strings.Count(rest, name) > 1 {
					p.fault(at, "%s: %q is named twice in %q", told.Words.Code, name, one.Text)
				}
				rest = strings.ReplaceAll(rest, name, "|")
			}
		}
		p.shown = told.Banners(p.shown[:0], leg.Steps, i)
		for k := range p.shown {
			for _, line := range [...]*guide.Line{&p.shown[k].Primary, &p.shown[k].Secondary, &p.shown[k].Sub} {
				if strings.Contains(line.Text, ";") {
					p.fault(at, "%s: a semicolon in the banner %q", told.Words.Code, line.Text)
				}
			}
		}
	}
}
