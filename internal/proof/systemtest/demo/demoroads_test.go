package demo

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/proof/systemtest"
	"wayside/internal/roads/roadtest"
)

// routeJSON is the part of a route that these tests read.
type routeJSON struct {
	Code   string `json:"code"`
	Routes []struct {
		Distance float64 `json:"distance"`
		Wayside  struct {
			Avoided []string `json:"avoided"` // ids of entities
		} `json:"wayside"`
	} `json:"routes"`
}

// roadLines returns the lines that the demo prints about routes: request, close, request, open.
func (d *demoProcess) roadLines() []string {
	d.t.Helper()
	lines := regexp.MustCompile(`(?m)^  (curl '\S+/(?:navigation/route\S+skip_waypoints|feeds/wsp_)[^\n]+)$`).FindAllStringSubmatch(d.out.String(), -1)
	if len(lines) != 4 {
		d.t.Fatalf("%d lines about routes: %s", len(lines), &d.out)
	}
	var out []string
	for _, l := range lines {
		out = append(out, l[1])
	}
	return out
}

// sh runs a printed line.
func (d *demoProcess) sh(line string) []byte {
	d.t.Helper()
	out, err := exec.Command("sh", "-c", line).Output()
	if err != nil {
		d.t.Fatalf("%s: %v", line, err)
	}
	return out
}

func (d *demoProcess) route(line string) routeJSON {
	d.t.Helper()
	var r routeJSON
	if text := d.sh(line); json.Unmarshal(text, &r) != nil || r.Code != "Ok" {
		d.t.Fatalf("%s: %s", line, text)
	}
	return r
}

// closesAndOpens follows the printed lines.
func (d *demoProcess) closesAndOpens() {
	d.t.Helper()
	lines := d.roadLines()
	push := func(line string) {
		d.t.Helper()
		if text := d.sh(line); !strings.Contains(string(text), `"rejected":0`) {
			d.t.Fatalf("%s: %s", line, text)
		}
	}
	d.searches()
	d.isLed()
	open := d.route(lines[0])
	push(lines[1])
	id := base64.RawURLEncoding.EncodeToString([]byte("my-closure"))
	avoids := func(r routeJSON) bool {
		return slices.ContainsFunc(r.Routes[0].Wayside.Avoided, func(avoided string) bool { return strings.HasSuffix(avoided, ":"+id) })
	}
	if r := d.route(lines[2]); avoids(open) || !avoids(r) || r.Routes[0].Distance <= open.Routes[0].Distance {
		d.t.Errorf("open: %+v\nclosed: %+v", open, r)
	}
	push(lines[3])
	systemtest.WithinWindows(d.t, 400*time.Millisecond, "the route leads across again", func() bool {
		r := d.route(lines[0])
		return !avoids(r) && r.Routes[0].Distance == open.Routes[0].Distance
	})
}

// isLed follows the printed lines about banners and a session: the first event of the session is its route.
func (d *demoProcess) isLed() {
	d.t.Helper()
	lines := regexp.MustCompile(`(?m)^  (curl '\S+voice_instructions[^\n]+|id=[^\n]+)$`).FindAllStringSubmatch(d.out.String(), -1)
	if len(lines) != 2 {
		d.t.Fatalf("%d lines about being led: %s", len(lines), &d.out)
	}
	if text := string(d.sh(lines[0][1])); !strings.Contains(text, `"announcement":"`) || !strings.Contains(text, `"bannerInstructions":[{`) {
		d.t.Errorf("%s: %s", lines[0][1], text)
	}
	listen := strings.Replace(lines[1][1], "curl -N ", "curl -sN --max-time 2 ", 1) + " || true"
	if text := string(d.sh(listen)); !strings.Contains(text, "event: route\n") {
		d.t.Errorf("%s: %s", listen, text)
	}
}

// searches follows the printed lines about searching: the first result is an address or a street.
func (d *demoProcess) searches() {
	d.t.Helper()
	lines := regexp.MustCompile(`(?m)^  (curl '\S+/v2/geocode/[^\n]+)$`).FindAllStringSubmatch(d.out.String(), -1)
	if len(lines) != 2 {
		d.t.Fatalf("%d lines about searching: %s", len(lines), &d.out)
	}
	for i, line := range lines {
		text := string(d.sh(line[1]))
		want := regexp.MustCompile(`"features":\[\{[^}]*\},"properties":\{[^}]*"type":"street"`)
		if strings.Contains(line[1], "9th+Avneue+40") {
			want = regexp.MustCompile(`"features":\[\{[^}]*\},"properties":\{[^}]*"housenumber":"40","street":"9th Avenue"`)
		}
		if i == 0 && !want.MatchString(text) || !strings.Contains(text, `"attribution":"`) {
			d.t.Errorf("%s: %s", line[1], text)
		}
	}
}

