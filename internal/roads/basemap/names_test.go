package basemap

import (
	"strings"
	"testing"
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
