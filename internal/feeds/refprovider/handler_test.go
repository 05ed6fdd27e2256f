package refprovider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wayside/internal/ground/geo"
)

const (
	secret = "5e0f3a1c9b7d2468ace013579bdf02468ace13579bdf02468ace13579bdf0246"
	good   = "lat=52.37&lng=4.9&radius=5000&tenant=car"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// bench is a provider with a clock that the test turns, and its log.
type bench struct {
	*Provider
	clock time.Time
	log   bytes.Buffer
}

func newBench(secret string) *bench {
	b := &bench{clock: noon}
	b.Provider = New(Config{Secret: secret, Now: func() time.Time { return b.clock }, Log: slog.New(slog.NewTextHandler(&b.log, nil))})
	return b
}

// know makes rows the provider's snapshot.
func (b *bench) know(t testing.TB, rows string) {
	t.Helper()
	made, err := b.Decode([]byte(rows))
	if err != nil {
		t.Fatal(err)
	}
	b.Set(made, b.clock)
}

func (b *bench) ask(method, target string, secrets ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for _, s := range secrets {
		r.Header.Add(AuthHeader, s)
	}
	w := httptest.NewRecorder()
	b.Handler().ServeHTTP(w, r)
	return w
}

// TestOrderOfRefusals checks the order of refusals: a path, a method, the provider's own secret, the caller's, parameters, and last
// whether there is a snapshot.
func TestOrderOfRefusals(t *testing.T) {
	tests := []struct {
		name           string
		secret         string // of the provider
		known          bool   // it has a snapshot
		method, target string
		given          []string
		status         int
		header, value  string
	}{
		{"another path", secret, true, "GET", "/relay/incidents/", nil, 404, "", ""},
		{"the root", secret, true, "GET", "/", nil, 404, "", ""},
		{"a path that only looks like it", secret, true, "GET", "//relay/incidents?" + good, []string{secret}, 404, "", ""},
		{"another method", secret, true, "POST", PathIncidents + "?" + good, []string{secret}, 405, "Allow", "GET, HEAD"},
		{"another method, raw", secret, true, "DELETE", PathIncidentsRaw, nil, 405, "Allow", "GET, HEAD"},
		{"no secret configured", "", true, "GET", PathIncidents + "?" + good, []string{secret}, 503, "Retry-After", ""},
		{"no secret configured, and none given", "", true, "GET", PathIncidents + "?" + good, nil, 503, "", ""},
		{"no secret configured, and an empty one given", "", true, "GET", PathIncidents + "?" + good, []string{""}, 503, "", ""},
		{"no secret given", secret, true, "GET", PathIncidents + "?" + good, nil, 401, "Www-Authenticate", AuthHeader},
		{"an empty secret", secret, true, "GET", PathIncidents + "?" + good, []string{""}, 401, "", ""},
		{"a wrong secret", secret, true, "GET", PathIncidents + "?" + good, []string{strings.ToUpper(secret)}, 401, "", ""},
		{"half a secret", secret, true, "GET", PathIncidents + "?" + good, []string{secret[:32]}, 401, "", ""},
		{"two secrets", secret, true, "GET", PathIncidents + "?" + good, []string{secret, secret}, 401, "", ""},
		{"a wrong secret with wrong parameters", secret, true, "GET", PathIncidents, []string{"x"}, 401, "", ""},
		{"wrong parameters and no snapshot", secret, false, "GET", PathIncidents, []string{secret}, 400, "", ""},
		{"no snapshot", secret, false, "GET", PathIncidents + "?" + good, []string{secret}, 503, "Retry-After", "5"},
		{"well", secret, true, "GET", PathIncidents + "?" + good, []string{secret}, 200, "Content-Type", "application/json"},
		{"well, raw", secret, true, "GET", PathIncidentsRaw + "?" + good, []string{secret}, 200, "Cache-Control", "no-store"},
		{"well, the head alone", secret, true, "HEAD", PathIncidents + "?" + good, []string{secret}, 200, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(tt.secret)
			if tt.known {
				b.know(t, `[]`)
			}
			got := b.ask(tt.method, tt.target, tt.given...)
			if got.Code != tt.status || tt.header != "" && got.Header().Get(tt.header) != tt.value {
				t.Errorf("%d with %v, want %d with %s %q", got.Code, got.Header(), tt.status, tt.header, tt.value)
			}
			if kind := got.Header().Get("Content-Type"); tt.status >= 400 && kind != "application/problem+json" {
				t.Errorf("Content-Type %q", kind)
			}
		})
	}
}

