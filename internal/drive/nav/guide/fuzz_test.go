package guide_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"wayside/internal/drive/nav/guide"
	"wayside/internal/roads/graph"
)

// FuzzSigns puts any text on signs. It checks that spoken and displayed instructions are text, and that their SSML is
// XML with the same content.
func FuzzSigns(f *testing.F) {
	f.Add("Market Street", "A 1;B 2", "A 1: Berlin, Hamburg", "12; 13")
	f.Add("<b>&amp;\"'</b>", ";;;", ": ", "\u202e\u2066")
	f.Add("", " ", ", , ,", "{name}[ {exit}]")
	f.Add(strings.Repeat("å", 500), strings.Repeat(";", 500), strings.Repeat("a, ", 300), "🚗")
	words, err := guide.ReadWords()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, ref, destination, exit string) {
		for _, text := range []string{name, ref, destination, exit} {
			if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xfffe || r == 0xffff }) {
				return // left out by the import
			}
		}
		g := graph.Graph{Texts: []byte(name + ref + destination + exit)}
		at := uint32(0)
		next := func(text string) graph.TextRange {
			r := graph.TextRange{Start: at, Length: uint32(len(text))}
			at += r.Length
			return r
		}
		g.Ways = []graph.Way{{Name: next(name), Ref: next(ref), Signs: 1}}
		g.Signs = []graph.Signs{{Destination: next(destination), Exit: next(exit)}}
		g.Pieces, g.Arcs = []graph.Piece{{}}, []graph.Arc{{}}
		for _, s := range kinds() {
			s.Distance, s.Duration = 900, 60_000
			steps := []guide.Step{{Kind: guide.Turn, Distance: 3000, Duration: 100_000}, s, {Kind: guide.Arrive}}
			told := guide.Teller{Graph: &g, Words: words.In("fr"), Last: true}
			for _, a := range told.Announcements(nil, steps, 0) {
				if said := textOf(t, a.SSML); said != a.Text {
					t.Errorf("%q is %q", a.SSML, said)
				}
			}
			for _, b := range told.Banners(nil, steps, 0) {
				if len(b.Primary.Components) == 0 || len(b.Primary.Components) > 2000 {
					t.Errorf("%d components", len(b.Primary.Components))
				}
			}
		}
	})
}

// textOf returns the text of XML.
func textOf(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		if err != nil {
			t.Errorf("%q: %v", text, err)
			return ""
		}
		if chars, ok := token.(xml.CharData); ok {
			out.Write(chars)
		}
	}
}
