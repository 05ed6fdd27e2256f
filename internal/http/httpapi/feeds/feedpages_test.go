package feeds_test

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
	"wayside/internal/http/httpapi/httpapitest"
)

func pushFields(name string) url.Values {
	return url.Values{"direction": {"push"}, "visibility": {"public"}, "name": {name}, "pull_url": {""}, "pull_interval_seconds": {"300"}}
}

func TestRegisterAPushFeedByPages(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	httpapitest.Contains(t, owner.Page("/feeds", 200), "You have no feed yet")
	address, token := owner.NewFeed(pushFields("Roads"))
	httpapitest.Contains(t, owner.Page(address, 200), "No push yet", "Pending review", "0 entities")
	d.Push(token, `[{"external_id":"a","kind":"camera.speed","lat":52,"lng":5,"properties":{}},{"external_id":"b","kind":"camera.sped","lat":52,"lng":5,"properties":{}}]`).Want(t, 200)
	httpapitest.Contains(t, owner.Page(address, 200), "Rows rejected: 1 of 2", "unknown_kind", "1 entity", "Some rows rejected")
	d.Advance(time.Minute)
	d.Push(token, `{"entities":[]}`).Want(t, 400)
	httpapitest.Contains(t, owner.Page(address, 200), "The last push was rejected", "Put the rows between [ and ]")
	httpapitest.Contains(t, owner.Page("/feeds", 200), "Roads", "Last push rejected", "1 entity")
	httpapitest.Contains(t, owner.Page(address+"/list", 200), "a", "Speed camera", "52.00000, 5.00000")
	d.Advance(time.Minute)
	d.Push(token, `[{"external_id":"a","kind":"camera.speed","lat":52,"lng":5,"properties":{}}]`).Want(t, 200)
	httpapitest.Contains(t, owner.Page(address, 200), "Receiving data", "No action needed")
	d.Advance(25 * time.Hour)
	httpapitest.Contains(t, owner.Page(address, 200), "No recent data: the last push came 25 hours ago")

	t.Run("the token is shown for minutes, to its owner, in one browser", func(t *testing.T) {
		httpapitest.Contains(t, owner.Page(address+"/token", 200), "Create a new push token?") // a day later
		token = regexp.MustCompile(`wsp_[0-9A-Za-z]{46}`).FindString(owner.Form(address+"/rotate", nil).Want(t, 200).Body)
		for _, path := range []string{"/feeds", address, address + "/edit", address + "/rotate", address + "/list"} {
			if strings.Contains(owner.Page(path, 200), token) {
				t.Errorf("%s shows the token", path)
			}
		}
		httpapitest.Contains(t, owner.Page(address+"/token", 200), token) // a reload registers no second feed
		if n := strings.Count(owner.Page("/feeds", 200), ">Roads<"); n != 1 {
			t.Errorf("%d feeds of that name", n)
		}
		home, err := url.Parse(owner.Server.URL + address + "/token")
		if err != nil {
			t.Fatal(err)
		}
		kept := owner.Client.Jar.Cookies(home)
		owner.Client.Jar.SetCookies(home, []*http.Cookie{{Name: "wayside_new_token", Path: home.Path, MaxAge: -1}})
		if got := owner.Send(http.MethodGet, address+"/token", "").Want(t, 200).Request.URL.Path; got != address+"/rotate" {
			t.Errorf("without the browser's cookie: %s", got)
		}
		for _, c := range kept {
			if c.Name == "wayside_new_token" && strings.Contains(c.Value, token) {
				t.Error("the browser stores the token in plain text")
			}
		}
		another, _ := owner.NewFeed(pushFields("Another"))
		elsewhere, err := url.Parse(owner.Server.URL + another + "/token")
		if err != nil {
			t.Fatal(err)
		}
		owner.Client.Jar.SetCookies(elsewhere, kept)
		if got := owner.Send(http.MethodGet, another+"/token", ""); strings.Contains(got.Body, token) {
			t.Error("the sealed token of one feed is shown for another")
		}
		owner.Form(another+"/delete", nil).Want(t, 200)
		d.SignedInAs("curious@example.org", mapdata.Driver).Page(address+"/token", 404)
	})
	t.Run("rotation", func(t *testing.T) {
		httpapitest.Contains(t, owner.Page(address+"/rotate", 200), "The old token of Roads stops working immediately")
		rotated := owner.Form(address+"/rotate", nil).Want(t, 200)
		next := regexp.MustCompile(`wsp_[0-9A-Za-z]{46}`).FindString(rotated.Body)
		d.Push(token, `[]`).Want(t, 401)
		d.Push(next, `[]`).Want(t, 200)
	})
	t.Run("pause and resume", func(t *testing.T) {
		paused := owner.Form(address+"/pause", nil).Want(t, 200)
		httpapitest.Contains(t, paused.Body, "Feed paused.", "Pushes are rejected with 401")
		httpapitest.Contains(t, owner.Form(address+"/resume", nil).Want(t, 200).Body, "Feed resumed.")
	})
	t.Run("deletion", func(t *testing.T) {
		httpapitest.Contains(t, owner.Page(address+"/delete", 200), "It holds 1 entity.")
		httpapitest.Contains(t, owner.Form(address+"/delete", nil).Want(t, 200).Body, "Feed deleted.", "You have no feed yet")
		owner.Page(address, 404)
	})
}

