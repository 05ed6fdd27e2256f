package region

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
	"wayside/internal/roads/roadtest"
)

// TestSearchOfARegion imports a drawn town, searches it, and checks that the log and the metrics do not contain the searched texts.
// It also checks that a region that is imported without search has none.
func TestSearchOfARegion(t *testing.T) {
	t.Parallel()
	ops := systemtest.FreeAddress(t)
	s := systemtest.NewService(t, fmt.Sprintf("[log]\nlevel = \"debug\"\n\n[ops]\nlisten = %q\n", ops))
	town := roadtest.Map(t, 100, `
		a--b--c
		|
		d
	`, roadtest.Way("abc", "highway=primary, name=Quince Parade"), roadtest.Way("ad", "highway=residential, name=Medlar Row"),
		roadtest.Node("b", "addr:housenumber=17, addr:street=Quince Parade"), roadtest.Node("c", "place=village, name=Loquat"))
	s.ImportDrawing(town)
	s.Start(nil)
	guest := &systemtest.Client{Service: s}
	for path, want := range map[string]string{
		"api?q=qiunce+par":           `"name":"Quince Parade"`,
		"api?q=quince+parade+17":     `"housenumber":"17","street":"Quince Parade"`,
		"api?q=medlar+%26+quince":    `"name":"Medlar Row & Quince Parade"`,
		"api?q=loquat&limit=1":       `"osm_value":"village"`,
		"reverse?lat=0&lon=0.000456": `"name":"Quince Parade"`,
		"api?q=%ff":                  "q must be UTF-8",
		"reverse?lat=0.000456":       "lon is required",
	} {
		if _, body := guest.Do(http.MethodGet, "/v2/geocode/"+path, nil); !strings.Contains(string(body), want) {
			t.Errorf("%s: %s", path, body)
		}
	}
	metrics := systemtest.Get(t, "http://"+ops+"/metrics")
	if err := s.Terminate(); err != nil {
		t.Errorf("exit: %v", err)
	}
	if found := regexp.MustCompile(`(?i)qiunce|quince|medlar|loquat|0\.?000456|%ff`).FindString(s.Log.String() + metrics); found != "" {
		t.Errorf("%q is told: %s", found, s.Log)
	}
	s.CLI("region", "import", "--without", "search", drawTown(t, "Bare", 60))
	s.Start(nil)
	if resp, body := guest.Do(http.MethodGet, "/v2/geocode/api?q=bare", nil); resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(body), "without search") {
		t.Errorf("without search: %d %s", resp.StatusCode, body)
	}
}
