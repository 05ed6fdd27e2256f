package geocode_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/geocode"
	"wayside/internal/roads/roadtest"
)

// town returns a town with two main streets, a suburb, house numbers, shops and names of many kinds.
func town(t testing.TB) *roadtest.Network {
	return roadtest.Map(t, 100, `
		a--b--c--d--e        s
		|     |     |
		f     g     h   o
		|     |     |
		i--j--k--l--m--------n     p--q

		  u   v  w  x
	`,
		roadtest.Way("abcde", "highway=primary, name=Hauptstraße, name:en=Main Street, ref=B 12, postal_code=10115"),
		roadtest.Way("ijklm", "highway=residential, name=Triq il-Kbira"),
		roadtest.Way("mn", "highway=residential, name=Triq il-Kbira"),
		roadtest.Ways("afi", "highway=residential, name=Rue de l'Église"),
		roadtest.Ways("cgk", "highway=residential, name=St. Julian's Road"),
		roadtest.Ways("ehm", "highway=footway, name=Møllegade"),
		roadtest.Way("pq", "highway=motorway, ref=A 7"),
		roadtest.Node("s", "place=village, name=Birkirkara, name:ar=بيركيركارا"),
		roadtest.Node("g", "place=town, name=Valletta, population=5700"),
		roadtest.Node("o", "amenity=cafe, name=Café Zoë, addr:street=Hauptstraße, addr:housenumber=7, addr:postcode=10117"),
		roadtest.Node("u", "amenity=fuel, brand=Shell"),
		roadtest.Node("v", "shop=bakery, name=Panificio Rossi"),
		roadtest.Node("w", "amenity=bank, name=Rossi"),
		roadtest.Node("b", "addr:housenumber=2, addr:street=Hauptstraße, addr:postcode=10115, addr:country=DE"),
		roadtest.Node("d", "addr:housenumber=12, addr:street=Hauptstrasse, addr:postcode=10115"),
		roadtest.Node("x", "addr:housenumber=12 A, addr:street=hauptstraße, addr:city=Elsewhere"),
		roadtest.Node("l", "addr:housenumber=3;5, addr:street=No Such Lane"),
		roadtest.Node("j", "addr:housenumber=8;8 B;10;10c;14;14/3;16bis, addr:street=Triq il-Kbira"),
		roadtest.Node("p", "shop=books, name=Libro, addr:housenumber=20/B, addr:street=Triq il-Kbira"),
	)
}

// label returns a result's name or address in one line.
func label(r geocode.Result) string {
	text := string(r.Name)
	if len(r.Other) > 0 {
		text += " & " + string(r.Other)
	}
	if len(r.Name) == 0 {
		text = string(r.Street) + " " + string(r.Number)
	}
	return text
}

func labels(results []geocode.Result) string {
	var texts []string
	for _, r := range results {
		texts = append(texts, label(r))
	}
	return strings.Join(texts, "; ")
}

