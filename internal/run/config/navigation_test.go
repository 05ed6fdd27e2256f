package config

import (
	"strings"
	"testing"
)

// TestNavigation checks the keys of routes: an engine and its URL go together.
func TestNavigation(t *testing.T) {
	for _, tt := range []struct {
		text, want string // want: in the error; empty: the value is accepted
	}{
		{"", ""},
		{`region = ""`, ""},
		{`region = "off"`, ""},
		{`region = "/srv/wayside/city.region"`, ""},
		{`engine = "embedded"`, ""},
		{"engine = \"osrm\"\nengine_url = \"http://127.0.0.1:5000\"", ""},
		{"engine = \"valhalla\"\nengine_url = \"https://routes.example.org/valhalla\"", ""},
		{"engine = \"graphhopper\"\nengine_url = \"http://[::1]:8989/\"", ""},
		{`engine = "osrm"`, "wayside.toml:2: navigation.engine_url: is missing: it says where osrm answers"},
		{`engine = "brouter"`, `"brouter" is none of embedded, osrm, valhalla, graphhopper`},
		{`engine_url = "http://127.0.0.1:5000"`, "navigation.engine_url: is for engines that are not embedded"},
		{"engine = \"osrm\"\nengine_url = \"ftp://127.0.0.1\"", "navigation.engine_url: "},
		{"engine = \"osrm\"\nengine_url = \"http://user:password@127.0.0.1\"", "must hold no user name and no password"},
		{"engine = \"osrm\"\nengine_url = \"http://127.0.0.1:5000/?x=1\"", "must have no query"},
		{`engine_url = ""`, ""},
		{`regoin = "off"`, "unknown key (did you mean navigation.region?)"},
	} {
		got, err := Load(Input{File: write(t, "[navigation]\n"+tt.text)})
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.text, err)
		case tt.want == "" && got.Navigation.Remote() != (got.Navigation.EngineURL != ""):
			t.Errorf("%s: the engine is %q at %q", tt.text, got.Navigation.Engine, got.Navigation.EngineURL)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %q in it", tt.text, err, tt.want)
		}
	}
}
