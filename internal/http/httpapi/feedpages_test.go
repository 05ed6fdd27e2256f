package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"wayside/internal/ground/mapdata"
)

// page requests a page in English.
func (b *browser) page(path string, status int) string {
	b.t.Helper()
	return b.send(http.MethodGet, path, "", "Accept-Language", "en").want(b.t, status).body
}

// newFeed registers a feed on the page, and returns its path and, for a push feed, its token.
func (b *browser) newFeed(fields url.Values) (address, token string) {
	b.t.Helper()
	answer := b.form("/feeds/new", fields).want(b.t, http.StatusOK)
	if !strings.HasSuffix(answer.Request.URL.Path, "/token") {
		return answer.Request.URL.Path, ""
	}
	token = regexp.MustCompile(`wsp_[0-9A-Za-z]{46}`).FindString(answer.body)
	address = regexp.MustCompile(`/feeds/[0-9a-f-]{36}`).FindString(answer.body)
	if token == "" || address == "" {
		b.t.Fatalf("no token or no address: %s", answer.body)
	}
	return address, token
}

func pushFields(name string) url.Values {
	return url.Values{"direction": {"push"}, "visibility": {"public"}, "name": {name}, "pull_url": {""}, "pull_interval_seconds": {"300"}}
}

func contains(t *testing.T, body string, all ...string) {
	t.Helper()
	text := textOf(t, body)
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not contain %q: %s", want, text)
		}
	}
}

// textOf returns a page's text without its markup.
func textOf(t *testing.T, body string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			out.WriteString(n.Data)
		}
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

func TestRegisterAPushFeedByPages(t *testing.T) {
	d := newTestService(t)
	owner := d.signedInAs("owner@example.com", mapdata.Driver)
	contains(t, owner.page("/feeds", 200), "You have no feed yet")
	address, token := owner.newFeed(pushFields("Roads"))
	contains(t, owner.page(address, 200), "No push yet", "Pending review", "0 entities")
	d.push(token, `[{"external_id":"a","kind":"camera.speed","lat":52,"lng":5,"properties":{}},{"external_id":"b","kind":"camera.sped","lat":52,"lng":5,"properties":{}}]`).want(t, 200)
	contains(t, owner.page(address, 200), "Rows rejected: 1 of 2", "unknown_kind", "1 entity", "Some rows rejected")
	d.advance(time.Minute)
	d.push(token, `{"entities":[]}`).want(t, 400)
	contains(t, owner.page(address, 200), "The last push was rejected", "Put the rows between [ and ]")
	contains(t, owner.page("/feeds", 200), "Roads", "Last push rejected", "1 entity")
	contains(t, owner.page(address+"/list", 200), "a", "Speed camera", "52.00000, 5.00000")
	d.advance(time.Minute)
	d.push(token, `[{"external_id":"a","kind":"camera.speed","lat":52,"lng":5,"properties":{}}]`).want(t, 200)
	contains(t, owner.page(address, 200), "Receiving data", "No action needed")
	d.advance(25 * time.Hour)
	contains(t, owner.page(address, 200), "No recent data: the last push came 25 hours ago")

	t.Run("the token is shown for minutes, to its owner, in one browser", func(t *testing.T) {
		contains(t, owner.page(address+"/token", 200), "Create a new push token?") // a day later
		token = regexp.MustCompile(`wsp_[0-9A-Za-z]{46}`).FindString(owner.form(address+"/rotate", nil).want(t, 200).body)
		for _, path := range []string{"/feeds", address, address + "/edit", address + "/rotate", address + "/list"} {
			if strings.Contains(owner.page(path, 200), token) {
				t.Errorf("%s shows the token", path)
			}
		}
		contains(t, owner.page(address+"/token", 200), token) // a reload registers no second feed
		if n := strings.Count(owner.page("/feeds", 200), ">Roads<"); n != 1 {
			t.Errorf("%d feeds of that name", n)
		}
		home, err := url.Parse(owner.server.URL + address + "/token")
		if err != nil {
			t.Fatal(err)
		}
		kept := owner.client.Jar.Cookies(home)
		owner.client.Jar.SetCookies(home, []*http.Cookie{{Name: "wayside_new_token", Path: home.Path, MaxAge: -1}})
		if got := owner.send(http.MethodGet, address+"/token", "").want(t, 200).Request.URL.Path; got != address+"/rotate" {
			t.Errorf("without the browser's cookie: %s", got)
		}
		for _, c := range kept {
			if c.Name == "wayside_new_token" && strings.Contains(c.Value, token) {
				t.Error("the browser stores the token in plain text")
			}
		}
		another, _ := owner.newFeed(pushFields("Another"))
		elsewhere, err := url.Parse(owner.server.URL + another + "/token")
		if err != nil {
			t.Fatal(err)
		}
		owner.client.Jar.SetCookies(elsewhere, kept)
		if got := owner.send(http.MethodGet, another+"/token", ""); strings.Contains(got.body, token) {
			t.Error("the sealed token of one feed is shown for another")
		}
		owner.form(another+"/delete", nil).want(t, 200)
		d.signedInAs("curious@example.org", mapdata.Driver).page(address+"/token", 404)
	})
	t.Run("rotation", func(t *testing.T) {
		contains(t, owner.page(address+"/rotate", 200), "The old token of Roads stops working immediately")
		rotated := owner.form(address+"/rotate", nil).want(t, 200)
		next := regexp.MustCompile(`wsp_[0-9A-Za-z]{46}`).FindString(rotated.body)
		d.push(token, `[]`).want(t, 401)
		d.push(next, `[]`).want(t, 200)
	})
	t.Run("pause and resume", func(t *testing.T) {
		paused := owner.form(address+"/pause", nil).want(t, 200)
		contains(t, paused.body, "Feed paused.", "Pushes are rejected with 401")
		contains(t, owner.form(address+"/resume", nil).want(t, 200).body, "Feed resumed.")
	})
	t.Run("deletion", func(t *testing.T) {
		contains(t, owner.page(address+"/delete", 200), "It holds 1 entity.")
		contains(t, owner.form(address+"/delete", nil).want(t, 200).body, "Feed deleted.", "You have no feed yet")
		owner.page(address, 404)
	})
}

