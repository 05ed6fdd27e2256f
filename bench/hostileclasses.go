package main

import (
	"fmt"
	"strconv"
	"strings"
)

// brokenBody sends an unreadable body to a route that reads one.
func (c *hostileCorpus) brokenBody() *hostileRequest {
	target := c.pick("/v2/auth/email", "/v2/auth/verify", "/v2/auth/pair", "/v2/auth/pair/token", "/v2/navigation/route/v1/driving", "/v2/navigation/valhalla/route",
		"/v2/navigation/sessions", "/v2/reports", "/v2/account/tokens", "/v2/feeds", "/v2/account/passkeys/begin", c.pushPath, "/sign-in", "/sign-in/code", "/check", "/pair", "/language")
	media := c.pick("application/json", "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b")
	body, half := "", true
	header := "Transfer-Encoding: chunked\r\n"
	switch c.IntN(9) {
	case 0:
		body = "zz\r\n{}\r\n0\r\n\r\n"
	case 1:
		body = "2;" + strings.Repeat("x", c.IntN(20_000)) + "\r\n{}\r\n0\r\n\r\n"
	case 2:
		body = "2\r\n{}0\r\n\r\n"
	case 3:
		body = c.number() + "\r\n{}\r\n0\r\n\r\n"
	case 4:
		body = "2\r\n{}\r\n0\r\n" + c.pick("X: y", "Content-Length: 3", "X", ": y", "X: "+strings.Repeat("x", 70_000)) + "\r\n\r\n"
	case 5:
		body = "ff\r\n" + c.value(2)
	case 6:
		header, body = "Content-Length: "+strconv.Itoa(100_000+c.IntN(100_000))+"\r\n", c.value(3)
	case 7:
		header, body = "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", "5\r\n\x1f\x8b\x08\x00\x00\r\n0\r\n\r\n"
	case 8:
		body, half = strings.Repeat("1\r\n{\r\n", c.IntN(300))+c.pick("0\r\n\r\n", "", "-1\r\n", "0"), false
	}
	r := &hostileRequest{class: "broken bodies", method: "POST", ends: true, half: half}
	r.text = "POST " + target + " HTTP/1.1\r\nHost: " + c.host + "\r\n" + c.client() + c.signedIn() + "Content-Type: " + media + "\r\n" + header + "\r\n" + body
	return r
}

// framing sends bytes that are not an HTTP/1.1 request, or several requests.
func (c *hostileCorpus) framing() *hostileRequest {
	host := "Host: " + c.host + "\r\n"
	text := c.pick(
		"GET /healthz HTTP/1.1\r\n\r\n", "GET /healthz HTTP/1.1\r\n"+host+host+"\r\n", "GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: "+c.text()+"\r\n\r\n",
		"GET /healthz HTTP/3.0\r\n"+host+"\r\n", "GET /healthz HTTP/0.9\r\n\r\n", "GET /healthz\r\n", "GET /healthz HTTP/1.10\r\n"+host+"\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"POST /v2/auth/email HTTP/1.1\r\n"+host+"Transfer-Encoding: "+c.pick("gzip", "gzip, chunked", "chunked, chunked", "identity", "\x0bchunked", "chunked;q=1", "xchunked", "")+"\r\n\r\n0\r\n\r\n",
		"POST /v2/auth/email HTTP/1.1\r\n"+host+"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		"POST /v2/auth/email HTTP/1.1\r\n"+host+"Content-Length: "+c.number()+"\r\nContent-Length: "+c.number()+"\r\n\r\n{}",
		"POST /v2/auth/email HTTP/1.1\r\n"+host+"Content-Length: "+c.number()+"\r\n\r\n{}", "POST /v2/auth/email HTTP/1.1\r\n"+host+"Expect: "+c.pick("100-continue", "x", "100-continue, x")+"\r\nContent-Length: 2\r\n\r\n{}",
		c.text()+" /healthz HTTP/1.1\r\n"+host+"\r\n", "GET "+c.text()+" HTTP/1.1\r\n"+host+"\r\n", "GET  /healthz  HTTP/1.1\r\n"+host+"\r\n", "GET /healthz HTTP/1.1\n"+host+"\n",
		"GET /healthz HTTP/1.1\r\n"+host+" folded: x\r\n\r\n", "GET /healthz HTTP/1.1\r\n"+host+"X : y\r\n\r\n", "GET /healthz HTTP/1.1\r\n"+host+c.text()+": "+c.text()+"\r\n\r\n",
		"GET /healthz HTTP/1.1\r\n"+host+"X: "+strings.Repeat("x", 100_000)+"\r\n\r\n", "CONNECT "+c.host+" HTTP/1.1\r\n"+host+"\r\n", "OPTIONS * HTTP/1.1\r\n"+host+"\r\n", "TRACE / HTTP/1.1\r\n"+host+"\r\n",
		"GET http://"+c.host+"/healthz HTTP/1.1\r\n"+host+"\r\n", "GET /healthz HTTP/1.1\r\n"+host+"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
	)
	return &hostileRequest{class: "framing", method: "GET", text: text, ends: true, half: c.IntN(4) > 0}
}

