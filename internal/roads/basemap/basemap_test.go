package basemap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestTileIDs compares ids with those in the specification and of other readers.
func TestTileIDs(t *testing.T) {
	for _, tt := range []struct {
		z    uint8
		x, y uint32
		want uint64
	}{
		{0, 0, 0, 0}, {1, 0, 0, 1}, {1, 0, 1, 2}, {1, 1, 1, 3}, {1, 1, 0, 4}, {2, 0, 0, 5}, {12, 3423, 1763, 19078479},
	} {
		if got, ok := tileID(tt.z, tt.x, tt.y); got != tt.want || !ok {
			t.Errorf("%d/%d/%d is %d, want %d", tt.z, tt.x, tt.y, got, tt.want)
		}
	}
	for _, none := range [][3]uint32{{27, 0, 0}, {0, 1, 0}, {3, 8, 0}, {3, 0, 8}, {255, 0, 0}, {3, math.MaxUint32, 0}} {
		if _, ok := tileID(uint8(none[0]), none[1], none[2]); ok {
			t.Errorf("there is no tile %v", none)
		}
	}
}

// TestTileIDsFillEachZoom checks that the tiles of a zoom have different ids, and that neighbours on the curve are adjacent.
func TestTileIDsFillEachZoom(t *testing.T) {
	const z = 5
	first := uint64(1<<(2*z)-1) / 3
	at := make(map[uint64][2]int)
	for x := range 1 << z {
		for y := range 1 << z {
			id, _ := tileID(z, uint32(x), uint32(y))
			at[id] = [2]int{x, y}
		}
	}
	for id := first; id < first+1<<(2*z); id++ {
		here, ok := at[id]
		if !ok {
			t.Fatalf("no tile has id %d", id)
		}
		if before, ok := at[id-1]; ok && max(here[0]-before[0], before[0]-here[0])+max(here[1]-before[1], before[1]-here[1]) != 1 {
			t.Errorf("%v follows %v", here, before)
		}
	}
}

func testPlan(kind TileType) Plan {
	return Plan{
		Type: kind, Bounds: Bounds{4.9, 51.9, 5.1, 52.1}, Center: [3]float64{5, 52, 13}, Name: "Test",
		Attribution: "© Somebody & <others>",
		Layers:      []VectorLayer{{ID: "roads", Fields: map[string]string{"kind": "String"}, MinZoom: 0, MaxZoom: 26}},
	}
}

func archiveOf(t testing.TB, plan Plan, tiles []Tile, leafSize int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out, plan, tiles, leafSize); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func openBytes(b []byte) (*Archive, error) {
	return open(bytes.NewReader(b), int64(len(b)), time.Unix(1_700_000_000, 0))
}

// TestRoundTrip checks that random tiles can be written and read back.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const z = 3
		kind := rapid.SampledFrom([]TileType{MVT, PNG}).Draw(t, "type")
		want := make(map[[2]uint32]string)
		var tiles []Tile
		for x := range uint32(1 << z) {
			for y := range uint32(1 << z) {
				if n := rapid.IntRange(0, 3).Draw(t, "content"); n > 0 { // three contents, so that runs occur
					want[[2]uint32{x, y}] = fmt.Sprint("tile ", n)
					tiles = append(tiles, Tile{Z: z, X: x, Y: y, Data: fmt.Append(nil, "tile ", n)})
				}
			}
		}
		if len(tiles) == 0 {
			return
		}
		var out bytes.Buffer
		if err := write(&out, testPlan(kind), tiles, rapid.IntRange(1, 300).Draw(t, "leaf")); err != nil {
			t.Fatal(err)
		}
		a, err := openBytes(out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // first from the file, then from the cache
			for x := range uint32(1 << z) {
				for y := range uint32(1 << z) {
					tile, ok, err := a.Tile(z, x, y)
					text, there := want[[2]uint32{x, y}]
					if err != nil || ok != there {
						t.Fatalf("%d/%d: %v, %v; want %v", x, y, ok, err, there)
					}
					if !ok {
						continue
					}
					if got, err := tile.Plain(); string(got) != text || err != nil {
						t.Fatalf("%d/%d: %q, %v; want %q", x, y, got, err, text)
					}
					if _, zipped, _ := tile.Packed(); zipped != (kind == MVT) {
						t.Fatal("pictures lie as they are, vector tiles with gzip")
					}
				}
			}
		}
	})
}

