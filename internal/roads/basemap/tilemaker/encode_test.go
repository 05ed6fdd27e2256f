package tilemaker

import (
	"testing"

	"wayside/internal/roads/basemap/mvt"
)

// FuzzTiles encodes features of any form and reads them back. It checks that geometry is within the buffered tile, that
// lines have two points and rings an area, and that texts are unchanged.
func FuzzTiles(f *testing.F) {
	f.Add([]byte{0, 2, 10, 10, 200, 200, 20, 90, 1, 4, 0, 0, 255, 0, 255, 255, 0, 255}, "name")
	f.Add([]byte{2, 1, 128, 128, 1, 3, 1, 1, 2, 2, 3, 3}, "é")
	f.Fuzz(func(t *testing.T, b []byte, name string) {
		var facts facts
		facts.name = name
		facts.clean(&facts.name)
		in := newInterner()
		at := tile{5, 16, 11}
		bounds := at.bounds(true)
		var features []*feature
		for len(b) > 2 {
			kind, n := geometry(b[0]%3), int(b[1]%32)+1
			b = b[2:]
			var spots []spot
			for ; n > 0 && len(b) > 1; n-- { // on a grid of twice the tile's size, around it
				side := (bounds.east - bounds.west) / 128
				spots = append(spots, spot{bounds.west + (int32(b[0])-64)*side, bounds.north + (int32(b[1])-64)*side})
				b = b[2:]
			}
			layer := []layerID{placesLayer, roadsLayer, landuseLayer}[kind]
			attributes := in.intern(layer, facts.named(appendText(nil, "kind", "any", 0), 0))
			var made *feature
			switch {
			case len(spots) == 0:
			case kind == dot:
				made = newFeature(attributes, dot, 0, []vertex{{spot: spots[0]}})
			case kind == stroke && len(spots) > 1:
				made = newFeature(attributes, stroke, 0, thinLine(spots))
			case kind == fill:
				if ring := tidy(spots); ring != nil {
					made = filled(drawn{attributes: attributes, geometry: fill}, [][]spot{ring})
				}
			}
			if made == nil {
				continue
			}
			if made = made.clip(bounds); made != nil {
				features = append(features, made)
			}
		}
		data, _ := encode(at, features)
		checkTile(t, at, data)
		for kind, layer := range map[geometry]layerID{dot: placesLayer, stroke: roadsLayer, fill: landuseLayer} {
			read, err := mvt.Read(data, layer.name())
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range read {
				if r.Texts["name"] != facts.name || r.Texts["kind"] != "any" {
					t.Fatalf("%v, want the name %q", r.Texts, facts.name)
				}
				for _, part := range r.Parts {
					if least := 1 + int(kind); len(part) < least {
						t.Fatalf("a part of %d points in %s", len(part), layer.name())
					}
				}
			}
		}
	})
}

// TestUniformTiles checks that a tile that is all sea also serves the tiles below it.
func TestUniformTiles(t *testing.T) {
	x := new(extract)
	x.way(x.line(35.9, 14.4, 35.9, 14.401), "highway", "residential")
	x.way(x.ring(36.0, 14.5, 36.0, 14.7, 36.2, 14.7, 36.2, 14.5), "natural", "coastline") // an island: counterclockwise
	x.way(x.line(36.4, 15.0, 36.4, 15.001), "highway", "residential")
	archive, counts := x.make(t)
	all := allTiles(t, archive)
	if counts.Tiles*2 > len(all) {
		t.Errorf("%d tiles stand for %d", counts.Tiles, len(all))
	}
	seas := 0
	for at, data := range all {
		if sea, _ := mvt.Read(data, "water"); at.z == highestZoom && len(sea) == 1 {
			seas++
		}
	}
	if seas < 500 {
		t.Errorf("%d tiles have sea, of %d", seas, len(all))
	}
}
