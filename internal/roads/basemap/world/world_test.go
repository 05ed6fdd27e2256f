package world

import (
	"testing"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/basemap"
	"wayside/internal/roads/basemap/mvt"
)

// openWorld opens the overview.
func openWorld(t testing.TB) *World {
	t.Helper()
	w, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestArchiveIsSmall checks the size of the embedded archive, which every copy of the program contains.
func TestArchiveIsSmall(t *testing.T) {
	const limit = 300_000
	if len(archive) > limit {
		t.Errorf("%d bytes, at most %d are allowed", len(archive), limit)
	}
}

// TestLandAndSea checks at every zoom whether known points are land, and so whether the coasts are in the right places.
func TestLandAndSea(t *testing.T) {
	w := openWorld(t)
	for name, tt := range map[string]struct {
		at   geo.Point
		land bool
	}{
		"Munich":              {geo.Point{Lat: 48.14, Lng: 11.58}, true},
		"Kansas":              {geo.Point{Lat: 38.5, Lng: -98.5}, true},
		"Congo":               {geo.Point{Lat: -1, Lng: 23}, true},
		"Siberia":             {geo.Point{Lat: 62, Lng: 100}, true},
		"Antarctica":          {geo.Point{Lat: -80, Lng: 30}, true},
		"Alice Springs":       {geo.Point{Lat: -23.7, Lng: 133.9}, true},
		"Chukotka":            {geo.Point{Lat: 66.5, Lng: -176}, true},
		"Mali":                {geo.Point{Lat: 15, Lng: -5}, true},
		"Norwegian Sea":       {geo.Point{Lat: 68, Lng: -3}, false},
		"Arctic Ocean":        {geo.Point{Lat: 72.5, Lng: -150}, false},
		"Atlantic":            {geo.Point{Lat: 30, Lng: -45}, false},
		"Pacific":             {geo.Point{Lat: 5, Lng: -170}, false},
		"Gulf of Guinea":      {geo.Point{Lat: 0, Lng: 0}, false},
		"Caspian Sea, a hole": {geo.Point{Lat: 42, Lng: 50.5}, false},
	} {
		_, highest := w.Archive.Zooms()
		for z := 0; z <= highest; z++ {
			if got := isLand(t, w.Archive, z, tt.at); got != tt.land {
				t.Errorf("%s, zoom %d: land %v", name, z, got)
			}
		}
	}
}

// isLand reports whether a point lies in an odd number of rings of the land.
func isLand(t *testing.T, a *basemap.Archive, z int, p geo.Point) bool {
	t.Helper()
	x, y := mvt.Mercator(z, p.Lat, p.Lng)
	at := mvt.Pixel{X: (x - float64(int(x))) * mvt.Extent, Y: (y - float64(int(y))) * mvt.Extent}
	in := false
	for _, f := range features(t, a, z, int(x), int(y), "earth") {
		for _, ring := range f.Parts {
			for i, a := range ring {
				b := ring[(i+1)%len(ring)]
				if (a.Y > at.Y) != (b.Y > at.Y) && at.X < a.X+(b.X-a.X)*(at.Y-a.Y)/(b.Y-a.Y) {
					in = !in
				}
			}
		}
	}
	return in
}

func features(t *testing.T, a *basemap.Archive, z, x, y int, layer string) []mvt.Feature {
	t.Helper()
	stored, ok, err := a.Tile(uint8(z), uint32(x), uint32(y))
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return nil
	}
	tile, err := stored.Plain()
	if err != nil {
		t.Fatal(err)
	}
	all, err := mvt.Read(tile, layer)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEveryTileIsRead checks the counts of the features in all tiles.
func TestEveryTileIsRead(t *testing.T) {
	w := openWorld(t)
	_, z := w.Archive.Zooms()
	count := make(map[string]int)
	german := false
	for x := range 1 << z {
		for y := range 1 << z {
			for _, layer := range []string{"earth", "borders", "countries", "places"} {
				all := features(t, w.Archive, z, x, y, layer)
				count[layer] += len(all)
				for _, f := range all {
					if (layer == "countries" || layer == "places") && f.Texts["name"] == "" {
						t.Errorf("%d/%d/%d: a name is empty", z, x, y)
					}
					german = german || f.Texts["name:de"] == "Deutschland"
				}
			}
		}
	}
	if count["countries"] < 230 || count["places"] < 2000 || count["borders"] < 40 || !german {
		t.Errorf("%v, Germany in German: %v", count, german)
	}
	if w.Archive.Attribution() != "Natural Earth · GeoNames (CC BY 4.0)" {
		t.Errorf("attribution %q", w.Archive.Attribution())
	}
}

// TestNearestPlace checks places near known points, across the antimeridian too.
func TestNearestPlace(t *testing.T) {
	w := openWorld(t)
	for want, p := range map[string]geo.Point{
		"Gent":     {Lat: 51.1, Lng: 3.6},
		"Munich":   {Lat: 48.0, Lng: 11.7},
		"Suva":     {Lat: -17, Lng: -179.5},
		"Honolulu": {Lat: 25, Lng: -160},
	} {
		got, ok := w.NearestPlace(p)
		if !ok || got.Name != want {
			t.Errorf("%v: %q, want %q", p, got.Name, want)
		}
	}
	munich, _ := w.NearestPlace(geo.Point{Lat: 48, Lng: 11.7})
	if d := geo.Distance(munich.At, geo.Point{Lat: 48.137, Lng: 11.575}); d > 1500 {
		t.Errorf("Munich is %.0f m off", d)
	}
}

func BenchmarkNearestPlace(b *testing.B) {
	w := openWorld(b)
	for b.Loop() {
		w.NearestPlace(geo.Point{Lat: 48, Lng: 11.7})
	}
}
