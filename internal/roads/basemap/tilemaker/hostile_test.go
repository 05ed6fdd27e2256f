package tilemaker

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/basemap/mvt"
	"wayside/internal/roads/osmpbf"
)

// extract is an extract that a test draws.
type extract struct {
	nodes     []osmpbf.Node
	ways      []osmpbf.Way
	relations []osmpbf.Relation
	bounds    *geo.Box
}

// node adds a node and returns its id.
func (x *extract) node(lat, lng float64, tags ...string) int64 {
	id := int64(len(x.nodes) + 1)
	x.nodes = append(x.nodes, osmpbf.Node{ID: id, Lat: int64(lat * 1e9), Lng: int64(lng * 1e9), Tags: pairs(tags)})
	return id
}

// way adds a way and returns its id.
func (x *extract) way(refs []int64, tags ...string) int64 {
	id := int64(len(x.ways) + 1)
	x.ways = append(x.ways, osmpbf.Way{ID: id, Refs: refs, Tags: pairs(tags)})
	return id
}

// line adds the nodes of a line, given by latitude and longitude of each.
func (x *extract) line(at ...float64) (refs []int64) {
	for i := 0; i < len(at); i += 2 {
		refs = append(refs, x.node(at[i], at[i+1]))
	}
	return refs
}

// ring adds a line and returns it with its first node repeated at the end.
func (x *extract) ring(at ...float64) []int64 {
	refs := x.line(at...)
	return append(refs, refs[0])
}

func (x *extract) area(ways []int64, tags ...string) {
	r := osmpbf.Relation{ID: int64(len(x.relations) + 1), Tags: pairs(append(tags, "type", "multipolygon"))}
	for _, id := range ways {
		r.Members = append(r.Members, osmpbf.Member{Ref: id, Type: osmpbf.Ways, Role: "outer"})
	}
	x.relations = append(x.relations, r)
}

func pairs(texts []string) (tags osmpbf.Tags) {
	for i := 0; i < len(texts); i += 2 {
		tags = append(tags, osmpbf.Tag{Key: texts[i], Value: texts[i+1]})
	}
	return tags
}