// coordinates requests navigation between odd places.
func (c *hostileCorpus) coordinates() *hostileRequest {
	service := c.pick("route", "route", "nearest", "table", "match", "trip", "tile", c.text())
	return c.request("coordinates", "GET", "/v2/navigation/"+service+"/"+c.pick("v1", "v1", "v1", "v2", "")+"/"+c.pick("driving", "driving", "car", "mapbox/driving", "foot", c.text())+"/"+c.places(6), "", "")
}

var osrmOptions = []string{
	"bearings", "radiuses", "hints", "approaches", "exclude", "snapping", "skip_waypoints", "generate_hints", "alternatives", "steps", "annotations", "geometries", "overview", "continue_straight",
	"waypoints", "sources", "destinations", "fallback_speed", "fallback_coordinate", "scale_factor", "number", "timestamps", "gaps", "tidy", "language", "voice_instructions", "banner_instructions", "depart_at", "avoid_polygons", "max_speed",
}

// navigationOptions requests navigation between valid places with odd options.
func (c *hostileCorpus) navigationOptions() *hostileRequest {
	good := fmt.Sprintf("%.5f,%.5f;%.5f,%.5f;%.5f,%.5f", 5+c.NormFloat64()*0.004, 52+c.NormFloat64()*0.003, 5+c.NormFloat64()*0.004, 52+c.NormFloat64()*0.003, 5.0, 52.0)
	var all []string
	for range c.IntN(5) {
		if c.IntN(3) > 0 {
			all = append(all, c.pick("steps=true", "alternatives=2", "overview=full", "geometries=geojson", "annotations=true", "language=de", "exclude=motorway", "radiuses=50;50;50", "bearings=0,45;90,90;180,45",
				"banner_instructions=true&voice_instructions=true&steps=true", "continue_straight=false", "snapping=any", "approaches=curb;curb;curb", "skip_waypoints=true", "generate_hints=false"))
			continue
		}
		value := c.pick(c.number(), c.text(), "true", "false", "full", "simplified", "geojson", "polyline6", "0;1;2", "0,45;90,20;", ";;", "unlimited;1;1", "motorway,toll", "any", "3", "de", "all", "speed,nodes", "1;2;3")
		all = append(all, osrmOptions[c.IntN(len(osrmOptions))]+"="+value)
	}
	return c.request("options", "GET", "/v2/navigation/"+c.pick("route", "route", "table", "match", "nearest")+"/v1/driving/"+good+"?"+strings.Join(all, "&"), "", "")
}

// navigationBody posts odd requests of routes, tables and traces.
func (c *hostileCorpus) navigationBody() *hostileRequest {
	var points []string
	for range c.IntN(30) {
		if c.IntN(200) == 0 {
			points = append(points, c.value(1))
			continue
		}
		points = append(points, fmt.Sprintf("[%.5f,%.5f]", 5+c.NormFloat64()*0.004, 52+c.NormFloat64()*0.003))
	}
	service := c.pick("route", "table", "match", "nearest")
	members := map[string][]string{
		"route": {"radiuses", "bearings", "alternatives", "steps", "exclude", "overview", "geometries", "continue_straight"}, "table": {"sources", "destinations", "radiuses"},
		"match": {"timestamps", "steps", "geometries", "radiuses"}, "nearest": {"number", "bearings"},
	}[service]
	body := `{"coordinates":[` + strings.Join(points, ",") + `],` + c.object(1, members...)[1:]
	return c.request("navigation bodies", "POST", "/v2/navigation/"+service+"/v1/driving", "Content-Type: application/json\r\n", strings.Replace(body, "],}", "]}", 1))
}