func TestFeedFormShowsErrorsAtTheirFields(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	fields := url.Values{
		"direction": {"pull"}, "visibility": {"public"}, "name": {""}, "description": {"What\nit says"}, "spec_url": {"ftp://x"},
		"pull_url": {"http://10.0.0.1/a"}, "pull_auth_header": {"nothing"}, "pull_interval_seconds": {"soon"},
	}
	bad := owner.Form("/feeds/new", fields).Want(t, 422)
	httpapitest.Contains(t, bad.Body, "Enter a name.", "The URL must start with https://.", "Enter it as Name: value", "Enter a number", "5 fields need attention")
	root, err := html.Parse(strings.NewReader(bad.Body))
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
	if len(owner.FeedAddresses()) != 0 {
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

func TestPullFeedPageExplainsFailures(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	address, _ := owner.NewFeed(url.Values{
		"direction": {"pull"}, "visibility": {"public"}, "name": {"Roads"}, "pull_url": {"https://data.example.org/a.json"}, "pull_interval_seconds": {"60"},
	})
	httpapitest.Contains(t, owner.Page(address, 200), "Not fetched yet", "https://data.example.org/a.json", "1 minute")
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
		d.Advance(time.Minute)
		d.PollFails(address, 3, true, c.attempt)
		httpapitest.Contains(t, owner.Page(address, 200), append(c.says, "Failures in a row: 3", "Next fetch")...)
	}
	d.Advance(time.Second)
	httpapitest.Contains(t, owner.Form(address+"/fetch", nil).Want(t, 200).Body, "The feed was fetched less than a minute ago", "in 59 minutes")
	d.Advance(time.Minute)
	httpapitest.Contains(t, owner.Form(address+"/fetch", nil).Want(t, 200).Body, "A fetch is due now")
	d.Advance(time.Minute)
	d.PollFails(address, 20, false, mapdata.Attempt{Outcome: mapdata.OutcomeDNSError})
	httpapitest.Contains(t, owner.Page(address, 200), "Deactivated: the host was not found", "after 20 failed fetches", "Retry")
	httpapitest.Contains(t, owner.Form(address+"/resume", nil).Want(t, 200).Body, "Feed resumed", "A fetch is due now")
	httpapitest.Contains(t, owner.Form(address+"/url", url.Values{"pull_url": {"https://other.example.org/b.json"}}).Want(t, 200).Body, "Saved. Fetching now.", "https://other.example.org/b.json")
	owner.Form(address+"/url", url.Values{"pull_url": {"https://192.0.2.1/"}}).Want(t, 422)
	owner.Form(address+"/rotate", nil).Want(t, 409)
	owner.Page(address+"/rotate", 409)
	httpapitest.Contains(t, owner.Form(address+"/edit", url.Values{"name": {"Streets"}, "pull_interval_seconds": {"120"}}).Want(t, 200).Body, "Saved.", "Streets", "2 minutes")
}

func TestFeedPagesOfOthersAreNotFound(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, other := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("other@example.com", mapdata.Driver)
	curator := d.SignedInAs("curator@example.com", mapdata.Curator)
	address, _ := owner.NewFeed(pushFields("Roads"))
	id, _ := mapdata.ParseFeedID(strings.TrimPrefix(address, "/feeds/"))
	curator.Send(http.MethodPost, "/v2/feeds/"+id.String()+"/approve", "", "Content-Type", "application/json").Want(t, 200)
	for _, page := range []string{"", "/list", "/edit", "/pause", "/rotate", "/delete"} {
		other.Page(address+page, 404)
		status := 404
		if page == "" || page == "/list" {
			status = 200
		}
		curator.Page(address+page, status)
		guest := d.Browser().Send(http.MethodGet, address+page, "").Want(t, 200)
		if guest.Request.URL.Path != "/sign-in" {
			t.Errorf("a guest is at %s", guest.Request.URL.Path)
		}
	}
	for _, page := range []string{"/edit", "/pause", "/resume", "/rotate", "/delete", "/fetch", "/url"} {
		other.Form(address+page, url.Values{"name": {"mine"}}).Want(t, 404)
		curator.Form(address+page, url.Values{"name": {"mine"}}).Want(t, 404)
		d.Browser().Form(address+page, nil).Want(t, 401)
		owner.Form(address+page, nil, "Sec-Fetch-Site", "cross-site").Want(t, 403)
		owner.Form(address+page, nil, "Sec-Fetch-Site", "", "Origin", "https://evil.example").Want(t, 403)
	}
	owner.Form("/feeds/new", pushFields("Forged"), "Sec-Fetch-Site", "cross-site").Want(t, 403)
	owner.Form("/check", url.Values{"json": {"[]"}}, "Sec-Fetch-Site", "cross-site").Want(t, 403)
	if f, err := d.DB.Feed(t.Context(), id); err != nil || !f.Active || f.Name != "Roads" {
		t.Errorf("another account changed the feed: %v", err)
	}
	if strings.Contains(curator.Page(address, 200), "/delete") {
		t.Error("a curator's page offers actions of the owner")
	}
	owner.Page("/feeds/none", 404)
}

func TestCheckPage(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	check := func(fields url.Values, status int, says ...string) {
		t.Helper()
		d.Advance(time.Minute)
		httpapitest.Contains(t, owner.Form("/check", fields).Want(t, status).Body, says...)
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
	owner.Form("/check", url.Values{"json": {strings.Repeat(" ", 5<<20)}}).Want(t, http.StatusRequestEntityTooLarge)
	d.Advance(time.Minute)
	for range 6 {
		owner.Form("/check", url.Values{"json": {"[]"}}).Want(t, 200)
	}
	owner.Form("/check", url.Values{"json": {"[]"}}).Want(t, http.StatusTooManyRequests)
	d.Browser().Form("/check", url.Values{"json": {"[]"}}).Want(t, http.StatusUnauthorized)
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
	d := httpapitest.NewService(t)
	owner, curator := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("curator@example.com", mapdata.Curator)
	pages := func(text string) map[string]string {
		d.Advance(time.Minute)
		address, token := owner.NewFeed(pushFields("Roads"))
		quoted := fmt.Sprintf("%q", text)
		row := fmt.Sprintf(`{"external_id":%s,"kind":"camera.speed","lat":52,"lng":5,"properties":{%s:%s}}`, quoted, quoted, quoted)
		bad := fmt.Sprintf(`{"external_id":%s,"kind":%s,"lat":52,"lng":5,"properties":{}}`, quoted, quoted)
		twice := fmt.Sprintf(`{"external_id":"t","kind":"camera.speed","lat":52,"lng":5,"properties":{},%s:1,%s:2}`, quoted, quoted)
		rows := "[" + strings.Join([]string{row, bad, twice}, ",") + "]"
		d.Push(token, rows).Want(t, 200)
		fields := url.Values{
			"name": {text}, "description": {text}, "attribution": {text}, "licence": {text}, "layer_name": {text}, "visibility": {"public"},
			"spec_url": {"https://example.org/" + url.PathEscape(text)},
		}
		owner.Form(address+"/edit", fields).Want(t, 200)
		id := strings.TrimPrefix(address, "/feeds/")
		curator.Send(http.MethodPost, "/v2/feeds/"+id+"/reject", fmt.Sprintf(`{"note":%q}`, text)).Want(t, 200)
		all := map[string]string{"check": owner.Form("/check", url.Values{"json": {rows}}).Want(t, 200).Body}
		for _, path := range []string{"", "/list", "/edit", "/pause", "/delete", "/rotate"} {
			all["a feed"+path] = owner.Page(address+path, 200)
		}
		all["feeds"] = owner.Page("/feeds", 200)
		all["curator"] = curator.Page(address, 200)
		all["checked URL"] = owner.Form("/check", url.Values{"pull_url": {text}, "pull_auth_header": {": " + text}}).Want(t, 422).Body
		wrong := url.Values{
			"direction": {text}, "visibility": {text}, "name": {text}, "description": {text}, "licence": {text}, "spec_url": {text}, "pull_url": {text},
			"pull_interval_seconds": {text},
		}
		all["new"] = owner.Form("/feeds/new", wrong).Want(t, 422).Body
		owner.Form(address+"/delete", nil).Want(t, 200)
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