// TestSearch checks the first result of searches in a drawn town.
func TestSearch(t *testing.T) {
	x := drawn(t, town(t))
	for _, tt := range []struct{ name, query, want string }{
		{"as written", "Hauptstraße", "Hauptstraße"},
		{"twelve words count", strings.Repeat("Hauptstraße ", 12) + "quaxad quaxag quaxak quaxed quaxeg quaxek quaxid quaxig quaxik quaxod quaxog quaxok quaxud quaxug quaxuk ", "Hauptstraße"},
		{"in plain letters", "hauptstrasse", "Hauptstraße"},
		{"while typing", "haup", "Hauptstraße"},
		{"while typing with a typo", "huapts", "Hauptstraße"},
		{"unfinished, and something behind it", "haup ", ""},
		{"one word that is not there", "tri kbira ", "Triq il-Kbira"},
		{"in another order", "kbira triq", "Triq il-Kbira"},
		{"a letter is missing", "hauptstrase", "Hauptstraße"},
		{"a letter too many", "hauuptstrasse", "Hauptstraße"},
		{"another letter", "haoptstrasse", "Hauptstraße"},
		{"two letters swapped", "huaptstrasse", "Hauptstraße"},
		{"the first letter is wrong", "xauptstrasse", "Hauptstraße"},
		{"the last letter is missing, and it is finished", "hauptstrass ", "Hauptstraße"},
		{"two typos in a word", "huaptstrsase ", ""},
		{"a typo in each word", "trqi kibra", "Triq il-Kbira"},
		{"accents", "EGLISE", "Rue de l'Église"},
		{"apostrophe left out", "julians", "St. Julian's Road"},
		{"apostrophe", "julian’s", "St. Julian's Road"},
		{"another language", "main street", "Hauptstraße"},
		{"letters of the north", "mollegade", "Møllegade"},
		{"right to left", "بيركيركارا", "Birkirkara"},
		{"number of a road", "b 12", "Hauptstraße"},
		{"a motorway by its number", "A7", ""},
		{"a motorway by its number, divided", "a 7", "A 7"},
		{"postcode", "10117", "10117"},
		{"no typo in digits", "10118", ""},
		{"house number", "Hauptstraße 12", "Hauptstraße 12"},
		{"house number in front", "2 hauptstrasse", "Hauptstraße 2"},
		{"abbreviated", "hauptstr. 12a", "Hauptstraße 12 A"},
		{"house number with a letter, finished", "hauptstrasse 12a", "Hauptstraße 12 A"},
		{"interpolated", "hauptstrasse 6", "Hauptstraße 6"},
		{"beyond the last", "hauptstrasse 99", "Hauptstraße"},
		{"of a list", "no such lane 5", "No Such Lane 5"},
		{"a street that only addresses know, without a number", "no such lane", ""},
		{"house number with a staircase", "no such lane 5/1", "No Such Lane 5"},
		{"house number with a letter behind a space", "Hauptstraße 12 a", "Hauptstraße 12 A"},
		{"house number with a capital letter behind a space", "12 A hauptstrasse", "Hauptstraße 12 A"},
		{"house number with a letter in the town", "hauptstrasse 12 a, valletta", "Hauptstraße 12 A"},
		{"house number with a letter that the street lacks", "hauptstrasse 2 c", "Hauptstraße 2"},
		{"house number written with a space", "triq kbira 8b", "Triq il-Kbira 8 B"},
		{"house number written with a space, so asked", "Triq il-Kbira 8 b", "Triq il-Kbira 8 B"},
		{"house number written as one word", "triq kbira 10 C ", "Triq il-Kbira 10c"},
		{"house number with another letter", "triq kbira 10 d", "Triq il-Kbira 10"},
		{"house number with a number behind it", "triq kbira 14/3", "Triq il-Kbira 14/3"},
		{"house number with a number behind it, divided otherwise", "triq kbira 14 3", "Triq il-Kbira 14/3"},
		{"house number with a word behind it", "triq kbira 16 bis", "Triq il-Kbira 16bis"},
		{"shop with its number", "libro triq kbira 20/B", "Libro"},
		{"shop with its number in one word", "libro kbira 20b", "Libro"},
		{"shop with its number in two words", "20 b triq kbira libro", "Libro"},
		{"a letter that no house number is in front of", "triq kbira b", "Triq il-Kbira"},
		{"an ordinal is no house number", "hauptstrasse 2nd ", "Hauptstraße"},
		{"in the town", "triq il kbira valletta", "Triq il-Kbira"},
		{"in the postcode", "hauptstrasse 10115", "Hauptstraße"},
		{"by brand", "shell", "Shell"},
		{"shop by one word of its name", "panificio", "Panificio Rossi"},
		{"the whole name before a part of one", "rossi", "Rossi"},
		{"shop with its street", "zoe hauptstrasse", "Café Zoë"},
		{"one word more than there is", "panificio rossi xyzzy", "Panificio Rossi"},
		{"crossing", "hauptstrasse & st julians road", "Hauptstraße & St. Julian's Road"},
		{"crossing in words", "St Julian's Road and Hauptstraße", "St. Julian's Road & Hauptstraße"},
		{"crossing in German, while typing", "kbira und julians", "Triq il-Kbira & St. Julian's Road"},
		{"crossing in French", "rue de l'eglise et hauptstrasse", "Rue de l'Église & Hauptstraße"},
		{"crossing with a slash and a typo", "triq kbira/rue eglsie", "Triq il-Kbira & Rue de l'Église"},
		{"streets that do not meet", "rue de l'eglise & st julians road", ""},
		{"an emoji", "🚗", ""},
		{"a regular expression", "(haupt.*)+$", "Hauptstraße"},
		{"nothing that is there", "zzzzzz", ""},
	} {
		got := ""
		results := x.ask(tt.query)
		if len(results) > 0 {
			got = label(results[0])
		}
		if got != tt.want {
			t.Errorf("%s: %q found %q (%s) instead of %q", tt.name, tt.query, got, labels(results), tt.want)
		}
	}
}