// valhalla sends requests in the form of Valhalla's clients.
func (c *hostileCorpus) valhalla() *hostileRequest {
	body := `{"locations":[{"lat":52.001,"lon":5.001},{"lat":` + c.pick("52.002", "51.999", "52", c.number()) + `,"lon":` + c.pick("5.002", "4.999", "5", c.number()) + `}],` + c.object(2, "costing", "costing_options", "directions_options", "units", "language", "exclude_polygons", "exclude_locations", "date_time", "alternates", "id")[1:]
	if c.IntN(3) == 0 {
		body = c.value(4)
	}
	if c.IntN(2) == 0 {
		return c.request("valhalla", "GET", "/v2/navigation/valhalla/route?json="+strings.NewReplacer("\"", "%22", "{", "%7B", "}", "%7D", "#", "%23").Replace(body[:min(len(body), 20_000)]), "", "")
	}
	return c.request("valhalla", "POST", "/v2/navigation/valhalla/route", "Content-Type: application/json\r\n", body)
}

// drive opens sessions and sends odd positions.
func (c *hostileCorpus) drive() *hostileRequest {
	id := c.pick("x", strings.Repeat("a", 22), "AAAAAAAAAAAAAAAAAAAAAA", c.text(), "..", "%2e%2e")
	switch c.IntN(5) {
	case 0:
		return c.request("drives", "POST", "/v2/navigation/sessions", "Content-Type: application/json\r\n", `{"coordinates":[[5.001,52.001],[`+c.pick("5.002", "4.998", c.number())+`,`+c.pick("52.002", "51.999", c.number())+`]],`+c.object(1, "language", "steps", "exclude", "waypoints")[1:])
	case 1:
		return c.request("drives", "DELETE", "/v2/navigation/sessions/"+id, "", "")
	case 2:
		return c.request("drives", "GET", "/v2/navigation/sessions/"+id+"/events", "Last-Event-ID: "+strings.Map(visible, c.text())+"\r\n", "")
	}
	return c.request("drives", "PUT", "/v2/navigation/sessions/"+id+"/position", "Content-Type: application/json\r\n", c.object(1, "lat", "lng", "heading", "speed", "accuracy", "at", "destination"))
}

// badJSON sends odd JSON to a route of the API that reads JSON.
func (c *hostileCorpus) badJSON() *hostileRequest {
	for {
		p := c.paths[c.IntN(len(c.paths))]
		if p.method == "GET" || strings.Contains(p.path, "navigation") {
			continue
		}
		header := "Content-Type: " + c.pick("application/json", "application/json", "application/json; charset=utf-8", "application/json; charset=x", "text/plain", "x") + "\r\n"
		if !p.harms && c.IntN(4) > 0 {
			header += c.signedIn()
		}
		body := c.object(3, "email", "code", "token", "name", "lat", "lng", "kind", "home", "work", "recent", "direction", "pull_url", "theme", "language", "note", "device_code", "visibility", "format", "mapping", "config", "hidden")
		if c.IntN(3) == 0 {
			body = c.value(5)
		}
		return c.request("bodies of JSON", p.method, c.filled(p.path), header, body)
	}
}

// form posts odd forms to pages.
func (c *hostileCorpus) form() *hostileRequest {
	header := "Content-Type: application/x-www-form-urlencoded" + c.pick("", "; charset=utf-8", "; charset=x", ";;") + "\r\n"
	target := c.pick("/sign-in", "/sign-in/code", "/check", "/check", "/feeds", "/feeds/new", "/language", "/pair", "/account/tokens", "/account/public-name", "/takedown", "/regions", "/apps/new", "/account/email", "/review/pins")
	if target != "/sign-in" && c.IntN(4) > 0 {
		header += c.signedIn()
	}
	body := strings.TrimPrefix(c.query("email", "code", "next", "name", "url", "format", "text", "mapping", "language", "direction", "visibility", "answer", "config", "layer", "slug", "interval"), "?")
	if c.IntN(6) == 0 {
		body = c.pick("%", "%zz", "a=%", "&&&", "=", strings.Repeat("a=b&", 20_000), c.text())
	}
	return c.request("forms", "POST", target, header, body)
}

