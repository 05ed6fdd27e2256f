package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// hostileRequest is the bytes of a request.
type hostileRequest struct {
	class  string
	method string
	text   string
	ends   bool // the service may read it as something other than one request, so that nothing may follow
	half   bool // the client closes its side after it
}

// hostileCorpus makes hostile requests at random: those of the security review, of the seeds of fuzzers, and mutations of all.
type hostileCorpus struct {
	*rand.Rand
	host, cookie, pushPath string
	seeds                  []string // of the fuzzers of this repository
	paths                  []hostilePath
}

// hostilePath is a route of openapi.json, and whether a call of a signed-in caller would delete what the other requests need.
type hostilePath struct {
	method, path string
	harms        bool
}

func newHostileCorpus(random *rand.Rand, b *bench) *hostileCorpus {
	return &hostileCorpus{
		Rand: random, host: b.addr, cookie: b.cookie, pushPath: "/v2/feeds/" + b.feeds[0].Token + "/entities",
		seeds: fuzzSeeds(), paths: openapiPaths(),
	}
}

// fuzzSeeds reads the inputs that fuzzers have found in this repository, if it is there; each line is one seed.
func fuzzSeeds() (seeds []string) {
	for _, root := range []string{"internal", filepath.Join("..", "internal")} {
		files, err := filepath.Glob(filepath.Join(root, "*", "*", "testdata", "fuzz", "*", "*"))
		if err != nil {
			continue
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue
			}
			for line := range strings.SplitSeq(string(text), "\n") {
				_, quoted, _ := strings.Cut(line, "(")
				if seed, err := strconv.Unquote(strings.TrimSuffix(quoted, ")")); err == nil {
					seeds = append(seeds, seed)
				}
			}
		}
	}
	return seeds
}

