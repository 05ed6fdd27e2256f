package config

import (
	"strings"
	"testing"
)

// TestMap checks the keys of the base map, and that only one map can be set.
func TestMap(t *testing.T) {
	for _, tt := range []struct {
		text, want string // want: in the error; empty: the value is accepted
	}{
		{`pmtiles = "/maps/town.pmtiles"`, ""},
		{`style_url = "https://tiles.example.org:8443/styles/day.json?key=abc"`, ""},
		{"pmtiles = \"a.pmtiles\"\nstyle_url = \"\"\nattribution = \"© OpenStreetMap contributors\"", ""},
		{"pmtiles = \"a.pmtiles\"\nstyle_url = \"https://a.example/s\"", "wayside.toml:3: map.style_url: and map.pmtiles are both set"},
		{`style_url = "/map/style.json"`, "must be a URL that begins with http:// or https://"},
		{`style_url = "ftp://a.example/s"`, "must be a URL"},
		{`style_url = "https://me:secret@a.example/s"`, "takes no user and no password"},
		{`style_url = "https://a.example/s#here"`, "takes no #fragment"},
		{`style_url = "https://a.example;script-src"`, "is not a host"},
		{`attribution = "` + strings.Repeat("a", 501) + `"`, "at most 500 characters"},
	} {
		_, err := Load(Input{File: write(t, "[map]\n"+tt.text)})
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.text, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %q in it", tt.text, err, tt.want)
		case err != nil && strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: the error tells a secret: %v", tt.text, err)
		}
	}
}
