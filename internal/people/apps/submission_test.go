package apps

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
)

func rules(t *testing.T, base string) *Rules {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	return &Rules{
		BaseURL: u, DevOrigins: []string{"http://localhost:9000"},
		CheckURL: func(text string) (string, error) {
			u, err := safehttp.CheckURL(text)
			if err != nil {
				return "", err
			}
			return u.String(), nil
		},
		CheckHost: safehttp.CheckHost,
	}
}

// submit parses a submission that is valid except for the given members.
func submit(t *testing.T, r *Rules, change map[string]any) (*mapdata.AppFields, []string) {
	t.Helper()
	all := map[string]any{
		"name": "Trip", "summary": "A log", "description": "Keeps a log.\nOf trips.", "kinds": []string{"widget"},
		"widget_url": "https://apps.example.org/trip", "website_url": "https://example.org/", "domains": []string{"API.example.org"},
		"cost": map[string]any{"model": "free"},
	}
	maps.Copy(all, change)
	members := make(map[string]jsontext.Value)
	for name, value := range all {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		members[name] = text
	}
	var errors mapdata.FieldErrors
	fields := r.ParseSubmission(members, &errors)
	return fields, codesOf(errors)
}

func TestD16_1Submission(t *testing.T) {
	r := rules(t, "https://map.example.com")
	long := func(n int) string { return strings.Repeat("ä", n) }
	feed := "0192d3e4-5f60-7a1b-8c2d-3e4f5a6b7c8d"
	list := func(n int) (names []string) {
		for i := range n {
			names = append(names, string(rune('a'+i))+".example.org")
		}
		return names
	}
	for _, tt := range []struct {
		change map[string]any
		want   []string
	}{
		{nil, nil},
		{map[string]any{"name": long(60), "summary": long(140), "description": long(4000), "changelog": long(1000), "domains": list(20)}, nil},
		{map[string]any{"name": nil}, []string{"name missing"}},
		{map[string]any{"name": " "}, []string{"name missing"}},
		{map[string]any{"name": long(61), "summary": long(141), "description": long(4001), "changelog": long(1001)}, []string{"name too_long", "summary too_long", "description too_long", "changelog too_long"}},
		{map[string]any{"name": "a\u202eb"}, []string{"name invalid"}},
		{map[string]any{"name": 1}, []string{"name invalid"}},
		{map[string]any{"kinds": nil}, []string{"kinds missing"}},
		{map[string]any{"kinds": []string{}}, []string{"kinds missing"}},
		{map[string]any{"kinds": []string{"game"}}, []string{"kinds[0] invalid"}},
		{map[string]any{"kinds": []string{"widget", "widget"}}, []string{"kinds[1] duplicate"}},
		{map[string]any{"kinds": []string{"a", "b", "c", "d", "e"}}, []string{"kinds too_many"}},
		{map[string]any{"kinds": []string{"notifications"}, "widget_url": nil}, []string{"widget_url missing"}},
		{map[string]any{"kinds": []string{"pins"}, "feed_ids": []string{feed}}, []string{"widget_url not_allowed"}},
		{map[string]any{"kinds": []string{"pins"}, "feed_ids": []string{feed}, "widget_url": nil}, nil},
		{map[string]any{"kinds": []string{"custom_layer", "widget"}}, []string{"feed_ids missing"}},
		{map[string]any{"feed_ids": []string{feed}}, []string{"feed_ids not_allowed"}},
		{map[string]any{"kinds": []string{"pins"}, "feed_ids": []string{"x"}, "widget_url": nil}, []string{"feed_ids[0] unknown_feed"}},
		{map[string]any{"website_url": nil}, []string{"website_url missing"}},
		{map[string]any{"website_url": "javascript:alert(1)"}, []string{"website_url invalid"}},
		{map[string]any{"privacy_url": "http://example.org/"}, []string{"privacy_url invalid"}},
		{map[string]any{"domains": list(21)}, []string{"domains too_many"}},
		{map[string]any{"domains": []string{"192.0.2.1", "a/b", "localhost", "x.example.org:443"}}, []string{"domains[0] invalid", "domains[1] invalid", "domains[2] invalid", "domains[3] invalid"}},
		{map[string]any{"cost": nil}, []string{"cost missing"}},
		{map[string]any{"cost": "free"}, []string{"cost invalid"}},
		{map[string]any{"cost": map[string]any{"model": "barter"}}, []string{"cost.model invalid"}},
		{map[string]any{"cost": map[string]any{"model": "one_time", "note": long(200)}}, nil},
		{map[string]any{"cost": map[string]any{"model": "one_time", "note": long(201), "price": 3}}, []string{"cost.note too_long", "cost.price unknown_field"}},
		{map[string]any{"owner": "me"}, []string{"owner unknown_field"}},
	} {
		if _, got := submit(t, r, tt.change); !slices.Equal(got, tt.want) {
			t.Errorf("%.200v: got %q, want %q", tt.change, got, tt.want)
		}
	}
	if f, _ := submit(t, r, nil); f.Domains[0] != "api.example.org" || f.Description != "Keeps a log.\nOf trips." {
		t.Errorf("%+v", f)
	}
}

