package httpapi_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"wayside/internal/entities/catalog"
	"wayside/internal/entities/index"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/http/httpapi"
	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
)

func TestNearbyReadShape(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	f := httpapitest.Feed(1, nil)
	police := httpapitest.Entity(t, f, `he said "\ü"`, "alert.police", 52.37, 4.9)
	camera := httpapitest.Entity(t, f, "cam", "camera.speed", 52.3701, 4.9)
	camera.SeenAt = httpapitest.Start.Add(-90*24*time.Hour + 7*time.Millisecond)
	s.AddFeed(f, police, camera)
	got := s.Near("lat=52.37&lng=4.9&radius=100")
	want := []map[string]any{
		{
			"id": mapdata.EntityID(f.ID.SourceID(), police.ExternalID), "layer_slug": "layer-1", "kind_id": "alert.police",
			"external_id": police.ExternalID, "geom": map[string]any{"type": "Point", "coordinates": []any{4.9, 52.37}}, "geom_line": nil,
			"first_seen_at": "2026-11-21T08:00:00.000Z", "last_seen_at": "2026-11-21T08:00:00.000Z", "expires_at": "2026-11-21T09:00:00.000Z",
			"status": "reported", "confidence": 0.5, "confirm_count": 0.0, "dispute_count": 0.0, "properties": map[string]any{"street": "A1"},
		},
		{
			"id": mapdata.EntityID(f.ID.SourceID(), "cam"), "layer_slug": "layer-1", "kind_id": "camera.speed",
			"external_id": "cam", "geom": map[string]any{"type": "Point", "coordinates": []any{4.9, 52.3701}}, "geom_line": nil,
			"first_seen_at": "2026-11-21T08:00:00.000Z", "last_seen_at": "2026-08-23T08:00:00.007Z", "expires_at": nil,
			"status": "reported", "confidence": 0.5, "confirm_count": 0.0, "dispute_count": 0.0, "properties": map[string]any{"street": "A1"},
		},
	}
	if diff := cmp.Diff(want, got.Entities); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"tesla"}, got.NetworksApplied); diff != "" {
		t.Error(diff)
	}
	wantSources := []map[string]any{{
		"id": string(f.ID.SourceID()), "status": "offline", "last_success_at": nil, "recent": map[string]any{"ok": 0.0, "fail": 0.0, "total": 0.0},
	}}
	if diff := cmp.Diff(wantSources, got.Sources); diff != "" {
		t.Error(diff)
	}
	if got.Truncated != nil || got.FetchedAt != "2026-11-21T08:00:00.000Z" {
		t.Errorf("truncated %v, fetched at %q", got.Truncated, got.FetchedAt)
	}
}

