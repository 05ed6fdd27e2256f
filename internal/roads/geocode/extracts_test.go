package geocode_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/geocode"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// thing is an object with a name, and its line or place.
type thing struct {
	name   string
	street bool
	line   []geo.Point
}

// things reads the named objects of an extract, without using the code under test.
func things(t testing.TB, content []byte) (all []thing) {
	t.Helper()
	f := roadtest.Open(t, content)
	at := map[int64]geo.Point{}
	kinds := func(tags osmpbf.Tags) (name string, street, ok bool) {
		name, _ = tags.Get("name")
		highway, isStreet := tags.Get("highway")
		if isStreet && highway != "construction" && highway != "proposed" && highway != "platform" && highway != "corridor" && highway != "elevator" {
			return name, true, name != ""
		}
		for _, key := range []string{"amenity", "shop", "tourism", "place"} {
			if _, is := tags.Get(key); is {
				return name, false, name != ""
			}
		}
		return "", false, false
	}
	err := f.Scan(t.Context(), osmpbf.Options{Want: osmpbf.Nodes}, func(b *osmpbf.Block) error {
		for _, n := range b.Nodes {
			at[n.ID] = n.Point()
			if name, street, ok := kinds(n.Tags); ok && !street {
				all = append(all, thing{strings.Clone(name), false, []geo.Point{n.Point()}})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = f.Scan(t.Context(), osmpbf.Options{Want: osmpbf.Ways}, func(b *osmpbf.Block) error {
		for _, w := range b.Ways {
			name, street, ok := kinds(w.Tags)
			if !ok || !street {
				continue
			}
			one := thing{name: strings.Clone(name), street: true}
			for _, ref := range w.Refs {
				if p, ok := at[ref]; ok {
					one.line = append(one.line, p)
				}
			}
			if len(one.line) > 1 {
				all = append(all, one)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// unaccented returns a name in lower case without accents, and without the stroke of the Maltese ħ, which Unicode does not
// take for an accent. Ways whose names differ only in these are one street.
func unaccented(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		if r = unicode.ToLower(r); r == 'ħ' {
			return 'h'
		}
		return r
	}, norm.NFKD.String(strings.TrimSpace(name)))
}

// misspell makes one typo in a word of at least five letters.
func misspell(random *rand.Rand, name string) string {
	runes := []rune(name)
	var words [][2]int
	for i := 0; i < len(runes); {
		j := i
		for j < len(runes) && unicode.IsLetter(runes[j]) {
			j++
		}
		if j-i >= 5 {
			words = append(words, [2]int{i, j})
		}
		i = j + 1
	}
	if len(words) == 0 {
		return name
	}
	word := words[random.IntN(len(words))]
	i, letter := word[0]+random.IntN(word[1]-word[0]-1), rune('a'+random.IntN(26))
	switch random.IntN(4) {
	case 0:
		return string(runes[:i]) + string(runes[i+1:])
	case 1:
		return string(runes[:i]) + string(letter) + string(runes[i:])
	case 2:
		runes[i] = letter
	case 3:
		runes[i], runes[i+1] = runes[i+1], runes[i]
	}
	return string(runes)
}

// TestRandomNamesAreFound checks the share of random names of real extracts, half of them with a typo, that are found
// from a place nearby.
func TestRandomNamesAreFound(t *testing.T) {
	const draws, goal = 1000, 0.95
	for _, name := range []string{"malta-gh.osm.pbf", "milan-otp.osm.pbf"} {
		content := roadtest.Extract(t, name)
		x, all := build(t, content), things(t, content)
		random := rand.New(rand.NewPCG(1, 2))
		found, shown := 0, 0
		var took time.Duration
		for i := range draws {
			one := all[random.IntN(len(all))]
			query := one.name
			if i%2 == 1 {
				query = misspell(random, query)
			}
			at := one.line[len(one.line)/2]
			began := time.Now()
			from := geo.Point{Lat: at.Lat + 0.01*(random.Float64()-0.5), Lng: at.Lng + 0.01*(random.Float64()-0.5)} // within some 700 m
			results := search(x, &geocode.Query{Text: query, Near: from, Biased: true, Limit: 5, Language: -1})
			took += time.Since(began)
			ok := false
			for _, r := range results {
				near := geo.Distance(at, r.At.Point()) < 1000
				if r.HasExtent {
					box := geo.Box{West: float64(r.Extent.West) / 1e7, South: float64(r.Extent.South) / 1e7, East: float64(r.Extent.East) / 1e7, North: float64(r.Extent.North) / 1e7}
					near = near || box.Grown(100).Contains(at)
				}
				ok = ok || near && unaccented(string(r.Name)) == unaccented(one.name)
			}
			if ok {
				found++
			} else if shown++; shown <= 12 {
				first := ""
				if len(results) > 0 {
					first = string(results[0].Name)
				}
				t.Logf("%s: %q, asked as %q near %v, found first %q of %d", name, one.name, query, at, first, len(results))
			}
		}
		t.Logf("%s: %.1f%% of %d names are found, in %s each; the index has %.1f%% of the extract", name, 100*float64(found)/draws, draws, took/draws, 100*float64(x.bytes)/float64(len(content)))
		if float64(found) < goal*draws {
			t.Errorf("%s: %d of %d names are found", name, found, draws)
		}
		if share := float64(x.bytes) / float64(len(content)); share > 0.25 {
			t.Errorf("%s: the index has %.1f%% of the extract's size", name, 100*share)
		}
	}
}

// TestReverseFindsTheStreet checks the share of random places on named streets of real extracts for which Reverse finds
// the street.
func TestReverseFindsTheStreet(t *testing.T) {
	const draws, goal = 2000, 0.98
	for _, name := range []string{"malta-gh.osm.pbf", "milan-otp.osm.pbf"} {
		content := roadtest.Extract(t, name)
		x, all := build(t, content), things(t, content)
		random := rand.New(rand.NewPCG(3, 4))
		found, asked, shown := 0, 0, 0
		for asked < draws {
			one := all[random.IntN(len(all))]
			if !one.street {
				continue
			}
			asked++
			k := random.IntN(len(one.line) - 1)
			at := geo.Between(one.line[k], one.line[k+1], random.Float64())
			results := reverse(x, &geocode.Near{At: at, Radius: 1000, Limit: 1, Language: -1})
			if len(results) > 0 && (unaccented(string(results[0].Name)) == unaccented(one.name) || unaccented(string(results[0].Street)) == unaccented(one.name)) {
				found++
			} else if shown++; shown <= 12 {
				t.Logf("%s: %q at %v: %+v", name, one.name, at, results)
			}
		}
		t.Logf("%s: %.1f%% of %d places on streets are found", name, 100*float64(found)/draws, draws)
		if float64(found) < goal*draws {
			t.Errorf("%s: the street of %d of %d places is found", name, found, draws)
		}
	}
}