// TestArchiveDescription checks what is read from header and metadata.
func TestArchiveDescription(t *testing.T) {
	name := filepath.Join(t.TempDir(), "map.pmtiles")
	b := archiveOf(t, testPlan(MVT), []Tile{{Z: 10, X: 526, Y: 337, Data: []byte("a")}, {Z: 11, X: 1052, Y: 674, Data: []byte("b")}}, leafEntries)
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	lowest, highest := a.Zooms()
	got := []any{a.Type(), lowest, highest, a.Bounds(), a.Center(), a.Attribution(), a.VectorLayers()}
	want := []any{
		MVT, 10, 11,
		Bounds{4.9, 51.9, 5.1, 52.1},
		[3]float64{5, 52, 13},
		"© Somebody & <others>",
		[]VectorLayer{{ID: "roads", Fields: map[string]string{"kind": "String"}, MinZoom: 10, MaxZoom: 11}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestConcurrentReads checks reads of one archive and its cache from many goroutines.
func TestConcurrentReads(t *testing.T) {
	var tiles []Tile
	for x := range uint32(32) {
		for y := range uint32(32) {
			tiles = append(tiles, Tile{Z: 5, X: x, Y: y, Data: fmt.Append(nil, x, y)})
		}
	}
	a, err := openBytes(archiveOf(t, testPlan(MVT), tiles, 16))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, want := range tiles {
				tile, ok, err := a.Tile(want.Z, want.X, want.Y)
				if err != nil || !ok {
					t.Errorf("%v: %v %v", want, ok, err)
					return
				}
				if got, err := tile.Plain(); !bytes.Equal(got, want.Data) || err != nil {
					t.Errorf("%v: %q %v", want, got, err)
				}
			}
		})
	}
	all.Wait()
}

// TestCacheIsBounded checks a cache to which more is added than it holds.
func TestCacheIsBounded(t *testing.T) {
	var c cache
	directory := make([]entry, maxCached/10)
	for i := range uint64(50) {
		c.put(section{i, 1}, directory)
		c.get(section{0, 1}) // in use, so it stays
	}
	if c.weight > maxCached || len(c.held) < 5 {
		t.Errorf("%d directories of %d in all", len(c.held), c.weight)
	}
	if c.get(section{0, 1}) == nil || c.get(section{1, 1}) != nil {
		t.Error("what was not asked for the longest time goes first")
	}
}

// TestWriterRejectsInvalidTiles checks the errors of Write.
func TestWriterRejectsInvalidTiles(t *testing.T) {
	for name, tiles := range map[string][]Tile{
		"nothing": nil,
		"no such": {{Z: 1, X: 2, Y: 0, Data: []byte("a")}},
		"empty":   {{Z: 1}},
		"twice":   {{Z: 1, X: 0, Y: 0, Data: []byte("a")}, {Z: 1, X: 0, Y: 0, Data: []byte("b")}},
	} {
		if Write(&bytes.Buffer{}, testPlan(MVT), tiles) == nil {
			t.Errorf("%s was written", name)
		}
	}
}

// TestStyles checks that the style for each schema refers only to existing sources and layers, and needs neither fonts nor
// sprites of a server: names are drawn with the browser's own fonts (docs/decisions/0014-map-names.md).
func TestStyles(t *testing.T) {
	for _, layers := range [][]string{{"roads", "water", "landuse"}, {"transportation"}, {"streets"}, {"strange"}, nil} {
		a := archiveWith(t, layers...)
		day, night := styleText(t, a, Look{}), styleText(t, a, Look{Theme: Night})
		if day == night {
			t.Error("night looks like day")
		}
		if len(layers) > 0 && !strings.Contains(day, `"source-layer":"`+layers[0]+`"`) {
			t.Errorf("%v: nothing is drawn of it", layers)
		}
		for _, foreign := range []string{"glyphs", "sprite", "icon-image"} {
			if strings.Contains(day, foreign) {
				t.Errorf("%v: the style needs %s, which nobody serves", layers, foreign)
			}
		}
	}
}