// TestNearbyParameters checks D4.1 to D4.6 and D4.11: one response lists all wrong parameters.
func TestNearbyParameters(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	f := httpapitest.Feed(1, nil)
	s.AddFeed(f, httpapitest.Entity(t, f, "a", "alert.hazard.ice", 52, 4), httpapitest.Entity(t, f, "b", "camera.speed", 52, 4))
	const here = "lat=52&lng=4&radius=100"
	source := string(f.ID.SourceID())
	tests := []struct {
		name, query string
		wrong       []string // parameter and code; nil: fine
		found       int
	}{
		{"plain", here, nil, 2},
		{"nothing given", "", []string{"lat missing", "lng missing", "radius missing"}, 0},
		{
			"all wrong at once", "lat=91&lng=x&radius=0&limit=0&since=now&kinds=moose&bbox=1,2,3,4&sources=moose",
			[]string{"bbox bbox_not_accepted", "lat out_of_range", "lng not_a_number", "radius out_of_range", "kinds unknown_kind", "since invalid_time", "limit invalid_limit", "sources unknown_source"},
			0,
		},
		{"bbox beside the rest", here + "&bbox=", []string{"bbox bbox_not_accepted"}, 0},
		{"edges of the globe", "lat=-90&lng=180&radius=1", nil, 0},
		{"NaN", "lat=NaN&lng=4&radius=1", []string{"lat not_a_number"}, 0},
		{"infinity", "lat=52&lng=Inf&radius=1", []string{"lng not_a_number"}, 0},
		{"hexadecimal", "lat=0x1p4&lng=4&radius=1", []string{"lat not_a_number"}, 0},
		{"space", "lat=%2052&lng=4&radius=1", []string{"lat not_a_number"}, 0},
		{"beyond every number", "lat=1e999&lng=4&radius=1", []string{"lat not_a_number"}, 0},
		{"exponent", "lat=5.2e1&lng=4&radius=1e2", nil, 2},
		{"longest radius", "lat=52&lng=4&radius=50000", nil, 2},
		{"too long a radius", "lat=52&lng=4&radius=50000.1", []string{"radius out_of_range"}, 0},
		{"negative radius", "lat=52&lng=4&radius=-5", []string{"radius out_of_range"}, 0},
		{"repeated", here + "&lat=52", []string{"lat repeated"}, 0},
		{"repeated kinds", here + "&kinds=camera.speed&kinds=camera.speed", []string{"kinds repeated"}, 0},
		{"unknown parameter", here + "&moose=1&moose=2", nil, 2},
		{"limit", here + "&limit=1", nil, 1},
		{"huge limit", here + "&limit=99999999999999999999", nil, 2},
		{"limit 1001", here + "&limit=1001", nil, 2},
		{"negative limit", here + "&limit=-99999999999999999999", []string{"limit invalid_limit"}, 0},
		{"fractional limit", here + "&limit=1.5", []string{"limit invalid_limit"}, 0},
		{"kind with subtypes", here + "&kinds=alert.hazard", nil, 1},
		{"two kinds", here + "&kinds=alert.hazard,camera.speed", nil, 2},
		{"empty kinds", here + "&kinds=", []string{"kinds empty"}, 0},
		{"source", here + "&sources=" + source, nil, 2},
		{"source twice in both spellings", here + "&sources=" + source + "&sources[]=" + source + "&sources%5B%5D=" + source, nil, 2},
		{"empty source", here + "&sources=", []string{"sources empty"}, 0},
		{"empty source list", here + "&sources[]=", []string{"sources empty"}, 0},
		{"unknown source", here + "&sources=" + source + ",feed:0", []string{"sources unknown_source"}, 0},
		{"layer", here + "&layers=layer-1", nil, 2},
		{"unknown layer", here + "&layers=moose", nil, 0},
		{"empty layers", here + "&layers=", nil, 0},
		{"source and layer", here + "&layers=layer-1&sources=" + source, nil, 2},
		{"source and another layer", here + "&layers=moose&sources=" + source, nil, 0},
		{"since before", here + "&since=2026-11-21T07:59:59Z", nil, 2},
		{"since in lower case", here + "&since=2026-11-21t07:59:59z", nil, 2},
		{"since, with an offset", here + "&since=2026-11-21T08:59:59%2B01:00", nil, 2},
		{"since the change", here + "&since=2026-11-21T08:00:00Z", nil, 0},
		{"since, no time", here + "&since=2026-11-21", []string{"since invalid_time"}, 0},
		{"broken escape", here + "&x=%zz", []string{" malformed_query"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := s.Get("/v2/entities/nearby?" + tt.query)
			if tt.wrong == nil {
				var a httpapitest.Answer
				if err := json.Unmarshal(body, &a); err != nil || resp.StatusCode != http.StatusOK || len(a.Entities) != tt.found {
					t.Errorf("%s, want %d entities: %s", resp.Status, tt.found, body)
				}
				return
			}
			var p struct {
				Type, Title, Detail string
				Status              int
				Errors              []struct{ Parameter, Code, Message string }
				ValidIDs            []string `json:"valid_ids"`
			}
			if err := json.Unmarshal(body, &p); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			var wrong []string
			for _, e := range p.Errors {
				wrong = append(wrong, e.Parameter+" "+e.Code)
				if e.Message == "" {
					t.Errorf("%s has no message", e.Code)
				}
			}
			if diff := cmp.Diff(tt.wrong, wrong); diff != "" {
				t.Error(diff)
			}
			if resp.StatusCode != http.StatusBadRequest || p.Status != http.StatusBadRequest || p.Title == "" || p.Type == "" ||
				resp.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s %q: %s", resp.Status, resp.Header.Get("Content-Type"), body)
			}
			if strings.Contains(tt.query, "moose") && !slices.Contains(p.ValidIDs, "camera.speed") {
				t.Errorf("valid ids: %v", p.ValidIDs)
			}
			if strings.Contains(strings.Join(tt.wrong, ""), "unknown_source") && !slices.Contains(p.ValidIDs, source) {
				t.Errorf("valid ids: %v", p.ValidIDs)
			}
		})
	}
}

