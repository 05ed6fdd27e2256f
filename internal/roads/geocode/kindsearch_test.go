package geocode

import (
	"strings"
	"testing"
)

// TestVocabulary checks that every kind has a word in each language, that no tag has two kinds, and that words are found
// in the form in which queries are compared.
func TestVocabulary(t *testing.T) {
	v := newVocabulary()
	if len(v.kinds) < 60 || len(v.kinds) > 255 {
		t.Errorf("there are %d kinds", len(v.kinds))
	}
	seen, names := map[indexKind]string{}, map[string]bool{}
	for i := range v.kinds {
		k := &v.kinds[i]
		if names[k.name] || len(k.tags) == 0 {
			t.Errorf("%s is there twice, or means nothing", k.name)
		}
		names[k.name] = true
		for _, tag := range k.tags {
			if before, twice := seen[tag]; twice {
				t.Errorf("%s=%s is %s and %s", tag.key, tag.value, before, k.name)
			}
			seen[tag] = k.name
		}
		for language, label := range k.labels {
			if label == "" {
				t.Errorf("%s has no word in %s", k.name, Languages()[language])
			}
		}
	}
	for _, p := range v.phrases {
		if p.text == "" || p.words > maxQueryWords {
			t.Errorf("a word for %s is %q", v.kinds[p.kind].name, p.text)
		}
	}
}

// TestPhrases checks which words of queries are words for kinds, and which are around one.
func TestPhrases(t *testing.T) {
	x := &Index{vocabulary: newVocabulary()}
	for text, want := range map[string]string{
		"fuel": "fuel", "Gas Station": "gas station", "nearest petrol station ": "- petrol station", "tankst": "tankst…", "tan": "", "tankst ": "",
		"pharmacy in sliema": "pharmacy - ?", "the park": "- park", "the old": "", "gas stations near me": "gas stations - -",
		"محطة وقود": "محطه وقود", "الصيدلية": "الصيدليه", "car park": "car park", "bank bank bank bank": "bank bank bank ?",
	} {
		s := &scratch{query: &Query{Text: text}}
		s.begin(x, s.query)
		var got []string
		for i := 0; i < len(s.tokens) && len(s.phrases) > 0; i++ {
			switch phrase := s.tokens[i].phrase; phrase {
			case noPhrase:
				got = append(got, "?")
			case anyPhrase:
				got = append(got, "-")
			default:
				word := string(s.fold.word(i))
				if !s.phrases[phrase].whole {
					word += "…"
				}
				got = append(got, word)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q is read as %q instead of %q", text, got, want)
		}
	}
}

// TestKindsAreBounded checks that a query has a bounded number of words for kinds, and that of a kind with very many
// places those around the latitude of the query are looked at.
func TestKindsAreBounded(t *testing.T) {
	const many = maxOfKind + 1000
	x := &Index{vocabulary: newVocabulary()}
	x.documents = make([]document, many)
	x.ofKind = [][]uint32{make([]uint32, many)}
	for i := range many {
		x.documents[i].Lat = int32(i)
		x.ofKind[0][i] = uint32(i)
	}
	for _, at := range []int32{-5, 0, many / 2, many - 1, many + 5} {
		s := &scratch{query: &Query{Biased: true}}
		s.frame.at.Lat = at
		list := x.nearestOfKind(s, 0)
		if len(list) != maxOfKind || at >= 0 && at < many && (list[0] > uint32(at) || list[len(list)-1] < uint32(at)) {
			t.Errorf("at %d the %d places from %d to %d are looked at", at, len(list), list[0], list[len(list)-1])
		}
	}
	if list := x.nearestOfKind(&scratch{query: &Query{}}, 0); len(list) != maxOfKind {
		t.Errorf("without a position %d places are looked at", len(list))
	}
	s := &scratch{query: &Query{Text: strings.Repeat("bank ", 12)}}
	if s.begin(x, s.query); len(s.phrases) != maxKindPhrases {
		t.Errorf("a query has %d words for kinds", len(s.phrases))
	}
}
