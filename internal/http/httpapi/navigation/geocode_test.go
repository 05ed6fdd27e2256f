package navigation_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/navigation"
	"wayside/internal/http/httpapi/public"
	"wayside/internal/roads/geocode"
	"wayside/internal/roads/match"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// geocoderOf returns the place search of a drawn map.
func geocoderOf(t *testing.T, drawn *roadtest.Network) navigation.Geocoder {
	t.Helper()
	g := drawn.Graph(t)
	built, err := geocode.Build(t.Context(), []*osmpbf.File{drawn.File(t)}, g, match.NewIndex(g))
	if err != nil {
		t.Fatal(err)
	}
	index, err := geocode.Open(func(name string) ([]byte, bool) {
		for _, s := range built.Sections {
			if s.Name == name {
				return s.Bytes, true
			}
		}
		return nil, false
	}, g, match.NewIndex(g))
	if err != nil {
		t.Fatal(err)
	}
	return func() (*geocode.Index, string) { return index, "© OpenStreetMap contributors" }
}

func newGeocodeService(t *testing.T, edit func(*public.Deps)) *httpapitest.ReadService {
	t.Helper()
	return httpapitest.NewReadService(t, func(d *public.Deps) {
		d.Geocoder = geocoderOf(t, httpapitest.DrawnTown(t))
		d.Limits.GuestReads = 1_000_000
		if edit != nil {
			edit(d)
		}
	})
}

// TestPlacesAreFound searches with partly typed names and with a typo, and for the places near a point.
func TestPlacesAreFound(t *testing.T) {
	s := newGeocodeService(t, nil)
	for query, want := range map[string]string{
		"main": "Main Street", "MÀIN  street": "Main Street", "mian street": "Main Street", "church l": "Church Lane", "b 1": "Main Street", "lane church": "Church Lane",
	} {
		found := s.Places(t, "/v2/geocode/api?"+url.Values{"q": {query}}.Encode())
		if len(found.Features) == 0 || found.Features[0].Properties.Name != want || found.Features[0].Properties.OSMType != "W" {
			t.Errorf("%q found %+v", query, found.Features)
		}
		if found.Type != "FeatureCollection" || found.Attribution != "© OpenStreetMap contributors" {
			t.Errorf("%q: %+v", query, found)
		}
	}
	found := s.Places(t, "/v2/geocode/reverse?lat=0.0001&lon=0.002")
	if len(found.Features) != 1 || found.Features[0].Properties.Name != "Main Street" {
		t.Errorf("near Main Street is %+v", found)
	}
}

// TestSearchRefusals checks which searches are refused, and which have an empty answer.
func TestSearchRefusals(t *testing.T) {
	s := newGeocodeService(t, nil)
	for query, want := range map[string]int{
		"api?q=":                            400,
		"api":                               400,
		"api?q=%ff%fe":                      400,
		"api?q=" + strings.Repeat("a", 201): 400,
		"api?q=" + strings.Repeat("%F0%9F%98%80", 200):        200,
		"api?q=" + strings.Repeat("a%20", 50):                 200,
		"api?q=" + strings.Repeat("a", 10_000):                400,
		"api?q=.*%5B%5E%5D%28%28a%2B%29%2B%29%2B%24":          200,
		"api?q=%00%01%02":                                     200,
		"api?q=main&lat=1":                                    400,
		"api?q=main&lat=91&lon=0":                             400,
		"api?q=main&limit=0":                                  400,
		"api?q=main&limit=100000":                             200,
		"api?q=main&bbox=1,2,3":                               400,
		"api?q=main&bbox=nan,0,1,1":                           400,
		"api?q=main&bbox=-1,-1,1,1":                           200,
		"api?q=main&layer=planet":                             400,
		"api?q=main&layer=street":                             200,
		"api?q=main&osm_tag=highway":                          200,
		"api?q=main&osm_tag=":                                 400,
		"api?q=main" + strings.Repeat("&osm_tag=highway", 20): 200,
		"api?q=main" + strings.Repeat("&osm_tag=highway", 21): 400,
		"api?q=main&lang=xx-YY":                               200,
		"api?q=main&q=ring":                                   400,
		"reverse?lat=0":                                       400,
		"reverse?lat=0&lon=0&radius=51":                       400,
		"reverse?lat=NaN&lon=0":                               400,
	} {
		if resp, body := s.Get("/v2/geocode/" + query); resp.StatusCode != want {
			t.Errorf("%.60s: %d instead of %d: %.300s", query, resp.StatusCode, want, body)
		}
	}
}

// TestSearchWithoutRegion checks searches while no region is served.
func TestSearchWithoutRegion(t *testing.T) {
	for name, geocoder := range map[string]navigation.Geocoder{"off": nil, "left out": func() (*geocode.Index, string) { return nil, "" }} {
		s := httpapitest.NewReadService(t, func(d *public.Deps) { d.Geocoder = geocoder })
		if resp, body := s.Get("/v2/geocode/api?q=x"); resp.StatusCode != http.StatusServiceUnavailable || !bytes.Contains(body, []byte("no place search")) {
			t.Errorf("%s: %d %s", name, resp.StatusCode, body)
		}
	}
}