func (x *extract) open(t testing.TB) *osmpbf.File {
	t.Helper()
	var out bytes.Buffer
	w, err := osmpbf.NewWriter(&out, osmpbf.WriterOptions{Bounds: x.bounds})
	for i := 0; i < len(x.nodes) && err == nil; i++ {
		err = w.Node(x.nodes[i])
	}
	for i := 0; i < len(x.ways) && err == nil; i++ {
		err = w.Way(x.ways[i])
	}
	for i := 0; i < len(x.relations) && err == nil; i++ {
		err = w.Relation(x.relations[i])
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := osmpbf.Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// make makes the map and checks every tile.
func (x *extract) make(t testing.TB) ([]byte, *Counts) {
	t.Helper()
	archive, counts, err := Make(context.Background(), []*osmpbf.File{x.open(t)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for at, data := range differentTiles(allTiles(t, archive)) {
		checkTile(t, at, data)
	}
	return archive, counts
}

// checkTile checks the properties that every tile must have.
func checkTile(t testing.TB, at tile, data []byte) {
	t.Helper()
	if len(data) > maxTile {
		t.Fatalf("tile %v has %d bytes", at, len(data))
	}
	for id := range layerCount {
		features, err := mvt.Read(data, id.name())
		if err != nil {
			t.Fatalf("tile %v: %v", at, err)
		}
		for _, f := range features {
			for name, text := range f.Texts {
				if text == "" || !utf8.ValidString(text) || len(text) > maxText || strings.ContainsFunc(text, unicode.IsControl) {
					t.Fatalf("tile %v: %s is %q", at, name, text)
				}
			}
			for _, part := range f.Parts {
				for _, p := range part {
					if min(p.X, p.Y) < -bufferCells || max(p.X, p.Y) > mvt.Extent+bufferCells {
						t.Fatalf("tile %v: %v in %s", at, p, id.name())
					}
				}
			}
		}
	}
}

// find returns the features of a layer at a place in the highest zoom.
func find(t testing.TB, archive []byte, layer layerID, lat, lng float64) []mvt.Feature {
	t.Helper()
	x, y := mvt.Mercator(highestZoom, lat, lng)
	features, err := mvt.Read(allTiles(t, archive)[tile{highestZoom, uint32(x), uint32(y)}], layer.name())
	if err != nil {
		t.Fatal(err)
	}
	return features
}

// TestHostileTexts checks streets with hostile names.
func TestHostileTexts(t *testing.T) {
	for name, want := range map[string]string{
		strings.Repeat("x", 40_000):         "",
		"\x00\x01\x1b[31mred":               "[31mred",
		"\xff\xfe":                          "",
		"   ":                               "",
		"a\u202eb\u2066c":                   "abc",
		"<script>alert(1)</script>":         "<script>alert(1)</script>", // drawn as text, never as markup
		"شارع":                              "شارع",
		"A;B;C":                             "A;B;C",
		strings.Repeat("é", 255):            strings.Repeat("é", 255),
		"line\nbreak\u2028and\u0085another": "line break and another",
	} {
		x := new(extract)
		x.way(x.line(35.9, 14.4, 35.9, 14.401), "highway", "residential", "name", name, "name:it", name, "ref", name)
		archive, counts := x.make(t)
		streets := find(t, archive, roadsLayer, 35.9, 14.4)
		if len(streets) != 1 || streets[0].Texts["name"] != want || streets[0].Texts["ref"] != want {
			t.Errorf("%.40q: %v, want %.40q", name, streets, want)
		}
		if bad := counts.LeftOut[badTexts]; (bad > 0) != (len(name) > maxText || !utf8.ValidString(name)) {
			t.Errorf("%.40q: %d bad texts", name, bad)
		}
	}
}

// TestHostileObjects checks objects that no mapper intends.
func TestHostileObjects(t *testing.T) {
	street := func(x *extract) { x.way(x.line(35.9, 14.4, 35.9, 14.401), "highway", "residential", "name", "Street") }
	for name, tt := range map[string]struct {
		draw    func(x *extract)
		reason  string // under which it is counted
		empty   bool
		withOut string // a layer that must be absent
	}{
		"nothing":            {draw: func(*extract) {}, empty: true},
		"only far away":      {draw: func(x *extract) { x.node(90, 0); x.node(-90, 180) }, empty: true},
		"a way of one node":  {draw: func(x *extract) { street(x); x.way(x.line(35.9, 14.4), "highway", "primary") }},
		"a way of no node":   {draw: func(x *extract) { street(x); x.way(nil, "natural", "coastline") }},
		"a way of one place": {draw: func(x *extract) { street(x); x.way(x.ring(35.9, 14.4, 35.9, 14.4, 35.9, 14.4), "building", "yes") }, withOut: "buildings"},
		"missing nodes": {draw: func(x *extract) {
			street(x)
			x.way([]int64{1, 99, 2}, "highway", "primary")
			x.way([]int64{1, 98, 97, 1}, "natural", "water")
		}, reason: missingNodes},
		"missing ways": {draw: func(x *extract) { street(x); x.area([]int64{77, 78}, "natural", "wood") }, reason: unclosedAreas},
		"an unclosed area": {draw: func(x *extract) {
			street(x)
			x.area([]int64{x.way(x.line(35.9, 14.4, 35.91, 14.4, 35.91, 14.41))}, "natural", "wood")
		}, reason: unclosedAreas},
		"an area that crosses itself": {draw: func(x *extract) {
			street(x)
			x.way(x.ring(35.90, 14.40, 35.92, 14.42, 35.90, 14.41, 35.91, 14.40), "natural", "wood")
		}, reason: crossingAreas},
		"a long jump":           {draw: func(x *extract) { street(x); x.way(x.line(35.9, 14.4, -60, -120), "highway", "primary") }, reason: longSegments},
		"over the antimeridian": {draw: func(x *extract) { x.way(x.line(10, 179.999, 10, -179.999), "highway", "primary"); street(x) }, reason: longSegments},
		"an area around the world": {draw: func(x *extract) {
			street(x)
			x.way(x.ring(10, 179, 10, -179, 11, -179, 11, 179), "natural", "wood")
		}, reason: aroundAreas},
		"at the poles": {draw: func(x *extract) {
			x.way(x.line(89.9, 0, 90, 0.01), "highway", "primary")
			x.way(x.line(-90, 0, -89, 0.1), "highway", "primary")
		}},
		"off the globe":       {draw: func(x *extract) { street(x); x.way(x.line(95, 0, 95, 1), "highway", "primary") }, reason: missingNodes},
		"a coast of one gap":  {draw: func(x *extract) { street(x); x.way(x.line(35.9, 14.3999, 35.9, 14.4001), "natural", "coastline") }, reason: coastlineGaps},
		"a world of water":    {draw: func(x *extract) { street(x); x.bounds = &geo.Box{South: -85, North: 85, West: -180, East: 180} }},
		"bounds of elsewhere": {draw: func(x *extract) { street(x); x.bounds = &geo.Box{South: 1, North: 2, West: 1, East: 2} }},
	} {
		t.Run(name, func(t *testing.T) {
			x := new(extract)
			tt.draw(x)
			if tt.empty {
				if _, _, err := Make(t.Context(), []*osmpbf.File{x.open(t)}, Options{}); !errors.Is(err, ErrEmpty) {
					t.Errorf("%v", err)
				}
				return
			}
			archive, counts, err := Make(t.Context(), []*osmpbf.File{x.open(t)}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if tt.reason != "" && counts.LeftOut[tt.reason] == 0 || tt.reason == "" && len(counts.LeftOut) > 0 {
				t.Errorf("left out: %v, want %q", counts.LeftOut, tt.reason)
			}
			for at, data := range differentTiles(allTiles(t, archive)) {
				checkTile(t, at, data)
				if features, _ := mvt.Read(data, tt.withOut); len(features) > 0 {
					t.Errorf("tile %v has %s", at, tt.withOut)
				}
			}
		})
	}
}
