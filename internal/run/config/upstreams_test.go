package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// upstream returns a valid table with some lines added or replaced.
func upstream(lines ...string) string {
	good := []string{`name = "a"`, `url = "https://a.example.org"`, `secret = "hunter2"`}
	var b strings.Builder
	b.WriteString("[[upstreams]]\n")
	for _, line := range good {
		key, _, _ := strings.Cut(line, " ")
		replaced := false
		for _, other := range lines {
			replaced = replaced || strings.HasPrefix(other, key+" ") || other == "-"+key
		}
		if !replaced {
			b.WriteString(line + "\n")
		}
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, "-") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func TestValidUpstreams(t *testing.T) {
	for _, lines := range [][]string{
		nil,
		{`name = "` + strings.Repeat("z", maxName) + `"`},
		{`name = "-_0"`},
		{`url = "http://localhost"`},
		{`url = "http://[::1]:9000/base/"`},
		{`url = "HTTPS://10.0.0.1:65535"`},
		{`url = "http://relay:1"`},
		{`url = "http://a/` + strings.Repeat("ß", maxUpstreamURL-9) + `"`},
		{`secret = "` + strings.Repeat("x", maxSecret) + `"`},
		{`form = "incidents-raw"`},
		{`priority = 1000`},
		{`area = [-180, -90, 180, 90]`},
		{`area = [179.5, -1, -179.5, 1.5]`},
		{`attribution = ""`},
		{`attribution = "` + strings.Repeat("ß", maxAttribution) + `"`},
	} {
		c, err := Load(Input{File: write(t, upstream(lines...))})
		if err != nil || len(c.Upstreams) != 1 || !c.Set("upstreams") {
			t.Errorf("%.80q: %v", lines, err)
		}
	}
	for _, mode := range []string{"live", "database"} {
		c, err := Load(Input{File: write(t, upstream()+"[incidents]\nmode = \""+mode+"\"")})
		if err != nil || c.Incidents.Mode != mode {
			t.Errorf("mode %s: %v", mode, err)
		}
	}
}

// TestUpstreamProblems checks that each problem names the line, the table and the key, and repeats no secret.
func TestUpstreamProblems(t *testing.T) {
	const (
		known  = "(known are name, url, secret, form, priority, area, attribution)"
		name   = "name: must have 1 to 40 characters of a-z, 0-9, _ and -"
		scheme = "url: must be a URL that begins with https:// or http://"
		spaces = "url: must hold no white space, no control characters and no backslash"
		user   = "url: must hold no user name and no password: secret is a key of its own"
		query  = "url: must have no query and no fragment: leave out ? or # and what follows"
		port   = "url: must have a port from 1 to 65535, or none"
		area   = "area: must be [west, south, east, north] in degrees"
	)
	tests := []struct {
		line string
		want []string
	}{
		{`-name`, []string{"name is missing"}},
		{`-url`, []string{"url is missing"}},
		{`-secret`, []string{"secret is missing"}},
		{`name = ""`, []string{name}},
		{`name = "A"`, []string{name}},
		{`name = "a b"`, []string{name}},
		{`name = "ä"`, []string{name}},
		{`name = "a:b"`, []string{name}},
		{`name = "` + strings.Repeat("z", maxName+1) + `"`, []string{name}},
		{`name = 1`, []string{"name: must be a string"}},
		{`url = ""`, []string{scheme}},
		{`url = "a.example.org"`, []string{scheme}},
		{`url = "ftp://a.example.org"`, []string{scheme}},
		{`url = "https://"`, []string{scheme}},
		{`url = "https:///x"`, []string{scheme}},
		{`url = "https://hunter2@a.example.org"`, []string{user}},
		{`url = "https://u:hunter2@a.example.org"`, []string{user}},
		{`url = "https://@a.example.org"`, []string{user}},
		{`url = "https://a.example.org?key=hunter2"`, []string{query}},
		{`url = "https://a.example.org/?"`, []string{query}},
		{`url = "https://a.example.org/#"`, []string{query}},
		{`url = "https://a.example.org/#x"`, []string{query}},
		{`url = "https://a.example.org/a b"`, []string{spaces}},
		{`url = "https://a.example.org/\t"`, []string{spaces}},
		{`url = "https://a.example.org\\@b"`, []string{spaces}},
		{`url = "https://a.example.org:0"`, []string{port}},
		{`url = "https://a.example.org:0443"`, []string{port}},
		{`url = "https://a.example.org:65536"`, []string{`url: "65536" is not a port: 0 to 65535`}},
		{`url = "https://a/` + strings.Repeat("x", maxUpstreamURL-9) + `"`, []string{"url: must have at most 2048 characters"}},
		{`secret = ""`, []string{"secret: must not be empty"}},
		{`secret = "hunter2\n"`, []string{"secret: must hold no control characters, line breaks and tabs among them"}},
		{`secret = "hunter2\u007f"`, []string{"secret: must hold no control characters, line breaks and tabs among them"}},
		{`secret = " hunter2"`, []string{"secret: must not begin or end with white space"}},
		{`secret = "` + strings.Repeat("x", maxSecret+1) + `"`, []string{"secret: must have at most 4096 bytes"}},
		{`secret = ["hunter2"]`, []string{"secret: must be a string"}},
		{`form = "raw"`, []string{`form: "raw" is none of incidents, incidents-raw`}},
		{`priority = 0`, []string{"priority: must be a whole number from 1 to 1000"}},
		{`priority = 1001`, []string{"priority: must be a whole number from 1 to 1000"}},
		{`priority = "1"`, []string{"priority: must be a whole number from 1 to 1000"}},
		{`area = [1, 2, 3]`, []string{area}},
		{`area = [1, 2, 3, "4"]`, []string{area}},
		{`area = "1,2,3,4"`, []string{area}},
		{`area = [1, 2, 181, 4]`, []string{"area: 181 is out of range"}},
		{`area = [1, 2, 3, nan]`, []string{"area: NaN is out of range"}},
		{`area = [1, 5, 3, 4]`, []string{"area: south lies north of north"}},
		{`attribution = "` + strings.Repeat("ß", maxAttribution+1) + `"`, []string{"attribution: must have at most 500 characters, and no control characters"}},
		{`attribution = "a\nb"`, []string{"attribution: must have at most 500 characters, and no control characters"}},
		{`urll = "x"`, []string{"urll: unknown key " + known}},
	}
	for _, tt := range tests {
		_, err := Load(Input{File: write(t, "data_dir = \"x\"\n"+upstream(tt.line))})
		var problems *Error
		if !errors.As(err, &problems) {
			t.Errorf("%.60s passed: %v", tt.line, err)
			continue
		}
		var want []string
		for _, text := range tt.want {
			line := 2 // of the header
			if before, _, ok := strings.Cut("data_dir = \"x\"\n"+upstream(tt.line), "\n"+tt.line+"\n"); ok {
				line = strings.Count(before, "\n") + 2
			}
			want = append(want, fmt.Sprintf("wayside.toml:%d: upstreams: number 1: %s", line, text))
		}
		if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
			t.Errorf("%.60s: %s", tt.line, diff)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("a secret is repeated: %v", err)
		}
	}
}

