package console

import (
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
	"wayside/internal/roads/region"
)

// TestRegionsAreNamed checks that every step and product of an import has a name in every language.
func TestRegionsAreNamed(t *testing.T) {
	catalogue, err := words.Load()
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, name := range region.ProductNames() {
		keys = append(keys, "regions.product."+name)
	}
	for _, name := range region.StepNames() {
		keys = append(keys, stepKey(name))
	}
	for _, l := range mapdata.Languages() {
		for _, key := range keys {
			if !catalogue.In(l).Has(key) {
				t.Errorf("%s has no %s", l, key)
			}
		}
	}
	if text, err := files.ReadFile("pages/regions.html"); err != nil {
		t.Error(err)
	} else {
		for _, name := range region.ProductNames() {
			if !strings.Contains(string(text), `eq . "`+name+`"`) {
				t.Errorf("the page has no name of %s", name)
			}
		}
	}
}
