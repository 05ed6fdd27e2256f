package config

import (
	"strings"
	"testing"
)

// TestNavigation checks the keys of routes: engines of a later version are refused with a sentence that says so.
func TestNavigation(t *testing.T) {
	for _, tt := range []struct {
		text, want string // want: in the error; empty: the value is accepted
	}{
		{"", ""},
		{`region = ""`, ""},
		{`region = "off"`, ""},
		{`region = "/srv/wayside/city.region"`, ""},
		{`engine = "embedded"`, ""},
		{`engine = "osrm"`, `wayside.toml:2: navigation.engine: "osrm" cannot be used yet: this version routes by its own engine alone, "embedded"`},
		{`engine = "valhalla"`, "cannot be used yet"},
		{`engine = "graphhopper"`, "cannot be used yet"},
		{`engine = "brouter"`, `"brouter" is not an engine: use "embedded"`},
		{`engine_url = "http://127.0.0.1:5000"`, "navigation.engine_url: is for external engines, which cannot be used yet"},
		{`engine_url = ""`, ""},
		{`regoin = "off"`, "unknown key (did you mean navigation.region?)"},
	} {
		got, err := Load(Input{File: write(t, "[navigation]\n"+tt.text)})
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.text, err)
		case tt.want == "" && got.Navigation.Engine != EngineEmbedded:
			t.Errorf("%s: the engine is %q", tt.text, got.Navigation.Engine)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %q in it", tt.text, err, tt.want)
		}
	}
}
