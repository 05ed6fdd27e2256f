package match_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// sectionsOf copies the sections of an index into memory that is aligned like a file's.
func sectionsOf(x *match.Index) map[string][]byte {
	sections := make(map[string][]byte)
	for _, s := range x.Sections() {
		sections[s.Name] = append(make([]byte, 0, len(s.Bytes)+8), s.Bytes...)
	}
	return sections
}

func fromSections(g *graph.Graph, sections map[string][]byte) (*match.Index, error) {
	return match.FromSections(g, func(name string) ([]byte, bool) {
		raw, ok := sections[name]
		return raw, ok
	})
}

// TestSectionsMakeTheSameIndex checks that an index that was written and read finds the same as the original, across the
// antimeridian too.
func TestSectionsMakeTheSameIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, count := range []int{0, 1, 8, 9, 128, 129, 3000} {
		around := geo.Point{Lat: -16, Lng: 179.99}
		g := pieces(randomLines(r, count, around, 0.5)...)
		made := match.NewIndex(g)
		read, err := fromSections(g, sectionsOf(made))
		if err != nil {
			t.Fatalf("%d pieces: %v", count, err)
		}
		for range 50 {
			from := geo.Point{Lat: around.Lat + 0.3*(r.Float64()-0.5), Lng: 179.7 + 0.3*r.Float64()}
			nearest := match.Nearest{Within: 5000, Count: 5}
			if want, got := made.Nearest(nil, from, nearest), read.Nearest(nil, from, nearest); !slices.Equal(want, got) {
				t.Fatalf("%d pieces: the index that was read finds %v instead of %v", count, got, want)
			}
		}
	}
}

func TestSectionsThatDoNotFitAreRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	g := pieces(randomLines(r, 300, geo.Point{Lat: 45, Lng: 9}, 0.1)...)
	for name, change := range map[string]func(map[string][]byte){
		"no pieces":           func(s map[string][]byte) { delete(s, "match.pieces") },
		"no boxes":            func(s map[string][]byte) { delete(s, "match.boxes") },
		"a piece less":        func(s map[string][]byte) { s["match.pieces"] = s["match.pieces"][4:] },
		"a box less":          func(s map[string][]byte) { s["match.boxes"] = s["match.boxes"][16:] },
		"half a box":          func(s map[string][]byte) { s["match.boxes"] = s["match.boxes"][8:] },
		"a piece twice":       func(s map[string][]byte) { copy(s["match.pieces"], s["match.pieces"][4:8]) },
		"a piece beyond all":  func(s map[string][]byte) { copy(s["match.pieces"], []byte{255, 255, 255, 255}) },
		"of another network":  func(s map[string][]byte) { clear(s); addSections(s, pieces(randomLines(r, 5, geo.Point{}, 0.1)...)) },
		"nothing of anything": func(s map[string][]byte) { s["match.pieces"], s["match.boxes"] = nil, nil },
	} {
		sections := sectionsOf(match.NewIndex(g))
		change(sections)
		if _, err := fromSections(g, sections); !errors.Is(err, match.ErrBadSections) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func addSections(sections map[string][]byte, g *graph.Graph) {
	for _, s := range match.NewIndex(g).Sections() {
		sections[s.Name] = s.Bytes
	}
}

// TestForgedBoxesAreBounded checks that forged boxes can only hide roads.
func TestForgedBoxesAreBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	around := geo.Point{Lat: 45, Lng: 9}
	g := pieces(randomLines(r, 500, around, 0.1)...)
	for range 300 {
		sections := sectionsOf(match.NewIndex(g))
		boxes := sections["match.boxes"]
		for range 1 + r.IntN(100) {
			boxes[r.IntN(len(boxes))] = byte(r.IntN(256))
		}
		x, err := fromSections(g, sections)
		if err != nil {
			t.Fatal(err)
		}
		if found := x.Nearest(nil, around, match.Nearest{Within: 1e6, Count: 1000}); len(found) > 500 {
			t.Fatalf("%d places on 500 pieces", len(found))
		}
	}
}
