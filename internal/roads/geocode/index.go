package geocode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// Index answers searches. Its arrays lie in the mapped file. It is safe for concurrent use.
type Index struct {
	arrays
	graph     *graph.Graph
	roads     *match.Index
	list      wordList
	kindList  []indexKind
	addressed []uint64 // bits of the documents with an address
	features  int
	postcodes uint16 // the kind of postcodes

	vocabulary *vocabulary
	named      []int16    // for each kind, its index in the vocabulary, or -1
	ofKind     [][]uint32 // for each kind of the vocabulary, what is of it, sorted by latitude
	// scratches holds the free memory for searches. If there is none, a search waits for another one to end.
	scratches chan *scratch
}

// indexKind is a kind as it is written and compared.
type indexKind struct{ key, value string }

// Open returns an index from the sections that Build made, by name. It uses them as its arrays, so they must stay
// unchanged while the index is used. It returns ErrBadSections if they are inconsistent, so that no search reads beyond
// the arrays.
func Open(section func(name string) ([]byte, bool), g *graph.Graph, roads *match.Index) (*Index, error) {
	x := &Index{graph: g, roads: roads, postcodes: math.MaxUint16}
	r := graph.SectionReader{Section: section, Damaged: ErrBadSections}
	for _, a := range x.arrays.all() {
		a.read(&r)
	}
	if r.Err != nil {
		return nil, r.Err
	}
	if len(x.about) != 1 || x.about[0].Version != version || uint64(x.about[0].Features) > uint64(len(x.documents)) {
		return nil, fmt.Errorf("%w: it is of another version", ErrBadSections)
	}
	x.features = int(x.about[0].Features)
	for line := range bytes.Lines(x.kinds) {
		key, value, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "=")
		if !plainValue(key) || !plainValue(value) {
			return nil, fmt.Errorf("%w: kind %d", ErrBadSections, len(x.kindList))
		}
		if key == "place" && value == "postcode" {
			x.postcodes = uint16(len(x.kindList))
		}
		x.kindList = append(x.kindList, indexKind{key, value})
	}
	if err := x.check(); err != nil {
		return nil, err
	}
	x.list = wordList{&x.arrays}
	x.addressed = make([]uint64, (len(x.documents)+63)/64)
	for _, a := range x.addresses {
		x.addressed[a.Document/64] |= 1 << (a.Document % 64)
	}
	x.openKinds()
	// A scratch takes up to seven bytes for each document. More scratches would only cost memory, because the processors
	// are busy with these.
	x.scratches = make(chan *scratch, 2*runtime.GOMAXPROCS(0))
	for range cap(x.scratches) {
		x.scratches <- new(scratch)
	}
	return x, nil
}

func (x *Index) streets() int { return len(x.documents) - x.features }

func (x *Index) isStreet(id uint32) bool { return int(id) >= x.features }

// name returns the default name of a document.
func (x *Index) name(id uint32) []byte {
	d := &x.documents[id]
	if d.Name&ownText != 0 {
		at := d.Name &^ ownText
		return x.texts[at : at+uint32(d.NameLength)]
	}
	return x.graph.Texts[d.Name : d.Name+uint32(d.NameLength)]
}

// nameIn returns the name of a document in a language, or its default name if it has none in that language.
func (x *Index) nameIn(id uint32, language int) []byte {
	if language >= 0 {
		key := translation{Document: id, Language: uint32(language)}
		if i, ok := slices.BinarySearchFunc(x.translations, key, compareTranslations); ok {
			return x.text(x.translations[i].Text)
		}
	}
	return x.name(id)
}

func compareTranslations(a, b translation) int {
	if a.Document != b.Document {
		if a.Document < b.Document {
			return -1
		}
		return 1
	}
	return int(a.Language) - int(b.Language)
}

