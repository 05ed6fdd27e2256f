package geocode_test

import (
	"testing"

	"wayside/internal/geo"
	"wayside/internal/geocode"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// boundary is a relation of lines, a boundary of a level.
func boundary(n *roadtest.Network, level, name string, more string, ways ...int64) {
	r := osmpbf.Relation{ID: int64(9000 + len(n.Relations)), Tags: roadtest.Tags("type=boundary, boundary=administrative, admin_level=" + level + ", name=" + name + more)}
	for _, way := range ways {
		r.Members = append(r.Members, osmpbf.Member{Ref: way, Type: osmpbf.Ways, Role: "outer"})
	}
	n.Relations = append(n.Relations, r)
}

// twoTowns are two towns side by side whose centres would mislead: a street in the west lies nearer to the centre of the east.
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

// TestBoundariesDecide puts things into the boundary that holds them, and if it has a gap, into the place that is nearest.
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
		near := x.Reverse(nil, &geocode.Near{At: n.Place(t, "x"), Radius: 100, Limit: 1, Language: -1})
		if len(near) != 1 || string(near[0].City) != tt.want || string(near[0].Country) != "Testland" || string(near[0].Code) != "TL" {
			t.Errorf("%s: the western end is %s in %s, %s %s", name, labels(near), near[0].City, near[0].Country, near[0].Code)
		}
		if near = x.Reverse(nil, &geocode.Near{At: n.Place(t, "z"), Radius: 100, Limit: 1, Language: -1}); string(near[0].City) != "Eastham" {
			t.Errorf("%s: the eastern end is in %s", name, near[0].City)
		}
		if x.LeftOut["boundaries_with_gaps"] != tt.leftOut {
			t.Errorf("%s: left out are %v", name, x.LeftOut)
		}
		// The boundary and the place of its name are one, with the extent of the boundary.
		if towns := x.ask("westham"); len(towns) != 1 || towns[0].OSMType != "N" || !towns[0].HasExtent {
			t.Errorf("%s: %s", name, labels(towns))
		}
	}
}

// TestInterpolationFollowsItsLine asks for numbers along a line with a corner.
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

// TestOverlappingExtracts builds of two extracts that share objects: each is found once.
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

// TestAllExtractsOpen builds and opens every real extract.
func TestAllExtractsOpen(t *testing.T) {
	for _, name := range []string{"monaco-planetiler.osm.pbf", "columbus-otp-nondense.osm.pbf", "malta-gh.osm.pbf", "milan-otp.osm.pbf"} {
		content := roadtest.Extract(t, name)
		x := build(t, content)
		if share := float64(x.bytes) / float64(len(content)); x.Places == 0 || share > 0.25 && name != "monaco-planetiler.osm.pbf" {
			t.Errorf("%s: %d places, %.1f%% of the extract", name, x.Places, 100*share)
		}
	}
}
