package geocode_test

import (
	"strings"
	"testing"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/geocode"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// boundary adds a boundary of an admin_level, made of ways.
func boundary(n *roadtest.Network, level, name string, more string, ways ...int64) {
	r := osmpbf.Relation{ID: int64(9000 + len(n.Relations)), Tags: roadtest.Tags("type=boundary, boundary=administrative, admin_level=" + level + ", name=" + name + more)}
	for _, way := range ways {
		r.Members = append(r.Members, osmpbf.Member{Ref: way, Type: osmpbf.Ways, Role: "outer"})
	}
	n.Relations = append(n.Relations, r)
}

// twoTowns returns two adjacent towns whose centres would mislead: a street in the western town is nearer to the centre
// of the eastern one.
func twoTowns(t testing.TB) *roadtest.Network {
	return roadtest.Map(t, 200, `
		a--------b------------c
		|        |            |
		|  w   1 |e           |
		|     x--y--z         |
		|        |            |
		d--------f------------g
	`,
		roadtest.Way("badf", "note=west"), roadtest.Way("bcgf", "note=east"), roadtest.Way("bf", "note=between"),
		roadtest.Way("xy", "highway=residential, name=Border Street"), roadtest.Way("yz", "highway=residential, name=Border Street"),
		roadtest.Node("w", "place=town, name=Westham"), roadtest.Node("e", "place=town, name=Eastham"))
}

// TestBoundariesDecide checks that things belong to the boundary that contains them and, if that has a gap, to the
// nearest place.
func TestBoundariesDecide(t *testing.T) {
	for name, tt := range map[string]struct {
		west     []string
		want     string // city of the western piece
		leftOut  int
		withArea bool
	}{
		"closed":         {[]string{"badf", "bf"}, "Westham", 0, true},
		"with a gap":     {[]string{"badf"}, "Eastham", 1, false},
		"lacking a line": {[]string{"badf", "bf", "??"}, "Eastham", 1, false},
	} {
		n := twoTowns(t)
		var ways []int64
		for _, line := range tt.west {
			if line == "??" {
				ways = append(ways, 777_777)
			} else {
				ways = append(ways, n.WayID(t, line))
			}
		}
		boundary(n, "8", "Westham", "", ways...)
		boundary(n, "2", "Testland", ", ISO3166-1=TL", n.WayID(t, "badf"), n.WayID(t, "bcgf"))
		x := drawn(t, n)
		near := reverse(x, &geocode.Near{At: n.Place(t, "x"), Radius: 100, Limit: 1, Language: -1})
		if len(near) != 1 || string(near[0].City) != tt.want || string(near[0].Country) != "Testland" || string(near[0].Code) != "TL" {
			t.Errorf("%s: the western end is %s in %s, %s %s", name, labels(near), near[0].City, near[0].Country, near[0].Code)
		}
		if near = reverse(x, &geocode.Near{At: n.Place(t, "z"), Radius: 100, Limit: 1, Language: -1}); string(near[0].City) != "Eastham" {
			t.Errorf("%s: the eastern end is in %s", name, near[0].City)
		}
		if x.LeftOut["boundaries_with_gaps"] != tt.leftOut {
			t.Errorf("%s: left out are %v", name, x.LeftOut)
		}
		// The boundary and the place with its name are one result, with the extent of the boundary.
		if towns := x.ask("westham"); len(towns) != 1 || towns[0].OSMType != "N" || !towns[0].HasExtent {
			t.Errorf("%s: %s", name, labels(towns))
		}
	}
}

// TestInterpolationFollowsItsLine checks numbers along a line with a corner.
func TestInterpolationFollowsItsLine(t *testing.T) {
	n := roadtest.Map(t, 20, `
		a------b
		       |
		       |
		       c

		k-----------------------l
	`,
		roadtest.Way("kl", "highway=residential, name=Long Lane"),
		roadtest.Node("a", "addr:housenumber=1"), roadtest.Node("c", "addr:housenumber=21"),
		roadtest.Way("abc", "addr:interpolation=odd, addr:street=Long Lane"))
	x := drawn(t, n)
	at := func(number string) geo.Point {
		t.Helper()
		results := x.ask("long lane " + number)
		if len(results) == 0 || label(results[0]) != "Long Lane "+number {
			t.Fatalf("number %s is %s", number, labels(results))
		}
		return results[0].At.Point()
	}
	for number, want := range map[string]geo.Point{
		"1": n.Place(t, "a"), "21": n.Place(t, "c"), "15": n.Place(t, "b"),
		"7": geo.Between(n.Place(t, "a"), n.Place(t, "b"), 6.0/14), "19": geo.Between(n.Place(t, "b"), n.Place(t, "c"), 4.0/6),
	} {
		if away := geo.Distance(at(number), want); away > 1 {
			t.Errorf("number %s is %.1f m from where it should be", number, away)
		}
	}
}

// TestOverlappingExtracts checks that objects in two extracts are found once.
func TestOverlappingExtracts(t *testing.T) {
	n := town(t)
	files := []*osmpbf.File{n.File(t), n.File(t)}
	g, _ := roadtest.Build(t, graph.BuildOptions{}, files...)
	roads := match.NewIndex(g)
	twice, err := geocode.Build(t.Context(), files, g, roads)
	if err != nil {
		t.Fatal(err)
	}
	if once := drawn(t, n); once.Places != twice.Places || once.Addresses != twice.Addresses {
		t.Errorf("%d places and %d addresses of one extract, %d and %d of it and its copy", once.Places, once.Addresses, twice.Places, twice.Addresses)
	}
	if _, err := open(twice.Sections, g); err != nil {
		t.Error(err)
	}
}

// TestAllExtractsOpen checks that an index of every real extract can be built and opened.
func TestAllExtractsOpen(t *testing.T) {
	for _, name := range []string{"monaco-planetiler.osm.pbf", "columbus-otp-nondense.osm.pbf", "malta-gh.osm.pbf", "milan-otp.osm.pbf"} {
		content := roadtest.Extract(t, name)
		x := build(t, content)
		if share := float64(x.bytes) / float64(len(content)); x.Places == 0 || share > 0.25 && name != "monaco-planetiler.osm.pbf" {
			t.Errorf("%s: %d places, %.1f%% of the extract", name, x.Places, 100*share)
		}
	}
}

// TestStreetsOfOtherSpellings checks that ways whose names differ only in case and accents are one street.
func TestStreetsOfOtherSpellings(t *testing.T) {
	n := roadtest.Map(t, 100, `
		a-b-c-d-e
		    |
		    f     g-h
	`,
		roadtest.Way("ab", "highway=residential, name=TRIQ IL-KBIRA"),
		roadtest.Way("bc", "highway=residential, name=Triq il-Kbira"),
		roadtest.Way("cd", "highway=residential, name=Triq il-Kbira, name:en=Great Street"),
		roadtest.Way("de", "highway=residential, name=Triq il-Kbìra, alt_name=Strada Reale"),
		roadtest.Way("cf", "highway=residential, name=Side Street"),
		roadtest.Way("gh", "highway=residential, name=Triq Il-kbira"),
		roadtest.Node("a", "addr:housenumber=1, addr:street=TRIQ IL-KBIRA"),
		roadtest.Node("d", "addr:housenumber=11, addr:street=triq il-kbira"))
	x := drawn(t, n)
	for query, want := range map[string]string{
		"triq il-kbira": "Triq il-Kbira", "TRIQ IL-KBIRA": "Triq il-Kbira", "great street": "Triq il-Kbira", "strada reale": "Triq il-Kbira",
		"kbira 1": "Triq il-Kbira 1", "kbira 11": "Triq il-Kbira 11", "kbira 7": "Triq il-Kbira 7",
		"kbira & side street": "Triq il-Kbira & Side Street",
	} {
		if got := labels(x.ask(query)); got != want {
			t.Errorf("%q found %q instead of %q", query, got, want)
		}
	}
	for _, node := range []string{"a", "c", "e", "h"} {
		near := reverse(x, &geocode.Near{At: n.Place(t, node), Radius: 40, Limit: 1, Language: -1, Filter: geocode.Filter{Layers: 1 << geocode.LayerStreet}})
		if !strings.EqualFold(labels(near), "Triq il-Kbira") && labels(near) != "Side Street" {
			t.Errorf("at %s is %q", node, labels(near))
		}
	}
	if r := x.ask("kbira"); len(r) != 1 || float64(r[0].Extent.West)/1e7 > n.Place(t, "a").Lng || float64(r[0].Extent.East)/1e7 < n.Place(t, "h").Lng {
		t.Errorf("the street does not reach from its first way: %+v", r)
	}
}

// TestAssociatedStreet checks that houses get the street of their relation.
func TestAssociatedStreet(t *testing.T) {
	n := roadtest.Map(t, 20, `
		a-----b

		h i j k l

		c-----d
	`,
		roadtest.Way("ab", "highway=residential, name=Near Street"),
		roadtest.Way("cd", "highway=residential, name=Other Street"),
		roadtest.Node("h", "addr:housenumber=1"),
		roadtest.Node("i", "addr:housenumber=3, addr:street=Near Street, addr:postcode=10115"),
		roadtest.Node("j", "addr:housenumber=5"),
		roadtest.Node("k", "addr:housenumber=7, amenity=cafe, name=Corner"),
		roadtest.Node("l", "addr:housenumber=9"))
	member := func(node, role string) osmpbf.Member {
		return osmpbf.Member{Ref: n.NodeID(t, node), Type: osmpbf.Nodes, Role: role}
	}
	n.Relations = append(n.Relations,
		osmpbf.Relation{ID: 9001, Tags: roadtest.Tags("type=associatedStreet, name=Other Street, addr:postcode=10999"), Members: []osmpbf.Member{
			member("h", "house"), member("i", "house"), {Ref: 424242, Type: osmpbf.Nodes, Role: "house"},
		}},
		osmpbf.Relation{ID: 9002, Tags: roadtest.Tags("type=street"), Members: []osmpbf.Member{
			{Ref: n.WayID(t, "cd"), Type: osmpbf.Ways, Role: "street"}, member("j", ""), member("k", "address"), member("h", "house"),
		}},
		osmpbf.Relation{ID: 9003, Tags: roadtest.Tags("type=associatedStreet"), Members: []osmpbf.Member{
			{Ref: 777, Type: osmpbf.Ways, Role: "street"}, member("l", "house"),
		}})
	x := drawn(t, n)
	for query, want := range map[string]string{
		"other street 1": "Other Street 1", "near street 3": "Near Street 3", "other street 5": "Other Street 5", "other street 7": "Other Street 7",
		"corner other street": "Corner",
		"near street 9":       "Near Street 9", // its relation has no name, so the nearest road counts
		"near street 1":       "Near Street",
	} {
		if got := labels(x.ask(query)); got != want {
			t.Errorf("%q found %q instead of %q", query, got, want)
		}
	}
	if r := x.ask("other street 1"); string(r[0].Postcode) != "10999" {
		t.Errorf("the postcode of the relation is not the house's: %s", r[0].Postcode)
	}
	if r := x.ask("near street 3"); string(r[0].Postcode) != "10115" {
		t.Errorf("the house's own postcode does not count: %s", r[0].Postcode)
	}
}