// TestNearbyHidesPrivateAndPendingFeeds checks D4.8 and the states of a feed: no parameter shows another account's private or
// pending feed.
func TestNearbyHidesPrivateAndPendingFeeds(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	hidden := []*mapdata.Feed{
		httpapitest.Feed(1, func(f *mapdata.Feed) { f.Visibility = mapdata.Private }),
		httpapitest.Feed(2, func(f *mapdata.Feed) { f.ReviewState = mapdata.Pending }),
		httpapitest.Feed(3, func(f *mapdata.Feed) { f.ReviewState = mapdata.Rejected }),
		httpapitest.Feed(5, func(f *mapdata.Feed) { f.Active = false }), // by a person (D4.16)
	}
	for _, f := range hidden {
		s.AddFeed(f, httpapitest.Entity(t, f, "secret", "camera.speed", 52, 4))
	}
	off := httpapitest.Feed(4, func(f *mapdata.Feed) {
		f.Direction, f.Active, f.SnapshotAt, f.Polling.ConsecutiveFailures = mapdata.Pull, false, httpapitest.Start, mapdata.MaxFailures
	})
	s.AddFeed(off, httpapitest.Entity(t, off, "deactivated", "camera.speed", 52, 4))
	const here = "lat=52&lng=4&radius=100"
	for _, query := range []string{here, here + "&layers=layer-1,layer-2,layer-3,layer-4,layer-5"} {
		if diff := cmp.Diff([]string{"deactivated"}, s.Near(query).ExternalIDs()); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	for _, f := range hidden {
		resp, body := s.Get("/v2/entities/nearby?" + here + "&sources=" + url.QueryEscape(string(f.ID.SourceID())))
		if resp.StatusCode != http.StatusBadRequest || strings.Count(string(body), string(f.ID.SourceID())) != 1 {
			t.Errorf("a hidden source answers %s: %s", resp.Status, body)
		}
	}
	resp, body := s.Get("/v2/sources")
	if strings.Contains(string(body), "feed:") || resp.Header.Get("Cache-Control") != "public, max-age=60" {
		t.Errorf("the catalogue lists what is not public, approved and active: %s", body)
	}
}

func TestNearbyNetworksOfAGuest(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	f := httpapitest.Feed(1, nil)
	charger := func(id, network string) mapdata.Entity {
		e := httpapitest.Entity(t, f, id, "charger.supercharger", 52, 4)
		e.Network = network
		return e
	}
	camera := httpapitest.Entity(t, f, "camera", "camera.speed", 52, 4)
	s.AddFeed(f, charger("none", ""), charger("tesla", "tesla"), charger("other", "fastned"), camera)
	for _, query := range []string{"", "&networks=fastned", "&networks=fastned,tesla", "&networks="} {
		got := s.Near("lat=52&lng=4&radius=10" + query)
		ids := got.ExternalIDs()
		slices.Sort(ids)
		if diff := cmp.Diff([]string{"camera", "none", "tesla"}, ids); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
		if diff := cmp.Diff([]string{"tesla"}, got.NetworksApplied); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
}

func TestNearbyTruncates(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	f := httpapitest.Feed(1, nil)
	var all []mapdata.Entity
	for i := range 1100 {
		all = append(all, httpapitest.Entity(t, f, fmt.Sprint(i), "camera.speed", 52, 4))
	}
	s.AddFeed(f, all...)
	for query, want := range map[string]int{"": 200, "&limit=7": 7, "&limit=1000": 1000, "&limit=5000": 1000} {
		got := s.Near("lat=52&lng=4&radius=10" + query)
		if len(got.Entities) != want || got.Truncated == nil || !*got.Truncated {
			t.Errorf("%q: %d entities, truncated %v", query, len(got.Entities), got.Truncated)
		}
	}
}

// TestNearbyCaching checks D4.13: the ETag covers everything but the response's time.
func TestNearbyCaching(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	f := httpapitest.Feed(1, nil)
	e := httpapitest.Entity(t, f, "a", "alert.police", 52, 4)
	s.AddFeed(f, e)
	const path = "/v2/entities/nearby?lat=52&lng=4&radius=10"
	first, _ := s.Get(path)
	tag := first.Header.Get("ETag")
	if !regexp.MustCompile(`^W/"[0-9a-z]+"$`).MatchString(tag) {
		t.Fatalf("ETag %q", tag)
	}
	if got := first.Header.Get("Cache-Control"); got != "public, max-age=10" {
		t.Errorf("Cache-Control %q", got)
	}
	if got := first.Header.Get("Vary"); got != "Accept, Accept-Encoding, Authorization, Cookie" {
		t.Errorf("Vary %q", got)
	}
	s.Advance(time.Second)
	for _, match := range []string{tag, strings.TrimPrefix(tag, "W/"), `"x", ` + tag, "*"} {
		again, body := s.Get(path, "If-None-Match", match)
		if again.StatusCode != http.StatusNotModified || len(body) != 0 || again.Header.Get("ETag") != tag {
			t.Errorf("If-None-Match %s: %s, %d bytes", match, again.Status, len(body))
		}
	}
	e.SeenAt = httpapitest.Start.Add(time.Second)
	s.AddFeed(f, e)
	if again, _ := s.Get(path, "If-None-Match", tag); again.StatusCode != http.StatusOK {
		t.Errorf("after a refresh: %s", again.Status)
	}
}

func TestNearbyCompresses(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	f := httpapitest.Feed(1, nil)
	var all []mapdata.Entity
	for i := range 50 {
		all = append(all, httpapitest.Entity(t, f, fmt.Sprint(i), "camera.speed", 52, 4))
	}
	s.AddFeed(f, all...)
	const path = "/v2/entities/nearby?lat=52&lng=4&radius=10"
	_, plain := s.Get(path)
	for accept, want := range map[string]string{
		"gzip": "gzip", "zstd": "zstd", "gzip, zstd": "zstd", "gzip;q=1, zstd;q=0.5": "gzip", "*": "zstd", "*;q=0.1, zstd;q=0": "gzip",
		"br": "", "gzip;q=0": "", "identity": "", "gzip;q=x": "",
	} {
		resp, body := s.Get(path, "Accept-Encoding", accept)
		if got := resp.Header.Get("Content-Encoding"); got != want {
			t.Errorf("%q is answered in %q, want %q", accept, got, want)
			continue
		}
		switch want {
		case "gzip":
			z, err := gzip.NewReader(strings.NewReader(string(body)))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		case "zstd":
			z, err := zstd.NewReader(nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, err = z.DecodeAll(body, nil); err != nil {
				t.Fatal(err)
			}
			z.Close()
		}
		if string(body) != string(plain) {
			t.Errorf("%q: another body", accept)
		}
	}
	if resp, _ := s.Get("/v2/entities/nearby?lat=10&lng=4&radius=10", "Accept-Encoding", "gzip"); resp.Header.Get("Content-Encoding") != "" {
		t.Error("a small answer is compressed")
	}
}

// TestReadLimits checks D4.12 on a clock that the test advances.
func TestReadLimits(t *testing.T) {
	s := httpapitest.NewReadService(t, func(d *public.Deps) {
		d.Limits.GuestReads = 60
		d.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}
	})
	read := func(forwarded string) *http.Response {
		resp, _ := s.Get("/v2/sources", "X-Forwarded-For", forwarded)
		return resp
	}
	for i := range 60 {
		if resp := read("192.0.2.1"); resp.StatusCode != http.StatusOK {
			t.Fatalf("read %d: %s", i+1, resp.Status)
		}
	}
	resp := read("192.0.2.1")
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "1" {
		t.Errorf("read 61: %s, Retry-After %q", resp.Status, resp.Header.Get("Retry-After"))
	}
	if got := resp.Header.Get("RateLimit-Policy"); got != `"default";q=60;w=60` {
		t.Errorf("RateLimit-Policy %q", got)
	}
	if got := resp.Header.Get("RateLimit"); got != `"default";r=0;t=60` {
		t.Errorf("RateLimit %q", got)
	}
	// A client cannot choose its address: the header that it sends comes before the addresses that the proxies add.
	if resp := read("203.0.113.9, 192.0.2.1, 10.0.0.7"); resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("with a forged first hop: %s", resp.Status)
	}
	if resp := read("192.0.2.2"); resp.StatusCode != http.StatusOK {
		t.Errorf("another client: %s", resp.Status)
	}
	for i := range 60 {
		read(fmt.Sprintf("2001:db8:0:1::%d", i+1))
	}
	if resp := read("2001:db8:0:1:ffff::1"); resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the same /64: %s", resp.Status)
	}
	if resp := read("2001:db8:0:2::1"); resp.StatusCode != http.StatusOK {
		t.Errorf("another /64: %s", resp.Status)
	}
	s.Advance(time.Second)
	if resp := read("192.0.2.1"); resp.StatusCode != http.StatusOK {
		t.Errorf("a second later: %s", resp.Status)
	}
}

