package httpapitest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/engine"
	"wayside/internal/http/httpapi/public"
	"wayside/internal/roads/match"
	"wayside/internal/roads/roadtest"
)

// Drives is the address of sessions of drivers.
const Drives = "/v2/navigation/sessions"

// Do sends a request with a JSON body.
func (s *ReadService) Do(method, path, body string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.Server.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	var text strings.Builder
	if _, err := bufio.NewReader(resp.Body).WriteTo(&text); err != nil {
		s.t.Fatal(err)
	}
	return resp, text.String()
}

// BeginDrive opens a session between places, and returns its path.
func (s *ReadService) BeginDrive(names, options string) (path, answer string) {
	s.t.Helper()
	pairs := "[[" + strings.ReplaceAll(PathOf(s.t, names), ";", "],[") + "]]"
	resp, text := s.Do(http.MethodPost, Drives, `{"coordinates":`+pairs+options+`}`)
	if resp.StatusCode != http.StatusCreated {
		s.t.Fatalf("%s %s", resp.Status, text)
	}
	CheckAgainstSchema(s.t, http.MethodPost, Drives, resp.StatusCode, []byte(text))
	return resp.Header.Get("Location"), text
}

// FoundPlaces is an answer.
type FoundPlaces struct {
	Type, Attribution string
	Features          []struct {
		Geometry   struct{ Coordinates [2]float64 }
		Properties struct {
			Type, Name, Street, HouseNumber, City string
			OSMType                               string    `json:"osm_type"`
			OSMID                                 int64     `json:"osm_id"`
			Extent                                []float64 `json:"extent"`
		}
	}
}

// Places searches for places.
func (s *ReadService) Places(t *testing.T, path string) FoundPlaces {
	t.Helper()
	resp, body := s.Get(path)
	var found FoundPlaces
	if err := json.Unmarshal(body, &found); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d %s, %v", path, resp.StatusCode, body, err)
	}
	if resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("GET %s may be cached: %q", path, resp.Header.Get("Cache-Control"))
	}
	return found
}

// DrawnTown returns a town with a main road, a street around it, a motorway and an island.
func DrawnTown(t *testing.T) *roadtest.Network {
	return roadtest.Map(t, 100, `
		a--1-b----c-2--d
		|    |    |    |
		e----f----g----h              x-3-y
	`,
		roadtest.Way("abcd", "highway=primary, name=Main Street, ref=B 1, maxspeed=50"),
		roadtest.Ways("ae efgh dh", "highway=residential, name=Ring"),
		roadtest.Way("bf", "highway=residential, name=Church Lane"),
		roadtest.Way("cg", "highway=residential"),
		roadtest.Way("xy", "highway=residential"))
}

// NavigationOf returns navigation on a drawn map.
func NavigationOf(t *testing.T, drawn *roadtest.Network) *nav.Service {
	t.Helper()
	g := drawn.Graph(t)
	n := &nav.Network{Roads: nav.NewRoads(g, match.NewIndex(g), "drawn"), Search: nav.NewPlain(g, nil, nil)}
	return nav.New(func() *nav.Network { return n })
}

// NewNavigationService returns a service of reads that leads drivers on a drawn map.
func NewNavigationService(t *testing.T, edit func(*public.Deps)) *ReadService {
	t.Helper()
	return NewReadService(t, func(d *public.Deps) {
		d.Navigation = NavigationOf(t, DrawnTown(t))
		d.Engine = engine.NewEmbedded(d.Navigation)
		d.Limits.GuestRoutes, d.Limits.AccountRoutes = 1_000_000, 1_000_000
		if edit != nil {
			edit(d)
		}
	})
}

// PathOf returns the coordinates of places as in a URL.
func PathOf(t *testing.T, names string) string {
	t.Helper()
	drawn := DrawnTown(t)
	var all []string
	for name := range strings.SplitSeq(names, "") {
		at := drawn.Place(t, name)
		all = append(all, fmt.Sprintf("%.6f,%.6f", at.Lng, at.Lat))
	}
	return strings.Join(all, ";")
}

// Post sends JSON; header pairs may follow.
func (s *ReadService) Post(path, body string, header ...string) (*http.Response, []byte) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.Server.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp, answer
}

// ValhallaRoute is the address of Valhalla's requests for routes.
const ValhallaRoute = "/v2/navigation/valhalla/route"

// AskValhalla posts a request, compares the answer with openapi.json and with that of a GET, and returns it.
func (s *ReadService) AskValhalla(body string) (status int, answer []byte) {
	s.t.Helper()
	resp, posted := s.Post(ValhallaRoute, body)
	CheckAgainstSchema(s.t, http.MethodPost, ValhallaRoute, resp.StatusCode, posted)
	got, text := s.Get(ValhallaRoute + "?json=" + url.QueryEscape(body))
	CheckAgainstSchema(s.t, http.MethodGet, ValhallaRoute, got.StatusCode, text)
	if got.StatusCode != resp.StatusCode || !bytes.Equal(posted, text) {
		s.t.Errorf("%s: by GET %s %s, by POST %s %s", body, got.Status, text, resp.Status, posted)
	}
	return resp.StatusCode, posted
}