// upload posts forms with files.
func (c *hostileCorpus) upload() *hostileRequest {
	boundary := c.pick("b", "b", "b", "", strings.Repeat("b", 80), "a b", "\"b\"")
	part := func(disposition, content string) string {
		return "--b\r\nContent-Disposition: " + disposition + "\r\n\r\n" + content + "\r\n"
	}
	body := part(`form-data; name="name"`, c.text()) + part(`form-data; name="icon"; filename="`+c.pick("a.svg", "a.png", c.text())+`"`, c.pick("<svg/>", "\x89PNG\r\n\x1a\n", c.text(), strings.Repeat("x", 70_000))) +
		c.pick("--b--\r\n", "--b--", "", "--b\r\n", part(c.text(), ""), strings.Repeat(part(`form-data; name="x"`, ""), 1200))
	header := "Content-Type: multipart/form-data; boundary=" + boundary + "\r\n" + c.signedIn()
	return c.request("uploads", "POST", c.pick("/apps/new", "/apps/own/x/version", "/check", "/regions", "/feeds/new"), header, body)
}

// headers sends odd headers with a valid path.
func (c *hostileCorpus) headers() *hostileRequest {
	value := func() string { return strings.Map(visible, c.text()) }
	header := ""
	for range 1 + c.IntN(4) {
		name := c.pick("Cookie", "Authorization", "Range", "If-None-Match", "If-Modified-Since", "If-Range", "Last-Event-ID", "Accept", "Accept-Encoding", "Accept-Language", "X-Forwarded-For", "X-Forwarded-Proto",
			"Origin", "Sec-Fetch-Site", "Referer", "User-Agent", "Connection", "Content-Type", "Forwarded", "Access-Control-Request-Method", "Cache-Control", "Upgrade")
		header += name + ": " + c.pick(value(), "wayside_session="+value(), "Bearer wsk_"+value(), "bytes=0-"+c.pick("", "9", "99999999999999999999", "-1,5-"), "bytes="+strings.Repeat("0-0,", 500)+"0-0", strings.Repeat("a=b; ", 2000), "gzip;q=9, br;q=-1, *", "W/\"x\", *", "de;q=0.5,"+strings.Repeat("x,", 500)) + "\r\n"
	}
	target := c.pick("/v2/kinds", "/v2/sources", "/v2/entities/nearby?lat=52&lng=5&radius=500", "/", "/map/archive.pmtiles", "/map/style.json", "/docs", "/v2/openapi.json", "/about", "/account", "/sources", "/v2/account", "/v2/icons/alert.police.svg")
	return c.request("headers", c.pick("GET", "GET", "HEAD", "OPTIONS"), target, header, "")
}

// tile asks for parts of the map.
func (c *hostileCorpus) tile() *hostileRequest {
	n := func() string { return c.pick(strconv.Itoa(c.IntN(1<<c.IntN(20))), c.number(), c.text()) }
	target := "/map/" + c.pick("tiles", "tiles", "world") + "/" + c.pick(strconv.Itoa(c.IntN(24)), n()) + "/" + n() + "/" + n() + c.pick("", "", ".mvt", ".pbf")
	header := ""
	if c.IntN(4) == 0 {
		target, header = "/map/archive.pmtiles", "Range: bytes="+c.number()+"-"+c.number()+"\r\n"
	}
	return c.request("tiles", "GET", target, header, "")
}

// geocoder searches for odd texts.
func (c *hostileCorpus) geocoder() *hostileRequest {
	target := "/v2/geocode/api?q=" + strings.Map(visible, c.pick(c.text(), "via", "Main Street 5", "9th "+c.text(), strings.Repeat("a ", 300), strings.Repeat("ab", 3000))) + "&" +
		strings.TrimPrefix(c.query("lat", "lon", "limit", "lang", "bbox", "zoom", "layer", "osm_tag", "location_bias_scale"), "?")
	if c.IntN(3) == 0 {
		target = "/v2/geocode/reverse" + c.query("lat", "lng", "lon", "radius", "limit", "lang", "layer")
	}
	return c.request("geocoder", "GET", target, "", "")
}

