package geocode_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/geocode"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// hostile returns a town in which everything has a hostile name.
func hostile(t testing.TB) *roadtest.Network {
	n := roadtest.Map(t, 100, "a-b-c-d-e", roadtest.Way("abcde", "highway=primary, name=Good Street"))
	id := int64(1000)
	for _, name := range roadtest.HostileNames() {
		at := n.Nodes[int(id)%len(n.Nodes)]
		for _, tags := range []osmpbf.Tags{
			{{Key: "place", Value: "town"}, {Key: "name", Value: name}},
			{{Key: "amenity", Value: name}, {Key: "name", Value: "Shop"}, {Key: "brand", Value: name}, {Key: "name:ar", Value: name}, {Key: "alt_name", Value: name}},
			{{Key: "addr:housenumber", Value: name}, {Key: "addr:street", Value: "Good Street"}, {Key: "addr:city", Value: name}, {Key: "addr:postcode", Value: name}, {Key: "addr:country", Value: name}},
			{{Key: "addr:housenumber", Value: "1"}, {Key: "addr:street", Value: name}},
		} {
			n.Nodes = append(n.Nodes, osmpbf.Node{ID: id, Lat: at.Lat + id*100, Lng: at.Lng, Tags: tags})
			id++
		}
		n.Ways = append(n.Ways, osmpbf.Way{ID: id, Refs: []int64{'a', 'b'}, Tags: osmpbf.Tags{{Key: "highway", Value: "residential"}, {Key: "name", Value: name}, {Key: "ref", Value: name}}})
		n.Ways = append(n.Ways, osmpbf.Way{ID: id + 1, Refs: []int64{'a', 'b', 'c', 'a', 777}, Tags: osmpbf.Tags{{Key: "addr:interpolation", Value: name}}})
		n.Relations = append(n.Relations, osmpbf.Relation{ID: id, Members: []osmpbf.Member{{Ref: id, Type: osmpbf.Ways, Role: "outer"}, {Ref: id + 7, Type: osmpbf.Ways, Role: "outer"}}, Tags: osmpbf.Tags{
			{Key: "type", Value: "boundary"}, {Key: "boundary", Value: "administrative"}, {Key: "admin_level", Value: "8"}, {Key: "name", Value: name}, {Key: "ISO3166-1", Value: name},
		}})
		id += 10
	}
	return n
}

// TestHostileNames checks that building and searching a town of hostile names does not crash, is fast, and returns
// nothing that could act on a page or a terminal.
func TestHostileNames(t *testing.T) {
	x := drawn(t, hostile(t))
	if x.LeftOut["unusable_names"] == 0 || x.LeftOut["boundaries_with_gaps"] == 0 {
		t.Errorf("left out are %v", x.LeftOut)
	}
	began := roadtest.ProcessorTime(t)
	shown := 0
	for _, name := range append(roadtest.HostileNames(), "shop", "good street", "good street 12", "1") {
		for _, r := range append(x.ask(name), x.ask("good street "+name)...) {
			for _, text := range [][]byte{r.Name, r.Street, r.Number, r.City, r.Postcode, r.Country, r.Code, []byte(r.Key), []byte(r.Value)} {
				shown++
				if !utf8.Valid(text) || len(text) > 1020 || strings.ContainsFunc(string(text), func(c rune) bool { return unicode.IsControl(c) || c >= '\u202a' && c <= '\u202e' }) {
					t.Errorf("%.40q shows %.80q", name, text)
				}
			}
		}
	}
	reverse(x, &geocode.Near{Radius: 1e5, Limit: 50, Language: -1})
	if took := roadtest.ProcessorTime(t) - began; took > 20*time.Second || shown == 0 {
		t.Errorf("searching took %s of a processor, %d texts were shown", took, shown)
	}
}