// check verifies that no index points outside of its array, and everything else that searches rely on.
func (x *Index) check() error {
	for _, array := range []struct {
		name string
		size int
		good func(i int) bool
	}{
		{"document", len(x.documents), x.goodDocument},
		{"place", len(x.places), x.goodPlace},
		{"house", len(x.houses), func(i int) bool {
			h := &x.houses[i]
			return onGlobe(h.Lng, h.Lat) && x.goodText(h.Text) && uint64(h.Place) < uint64(len(x.places))
		}},
		{"address", len(x.addresses), func(i int) bool {
			a := &x.addresses[i]
			return uint64(a.Document) < uint64(len(x.documents)) && int(a.Street) >= x.features && uint64(a.Street) < uint64(len(x.documents)) &&
				x.goodText(a.Number) && (i == 0 || x.addresses[i-1].Document < a.Document)
		}},
		{"extent", len(x.featureExtents), func(i int) bool {
			e := &x.featureExtents[i]
			return uint64(e.Document) < uint64(x.features) && e.good() && (i == 0 || x.featureExtents[i-1].Document < e.Document)
		}},
		{"houses of street", len(x.firstHouse), func(i int) bool {
			h := &x.firstHouse[i]
			if i == 0 && h.First != 0 || i > 0 && (x.firstHouse[i-1].Street >= h.Street || x.firstHouse[i-1].First >= h.First) {
				return false
			}
			return uint64(h.Street) < uint64(x.streets()) && uint64(h.First) < uint64(len(x.houses))
		}},
		{"translation", len(x.translations), func(i int) bool {
			t := &x.translations[i]
			return uint64(t.Document) < uint64(len(x.documents)) && x.goodText(t.Text) && int(t.Language) < len(Languages()) &&
				(i == 0 || compareTranslations(x.translations[i-1], *t) < 0)
		}},
		{"spelling", len(x.spellings), func(i int) bool {
			s := &x.spellings[i]
			return int(s.Street) >= x.features && uint64(s.Street) < uint64(len(x.documents)) && (i == 0 || compareSpellings(x.spellings[i-1], *s) < 0)
		}},
		{"opening hours", len(x.hours), func(i int) bool {
			h := &x.hours[i]
			return uint64(h.Document) < uint64(x.features) && x.goodText(h.Text) && (i == 0 || x.hours[i-1].Document < h.Document)
		}},
		{"sample", len(x.samples), func(i int) bool {
			s := &x.samples[i]
			return onGlobe(s.Lng, s.Lat) && int(s.Street) >= x.features && uint64(s.Street) < uint64(len(x.documents))
		}},
		{"entry of the tree", len(x.tree), func(i int) bool { return int(x.tree[i]) < x.features+len(x.houses)+len(x.samples) }},
	} {
		for i := range array.size {
			if !array.good(i) {
				return fmt.Errorf("%w: %s %d", ErrBadSections, array.name, i)
			}
		}
	}
	if len(x.streetExtents) != x.streets() || len(x.firstHouse) == 0 && len(x.houses) > 0 {
		return fmt.Errorf("%w: streets and houses do not fit together", ErrBadSections)
	}
	return x.checkWords()
}

// goodStarts reports whether starts are count ascending offsets followed by end.
func goodStarts(starts []uint32, count, end int) bool {
	return len(starts) == count+1 && starts[0] == 0 && uint64(starts[count]) == uint64(end) && slices.IsSorted(starts)
}

func onGlobe(lng, lat int32) bool {
	return lat >= -900_000_000 && lat <= 900_000_000 && lng >= -1_800_000_000 && lng <= 1_800_000_000
}

func (e *extent) good() bool {
	return onGlobe(e.West, e.South) && e.North >= e.South && e.North <= 900_000_000 && e.East >= e.West
}

func (x *Index) goodDocument(i int) bool {
	d := &x.documents[i]
	start, texts := uint64(d.Name), uint64(len(x.graph.Texts))
	if d.Name&ownText != 0 {
		start, texts = start&^ownText, uint64(len(x.texts))
	}
	return onGlobe(d.Lng, d.Lat) && start+uint64(d.NameLength) <= texts && int(d.Kind) < len(x.kindList) &&
		uint64(d.Place) < uint64(len(x.places)) && d.layer() < layers && d.osm()&3 != osmNone
}

func (x *Index) goodPlace(i int) bool {
	p := &x.places[i]
	for _, id := range [...]uint32{p.City, p.District, p.County, p.State, p.Country} {
		if id != none && uint64(id) >= uint64(len(x.documents)) {
			return false
		}
	}
	return x.goodText(p.Postcode)
}

func (x *Index) goodText(at uint32) bool {
	if at == 0 {
		return true
	}
	if uint64(at) >= uint64(len(x.texts)) {
		return false
	}
	length, n := binary.Uvarint(x.texts[at:])
	return n > 0 && length <= uint64(len(x.texts)-int(at)-n)
}

func (x *Index) checkWords() error {
	words := len(x.wordStarts) - 1
	if words < 0 || !goodStarts(x.wordStarts, words, len(x.words)) || !goodStarts(x.listStarts, words, len(x.lists)) {
		return fmt.Errorf("%w: words and their lists do not fit together", ErrBadSections)
	}
	list := wordList{&x.arrays}
	for i := range words {
		if len(list.word(i)) == 0 || i > 0 && bytes.Compare(list.word(i-1), list.word(i)) >= 0 {
			return fmt.Errorf("%w: word %d", ErrBadSections, i)
		}
		id, first := uint64(0), true
		for rest := x.lists[x.listStarts[i]:x.listStarts[i+1]]; len(rest) > 0; first = false {
			difference, n := binary.Uvarint(rest)
			if n <= 0 || difference == 0 && !first || difference >= uint64(len(x.documents)) || id+difference >= uint64(len(x.documents)) {
				return fmt.Errorf("%w: the documents of word %d", ErrBadSections, i)
			}
			id, rest = id+difference, rest[n:]
		}
	}
	return nil
}