// reads asks for entities, alerts, views and events with odd parameters.
func (c *hostileCorpus) reads() *hostileRequest {
	target := c.pick("/v2/entities/nearby", "/v2/alerts", "/v2/overlay/view", "/v2/overlay/nearest", "/v2/navigation/conditions", "/v2/sources/incidents/entities", "/v2/stream", "/v2/sources", "/sources", "/v2/audit", "/v2/review/pins", "/feeds", "/map")
	header := ""
	if c.IntN(3) == 0 {
		header = c.signedIn()
	}
	return c.request("reads", "GET", target+c.query("lat", "lng", "radius", "kinds", "layers", "sources", "limit", "cursor", "after", "heading", "speed", "session", "state", "bbox", "west", "south", "east", "north", "zoom", "networks", "entity", "format", "at"), header, "")
}

// rows pushes odd rows with the right token, or a wrong one.
func (c *hostileCorpus) rows() *hostileRequest {
	target := c.pushPath
	if c.IntN(4) == 0 {
		target = "/v2/feeds/wsp_" + strings.Map(visible, c.text()) + "/entities"
	}
	var rows []string
	for range 1 + c.IntN(3) {
		id := strconv.Itoa(c.IntN(200))
		row := c.object(2, "kind", "properties", "observed_at", "ttl_seconds", "bearing", "geometry", "confidence", "severity")
		rows = append(rows, `{"external_id":"`+id+`","lat":`+c.often("52.001", c.number())+`,"lng":`+c.often("5.001", c.number())+`,`+row[1:])
	}
	return c.request("rows", "POST", target+c.pick("", "", c.query("snapshot", "part", "last")), "Content-Type: application/json\r\n", c.pick("["+strings.Join(rows, ",")+"]", "["+strings.Join(rows, ",")+"]", c.value(4)))
}

// route calls any route of the API, with any method and odd parameters.
func (c *hostileCorpus) route() *hostileRequest {
	p := c.paths[c.IntN(len(c.paths))]
	header := ""
	if !p.harms && c.IntN(3) == 0 {
		header = c.signedIn()
	}
	method := p.method
	if header == "" && c.IntN(3) == 0 {
		method = c.pick("GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS", "PROPFIND")
	}
	return c.request("routes", method, c.filled(p.path)+c.pick("", "", c.query("a", "id", "cursor", "limit")), header, "")
}

// filled replaces the parameters of a path by odd values.
func (c *hostileCorpus) filled(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = strings.Map(visible, c.pick("x", "00000000-0000-8000-8000-000000000002", "01890a5d-ac96-774b-bcce-b302099a8057", "incidents", "feed:x", c.number(), c.text(), "%2F", "%00", "%ff", "."))
		}
	}
	return strings.Join(parts, "/")
}

// target asks for paths that lead elsewhere.
func (c *hostileCorpus) target() *hostileRequest {
	target := c.pick("/../../etc/passwd", "/v2//kinds", "/v2/./kinds", "/%2e%2e/%2e%2e/etc/passwd", "/overlay/x/..%2f..%2fsecret.key", "/docs/%00", "//evil.example/", "/\\evil.example", "/v2/icons/..%5c..%5cx", "/.git/config",
		"/.well-known/security.txt", "/"+strings.Repeat("a/", 3000), "/?"+strings.Repeat("a&", 5000), "/%zz", "/%", "/verify?token="+c.number(), "/sign-in?next=//evil.example", "/pair?code="+c.number(), "/demo/drive.json?x="+c.number(), "/schemas/x", "/static/"+strings.Map(visible, c.text()))
	return c.request("targets", c.pick("GET", "GET", "HEAD", "POST"), target, c.pick("", "Accept: text/html\r\n"), "")
}

// visible drops characters that end a line or a word of a header.
func visible(r rune) rune {
	if r <= ' ' || r == 0x7f {
		return -1
	}
	return r
}