// TestStrangeGeometry checks impossible boundaries and lines, near the antimeridian and the poles.
func TestStrangeGeometry(t *testing.T) {
	n := roadtest.MapAt(t, geo.Point{Lat: -16.5, Lng: 179.9995}, 20, `
		a--b--c--d--e
		|           |
		f--g--h--i--j
	`,
		roadtest.Way("abcde", "highway=primary, name=Queens Road"),
		roadtest.Way("afghije", "highway=residential, name=Ring"),
		roadtest.Way("abcdejihgfa", "place=town, name=Taveuni"),
		roadtest.Node("c", "addr:housenumber=1, addr:street=Queens Road"),
		roadtest.Node("e", "addr:housenumber=11, addr:street=Queens Road"),
	)
	x := drawn(t, n)
	results := x.ask("queens road 5")
	if len(results) != 1 || label(results[0]) != "Queens Road 5" || geo.Distance(results[0].At.Point(), geo.Between(n.Place(t, "c"), n.Place(t, "e"), 0.4)) > 1 {
		t.Errorf("found %s", labels(results))
	}
	for _, node := range []string{"a", "c", "e"} {
		near := reverse(x, &geocode.Near{At: n.Place(t, node), Radius: 500, Limit: 10, Language: -1})
		if text := labels(near); !strings.Contains(text, "Queens Road 1;") || !strings.Contains(text, "Taveuni") || !strings.Contains(text, "Ring") {
			t.Errorf("near %s is %s", node, text)
		}
	}
	if r := x.ask("taveuni"); len(r) != 1 || !r[0].HasExtent || r[0].Extent.East < r[0].Extent.West || r[0].Extent.East-r[0].Extent.West > 100_000 {
		t.Errorf("the extent over the antimeridian is %+v", r)
	}
}

// TestBuildStops checks that a build stops when its context ends.
func TestBuildStops(t *testing.T) {
	n := town(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := geocode.Build(ctx, []*osmpbf.File{n.File(t)}, n.Graph(t), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the build ended with %v", err)
	}
}

// FuzzSearch checks that a search of a drawn town for any text returns at most limit results, and is fast.
func FuzzSearch(f *testing.F) {
	x := drawn(f, hostile(f))
	y := drawn(f, town(f))
	for _, name := range roadtest.HostileNames() {
		f.Add(name, 0.0, 0.0)
	}
	f.Add("hauptstrasse 5 & kbira", 1.0, 2.0)
	f.Fuzz(func(t *testing.T, text string, lat, lng float64) {
		at := geo.Point{Lat: lat, Lng: lng}
		for _, index := range []*built{x, y} {
			q := geocode.Query{Text: text, Limit: 5, Language: 6}
			if at.Valid() {
				q.Near, q.Biased = at, true
				reverse(index, &geocode.Near{At: at, Radius: 50_000, Limit: 5, Language: 0})
			}
			if results := search(index, &q); len(results) > 5 {
				t.Errorf("%q found %d", text, len(results))
			}
		}
	})
}

// FuzzSections checks that damaged sections are refused, or searched without reading beyond them.
func FuzzSections(f *testing.F) {
	n := town(f)
	x := drawn(f, n)
	for i := range x.Sections {
		f.Add(uint(i), uint(0), byte(1), uint(0))
	}
	f.Fuzz(func(t *testing.T, section, at uint, change byte, cut uint) {
		sections := append(x.Sections[:0:0], x.Sections...)
		s := &sections[section%uint(len(sections))]
		s.Bytes = append([]byte(nil), s.Bytes...)
		if len(s.Bytes) > 0 {
			s.Bytes[at%uint(len(s.Bytes))] ^= change
			s.Bytes = s.Bytes[:uint(len(s.Bytes))-cut%uint(len(s.Bytes))]
		}
		damaged, err := open(sections, x.graph)
		if err != nil {
			if !errors.Is(err, geocode.ErrBadSections) {
				t.Error(err)
			}
			return
		}
		for _, text := range []string{"hauptstrasse 6", "kbira & julians", "v", "10117", "no such lane 3"} {
			for _, r := range search(damaged, &geocode.Query{Text: text, Limit: 20, Language: 0}) {
				_ = fmt.Sprint(r)
			}
		}
		reverse(damaged, &geocode.Near{At: n.Place(t, "b"), Radius: 50_000, Limit: 50, Language: 0})
	})
}

// TestEveryByteOfTheSections checks the same for changes of each byte of each section.
func TestEveryByteOfTheSections(t *testing.T) {
	n := town(t)
	x := drawn(t, n)
	for i := range x.Sections {
		for at := range x.Sections[i].Bytes {
			for _, change := range []byte{1, 0x80, 0xff} {
				sections := append(x.Sections[:0:0], x.Sections...)
				sections[i].Bytes = append([]byte(nil), sections[i].Bytes...)
				sections[i].Bytes[at] ^= change
				damaged, err := open(sections, x.graph)
				if err != nil {
					continue
				}
				search(damaged, &geocode.Query{Text: "hauptstrasse 6", Limit: 20, Language: 0})
				search(damaged, &geocode.Query{Text: "kbira & julians", Limit: 20, Language: -1})
				reverse(damaged, &geocode.Near{At: n.Place(t, "b"), Radius: 50_000, Limit: 50, Language: 6})
			}
		}
	}
}
