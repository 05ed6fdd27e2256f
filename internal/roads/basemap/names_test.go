package basemap

import (
	"encoding/json"
	"strings"
	"testing"

	"wayside/internal/roads/basemap/sprite"
)

// TestNames checks which names the style for each schema draws, in which language, and that they can be left out.
func TestNames(t *testing.T) {
	for road, ids := range map[string][]string{
		"roads":          {"street-minor-0", "shield-motorway-0", "water-name-0", "stream-name-0", "locality-0", "country-0", "quarter-0", "house-0"},
		"transportation": {"street-minor-0", "shield-motorway-0", "water-name-0", "stream-name-0", "locality-0", "country-0", "quarter-0", "house-0"},
		"streets":        {"street-minor-0", "shield-motorway-0", "water-name-0", "stream-name-0", "locality-0", "country-0", "quarter-0", "house-0"},
		"strange":        nil,
	} {
		a := archiveWith(t, road)
		drawn := make(map[string]Layer)
		layers, _ := a.Style(Look{Language: "de"}, Source{Tiles: "x"}, nil)["layers"].([]Layer)
		for _, l := range layers {
			id, _ := l["id"].(string)
			if drawn[id] != nil {
				t.Errorf("%s: two layers are called %s", road, id)
			}
			drawn[id] = l
		}
		for _, id := range ids {
			if l := drawn[id]; l == nil || l["type"] != "symbol" {
				t.Errorf("%s: %s is not drawn", road, id)
			}
		}
		german := styleText(t, a, Look{Language: "de"})
		if ids != nil && (!strings.Contains(german, `["get","name:de"],["get","name_de"],["get","name"]`) || !strings.Contains(german, "is-supported-script")) {
			t.Errorf("%s: names are not German first, then local", road)
		}
		if none := styleText(t, a, Look{NoNames: true}); strings.Contains(none, "text-field") {
			t.Errorf("%s: names are drawn though they are off", road)
		}
	}
}

// TestNameContrast checks the contrast of names to their surroundings: 4.5 to 1 for all (WCAG 1.4.3), and 7 to 1 for
// streets and places, which are read while driving.
func TestNameContrast(t *testing.T) {
	for _, theme := range []Theme{Day, Night} {
		p := theme.palette()
		type pair struct {
			text, ground string
			least        float64
		}
		pairs := []pair{
			{p.text, p.halo, 7},
			{p.text, p.land, 7},
			{p.softText, p.halo, 4.5},
			{p.softText, p.land, 4.5},
			{p.waterText, p.waterHalo, 4.5},
			{p.waterText, p.water, 4.5},
		}
		for c := motorway; c <= secondary; c++ {
			pairs = append(pairs, pair{p.shieldText[c], p.shields[c], 7})
		}
		for _, pair := range pairs {
			if got := contrast(pair.text, pair.ground); got < pair.least {
				t.Errorf("theme %d: %s on %s: %.2f, want %.1f", theme, pair.text, pair.ground, got, pair.least)
			}
		}
	}
}

// TestPOIsNeedIcons checks that points of interest are drawn where the tiles have them and the service has icons, of kinds that have one,
// and that the style names no icons otherwise.
func TestPOIsNeedIcons(t *testing.T) {
	icons := make(map[string]bool)
	for _, icon := range sprite.Icons() {
		icons[icon.Kind] = true
	}
	for _, step := range poiSteps {
		for _, kind := range step.kinds {
			if !icons[kind] {
				t.Errorf("%s has no icon", kind)
			}
			delete(icons, kind)
		}
	}
	for kind := range icons {
		t.Errorf("the icon of %s is never drawn", kind)
	}
	for _, layers := range [][]VectorLayer{{{ID: "roads"}, {ID: "pois"}}, {{ID: "roads"}}} {
		for _, url := range []string{"https://map.example.org/map/icons/sprite", ""} {
			plan := testPlan(MVT)
			plan.Layers = layers
			a, err := openBytes(archiveOf(t, plan, []Tile{{Z: 5, X: 16, Y: 10, Data: []byte("tile")}}, 9))
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(a.Style(Look{}, Source{Tiles: "https://map.example.org/map/tiles/{z}/{x}/{y}", Icons: url}, nil))
			if err != nil {
				t.Fatal(err)
			}
			want := url != "" && len(layers) == 2
			if got := strings.Contains(string(text), `"sprite":`) && strings.Contains(string(text), "icon-image"); got != want || strings.Contains(string(text), "icon-image") != want {
				t.Errorf("with %d layers and icons at %q, they are drawn: %v", len(layers), url, got)
			}
		}
	}
}