// openapiPaths returns the routes of openapi.json.
func openapiPaths() (all []hostilePath) {
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	for _, root := range []string{"internal", filepath.Join("..", "internal")} {
		text, err := os.ReadFile(filepath.Join(root, "http", "httpapi", "openapi.json"))
		if err == nil && json.Unmarshal(text, &document) == nil {
			break
		}
	}
	for path, operations := range document.Paths {
		for method := range operations {
			one := hostilePath{method: strings.ToUpper(method), path: path}
			one.harms = strings.Contains(path, "sign-out") || one.method == "DELETE" || strings.HasPrefix(path, "/v2/feeds/{id}/")
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b hostilePath) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return all
}

// next returns a request of a random class.
func (c *hostileCorpus) next() *hostileRequest {
	classes := []func() *hostileRequest{
		c.brokenBody, c.framing, c.coordinates, c.navigationOptions, c.navigationBody, c.valhalla, c.drive, c.badJSON, c.form, c.upload,
		c.headers, c.tile, c.geocoder, c.reads, c.rows, c.route, c.target,
	}
	r := classes[c.IntN(len(classes))]()
	if c.IntN(10) == 0 {
		return c.mutated(r)
	}
	return r
}

// mutated changes bytes of a request, as fuzzers do.
func (c *hostileCorpus) mutated(r *hostileRequest) *hostileRequest {
	text := []byte(r.text)
	for range 1 + c.IntN(4) {
		if len(text) < 4 {
			break
		}
		i := c.IntN(len(text) - 1)
		switch c.IntN(5) {
		case 0:
			text[i] = byte(c.IntN(256))
		case 1:
			text[i] ^= 1 << c.IntN(8)
		case 2:
			text = slices.Delete(text, i, min(len(text), i+1+c.IntN(8)))
		case 3:
			text = slices.Insert(text, i, []byte(c.text())...)
		case 4:
			text = slices.Insert(text, i, text[i:min(len(text), i+1+c.IntN(32))]...)
		}
	}
	return &hostileRequest{class: "mutations", method: r.method, text: string(text), ends: true, half: c.IntN(2) == 0}
}

// pick chooses one of several texts.
func (c *hostileCorpus) pick(of ...string) string { return of[c.IntN(len(of))] }

// often returns the usual text, and one time in twenty the other.
func (c *hostileCorpus) often(usual, other string) string {
	if c.IntN(20) > 0 {
		return usual
	}
	return other
}

// text returns an unexpected text.
func (c *hostileCorpus) text() string {
	if len(c.seeds) > 0 && c.IntN(8) == 0 {
		return c.seeds[c.IntN(len(c.seeds))]
	}
	return c.pick("", "\x00", "a\x00b", "\r\n", "\xff\xfe", "\xed\xa0\x80", "é́́́", "\u202egnp.exe", "a\u2028b", strings.Repeat("x", 5000), strings.Repeat("é", 300),
		"<script>alert(1)</script>", "' OR 1=1", "../../etc/passwd", "%s%n%x", "$(id)", "{{.}}", "null", "true", "-0", "1e309", "NaN", "٣٤", "\\u0000", "[[inpt]]")
}

// number returns a number, or an invalid one.
func (c *hostileCorpus) number() string {
	if c.IntN(2) == 0 {
		return strconv.FormatFloat(c.NormFloat64()*100, 'f', c.IntN(12), 64)
	}
	return c.pick("0", "-0", "1", "-1", "180", "-180.0000001", "90", "91", "1e308", "1e309", "-1e-320", "NaN", "nan", "Infinity", "-Inf", "0x1p4", "1_000", "9223372036854775808",
		"-9223372036854775809", "4294967296", "0.1e", ".", "", "+5", " 5", "5 ", "1,5", "٣", "1e999999999", strings.Repeat("9", 400), "0."+strings.Repeat("0", 400)+"1")
}

// place returns a position in the demo's town, or elsewhere.
func (c *hostileCorpus) place() string {
	if c.IntN(4) > 0 {
		return fmt.Sprintf("%.6f,%.6f", 5+c.NormFloat64()*0.004, 52+c.NormFloat64()*0.003)
	}
	return c.number() + c.pick(",", ",", ";", "%2C", "") + c.number()
}

func (c *hostileCorpus) places(most int) string {
	var all []string
	for range c.IntN(most + 1) {
		all = append(all, c.place())
	}
	return strings.Join(all, ";")
}

// value returns a JSON value, seldom a valid one.
func (c *hostileCorpus) value(depth int) string {
	switch c.IntN(10) {
	case 0:
		return c.number()
	case 1, 2:
		quoted, err := json.Marshal(c.text())
		if err != nil || c.IntN(6) == 0 {
			return `"` + c.text() + `"`
		}
		return string(quoted)
	case 3:
		return c.pick("null", "true", "false", "[]", "{}", `""`, "tru", "{", "[", "]", `{"a"`, `{"a":}`, `{,}`, "/*x*/1", "'a'", `"\ud800"`, `"\x"`)
	case 4:
		n := c.IntN(20_000)
		open, end := "[", "]"
		if c.IntN(2) == 0 {
			open, end = `{"a":`, "}"
		}
		return strings.Repeat(open, n) + "1" + strings.Repeat(end, n-c.IntN(2)*min(n, 1))
	case 5, 6:
		if depth == 0 {
			return "1"
		}
		var all []string
		for range c.IntN(8) {
			all = append(all, c.value(depth-1))
		}
		return "[" + strings.Join(all, ",") + "]"
	default:
		if depth == 0 {
			return "{}"
		}
		return c.object(depth-1, "a", "b", "lat", "lng", "name", "id", "type", "properties", "coordinates")
	}
}

// object returns an object with some of the members.
func (c *hostileCorpus) object(depth int, names ...string) string {
	var all []string
	hostile := c.IntN(3) // how many members may still be hostile
	for _, name := range names {
		value := c.usual(name)
		if c.IntN(len(names)+2) < 2 && hostile > 0 {
			value = c.value(depth)
			if hostile--; c.IntN(10) == 0 {
				all = append(all, strconv.Quote(name)+":1")
			}
		}
		if value != "" && c.IntN(4) > 0 {
			all = append(all, strconv.Quote(name)+":"+value)
		}
	}
	return "{" + strings.Join(all, ",") + "}"
}

// request returns a request with valid framing. Each has another client address, so that rate limits refuse few.
func (c *hostileCorpus) request(class, method, target, header, body string) *hostileRequest {
	if body != "" || method == "POST" || method == "PUT" {
		header += "Content-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	target = strings.NewReplacer(" ", "%20", "\r", "%0D", "\n", "%0A", "\x00", "%00").Replace(target)
	text := method + " " + target + " HTTP/1.1\r\nHost: " + c.host + "\r\n" + c.client() + header + "\r\n" + body
	return &hostileRequest{class: class, method: method, text: text}
}

func (c *hostileCorpus) client() string {
	return fmt.Sprintf("X-Forwarded-For: 10.%d.%d.%d\r\n", c.IntN(256), c.IntN(256), c.IntN(256))
}

// signedIn returns the header of a signed-in browser, from the same site.
func (c *hostileCorpus) signedIn() string {
	return "Cookie: " + c.cookie + "\r\nSec-Fetch-Site: same-origin\r\n"
}

// usual returns a usual value of a parameter or member, as JSON: a request whose every part is hostile is refused because of the
// first one.
func (c *hostileCorpus) usual(name string) string {
	values := map[string][]string{
		"lat": {"52", "52.001", "51.995"}, "lng": {"5", "5.001", "4.99"}, "lon": {"5"}, "radius": {"500", "5000"}, "limit": {"5", "100"}, "heading": {"90"}, "speed": {"14"}, "accuracy": {"5"},
		"kinds": {`"alert.police"`, `"camera"`}, "kind": {`"alert.police"`, `"alert.road_closed"`, `"camera.speed"`, `"traffic.jam"`}, "layers": {`"alerts"`}, "sources": {"[0]"}, "destinations": {"[1]"},
		"bbox": {`"4.9,51.9,5.1,52.1"`}, "zoom": {"12"}, "west": {"4.9"}, "east": {"5.1"}, "south": {"51.9"}, "north": {"52.1"}, "lang": {`"de"`}, "language": {`"de"`}, "costing": {`"auto"`}, "units": {`"miles"`},
		"email": {`"ada@example.org"`, `"x"`}, "code": {`"12345678"`}, "name": {`"Roads"`}, "direction": {`"pull"`, `"push"`}, "visibility": {`"private"`}, "theme": {`"night"`}, "home": {`{"lat":52,"lng":5}`},
		"recent": {"[]"}, "format": {`"overpass"`, `"cifs"`, `"datex2"`}, "properties": {`{"street":"High Street","closed":true}`, "{}"}, "ttl_seconds": {"60"}, "observed_at": {`"2026-11-25T12:00:00Z"`},
		"geometry": {`{"type":"LineString","coordinates":[[5,52],[5.001,52]]}`}, "steps": {"true"}, "overview": {`"full"`}, "geometries": {`"geojson"`}, "annotations": {"true"}, "continue_straight": {"false"},
		"alternatives": {"2"}, "pull_url": {`"https://data.example.org/x"`}, "note": {`"no"`}, "url": {`"https://data.example.org/x"`}, "text": {`"{}"`, `"[]"`, `"<x/>"`}, "after": {"0"},
	}[name]
	if len(values) == 0 {
		return ""
	}
	return c.pick(values...)
}

// query returns a query with some of the parameters.
func (c *hostileCorpus) query(names ...string) string {
	var all []string
	hostile := c.IntN(4) // how many parameters may still be hostile
	for _, name := range names {
		value := strings.Trim(c.usual(name), `"`)
		switch {
		case c.IntN(len(names)+4) < 2 && hostile > 0:
			value = c.pick(c.number(), c.number(), c.text())
			if hostile--; c.IntN(8) == 0 {
				all = append(all, name+"="+value)
			}
		case value == "" || c.IntN(6) == 0 && name != "lat" && name != "lng":
			continue
		}
		if c.IntN(16) > 0 {
			value = url.QueryEscape(value)
		}
		all = append(all, name+"="+value)
	}
	return "?" + strings.Join(all, c.pick("&", "&", "&", ";", "&&"))
}