func TestUpstreamsDependOnEachOther(t *testing.T) {
	two := upstream(`name = "A"`, `area = [1]`, `-url`) + upstream() + upstream()
	_, err := Load(Input{File: write(t, two)})
	want := strings.Join([]string{
		"wayside.toml:4: upstreams: number 1: area: must be [west, south, east, north] in degrees",
		"wayside.toml:3: upstreams: number 1: name: must have 1 to 40 characters of a-z, 0-9, _ and -",
		"wayside.toml:1: upstreams: number 1: url is missing",
		`wayside.toml:10: upstreams: number 3: name: "a" is there twice`,
	}, "\n")
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}

	// The line of this header cannot be found, so the error names the line of the last one.
	_, err = Load(Input{File: write(t, upstream(`url = ""`)+upstream(`name = "b"`, `attribution = '''`, `[[upstreams]]'''`))})
	if err == nil || !strings.HasPrefix(err.Error(), "wayside.toml:5: upstreams: number 1: url: ") {
		t.Errorf("got %v", err)
	}

	for _, text := range []string{"upstreams = 3", "[upstreams]\nname = \"a\"", "upstreams = [1]"} {
		if _, err := Load(Input{File: write(t, text)}); err == nil || err.Error() != "wayside.toml:1: upstreams: must be an array of tables" {
			t.Errorf("%q: got %v", text, err)
		}
	}
	if c, err := Load(Input{File: write(t, "upstreams = []")}); err != nil || len(c.Upstreams) != 0 {
		t.Errorf("none: %v", err)
	}

	var many strings.Builder
	for i := range maxUpstreams {
		many.WriteString(upstream(fmt.Sprintf("name = \"u%d\"", i)))
	}
	c, err := Load(Input{File: write(t, many.String())})
	if err != nil || len(c.Upstreams) != maxUpstreams || c.Upstreams[15].Name != "u15" {
		t.Errorf("16: %v", err)
	}
	_, err = Load(Input{File: write(t, many.String()+upstream())})
	if err == nil || err.Error() != "wayside.toml:65: upstreams: number 17: at most 16 upstreams may be" {
		t.Errorf("17: %v", err)
	}
}

// TestUpstreamSecretsAreMasked checks that no output contains a secret, even one in the wrong place.
func TestUpstreamSecretsAreMasked(t *testing.T) {
	c := Default()
	c.Upstreams = []Upstream{{Name: "a", URL: "https://u:hunter2@a.example.org", Secret: "hunter2", Form: "incidents", Priority: 1, Area: &[4]float64{1, 2, 3, 4}}}
	var out bytes.Buffer
	if err := c.WriteTOML(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "hunter2") || !strings.Contains(out.String(), "[[upstreams]]") {
		t.Error(out.String())
	}
}
