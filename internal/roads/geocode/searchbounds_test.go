package geocode

import (
	"strings"
	"testing"
)

// TestDivideIsBounded holds that a query is divided at three places at most.
func TestDivideIsBounded(t *testing.T) {
	for _, query := range []string{strings.Repeat("a and ", 40), strings.Repeat("and et ", 40)} {
		tried := 0
		divide(query, func(string, string) { tried++ })
		if tried != 3 {
			t.Errorf("%.20q… was divided at %d places, want 3", query, tried)
		}
	}
}

// TestDocumentsAreBounded checks that one pass considers some 500 000 documents: a better one that comes later is not found.
func TestDocumentsAreBounded(t *testing.T) {
	const all = 520_000
	x := &Index{kindList: make([]indexKind, 1), addressed: make([]uint64, (all+63)/64), features: all}
	x.documents = make([]document, all)
	for best, want := range map[uint32]bool{400_000: true, 499_990: true, 500_100: false} {
		x.documents[best].Importance = 255
		s := &scratch{query: &Query{Limit: 1}, limit: 1, tokens: []token{{phrase: noPhrase}}, kinds: []bool{true}}
		s.bits = make([]uint64, int(fits)*len(x.addressed))
		for i := range x.addressed {
			s.bits[i] = ^uint64(0)
		}
		x.gather(s, 0)
		if got := len(s.hits) == 1 && s.hits[0].id == best; got != want {
			t.Errorf("the best of %d documents is number %d: found %t", all, best, got)
		}
		x.documents[best].Importance = 0
	}
}