// TestPlacesComeBeforeStops checks that a search from near the stops of a town finds the town first, although it has
// another name in the language of the country, or an article.
func TestPlacesComeBeforeStops(t *testing.T) {
	for _, place := range []string{"place=village, name=Belt, name:en=Msida", "place=locality, name=L-Imsida", "place=town, name=MSIDA"} {
		n := roadtest.Map(t, 400, "a--b--c---------------------d",
			roadtest.Way("abcd", "highway=residential, name=Triq il-Belt"),
			roadtest.Node("a", "highway=bus_stop, name=Msida"), roadtest.Node("b", "public_transport=stop_position, name=Msida"), roadtest.Node("c", "amenity=cafe, name=Msida"),
			roadtest.Node("d", place))
		x := drawn(t, n)
		for _, query := range []string{"msida", "msid"} {
			results := search(x, &geocode.Query{Text: query, Limit: 5, Language: 0, Near: n.Place(t, "a"), Biased: true})
			first := slices.IndexFunc(results, func(r geocode.Result) bool { return r.Key == "place" })
			stop := slices.IndexFunc(results, func(r geocode.Result) bool { return r.Value == "bus_stop" || r.Value == "stop_position" })
			if first < 0 || stop < first {
				t.Errorf("%q with %s finds %s: the stops come first", query, place, labels(results))
			}
		}
	}
}

// TestPlacesComeBeforeStreets checks that a search for a town finds it before streets named after it, with and without
// its article, but not before a street that is too far away to be named after it.
func TestPlacesComeBeforeStreets(t *testing.T) {
	for _, tt := range []struct {
		place, street, query string
		metres               float64 // width of a column
		first                string
	}{
		{"place=suburb, name=Mdina", "Mdina", "mdina", 400, "place"},
		{"place=town, name=L-Imdina", "Mdina", "mdina", 400, "place"},
		{"place=village, name=Mdina", "L-Imdina", "l-imdina", 400, "street"}, // the village lacks this name
		{"place=village, name=Mdina, name:it=L-Imdina", "L-Imdina", "l-imdina", 400, "place"},
		{"place=village, name=Broadway", "Broadway", "broadway", 4000, "street"},
	} {
		n := roadtest.Map(t, tt.metres, "a--b--c---------------------d",
			roadtest.Way("abc", "highway=primary, name="+tt.street), roadtest.Way("cd", "highway=residential, name=Other Street"), roadtest.Node("d", tt.place))
		x := drawn(t, n)
		results := search(x, &geocode.Query{Text: tt.query, Limit: 5, Language: -1, Near: n.Place(t, "a"), Biased: true})
		first := ""
		if len(results) > 0 {
			if first = results[0].Key; results[0].Layer == geocode.LayerStreet {
				first = "street"
			}
		}
		if first != tt.first {
			t.Errorf("%q beside %s of %s finds %s", tt.query, tt.street, tt.place, labels(results))
		}
	}
}

// TestWhatResultsSay checks places, addresses and languages of results.
func TestWhatResultsSay(t *testing.T) {
	n := town(t)
	x := drawn(t, n)
	first := func(text string) geocode.Result {
		t.Helper()
		results := x.ask(text)
		if len(results) == 0 {
			t.Fatalf("%q found nothing", text)
		}
		return results[0]
	}
	say := func(r geocode.Result) string {
		return fmt.Sprintf("%s%d %s=%s %s|%s %s|%s %s|%s", r.OSMType, r.OSMID, r.Key, r.Value, r.Layer, r.Street, r.Number, r.Postcode, r.City, r.Code)
	}
	for query, want := range map[string]string{
		"hauptstraße":     "W1001 highway=primary street| |10115 Valletta|DE",
		"hauptstraße 2":   "N98 place=house house|Hauptstraße 2|10115 Valletta|DE",
		"hauptstraße 6":   "W1001 place=house house|Hauptstraße 6|10115 Valletta|DE",
		"hauptstraße 12a": "N120 place=house house|Hauptstraße 12 A|10115 Elsewhere|DE",
		"cafe zoe":        "N111 amenity=cafe other|Hauptstraße 7|10117 Birkirkara|DE",
		"birkirkara":      "N115 place=village city| | |DE",
		"kbira & julians": "N107 junction=yes other| | Valletta|DE",
	} {
		if got := say(first(query)); got != want {
			t.Errorf("%q is %q instead of %q", query, got, want)
		}
	}
	if found := labels(x.ask("panificio rossi")); found != "Panificio Rossi" {
		t.Errorf("where all words are somewhere, results that lack one are shown too: %s", found)
	}
	two, twelve, six := n.Place(t, "b"), n.Place(t, "d"), first("hauptstraße 6").At.Point()
	if want := two.Lng + 0.4*(twelve.Lng-two.Lng); six.Lng < want-1e-6 || six.Lng > want+1e-6 {
		t.Errorf("number 6 of 2 and 12 is at %v", six)
	}
	if r := first("hauptstraße"); !r.HasExtent || geo.Distance(geo.Point{Lat: float64(r.Extent.North) / 1e7, Lng: float64(r.Extent.East) / 1e7}, n.Place(t, "e")) > 3 {
		t.Errorf("the extent is %+v", r.Extent)
	}
	for language, want := range map[int]string{-1: "Hauptstraße", 0: "Main Street", 1: "Hauptstraße"} {
		results := search(x, &geocode.Query{Text: "hauptstr", Limit: 1, Language: language})
		if len(results) != 1 || string(results[0].Name) != want {
			t.Errorf("in language %d: %s", language, labels(results))
		}
	}
}

