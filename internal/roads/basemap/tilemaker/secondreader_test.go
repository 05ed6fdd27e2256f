package tilemaker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"wayside/internal/roads/basemap"
	"wayside/internal/roads/basemap/mvt"
	"wayside/internal/roads/osmpbf"
)

// differentTiles keeps one of each set of tiles with the same content.
func differentTiles(all map[tile][]byte) map[tile][]byte {
	out := make(map[tile][]byte)
	seen := make(map[string]bool)
	for at, data := range all {
		if !seen[string(data)] {
			seen[string(data)] = true
			out[at] = data
		}
	}
	return out
}

// allTiles reads every tile of an archive.
func allTiles(t testing.TB, archive []byte) map[tile][]byte {
	t.Helper()
	a, err := basemap.OpenBytes(archive)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[tile][]byte)
	unpacked := make(map[string][]byte) // by tag, because a hostile archive has tens of thousands of tiles that share their content
	b := a.Bounds()
	for z := 0; z <= highestZoom; z++ {
		west, north := mvt.Mercator(z, b.North, b.West)
		east, south := mvt.Mercator(z, b.South, b.East)
		const most = 20_000
		if (east-west)*(south-north) > most {
			break // the whole world, whose tiles are all the same
		}
		for x := max(0, int(west)-1); x <= int(east)+1 && x < 1<<z; x++ {
			for y := max(0, int(north)-1); y <= int(south)+1 && y < 1<<z; y++ {
				stored, ok, err := a.Tile(uint8(z), uint32(x), uint32(y))
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					continue
				}
				data, known := unpacked[stored.Tag()]
				if !known {
					if data, err = stored.Plain(); err != nil {
						t.Fatal(err)
					}
					unpacked[stored.Tag()] = data
				}
				out[tile{uint8(z), uint32(x), uint32(y)}] = data
			}
		}
	}
	return out
}

// decoded is the second reader's description of a tile.
type decoded struct {
	Layers map[string]struct{ Features, Vertices, Areas int }
	Wrong  []string
}

// checkBySecondReader decodes all tiles of an archive with the library that browsers use, which checks their geometry,
// and compares its counts with those of our own reader. It skips the check if the library is missing.
func checkBySecondReader(t *testing.T, archive []byte) {
	t.Helper()
	modules, err := filepath.Abs("../../../../web/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	node, err := exec.LookPath("node")
	if _, missing := os.Stat(filepath.Join(modules, "@mapbox/vector-tile/index.js")); err != nil || missing != nil {
		t.Skip("NOT TESTED by a second reader: install Node and run `npm ci` in web")
	}
	tiles := allTiles(t, archive)
	var input bytes.Buffer
	var order []tile
	for at, data := range tiles {
		order = append(order, at)
		input.Write(binary.BigEndian.AppendUint32(nil, uint32(len(data))))
		input.Write(data)
	}
	command := exec.Command(node, "testdata/decode.mjs", modules, strconv.Itoa(bufferCells))
	command.Stdin, command.Stderr = &input, os.Stderr
	answer, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(answer))
	lines.Buffer(nil, len(answer)+1)
	for _, at := range order {
		var d decoded
		if !lines.Scan() || json.Unmarshal(lines.Bytes(), &d) != nil {
			t.Fatalf("tile %v: the answer is %q", at, lines.Bytes())
		}
		for _, wrong := range d.Wrong {
			t.Errorf("tile %v: %s", at, wrong)
		}
		for id := range layerCount {
			features, err := mvt.Read(tiles[at], id.name())
			if other := d.Layers[id.name()]; err != nil || len(features) != other.Features {
				t.Errorf("tile %v: %d features in %s, and %d by the second reader, %v", at, len(features), id.name(), other.Features, err)
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d tiles decoded", len(order))
}

// TestTilesOfExtracts checks every tile of real extracts with the second reader.
func TestTilesOfExtracts(t *testing.T) {
	for _, name := range []string{"monaco-planetiler", "malta-gh"} {
		t.Run(name, func(t *testing.T) {
			archive, _, err := Make(context.Background(), []*osmpbf.File{openExtract(t, name+".osm.pbf")}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkBySecondReader(t, archive)
		})
	}
}
