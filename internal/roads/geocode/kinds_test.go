package geocode_test

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/geocode"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// kindQuestion is a line of testdata/kindquestions.tsv.
type kindQuestion struct {
	language, extract, text string
	key, value              string
	at                      geo.Point
}

func kindQuestions(t *testing.T) (all []kindQuestion) {
	t.Helper()
	f, err := os.Open("testdata/kindquestions.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 6 {
			t.Fatalf("a question has %d fields: %q", len(fields), lines.Text())
		}
		q := kindQuestion{language: fields[0], extract: fields[1], text: fields[4]}
		q.key, q.value, _ = strings.Cut(fields[5], "=")
		var errLat, errLng error
		q.at.Lat, errLat = strconv.ParseFloat(fields[2], 64)
		q.at.Lng, errLng = strconv.ParseFloat(fields[3], 64)
		if errLat != nil || errLng != nil {
			t.Fatalf("a question without a place: %q", lines.Text())
		}
		all = append(all, q)
	}
	return all
}

// tagged reads where an extract has nodes and ways of each tag that a question means, without using the code under test.
func tagged(t *testing.T, content []byte, wanted map[[2]string]bool) map[[2]string][]geo.Point {
	t.Helper()
	f, nodes, found := roadtest.Open(t, content), map[int64]geo.Point{}, map[[2]string][]geo.Point{}
	use := func(tags osmpbf.Tags, at geo.Point) {
		if access, _ := tags.Get("access"); access == "private" || access == "no" {
			return
		}
		for _, tag := range tags {
			if k := [2]string{tag.Key, tag.Value}; wanted[k] {
				found[[2]string{strings.Clone(tag.Key), strings.Clone(tag.Value)}] = append(found[k], at)
			}
		}
	}
	if err := f.Scan(t.Context(), osmpbf.Options{Want: osmpbf.Nodes}, func(b *osmpbf.Block) error {
		for _, n := range b.Nodes {
			nodes[n.ID] = n.Point()
			use(n.Tags, n.Point())
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := f.Scan(t.Context(), osmpbf.Options{Want: osmpbf.Ways}, func(b *osmpbf.Block) error {
		for _, w := range b.Ways {
			if len(w.Refs) > 0 {
				use(w.Tags, nodes[w.Refs[0]])
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestKindsAreFound checks how many questions for a kind of places, in seven languages, have a place of that kind among
// their first three results that is about as near as the nearest one of the extract.
func TestKindsAreFound(t *testing.T) {
	const goal, few = 0.97, 300
	byExtract := map[string][]kindQuestion{}
	languages := map[string]int{}
	for _, q := range kindQuestions(t) {
		byExtract[q.extract] = append(byExtract[q.extract], q)
		languages[q.language]++
	}
	asked, right := 0, 0
	for _, name := range []string{"monaco-planetiler", "columbus-otp-nondense", "malta-gh", "milan-otp"} {
		content := roadtest.Extract(t, name+".osm.pbf")
		x, wanted := build(t, content), map[[2]string]bool{}
		for _, q := range byExtract[name] {
			wanted[[2]string{q.key, q.value}] = true
		}
		of := tagged(t, content, wanted)
		for _, q := range byExtract[name] {
			nearest := math.Inf(1)
			for _, at := range of[[2]string{q.key, q.value}] {
				nearest = min(nearest, geo.Distance(q.at, at))
			}
			results := search(x, &geocode.Query{Text: q.text, Near: q.at, Biased: true, Limit: 8, Language: -1})
			ok := false
			for _, r := range results[:min(3, len(results))] {
				// Areas are measured from their middle, and here from their first node.
				ok = ok || r.Key == q.key && r.Value == q.value && geo.Distance(q.at, r.At.Point()) <= 1.3*nearest+300
			}
			if asked++; ok {
				right++
			} else {
				t.Logf("%s, %s: %q means %s=%s, the nearest in %.0f m, found %s", q.extract, q.language, q.text, q.key, q.value, nearest, kindsOf(results, q.at))
			}
		}
	}
	t.Logf("%.1f%% of %d questions in %d languages are right in the first three", 100*float64(right)/float64(asked), asked, len(languages))
	if asked < few || len(languages) != 7 || float64(right) < goal*float64(asked) {
		t.Errorf("%d of %d questions in %d languages are right", right, asked, len(languages))
	}
}

func kindsOf(results []geocode.Result, at geo.Point) string {
	var all []string
	for _, r := range results[:min(3, len(results))] {
		all = append(all, r.Key+"="+r.Value+" "+label(r)+" "+strconv.Itoa(int(geo.Distance(at, r.At.Point())))+" m")
	}
	return strings.Join(all, "; ")
}

// shops returns a town with things of several kinds, with and without names.
func shops(t testing.TB) *roadtest.Network {
	return roadtest.Map(t, 100, `
		a--------------------------b
		|  c  d     e     f   g    |
		h  i  j  k                 l
		|        m        n        |
		o--------------------------p     q
	`,
		roadtest.Way("ab", "highway=residential, name=Fuel Street"),
		roadtest.Ways("aho", "highway=residential, name=Long Lane"),
		roadtest.Way("op", "highway=residential, name=Market Street"),
		roadtest.Node("c", "amenity=fuel"),
		roadtest.Node("d", "amenity=fuel, brand=Shell, opening_hours=Mo-Fr 08:00-20:00"),
		roadtest.Node("e", "amenity=parking, access=private"),
		roadtest.Node("f", "amenity=parking"),
		roadtest.Node("g", "amenity=parking, name=Big Garage, access=private"),
		roadtest.Node("i", "amenity=pharmacy, name=Grima, opening_hours=Mo-Su 12:00+"),
		roadtest.Node("j", "amenity=restaurant, name=La Posta"),
		roadtest.Node("k", "amenity=post_office, name=Central Office"),
		roadtest.Node("m", "amenity=bench"),
		roadtest.Node("n", "place=village, name=Sliema"),
		roadtest.Node("q", "place=village, name=Fuel"))
}

// TestSearchByKind checks searches for kinds in a drawn town.
func TestSearchByKind(t *testing.T) {
	n := shops(t)
	x := drawn(t, n)
	for _, tt := range []struct{ from, query, want string }{
		{"a", "fuel", "amenity=fuel; amenity=fuel Shell"},
		{"d", "Tankstelle", "amenity=fuel Shell; amenity=fuel"},
		{"a", "benzinaio", "amenity=fuel; amenity=fuel Shell"},
		{"l", "parking", "amenity=parking"}, // neither of the private ones
		{"a", "big garage", "amenity=parking Big Garage"},
		{"a", "farmacia sliema", "amenity=pharmacy Grima"},
		{"a", "nearest pharmacy in Sliema", "amenity=pharmacy Grima"},
		{"a", "pharm", "amenity=pharmacy Grima"},
		{"a", "la posta", "amenity=restaurant La Posta; amenity=post_office Central Office"},
		{"a", "posta", "amenity=post_office Central Office; amenity=restaurant La Posta"},
		{"a", "bench", ""},
		{"a", "fuel street", "highway=residential Fuel Street"},
		{"q", "fuel street", "highway=residential Fuel Street"},
	} {
		results := search(x, &geocode.Query{Text: tt.query, Near: n.Place(t, tt.from), Biased: true, Limit: 15, Language: -1})
		var got []string
		for _, r := range results {
			if r.Key == "amenity" || r.Key == "highway" {
				got = append(got, strings.TrimSpace(r.Key+"="+r.Value+" "+string(r.Name)))
			}
		}
		if text := strings.Join(got, "; "); text != tt.want && (tt.want == "" || !strings.HasPrefix(text, tt.want)) {
			t.Errorf("%q at %s found %q instead of %q", tt.query, tt.from, text, tt.want)
		}
	}
	german := search(x, &geocode.Query{Text: "fuel", Near: n.Place(t, "d"), Biased: true, Limit: 2, Language: 1})
	if len(german) != 2 || german[0].Kind != "fuel" || german[0].KindName != "Tankstelle" || string(german[0].Hours) != "Mo-Fr 08:00-20:00" || len(german[1].Hours) > 0 {
		t.Errorf("the petrol stations in German are %+v", german)
	}
	if r := x.ask("grima"); len(r) != 1 || len(r[0].Hours) > 0 {
		t.Errorf("opening hours that are not understood are kept: %+v", r)
	}
}

// TestUnnamedInReverse checks that places without a name are near a position only for who asks for their tag.
func TestUnnamedInReverse(t *testing.T) {
	n := shops(t)
	x := drawn(t, n)
	for filter, want := range map[string]int{"": 0, "amenity:fuel": 1, "amenity": 1, "!amenity:parking": 0, ":fuel": 1} {
		q := geocode.Near{At: n.Place(t, "c"), Radius: 20, Limit: 5, Language: -1}
		if f, ok := geocode.ParseTagFilter(filter); ok {
			q.Filter.Tags = append(q.Filter.Tags, f)
		}
		if got := reverse(x, &q); len(got) != want {
			t.Errorf("with the filter %q there is %+v", filter, got)
		}
	}
}

// TestPartsOfAStreet checks that parts of a street in one city are one result, the nearest one, and that streets of one
// name in two cities, or far from each other, are several.
func TestPartsOfAStreet(t *testing.T) {
	n := roadtest.Map(t, 100, `
		a-b        c-d                                    e-f

		          v
	`,
		roadtest.Way("ab", "highway=residential, name=Mdina Road"),
		roadtest.Way("cd", "highway=residential, name=Mdina Road"),
		roadtest.Way("ef", "highway=residential, name=Mdina Road"),
		roadtest.Node("v", "place=city, name=Qormi"))
	x := drawn(t, n)
	results := search(x, &geocode.Query{Text: "mdina road", Near: n.Place(t, "d"), Biased: true, Limit: 15, Language: -1})
	if len(results) != 2 {
		t.Fatalf("found %s", labels(results))
	}
	first, west := results[0], n.Place(t, "a").Lng
	if away := geo.Distance(first.At.Point(), n.Place(t, "d")); away > 150 {
		t.Errorf("the first part lies %.0f m away", away)
	}
	if math.Abs(float64(first.Extent.West)/1e7-west) > 1e-5 {
		t.Errorf("the street reaches from %d instead of %f", first.Extent.West, west)
	}
}
