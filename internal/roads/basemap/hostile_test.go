package basemap

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// built makes an uncompressed archive with the given directories.
func built(t testing.TB, root, leaves []entry, edit func(*header)) []byte {
	t.Helper()
	h := header{internal: compressionNone, tileData: compressionNone, tileType: PNG, maxZoom: 10}
	r, l := appendDirectory(root), appendDirectory(leaves)
	h.root = section{headerSize, uint64(len(r))}
	h.leaves = section{headerSize + h.root.length, uint64(len(l))}
	h.tiles = section{h.leaves.offset + h.leaves.length, 4}
	if edit != nil {
		edit(&h)
	}
	return append(append(append(h.append(nil), r...), l...), "tile"...)
}

var oneTile = []entry{{id: 0, run: 1, length: 4}}

// TestInvalidArchives checks that Open reports each defect.
func TestInvalidArchives(t *testing.T) {
	good := built(t, oneTile, oneTile, nil)
	if _, err := openBytes(good); err != nil {
		t.Fatalf("the good one: %v", err)
	}
	for name, tt := range map[string]struct {
		edit func(*header)
		want string
	}{
		"root beyond the end":     {func(h *header) { h.root.length = 1 << 40 }, "cut short"},
		"offset that overflows":   {func(h *header) { h.tiles = section{math.MaxUint64 - 1, 4} }, "cut short"},
		"length that overflows":   {func(h *header) { h.leaves = section{200, math.MaxUint64 - 100} }, "cut short"},
		"metadata beyond the end": {func(h *header) { h.metadata = section{1 << 30, 1} }, "cut short"},
		"no root":                 {func(h *header) { h.root.length = 0 }, "no directory"},
		"brotli directories":      {func(h *header) { h.internal = 3 }, "gzip"},
		"brotli tiles":            {func(h *header) { h.tileData = 3 }, "gzip"},
		"unpacked vector tiles":   {func(h *header) { h.tileType, h.tileData = MVT, compressionUnknown }, "gzip"},
		"unknown tiles":           {func(h *header) { h.tileType = 0 }, "type 0"},
		"zooms upside down":       {func(h *header) { h.minZoom = 11 }, "zooms"},
		"zoom too high":           {func(h *header) { h.maxZoom = 27 }, "zooms"},
		"bounds of no Earth":      {func(h *header) { h.bounds.East = 200 }, "bounds"},
		"centre of no Earth":      {func(h *header) { h.centerLat = 91 }, "centre"},
		"metadata no JSON":        {func(h *header) { h.metadata = section{0, 7} }, "metadata"},
		"gzip that is none":       {func(h *header) { h.internal = compressionGzip }, "root directory"},
	} {
		if _, err := openBytes(built(t, oneTile, oneTile, tt.edit)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q in it", name, err, tt.want)
		}
	}
	for size := range headerSize {
		if _, err := openBytes(good[:size]); err == nil {
			t.Errorf("%d bytes were taken for an archive", size)
		}
	}
	old := bytes.Clone(good)
	old[7] = 2
	if _, err := openBytes(old); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("version 2: %v", err)
	}
	for _, name := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none.pmtiles")} {
		if _, err := Open(name); err == nil {
			t.Error("what is no file was opened")
		}
	}
}

// TestRasterTilesOfUnknownCompression checks that such archives, which some tools write, are accepted.
func TestRasterTilesOfUnknownCompression(t *testing.T) {
	a, err := openBytes(built(t, oneTile, oneTile, func(h *header) { h.tileData = compressionUnknown }))
	if err != nil {
		t.Fatal(err)
	}
	tile, _, err := a.Tile(0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tile.Plain(); string(got) != "tile" || err != nil {
		t.Errorf("%q %v", got, err)
	}
}

// TestCyclicDirectories checks that a directory that refers to itself is an error.
func TestCyclicDirectories(t *testing.T) {
	self := []entry{{id: 0, run: 0, offset: 0, length: 5}} // as long as its own encoding
	if n := len(appendDirectory(self)); n != 5 {
		t.Fatalf("the directory has %d bytes", n)
	}
	a, err := openBytes(built(t, self, self, nil))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, _, err := a.Tile(0, 0, 0)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "four deep") {
			t.Errorf("%v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it never ends")
	}
}

// TestEntriesOutsideSection checks that nothing outside a section is read.
func TestEntriesOutsideSection(t *testing.T) {
	for name, e := range map[string]entry{
		"tile behind the end":    {run: 1, offset: 4, length: 1},
		"tile too long":          {run: 1, length: 5},
		"tile at no offset":      {run: 1, offset: math.MaxInt64 - 1, length: 4},
		"leaf behind the end":    {offset: 1 << 20, length: 5},
		"leaf of gigabytes":      {length: math.MaxUint32},
		"leaf in the tiles":      {offset: 5, length: 4},
		"leaf that is half read": {length: 3},
	} {
		a, err := openBytes(built(t, []entry{e}, oneTile, nil))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, ok, err := a.Tile(0, 0, 0); err == nil || ok {
			t.Errorf("%s: %v %v", name, ok, err)
		}
	}
}