func TestFeedFormShowsErrorsAtTheirFields(t *testing.T) {
	d := newTestService(t)
	owner := d.signedInAs("owner@example.com", mapdata.Driver)
	fields := url.Values{
		"direction": {"pull"}, "visibility": {"public"}, "name": {""}, "description": {"What\nit says"}, "spec_url": {"ftp://x"},
		"pull_url": {"http://10.0.0.1/a"}, "pull_auth_header": {"nothing"}, "pull_interval_seconds": {"soon"},
	}
	bad := owner.form("/feeds/new", fields).want(t, 422)
	contains(t, bad.body, "Enter a name.", "The URL must start with https://.", "Enter it as Name: value", "Enter a number", "5 fields need attention")
	root, err := html.Parse(strings.NewReader(bad.body))
	if err != nil {
		t.Fatal(err)
	}
	ids, kept := map[string]bool{}, map[string]string{}
	for n := range root.Descendants() {
		ids[attribute(n, "id")] = true
		if n.Data == "input" && attribute(n, "type") == "" {
			kept[attribute(n, "name")] = attribute(n, "value")
		}
		if n.Data == "textarea" && n.FirstChild != nil {
			kept[attribute(n, "name")] = n.FirstChild.Data
		}
	}
	for n := range root.Descendants() {
		for _, key := range []string{"aria-describedby", "for"} {
			for id := range strings.FieldsSeq(attribute(n, key)) {
				if !ids[id] {
					t.Errorf("<%s> refers to %q, which is not on the page", n.Data, id)
				}
			}
		}
		if to, ok := strings.CutPrefix(attribute(n, "href"), "#"); ok && !ids[to] {
			t.Errorf("a link leads to #%s, which is not on the page", to)
		}
	}
	for _, name := range []string{"description", "spec_url", "pull_url", "pull_auth_header", "pull_interval_seconds"} {
		if kept[name] != fields.Get(name) {
			t.Errorf("%s is %q, was typed %q", name, kept[name], fields.Get(name))
		}
	}
	if len(owner.feedAddresses()) != 0 {
		t.Error("a feed was registered")
	}
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func (b *browser) feedAddresses() []string {
	b.t.Helper()
	all := regexp.MustCompile(`/feeds/[0-9a-f-]{36}`).FindAllString(b.page("/feeds", 200), -1)
	slices.Sort(all)
	return slices.Compact(all)
}

// pollFails records a failed poll of a feed.
func (d *testService) pollFails(address string, failures int, active bool, a mapdata.Attempt) {
	d.t.Helper()
	id, _ := mapdata.ParseFeedID(strings.TrimPrefix(address, "/feeds/"))
	a.At = d.time()
	err := d.db.PollFailed(d.t.Context(), &mapdata.PollFailed{
		Feed: id, Active: active, Attempt: a,
		Polling: mapdata.Polling{NextFetchAt: d.time().Add(time.Hour), LastFetchedAt: d.time(), LastOutcome: a.Outcome, LastError: "What the API says.", ConsecutiveFailures: failures},
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

func TestPullFeedPageExplainsFailures(t *testing.T) {
	d := newTestService(t)
	owner := d.signedInAs("owner@example.com", mapdata.Driver)
	address, _ := owner.newFeed(url.Values{
		"direction": {"pull"}, "visibility": {"public"}, "name": {"Roads"}, "pull_url": {"https://data.example.org/a.json"}, "pull_interval_seconds": {"60"},
	})
	contains(t, owner.page(address, 200), "Not fetched yet", "https://data.example.org/a.json", "1 minute")
	for _, c := range []struct {
		attempt mapdata.Attempt
		says    []string
	}{
		{mapdata.Attempt{Outcome: mapdata.OutcomeParseError}, []string{"not valid JSON", "It may be an HTML page"}},
		{mapdata.Attempt{Outcome: mapdata.OutcomeHTTPStatus, Status: 404}, []string{"the server returned 404", "Restore the file"}},
		{mapdata.Attempt{Outcome: mapdata.OutcomeTLSError, Reason: mapdata.ReasonExpired}, []string{"no secure connection", "The certificate has expired"}},
		{mapdata.Attempt{Outcome: mapdata.OutcomeRedirectError, Reason: "not_https"}, []string{"A redirect leads to a URL that is not fetched. The URL must start with https://."}},
		{mapdata.Attempt{Outcome: mapdata.OutcomeTLSError, Reason: "as an older version wrote it"}, []string{"Check that the certificate"}},
		{mapdata.Attempt{Outcome: mapdata.OutcomeHTTPStatus, Status: 403}, []string{"Check the auth header"}},
		{mapdata.Attempt{Outcome: mapdata.OutcomeHTTPStatus, Status: 503}, []string{"check its log"}},
		{mapdata.Attempt{Outcome: mapdata.OutcomeDNSError}, []string{"the host was not found", "Check the spelling of the host"}},
		{mapdata.Attempt{Outcome: mapdata.OutcomeTimeout}, []string{"15 seconds"}},
	} {
		d.advance(time.Minute)
		d.pollFails(address, 3, true, c.attempt)
		contains(t, owner.page(address, 200), append(c.says, "Failures in a row: 3", "Next fetch")...)
	}
	d.advance(time.Second)
	contains(t, owner.form(address+"/fetch", nil).want(t, 200).body, "The feed was fetched less than a minute ago", "in 59 minutes")
	d.advance(time.Minute)
	contains(t, owner.form(address+"/fetch", nil).want(t, 200).body, "A fetch is due now")
	d.advance(time.Minute)
	d.pollFails(address, 20, false, mapdata.Attempt{Outcome: mapdata.OutcomeDNSError})
	contains(t, owner.page(address, 200), "Deactivated: the host was not found", "after 20 failed fetches", "Retry")
	contains(t, owner.form(address+"/resume", nil).want(t, 200).body, "Feed resumed", "A fetch is due now")
	contains(t, owner.form(address+"/url", url.Values{"pull_url": {"https://other.example.org/b.json"}}).want(t, 200).body, "Saved. Fetching now.", "https://other.example.org/b.json")
	owner.form(address+"/url", url.Values{"pull_url": {"https://192.0.2.1/"}}).want(t, 422)
	owner.form(address+"/rotate", nil).want(t, 409)
	owner.page(address+"/rotate", 409)
	contains(t, owner.form(address+"/edit", url.Values{"name": {"Streets"}, "pull_interval_seconds": {"120"}}).want(t, 200).body, "Saved.", "Streets", "2 minutes")
}

func TestFeedPagesOfOthersAreNotFound(t *testing.T) {
	d := newTestService(t)
	owner, other := d.signedInAs("owner@example.com", mapdata.Driver), d.signedInAs("other@example.com", mapdata.Driver)
	curator := d.signedInAs("curator@example.com", mapdata.Curator)
	address, _ := owner.newFeed(pushFields("Roads"))
	id, _ := mapdata.ParseFeedID(strings.TrimPrefix(address, "/feeds/"))
	curator.send(http.MethodPost, "/v2/feeds/"+id.String()+"/approve", "", "Content-Type", "application/json").want(t, 200)
	for _, page := range []string{"", "/list", "/edit", "/pause", "/rotate", "/delete"} {
		other.page(address+page, 404)
		status := 404
		if page == "" || page == "/list" {
			status = 200
		}
		curator.page(address+page, status)
		guest := d.browser().send(http.MethodGet, address+page, "").want(t, 200)
		if guest.Request.URL.Path != "/sign-in" {
			t.Errorf("a guest is at %s", guest.Request.URL.Path)
		}
	}
	for _, page := range []string{"/edit", "/pause", "/resume", "/rotate", "/delete", "/fetch", "/url"} {
		other.form(address+page, url.Values{"name": {"mine"}}).want(t, 404)
		curator.form(address+page, url.Values{"name": {"mine"}}).want(t, 404)
		d.browser().form(address+page, nil).want(t, 401)
		owner.form(address+page, nil, "Sec-Fetch-Site", "cross-site").want(t, 403)
		owner.form(address+page, nil, "Sec-Fetch-Site", "", "Origin", "https://evil.example").want(t, 403)
	}
	owner.form("/feeds/new", pushFields("Forged"), "Sec-Fetch-Site", "cross-site").want(t, 403)
	owner.form("/check", url.Values{"json": {"[]"}}, "Sec-Fetch-Site", "cross-site").want(t, 403)
	if f, err := d.db.Feed(t.Context(), id); err != nil || !f.Active || f.Name != "Roads" {
		t.Errorf("another account changed the feed: %v", err)
	}
	if strings.Contains(curator.page(address, 200), "/delete") {
		t.Error("a curator's page offers actions of the owner")
	}
	owner.page("/feeds/none", 404)
}

func TestCheckPage(t *testing.T) {
	d := newTestService(t)
	owner := d.signedInAs("owner@example.com", mapdata.Driver)
	check := func(fields url.Values, status int, says ...string) {
		t.Helper()
		d.advance(time.Minute)
		contains(t, owner.form("/check", fields).want(t, status).body, says...)
	}
	check(url.Values{"json": {`[{"external_id":"a","kind":"camera.speed","lat":52,"lng":5,"properties":{"road":"A2"}},{"external_id":"b"}]`}}, 200,
		"1 would be accepted, 1 rejected", "missing_kind", "Speed camera: 1", `{"road":"A2"}`, "52.00000, 5.00000")
	check(url.Values{"json": {"{}"}}, 200, "It would fail: not a top-level JSON array", "Publish the rows as a top-level JSON array")
	check(url.Values{"json": {"[<"}}, 200, "It would fail: not valid JSON", "[<")
	check(url.Values{"json": {"[]"}}, 200, "The array is empty")
	check(nil, 422, "Enter a URL, or paste JSON below.")
	check(url.Values{"json": {"[]"}, "pull_url": {"https://a.example.org/"}}, 422, "not both")
	check(url.Values{"pull_url": {"http://a.example.org/"}}, 422, "The URL must start with https://.")
	check(url.Values{"pull_url": {"https://169.254.169.254/latest"}}, 422, "IP addresses are not accepted")
	check(url.Values{"json": {"[" + strings.Repeat(" ", 1<<20) + "1]"}}, 422, "Larger than 1 MiB")
	owner.form("/check", url.Values{"json": {strings.Repeat(" ", 5<<20)}}).want(t, http.StatusRequestEntityTooLarge)
	d.advance(time.Minute)
	for range 6 {
		owner.form("/check", url.Values{"json": {"[]"}}).want(t, 200)
	}
	owner.form("/check", url.Values{"json": {"[]"}}).want(t, http.StatusTooManyRequests)
	d.browser().form("/check", url.Values{"json": {"[]"}}).want(t, http.StatusUnauthorized)
}

// payloads returns texts that become markup or scripts where they are not escaped.
func payloads() []string {
	parts := []string{
		`<script>alert(1)</script>`, `"><script>alert(1)</script>`, `'><img src=x onerror=alert(1)>`, `<svg/onload=alert(1)>`, `</textarea><b>x`,
		`</title><script>1</script>`, `javascript:alert(1)`, `"onfocus="alert(1)" autofocus="`, `' onmouseover='alert(1)`, "`onclick=alert(1)`",
		`<iframe src=//evil>`, `<a href=javascript:alert(1)>x</a>`, `{{.Data}}`, `${alert(1)}`, `</bdi></code></table><h1>`, `<!--`, `-->`, `]]>`, `<![CDATA[<b>]]>`,
		`&lt;script&gt;`, `&#60;b&#62;`, `&quot; onload=&quot;x`, `<math><mi//xlink:href="data:x,<script>">`, `<style>*{display:none}</style>`, `<base href=//evil>`,
		`<meta http-equiv=refresh content=0>`, `<form action=//evil>`, `<input autofocus onfocus=x>`, `<body onload=x>`, `<object data=x>`,
	}
	all := slices.Clone(parts)
	for _, p := range parts {
		all = append(all, "x\u00a0"+strings.ToUpper(p)+"\u200b\u0301\u200f")
	}
	return all
}

// countElements counts a page's elements, and returns the attributes that they have.
func countElements(t *testing.T, body string) (count map[string]int, pairs map[string]bool) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	count, pairs = map[string]int{}, map[string]bool{}
	for n := range root.Descendants() {
		if n.Type == html.CommentNode {
			count["<!--"]++
		}
		if n.Type != html.ElementNode {
			continue
		}
		count[n.Data]++
		for _, a := range n.Attr {
			pairs[n.Data+" "+a.Key] = true
			if to := strings.ToLower(a.Val); (a.Key == "href" || a.Key == "src" || a.Key == "action") &&
				!strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "#") && !strings.HasPrefix(to, "https://example.org/") || strings.HasPrefix(to, "//") {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
		}
	}
	return count, pairs
}

// TestFeedPagesEscapeText puts every payload into every field that providers and curators write, and compares the
// elements and attributes of each page with those of a harmless feed.
func TestFeedPagesEscapeText(t *testing.T) {
	t.Parallel()
	d := newTestService(t)
	owner, curator := d.signedInAs("owner@example.com", mapdata.Driver), d.signedInAs("curator@example.com", mapdata.Curator)
	pages := func(text string) map[string]string {
		d.advance(time.Minute)
		address, token := owner.newFeed(pushFields("Roads"))
		quoted := fmt.Sprintf("%q", text)
		row := fmt.Sprintf(`{"external_id":%s,"kind":"camera.speed","lat":52,"lng":5,"properties":{%s:%s}}`, quoted, quoted, quoted)
		bad := fmt.Sprintf(`{"external_id":%s,"kind":%s,"lat":52,"lng":5,"properties":{}}`, quoted, quoted)
		twice := fmt.Sprintf(`{"external_id":"t","kind":"camera.speed","lat":52,"lng":5,"properties":{},%s:1,%s:2}`, quoted, quoted)
		rows := "[" + strings.Join([]string{row, bad, twice}, ",") + "]"
		d.push(token, rows).want(t, 200)
		fields := url.Values{
			"name": {text}, "description": {text}, "attribution": {text}, "licence": {text}, "layer_name": {text}, "visibility": {"public"},
			"spec_url": {"https://example.org/" + url.PathEscape(text)},
		}
		owner.form(address+"/edit", fields).want(t, 200)
		id := strings.TrimPrefix(address, "/feeds/")
		curator.send(http.MethodPost, "/v2/feeds/"+id+"/reject", fmt.Sprintf(`{"note":%q}`, text)).want(t, 200)
		all := map[string]string{"check": owner.form("/check", url.Values{"json": {rows}}).want(t, 200).body}
		for _, path := range []string{"", "/list", "/edit", "/pause", "/delete", "/rotate"} {
			all["a feed"+path] = owner.page(address+path, 200)
		}
		all["feeds"] = owner.page("/feeds", 200)
		all["curator"] = curator.page(address, 200)
		all["checked URL"] = owner.form("/check", url.Values{"pull_url": {text}, "pull_auth_header": {": " + text}}).want(t, 422).body
		wrong := url.Values{
			"direction": {text}, "visibility": {text}, "name": {text}, "description": {text}, "licence": {text}, "spec_url": {text}, "pull_url": {text},
			"pull_interval_seconds": {text},
		}
		all["new"] = owner.form("/feeds/new", wrong).want(t, 422).body
		owner.form(address+"/delete", nil).want(t, 200)
		return all
	}
	known, knownPairs := map[string]map[string]int{}, map[string]map[string]bool{}
	for path, body := range pages("harmless") {
		known[path], knownPairs[path] = countElements(t, body)
	}
	for _, text := range payloads() {
		for path, body := range pages(text) {
			count, pairs := countElements(t, body)
			for tag, n := range count {
				if n != known[path][tag] {
					t.Errorf("%s with %q: %d <%s>, without %d", path, text, n, tag, known[path][tag])
				}
			}
			for pair := range pairs {
				if !knownPairs[path][pair] {
					t.Errorf("%s with %q: <%s>", path, text, pair)
				}
			}
		}
	}
}