func TestD16_2WidgetURL(t *testing.T) {
	for base, urls := range map[string]map[string]string{
		"https://map.example.com": {
			"https://apps.example.org/x?y": "", "https://other.com/": "", "http://localhost:9000/trip": "",
			"https://map.example.com/app": "same_site", "https://map.example.com:8443/": "same_site", "https://example.com/": "same_site",
			"https://apps.example.com/": "same_site", "https://MAP.example.com./": "same_site",
			"http://apps.example.org/": "invalid", "https://192.0.2.1/": "invalid", "https://[2001:db8::1]/": "invalid", "https://localhost/": "invalid",
			"https://me@apps.example.org/": "invalid", "https://localhost:9000/": "invalid", "http://localhost:9001/": "invalid",
			"http://me@localhost:9000/": "invalid", "javascript:alert(1)": "invalid", "https://apps.example.org/" + strings.Repeat("x", 2048): "invalid",
		},
		"https://someone.github.io": {"https://somebody.github.io/": "", "https://someone.github.io/app": "same_site"},
		"https://wayside.co.uk":     {"https://apps.co.uk/": "", "https://apps.wayside.co.uk/": "same_site"},
		"http://127.0.0.1:8080":     {"http://localhost:9000/": "", "https://apps.example.org/": ""},
	} {
		for address, code := range urls {
			var want []string
			if code != "" {
				want = []string{"widget_url " + code}
			}
			if _, got := submit(t, rules(t, base), map[string]any{"widget_url": address}); !slices.Equal(got, want) {
				t.Errorf("%s at %s: got %q, want %q", address, base, got, want)
			}
		}
	}
}

// TestD16_2NeverOneOfOurNames checks that another name of this service counts as its site too, even for origins for developing
// apps.
func TestD16_2NeverOneOfOurNames(t *testing.T) {
	r := rules(t, "http://localhost:8080")
	r.Hosts, r.DevOrigins = []string{"*", "map.example.net"}, []string{"http://localhost:8080", "http://localhost:9000", "http://127.0.0.1:9000"}
	for address, want := range map[string][]string{
		"https://apps.example.net/": {"widget_url same_site"}, "https://map.example.net:8443/": {"widget_url same_site"}, "https://example.org/": nil,
		"http://localhost:8080/": {"widget_url same_site"}, "http://localhost:9000/": {"widget_url same_site"}, "http://127.0.0.1:9000/": nil,
	} {
		if _, got := submit(t, r, map[string]any{"widget_url": address}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

func TestD16_2FrameRefusal(t *testing.T) {
	for base, pages := range map[string]map[string]bool{
		"https://map.example.com": {
			"": true, "default-src 'self'": true, "frame-ancestors *": true, "frame-ancestors https:": true, "frame-ancestors http:": true,
			"frame-ancestors https://map.example.com": true, "FRAME-ANCESTORS  HTTPS://MAP.example.com": true, "frame-ancestors map.example.com:443": true,
			"frame-ancestors *.example.com": true, "frame-ancestors a.example map.example.com": true, "frame-ancestors map.example.com:*": true,
			"frame-ancestors http://map.example.com": true, "frame-ancestors": false, "frame-ancestors 'none'": false, "frame-ancestors 'self'": false,
			"frame-ancestors https://example.com": false, "frame-ancestors *.map.example.com": false, "frame-ancestors map.example.com:8443": false,
			"frame-ancestors https://map.example.com, frame-ancestors 'none'": false, "frame-ancestors *; frame-ancestors 'none'": true,
			"frame-ancestors data:": false, "frame-ancestors notmap.example.com": false,
		},
		"http://127.0.0.1:8080": {
			"frame-ancestors http://127.0.0.1:8080": true, "frame-ancestors http://127.0.0.1:*": true, "frame-ancestors http://127.0.0.1": false,
			"frame-ancestors https://127.0.0.1:8080": false, "frame-ancestors http:": true, "frame-ancestors https:": false,
		},
	} {
		for policy, want := range pages {
			if got := rules(t, base).frameRefusal(&Page{Policies: []string{policy}}); (got == "") != want {
				t.Errorf("%s with %q: %q", base, policy, got)
			}
		}
	}
	r := rules(t, "https://map.example.com")
	for options, want := range map[string]bool{"DENY": false, "SameOrigin": false, "ALLOW-FROM https://x": true, "": true, "x, deny": false} {
		if got := r.frameRefusal(&Page{FrameOptions: []string{options}}); (got == "") != want {
			t.Errorf("X-Frame-Options %q: %q", options, got)
		}
	}
	if got := r.frameRefusal(&Page{Policies: []string{"frame-ancestors *"}, FrameOptions: []string{"DENY"}}); got != "" {
		t.Errorf("frame-ancestors does not replace X-Frame-Options: %s", got)
	}
}