// archiveWith returns an archive with layers of vector tiles.
func archiveWith(t *testing.T, layers ...string) *Archive {
	t.Helper()
	plan := testPlan(MVT)
	plan.Layers = nil
	for _, id := range layers {
		plan.Layers = append(plan.Layers, VectorLayer{ID: id})
	}
	a, err := openBytes(archiveOf(t, plan, []Tile{{Z: 3, X: 1, Y: 1, Data: []byte("a")}}, 9))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func styleText(t *testing.T, a *Archive, look Look) string {
	t.Helper()
	text, err := json.Marshal(a.Style(look, Source{Tiles: "http://wayside.test/map/tiles/{z}/{x}/{y}"}, nil))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRoadContrast checks the contrast of the fill or casing of roads to the ground: 3 to 1 for through roads (WCAG 1.4.11),
// and 2 to 1 for the others.
func TestRoadContrast(t *testing.T) {
	for _, theme := range []Theme{Day, Night} {
		p := theme.palette()
		for c := range roadClasses {
			for ground, color := range map[string]string{"land": p.land, "green": p.green, "built": p.built, "water": p.water} {
				least := 2.0
				if c <= minor && ground != "water" && ground != "green" {
					least = 3
				}
				if got := max(contrast(p.fills[c], color), contrast(p.rims[c], color)); got < least {
					t.Errorf("theme %d: class %d on %s: %.2f, want %.1f", theme, c, ground, got, least)
				}
			}
		}
	}
}

// contrast returns the contrast ratio of WCAG 2.
func contrast(a, b string) float64 {
	luminance := func(color string) float64 {
		var r, g, b uint8
		if _, err := fmt.Sscanf(color, "#%02x%02x%02x", &r, &g, &b); err != nil {
			return math.NaN()
		}
		linear := func(v uint8) float64 {
			s := float64(v) / 255
			if s <= 0.04045 {
				return s / 12.92
			}
			return math.Pow((s+0.055)/1.055, 2.4)
		}
		return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestRuns checks that a tile that is the same for its whole area in lower zooms is stored as one entry for each zoom,
// and that every tile of the area is found.
func TestRuns(t *testing.T) {
	tiles := []Tile{{Z: 2, X: 1, Y: 2, Data: []byte("sea"), Below: 3}, {Z: 3, X: 1, Y: 4, Data: []byte("land")}, {Z: 5, X: 7, Y: 16, Data: []byte("sea")}}
	a, err := openBytes(archiveOf(t, testPlan(MVT), tiles, 9))
	if err != nil {
		t.Fatal(err)
	}
	for z := uint8(0); z <= 6; z++ {
		for x := range uint32(1) << z {
			for y := range uint32(1) << z {
				want := ""
				switch {
				case z >= 2 && z <= 5 && x>>(z-2) == 1 && y>>(z-2) == 2, z == 5 && x == 7 && y == 16:
					want = "sea"
				case z == 3 && x == 1 && y == 4:
					want = "land"
				}
				got, ok, err := a.Tile(z, x, y)
				if err != nil || ok != (want != "") {
					t.Fatalf("tile %d/%d/%d: %v, %v", z, x, y, ok, err)
				}
				if !ok {
					continue
				}
				if text, err := got.Plain(); err != nil || string(text) != want {
					t.Fatalf("tile %d/%d/%d: %q, %v; want %q", z, x, y, text, err, want)
				}
			}
		}
	}
	if got, want := a.addressed, uint64(1+4+16+64+2); got != want {
		t.Errorf("%d tiles are addressed, want %d", got, want)
	}
}