// TestNamesOfWaysAreMerged checks that ways with names in different languages become one street.
func TestNamesOfWaysAreMerged(t *testing.T) {
	x := drawn(t, roadtest.Map(t, 100, "a-b-c-d",
		roadtest.Way("ab", "highway=primary, name=Ponte, name:it=Ponte Lungo, alt_name=Pons"),
		roadtest.Way("bc", "highway=primary, name=Ponte, name:en=Bridge, name:ar=جسر"),
		roadtest.Way("cd", "highway=primary, name=Ponte, name:fr=Pont, alt_name=Pons;Pontus")))
	for _, query := range []string{"ponte", "bridge", "pont", "ponte lungo", "pontus", "جسر"} {
		if results := x.ask(query); labels(results) != "Ponte" {
			t.Errorf("%q found %s", query, labels(results))
		}
	}
	for language, want := range []string{"Bridge", "Ponte", "Pont", "Ponte", "Ponte", "Ponte Lungo", "جسر"} {
		if got := labels(search(x, &geocode.Query{Text: "ponte", Limit: 5, Language: language})); got != want {
			t.Errorf("in %s it is %q instead of %q", geocode.Languages()[language], got, want)
		}
	}
}

// TestSearchesAtTheSameTime checks searches from more goroutines than there are scratches.
func TestSearchesAtTheSameTime(t *testing.T) {
	n := town(t)
	x := drawn(t, n)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 20 {
				if got := labels(x.ask("hauptstraße 2")); got != "Hauptstraße 2" {
					t.Errorf("found %s", got)
				}
				if got := labels(x.ask("kbira & julians")); !strings.HasPrefix(got, "Triq il-Kbira & ") {
					t.Errorf("found %s", got)
				}
				reverse(x, &geocode.Near{At: n.Place(t, "g"), Radius: 1000, Limit: 5, Language: 1})
			}
		})
	}
	all.Wait()
}