// TestInvalidDirectories checks the errors of parseDirectory.
func TestInvalidDirectories(t *testing.T) {
	many := binary.AppendUvarint(nil, maxEntries+1)
	endless := bytes.Repeat([]byte{0xff}, 20)
	for name, b := range map[string][]byte{
		"nothing":               {},
		"no entries":            {0},
		"fewer than it says":    {2, 0, 1, 1},
		"more than it may":      append(many, make([]byte, 4*maxEntries+8)...),
		"a number without end":  endless,
		"ids that stand still":  {2, 0, 0, 1, 1, 4, 4, 1, 5},
		"a tile without length": {1, 0, 1, 0, 1},
		"no first offset":       {1, 0, 1, 4, 0},
		"a run beyond 32 bits":  append(append([]byte{1, 0}, binary.AppendUvarint(nil, 1<<33)...), 4, 1),
		"an id beyond 63 bits":  append(append([]byte{1}, binary.AppendUvarint(nil, 1<<63)...), 1, 4, 1),
	} {
		if entries, err := parseDirectory(b); err == nil {
			t.Errorf("%s: %v", name, entries)
		}
	}
}

// TestDecompressionBombs checks that decompression is limited.
func TestDecompressionBombs(t *testing.T) {
	bomb, err := Pack(make([]byte, maxDirectoryBytes+1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unpack(bomb, compressionGzip, maxDirectoryBytes); err == nil {
		t.Error("more than the bound was unpacked")
	}
}

// TestMetadataIsSanitized checks that markup in metadata does not reach a page.
func TestMetadataIsSanitized(t *testing.T) {
	for raw, want := range map[string]string{
		`"<a href=\"https://x.test\">&copy; OpenStreetMap</a>\ncontributors"`: "© OpenStreetMap contributors",
		`"<img src=x onerror=alert(1)>map"`:                                   "map",
		`"<script"`:                                                           "",
		`17`:                                                                  "",
		``:                                                                    "",
		`"` + strings.Repeat("ä", 600) + `"`:                                  strings.Repeat("ä", 500),
	} {
		if got := plainText([]byte(raw)); got != want {
			t.Errorf("%.40s: %.60q, want %.60q", raw, got, want)
		}
	}
	for _, raw := range []string{`7`, `[7]`, `[{"id":7}]`, `{}`, ``, `[{"id":""}]`} {
		if got := vectorLayers([]byte(raw)); got != nil {
			t.Errorf("%s: %v", raw, got)
		}
	}
	if got := vectorLayers([]byte(`[{"id":"a","minzoom":-3,"maxzoom":1e300,"fields":{"x":{},"y":"String"}}]`)); len(got) != 1 || got[0].MaxZoom != MaxZoom || len(got[0].Fields) != 1 {
		t.Errorf("%v", got)
	}
}

// FuzzArchive opens arbitrary bytes and reads tiles: it must end soon and keep its memory limits.
func FuzzArchive(f *testing.F) {
	f.Add(archiveOf(f, testPlan(MVT), []Tile{{Z: 3, X: 1, Y: 1, Data: []byte("a")}, {Z: 3, X: 1, Y: 2, Data: []byte("b")}, {Z: 4, X: 1, Y: 2, Data: []byte("b")}}, 1))
	f.Add(built(f, oneTile, oneTile, nil))
	f.Add(built(f, []entry{{length: 5}}, []entry{{length: 5}}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := openBytes(b)
		if err != nil {
			return
		}
		for z := range uint8(12) {
			tile, ok, err := a.Tile(z, 1<<z/2, 1<<z/3)
			if err != nil || !ok {
				continue
			}
			if plain, err := tile.Plain(); err == nil && len(plain) > maxUnpackedBytes {
				t.Errorf("%d bytes", len(plain))
			}
		}
		a.Style(Look{}, Source{Tiles: "x"}, nil)
	})
}

// FuzzDirectory checks that a parsed directory survives a round trip.
func FuzzDirectory(f *testing.F) {
	f.Add(appendDirectory(oneTile))
	f.Add(appendDirectory([]entry{{5, 0, 9, 3}, {8, 9, 2, 0}, {100, 0, 9, 1}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := parseDirectory(b)
		if err != nil {
			return
		}
		again, err := parseDirectory(appendDirectory(entries))
		if err != nil || len(again) != len(entries) {
			t.Fatalf("%v", err)
		}
		for i := range entries {
			if entries[i] != again[i] {
				t.Fatalf("%v became %v", entries[i], again[i])
			}
		}
	})
}