func TestUnknownPathsAndMethods(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	if resp, body := s.Get("/v2/moose"); resp.StatusCode != http.StatusNotFound || resp.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s: %s", resp.Status, body)
	}
	resp, err := http.Post(s.Server.URL+"/v2/sources", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "GET, HEAD" || resp.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s, Allow %q", resp.Status, resp.Header.Get("Allow"))
	}
}

func TestKindsAndIcons(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	_, body := s.Get("/v2/kinds")
	var listing struct {
		Kinds []struct {
			ID, Group, Label string
			IconURL          string `json:"icon_url"`
			Default          *int64 `json:"default_ttl_seconds"`
			Longest          *int64 `json:"longest_ttl_seconds"`
		}
	}
	if err := json.Unmarshal(body, &listing); err != nil {
		t.Fatal(err)
	}
	if len(listing.Kinds) != mapdata.KindCount {
		t.Fatalf("%d kinds", len(listing.Kinds))
	}
	for _, k := range listing.Kinds {
		path, ok := strings.CutPrefix(k.IconURL, "http://wayside.test")
		if !ok {
			t.Errorf("%s: icon %q", k.ID, k.IconURL)
		}
		if resp, _ := s.Get(path); resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "image/svg+xml" {
			t.Errorf("%s: %s", path, resp.Status)
		}
		kind, _ := mapdata.ParseKind(k.ID)
		if (k.Default == nil) != kind.Persistent() || k.Default != nil && *k.Default != int64(kind.Lifetime(0).Seconds()) {
			t.Errorf("%s: default lifetime %v", k.ID, k.Default)
		}
	}
	if resp, _ := s.Get("/v2/icons/moose.svg"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown icon: %s", resp.Status)
	}
}