// TestSearchesAreNotLogged checks that the log and the labels of metrics contain neither texts nor places of searches.
func TestSearchesAreNotLogged(t *testing.T) {
	var log bytes.Buffer
	var patterns []string
	s := newGeocodeService(t, func(d *public.Deps) {
		d.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		d.Observe = func(pattern string, _ int, _ time.Duration) { patterns = append(patterns, pattern) }
	})
	for _, path := range []string{"api?q=secretplace&lat=0.123&lon=0.456", "reverse?lat=0.123&lon=0.456", "api?q=%ffsecretplace", "reverse?lat=0.123"} {
		s.Get("/v2/geocode/" + path)
	}
	for _, text := range append(patterns, log.String()) {
		if strings.Contains(text, "secretplace") || strings.Contains(text, "0.123") || strings.Contains(text, "0.456") {
			t.Errorf("%q tells what was searched", text)
		}
	}
}

// kindTown returns a town with a petrol station without a name, and a pharmacy.
func kindTown(t testing.TB) *roadtest.Network {
	return roadtest.Map(t, 100, `
		a--b--c--d
		         |
		         e  f
	`,
		roadtest.Way("abcd", "highway=primary, name=Main Street"), roadtest.Way("de", "highway=residential, name=Side Street"),
		roadtest.Node("f", "amenity=fuel, opening_hours=Mo-Fr 08:00-20:00; PH off"),
		roadtest.Node("b", "amenity=pharmacy, name=Grima, opening_hours=sunrise-sunset"))
}

// kindPlaces is an answer with what a result is for a driver.
type kindPlaces struct {
	Features []struct {
		Properties struct {
			Name, Kind   string
			KindName     string   `json:"kind_name"`
			OpeningHours string   `json:"opening_hours"`
			OpenMinutes  [][2]int `json:"open_minutes"`
			RoadM        float64  `json:"road_m"`
			RoadS        float64  `json:"road_s"`
		}
	}
}

func readKinds(s *httpapitest.ReadService, t *testing.T, path string) kindPlaces {
	t.Helper()
	resp, body := s.Get(path)
	var found kindPlaces
	if err := json.Unmarshal(body, &found); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d %s, %v", path, resp.StatusCode, body, err)
	}
	return found
}

// TestPlacesTellKinds checks what answers say of a kind, and of opening hours.
func TestPlacesTellKinds(t *testing.T) {
	s := newGeocodeService(t, func(d *public.Deps) { d.Geocoder = geocoderOf(t, kindTown(t)) })
	found := readKinds(s, t, "/v2/geocode/api?q=essence&lat=0&lon=0&lang=de")
	if len(found.Features) != 1 {
		t.Fatalf("found %+v", found)
	}
	p := found.Features[0].Properties
	if p.Name != "Tankstelle" || p.Kind != "fuel" || p.KindName != "Tankstelle" || p.OpeningHours != "Mo-Fr 08:00-20:00; PH off" ||
		len(p.OpenMinutes) != 5 || p.OpenMinutes[1] != [2]int{1440 + 480, 1440 + 1200} || p.RoadM != 0 {
		t.Errorf("found %+v", p)
	}
	if p = readKinds(s, t, "/v2/geocode/api?q=grima").Features[0].Properties; p.Kind != "pharmacy" || p.KindName != "Pharmacy" || p.OpeningHours != "" || p.OpenMinutes != nil {
		t.Errorf("found %+v", p)
	}
}

// TestPlacesByRoad checks distances by road: they are those of roads, count as a route, and are left out where the caller
// has none left.
func TestPlacesByRoad(t *testing.T) {
	town := kindTown(t)
	s := newGeocodeService(t, func(d *public.Deps) {
		d.Geocoder, d.Navigation = geocoderOf(t, town), httpapitest.NavigationOf(t, town)
		d.Limits.GuestRoutes = 1
	})
	from := town.Place(t, "a")
	path := "/v2/geocode/api?q=fuel&by_road=true&lat=" + strconv.FormatFloat(from.Lat, 'f', 7, 64) + "&lon=" + strconv.FormatFloat(from.Lng, 'f', 7, 64)
	// Nine hundred metres along Main Street, and two hundred along Side Street.
	if p := readKinds(s, t, path).Features[0].Properties; p.RoadM < 1050 || p.RoadM > 1150 || p.RoadS < 30 {
		t.Errorf("by road it is %v m in %v s", p.RoadM, p.RoadS)
	}
	if p := readKinds(s, t, path).Features[0].Properties; p.RoadM != 0 || p.Kind != "fuel" {
		t.Errorf("without a route left, it is %+v", p)
	}
	if p := readKinds(s, t, strings.Replace(path, "true", "false", 1)).Features[0].Properties; p.RoadM != 0 {
		t.Errorf("unasked, it is %+v", p)
	}
	for query, want := range map[string]int{"q=fuel&by_road=true": 400, "q=fuel&by_road=1&lat=0&lon=0": 400, "q=nothing&by_road=true&lat=0&lon=0": 200} {
		if resp, body := s.Get("/v2/geocode/api?" + query); resp.StatusCode != want {
			t.Errorf("%s: %d %s", query, resp.StatusCode, body)
		}
	}
}