// TestFilters checks results under filters.
func TestFilters(t *testing.T) {
	n := town(t)
	x := drawn(t, n)
	tags := func(texts ...string) (f geocode.Filter) {
		for _, text := range texts {
			one, ok := geocode.ParseTagFilter(text)
			if !ok {
				t.Fatalf("%q is no filter", text)
			}
			f.Tags = append(f.Tags, one)
		}
		return f
	}
	east := geo.Box{West: n.Place(t, "v").Lng + 1e-4, South: -1, East: 1, North: 1}
	for name, tt := range map[string]struct {
		query geocode.Query
		want  string
	}{
		"a key":                   {geocode.Query{Text: "rossi", Filter: tags("shop")}, "Panificio Rossi"},
		"a key and value":         {geocode.Query{Text: "rossi", Filter: tags("amenity:bank")}, "Rossi"},
		"a value":                 {geocode.Query{Text: "rossi", Filter: tags(":bakery")}, "Panificio Rossi"},
		"not a key":               {geocode.Query{Text: "rossi", Filter: tags("!shop")}, "Rossi"},
		"not a value":             {geocode.Query{Text: "rossi", Filter: tags(":!bank")}, "Panificio Rossi"},
		"not a key and value":     {geocode.Query{Text: "rossi", Filter: tags("!amenity:bank")}, "Panificio Rossi"},
		"a key with other values": {geocode.Query{Text: "rossi", Filter: tags("amenity:!bank")}, ""},
		"one of two":              {geocode.Query{Text: "rossi", Filter: tags("shop", "amenity")}, "Rossi; Panificio Rossi"},
		"a layer":                 {geocode.Query{Text: "hauptstraße 2", Filter: geocode.Filter{Layers: 1 << geocode.LayerHouse}}, "Hauptstraße 2"},
		"streets and no houses":   {geocode.Query{Text: "hauptstraße 2", Filter: geocode.Filter{Layers: 1 << geocode.LayerStreet}}, ""},
		"cities":                  {geocode.Query{Text: "b", Filter: geocode.Filter{Layers: 1 << geocode.LayerCity}}, "Birkirkara"},
		"a box":                   {geocode.Query{Text: "rossi", Within: &east}, "Rossi"},
		"a limit":                 {geocode.Query{Text: "rossi", Limit: 1}, "Rossi"},
		"near first":              {geocode.Query{Text: "rossi", Biased: true, Near: n.Place(t, "v")}, "Rossi; Panificio Rossi"},
		"crossings in the box":    {geocode.Query{Text: "kbira & julians", Within: &east}, "Triq il-Kbira"},
	} {
		q := tt.query
		q.Language = -1
		if q.Limit == 0 {
			q.Limit = 10
		}
		if got := labels(search(x, &q)); got != tt.want {
			t.Errorf("%s: %q instead of %q", name, got, tt.want)
		}
	}
	for _, text := range []string{"", "!", ":", "!:", "key:!", "!key:!value"} {
		if _, ok := geocode.ParseTagFilter(text); ok {
			t.Errorf("%q is taken for a filter", text)
		}
	}
}

// TestReverse checks reverse searches in a drawn town.
func TestReverse(t *testing.T) {
	n := town(t)
	x := drawn(t, n)
	near := func(at geo.Point, radius float64, limit int, layers uint16) string {
		return labels(reverse(x, &geocode.Near{At: at, Radius: radius, Limit: limit, Language: -1, Filter: geocode.Filter{Layers: layers}}))
	}
	between := func(a, b string, share float64) geo.Point { return geo.Between(n.Place(t, a), n.Place(t, b), share) }
	for name, tt := range map[string]struct{ got, want string }{
		"a street":                         {near(between("j", "k", 0.5), 1000, 1, 0), "Triq il-Kbira"},
		"a house":                          {near(n.Place(t, "b"), 1000, 1, 1<<geocode.LayerHouse), "Hauptstraße 2"},
		"a street that is no road":         {near(between("e", "h", 0.5), 1000, 1, 0), "Møllegade"},
		"a shop":                           {near(n.Place(t, "v"), 50, 3, 0), "Panificio Rossi"},
		"nothing within the radius":        {near(geo.Point{Lat: 1, Lng: 1}, 1000, 5, 0), ""},
		"the nearest town":                 {near(n.Place(t, "j"), 5000, 1, 1<<geocode.LayerCity), "Valletta"},
		"a motorway that has no name":      {near(between("p", "q", 0.5), 100, 1, 0), ""},
		"streets from the other end of it": {near(n.Place(t, "n"), 100, 1, 0), "Triq il-Kbira"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q instead of %q", name, tt.got, tt.want)
		}
	}
	for tag, want := range map[string]string{"amenity:bank": "Rossi", "amenity:pub": "", "place:house": "Hauptstraße 2", "!place:house": "Hauptstraße"} {
		filter, _ := geocode.ParseTagFilter(tag)
		found := reverse(x, &geocode.Near{At: n.Place(t, "b"), Radius: 50_000, Limit: 1, Language: -1, Filter: geocode.Filter{Tags: []geocode.TagFilter{filter}}})
		if got := labels(found); got != want {
			t.Errorf("near, with the tag %s, is %q instead of %q", tag, got, want)
		}
	}
	all := reverse(x, &geocode.Near{At: n.Place(t, "k"), Radius: 50_000, Limit: geocode.MaxLimit, Language: -1})
	seen := map[string]bool{}
	for i, r := range all {
		if i > 0 && r.Distance+350 < all[i-1].Distance {
			t.Errorf("%s at %g m comes after one at %g m", label(r), r.Distance, all[i-1].Distance)
		}
		if key := fmt.Sprint(r.OSMType, r.OSMID, label(r)); seen[key] {
			t.Errorf("%s is there twice", key)
		} else {
			seen[key] = true
		}
	}
	if len(all) < 14 {
		t.Errorf("everything is %s", labels(all))
	}
}