func FuzzNearbyQuery(f *testing.F) {
	for _, q := range []string{"lat=52&lng=4&radius=100", "lat=&lng=%00&radius=1e5", "sources[]=a&sources=b&kinds=,&limit=-0&since=2026-11-21T08:00:00.123456789Z", "bbox", "networks=a,b&layers=x"} {
		f.Add(q)
	}
	ix, catalogue := index.New(wire.EncodeEntity), catalog.New(nil)
	now := func() time.Time { return httpapitest.Start }
	handler := public.New(public.Deps{
		BaseURL: "http://wayside.test", Now: now, Log: slog.New(slog.DiscardHandler), Ready: func() error { return nil },
		Nearby: nearby.New(nearby.Config{Index: ix, Catalog: catalogue, Primary: "tesla", Now: now}), Sources: catalogue,
		Limits: httpapi.Limits{}, Buckets: ratelimit.NewMemory(10),
	})
	f.Fuzz(func(t *testing.T, query string) {
		req := httptest.NewRequest(http.MethodGet, "/v2/entities/nearby", nil)
		req.URL.RawQuery = query
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, req)
		if rec.Code != http.StatusOK && rec.Code != http.StatusBadRequest {
			t.Errorf("%q: %d: %s", query, rec.Code, rec.Body)
		}
		if !json.Valid(rec.Body.Bytes()) {
			t.Errorf("%q: no JSON: %s", query, rec.Body)
		}
	})
}
