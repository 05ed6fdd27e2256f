package geocode_test

import (
	"bytes"
	"testing"

	"wayside/internal/roads/geocode"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// built is an index of an extract.
type built struct {
	*geocode.Index
	*geocode.Built
	graph *graph.Graph
	bytes int // of all sections
}

func build(t testing.TB, content []byte) *built {
	t.Helper()
	file := roadtest.Open(t, content)
	g, _ := roadtest.Build(t, graph.BuildOptions{}, file)
	b := &built{graph: g}
	var err error
	if b.Built, err = geocode.Build(t.Context(), []*osmpbf.File{file}, g, match.NewIndex(g)); err != nil {
		t.Fatal(err)
	}
	for _, s := range b.Sections {
		b.bytes += len(s.Bytes)
	}
	if b.Index, err = open(b.Sections, g); err != nil {
		t.Fatal(err)
	}
	return b
}

func open(sections []graph.Section, g *graph.Graph) (*geocode.Index, error) {
	return geocode.Open(func(name string) ([]byte, bool) {
		for _, s := range sections {
			if s.Name == name {
				return s.Bytes, true
			}
		}
		return nil, false
	}, g, match.NewIndex(g))
}

// drawn returns the index of a drawn map.
func drawn(t testing.TB, n *roadtest.Network) *built {
	t.Helper()
	return build(t, n.PBF(t))
}

// ask searches with the default names and without a filter.
func (b *built) ask(text string) []geocode.Result {
	return search(b, &geocode.Query{Text: text, Limit: 15, Language: -1})
}

// TestTheSameExtractGivesTheSameBytes checks that two builds of one extract are identical.
func TestTheSameExtractGivesTheSameBytes(t *testing.T) {
	content := roadtest.Extract(t, "monaco-planetiler.osm.pbf")
	a, b := build(t, content), build(t, content)
	for i := range a.Sections {
		if !bytes.Equal(a.Sections[i].Bytes, b.Sections[i].Bytes) {
			t.Errorf("%s differs", a.Sections[i].Name)
		}
	}
}