// TestParameters checks that an answer lists all faults, by the parameter's name and without its value.
func TestParameters(t *testing.T) {
	tests := []struct {
		query string
		want  []string // field and code; nil: accepted
	}{
		{good, nil},
		{"lat=-90&lng=-180&radius=100&tenant=x", nil},
		{"lat=90&lng=180&radius=50000&tenant=" + strings.Repeat("ü", 64), nil},
		{"lat=5.2e1&lng=-0&radius=1e3&tenant=x&colour=blue&colour=red", nil},
		{"", []string{"lat missing", "lng missing", "radius missing", "tenant missing"}},
		{"lat=&lng=&radius=&tenant=", []string{"lat missing", "lng missing", "radius missing", "tenant missing"}},
		{"lat=90.0001&lng=180.0001&radius=99.99&tenant=" + strings.Repeat("a", 65), []string{"lat out_of_range", "lng out_of_range", "radius out_of_range", "tenant invalid"}},
		{"lat=-90.0001&lng=-180.0001&radius=50000.01&tenant=%FF", []string{"lat out_of_range", "lng out_of_range", "radius out_of_range", "tenant invalid"}},
		{"lat=NaN&lng=Inf&radius=0x1p10&tenant=x", []string{"lat not_a_number", "lng not_a_number", "radius not_a_number"}},
		{"lat=nan&lng=-infinity&radius=1_000&tenant=x", []string{"lat not_a_number", "lng not_a_number", "radius not_a_number"}},
		{"lat=1e400&lng=1,5&radius=+500&tenant=x", []string{"lat not_a_number", "lng not_a_number", "radius not_a_number"}},
		{"lat=1&lat=1&lng=1&lng=2&radius=500&radius=500&tenant=x&tenant=x", []string{"lat repeated", "lng repeated", "radius repeated", "tenant repeated"}},
		{"LAT=1&lng=1&radius=500&tenant=x", []string{"lat missing"}},
		{good + "&a=%zz", []string{"query malformed"}},
		{good + "&a;b", []string{"query malformed"}},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			b := newBench(secret)
			b.know(t, `[]`)
			for _, path := range []string{PathIncidents, PathIncidentsRaw} {
				got := b.ask("GET", path+"?"+tt.query, secret)
				var p problem
				if err := json.Unmarshal(got.Body.Bytes(), &p); err != nil {
					t.Fatal(err)
				}
				var faults []string
				for _, f := range p.Errors {
					faults = append(faults, f.Field+" "+f.Code)
				}
				status := http.StatusOK
				if tt.want != nil {
					status = http.StatusBadRequest
				}
				if diff := cmp.Diff(tt.want, faults); diff != "" || got.Code != status {
					t.Errorf("%s: %d, want %d (-want +got):\n%s", path, got.Code, status, diff)
				}
			}
		})
	}
}