// get reads a page of the demo.
func (d *demoProcess) get(target string) string {
	d.t.Helper()
	resp, err := http.Get(target)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(body)
}

// startDemo starts a demo and waits for its welcome.
func startDemo(t *testing.T, more ...string) (d *demoProcess, base string) {
	t.Helper()
	d = newShowing(t, "127.0.0.1:0")
	d.cmd.Args = append(d.cmd.Args, more...)
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	systemtest.WithinWindows(t, 20*time.Millisecond, "the welcome", func() bool { return strings.Contains(d.out.String(), "nothing is kept") })
	return d, regexp.MustCompile(`the service at (http://\S+) `).FindStringSubmatch(d.out.String())[1]
}

// TestDemoRoutes follows the printed lines about routes, and requests routes that restrictions and the island forbid.
func TestDemoRoutes(t *testing.T) {
	t.Parallel()
	d, base := startDemo(t)
	if !strings.Contains(d.out.String(), "a route across the bridge (13th Avenue)") {
		t.Errorf("the welcome: %s", &d.out)
	}
	d.closesAndOpens()
	const center, island = "5,52.00099", "4.9935,52.01227"
	route := base + "/v2/navigation/route/v1/driving/"
	if text := d.get(route + center + ";" + island + "?radiuses=unlimited;20"); !strings.Contains(text, `"NoRoute"`) {
		t.Errorf("to the island: %.300s", text)
	}
	status := d.get(base + "/status")
	if !strings.Contains(status, "Demo town: not a real place") || strings.Contains(status, "OpenStreetMap") {
		t.Errorf("/status does not say whose roads these are: %s", status)
	}
	d.end()
}

// TestDemoOfRegion starts the demo with an extract of a place far from its town.
func TestDemoOfRegion(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "far.osm.pbf")
	far := roadtest.MapAt(t, geo.Point{Lat: 43.74, Lng: 7.42}, 100, `
		a--------b--------c
		|        |        |
		|        |        |
		d--------e--------f
		|        |        |
		|        |        |
		g--------h--------i
	`, roadtest.Ways("abc def ghi adg beh cfi", "highway=residential, name=Far Street"))
	if err := os.WriteFile(file, far.PBF(t), 0o600); err != nil {
		t.Fatal(err)
	}
	d, base := startDemo(t, "--region", file)
	for _, want := range []string{"importing the roads of " + file, "a street (Far Street)", "© OpenStreetMap contributors: https://www.openstreetmap.org/copyright"} {
		if !strings.Contains(d.out.String(), want) {
			t.Errorf("no %q in the welcome: %s", want, &d.out)
		}
	}
	d.closesAndOpens()
	if status := d.get(base + "/status"); !strings.Contains(status, `<a href="https://www.openstreetmap.org/copyright">© OpenStreetMap contributors</a>`) {
		t.Errorf("/status does not say whose roads these are: %s", status)
	}
	var config struct {
		Extent struct{ West, South, East, North float64 } `json:"extent"`
	}
	if err := json.Unmarshal([]byte(d.get(base+"/v2/overlay/config")), &config); err != nil || config.Extent.West < 7.4 || config.Extent.East > 7.5 {
		t.Errorf("the map does not begin at the region: %+v, %v", config, err)
	}
	if v := d.look(base); len(v.Body) < 1000 {
		t.Errorf("the town is gone: %s", v.Body)
	}
	d.end()
}

// TestDemoRefusesWhatIsNoExtract checks that the demo ends with one line and leaves nothing behind.
func TestDemoRefusesWhatIsNoExtract(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "town.osm")
	if err := os.WriteFile(file, []byte("<osm/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newShowing(t, "127.0.0.1:0")
	d.cmd.Args = append(d.cmd.Args, "--region", file)
	if err := d.cmd.Run(); err == nil || !strings.Contains(d.log.String(), file) || strings.Count(d.log.String(), "\n") != 1 {
		t.Errorf("%v: %s", err, &d.log)
	}
	d.gone()
}