// TestFetchedAt checks that an answer states when its snapshot was read, that a snapshot that is set again gets the new time, and
// that answers end after 5 minutes without a new one.
func TestFetchedAt(t *testing.T) {
	b := newBench(secret)
	fetched := func() string {
		t.Helper()
		got := b.ask("GET", PathIncidents+"?"+good, secret)
		var answer struct {
			At string `json:"fetched_at_utc"`
		}
		if err := json.Unmarshal(got.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(got.Code, " ", answer.At, got.Header().Get("Retry-After"))
	}
	rows, err := b.Decode([]byte(`[]`))
	if err != nil {
		t.Fatal(err)
	}
	b.Set(rows, noon.Add(-time.Nanosecond).In(time.FixedZone("east", 3600)))
	steps := []struct {
		after time.Duration
		set   bool
		want  string
	}{
		{0, false, "200 2026-11-21T11:59:59.999Z"},
		{5*time.Minute - time.Millisecond, false, "200 2026-11-21T11:59:59.999Z"},
		{5 * time.Minute, false, "503 5"},
		{5 * time.Minute, true, "200 2026-11-21T12:05:00.000Z"},
		{10 * time.Minute, false, "200 2026-11-21T12:05:00.000Z"},
	}
	for _, s := range steps {
		b.clock = noon.Add(s.after)
		if s.set {
			b.Set(rows, b.clock)
		}
		if got := fetched(); got != s.want {
			t.Errorf("after %v: %s, want %s", s.after, got, s.want)
		}
	}
}

// TestCircle checks that an answer has the rows within the radius, and no others, anywhere on the globe.
func TestCircle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		center := geo.Point{Lat: rapid.Float64Range(-90, 90).Draw(t, "lat"), Lng: rapid.Float64Range(-180, 180).Draw(t, "lng")}
		radius := rapid.Float64Range(minRadius, maxRadius).Draw(t, "radius")
		var rows []string
		var want []string
		for i := range 20 {
			p := geo.Point{
				Lat: min(90, max(-90, center.Lat+rapid.Float64Range(-0.6, 0.6).Draw(t, "north"))),
				Lng: center.Lng + rapid.Float64Range(-0.6, 0.6).Draw(t, "east"),
			}
			if p.Lng > 180 {
				p.Lng -= 360
			}
			if p.Lng < -180 {
				p.Lng += 360
			}
			rows = append(rows, fmt.Sprintf(`{"external_id":"%d","kind":"alert.police","lat":%v,"lng":%v,"properties":{}}`, i, p.Lat, p.Lng))
			if geo.Distance(p, center) <= radius {
				want = append(want, fmt.Sprint(i))
			}
		}
		b := newBench(secret)
		made, err := b.Decode([]byte("[" + strings.Join(rows, ",") + "]"))
		if err != nil {
			t.Fatal(err)
		}
		b.Set(made, noon)
		query := url.Values{"lat": {fmt.Sprint(center.Lat)}, "lng": {fmt.Sprint(center.Lng)}, "radius": {fmt.Sprint(radius)}, "tenant": {"x"}}.Encode()
		var entities struct {
			Entities []struct {
				ID string `json:"external_id"`
			} `json:"entities"`
		}
		var raw struct {
			Alerts []struct {
				ID string `json:"uuid"`
			} `json:"alerts"`
		}
		if err := json.Unmarshal(b.ask("GET", PathIncidents+"?"+query, secret).Body.Bytes(), &entities); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b.ask("GET", PathIncidentsRaw+"?"+query, secret).Body.Bytes(), &raw); err != nil {
			t.Fatal(err)
		}
		var got, gotRaw []string
		for _, e := range entities.Entities {
			got = append(got, e.ID)
		}
		for _, a := range raw.Alerts {
			gotRaw = append(gotRaw, a.ID)
		}
		if !slices.Equal(got, want) || !slices.Equal(gotRaw, want) {
			t.Fatalf("got %v and raw %v, want %v", got, gotRaw, want)
		}
	})
}

// TestSilence checks that no part of a request gets into the log or into an error's body (D13.1).
func TestSilence(t *testing.T) {
	b := newBench(secret)
	b.know(t, `[]`)
	b.log.Reset()
	for _, query := range []string{"lat=52.371&lng=4.9123&radius=5000&tenant=vehicle", "lat=952.371&lng=-994.9123&radius=7&tenant=vehicle&tenant=vehicle", "lat=x52.371&lng=4.9123,&tenant="} {
		for _, given := range []string{secret, "guessed"} {
			got := b.ask("GET", PathIncidents+"?"+query, given)
			for _, private := range []string{"2.371", "4.9123", "vehicle", secret, "guessed"} {
				if got.Code != http.StatusOK && strings.Contains(got.Body.String(), private) {
					t.Errorf("an answer tells %q: %s", private, got.Body)
				}
			}
		}
	}
	if b.log.Len() > 0 {
		t.Errorf("requests are logged: %s", &b.log)
	}
}

// FuzzQuery checks that no query breaks the provider, and that every refusal has a reason.
func FuzzQuery(f *testing.F) {
	f.Add(good)
	f.Add("lat=0x1p-2&lng=NaN&radius=1e400&tenant=%ff")
	f.Add("lat=1&lat=2;%zz=&&=&tenant")
	f.Fuzz(func(t *testing.T, query string) {
		c, wrong := readCircle(query)
		if wrong == nil && !(c.chord > 0 && c.chord < 1e-3) {
			t.Errorf("a circle of %v", c)
		}
		for _, fault := range wrong {
			if fault.Field == "" || fault.Code == "" || fault.Message == "" {
				t.Errorf("%+v", fault)
			}
		}
	})
}

// BenchmarkIncidents measures an answer of a provider with as many rows as it accepts, of which about a tenth are near.
func BenchmarkIncidents(b *testing.B) {
	var rows strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&rows, `,{"external_id":"row-%d","kind":"alert.police","lat":%v,"lng":4.9,"properties":{"street":"Damrak"}}`, i, 52+float64(i)*1e-3)
	}
	p := newBench(secret)
	p.know(b, "["+rows.String()[1:]+"]")
	for b.Loop() {
		if got := p.ask("GET", PathIncidents+"?lat=54&lng=4.9&radius=27800&tenant=x", secret); got.Code != http.StatusOK {
			b.Fatal(got.Code)
		}
	}
}
