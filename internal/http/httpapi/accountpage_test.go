package httpapi_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
)

// hostile is markup that every page must escape.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>` + "\u202e{{.}}</bdi>"

// signInAgain makes another session of an account, as on another device.
func (d *testService) signInAgain(email, agent string) *mapdata.Session {
	d.t.Helper()
	link, err := d.accounts.LoginLink(d.t.Context(), email)
	if err != nil {
		d.t.Fatal(err)
	}
	in, err := d.accounts.VerifyToken(d.t.Context(), link, account.Browser{Agent: agent})
	if err != nil {
		d.t.Fatal(err)
	}
	return in.Session
}

// checkAccountPage checks what applies to every page, for a page whose forms have several targets.
func checkAccountPage(t *testing.T, r reply) string {
	t.Helper()
	checkPage(t, r)
	if strings.Contains(r.body, "<script") || strings.Contains(r.body, "onerror=alert(1)>") {
		t.Errorf("user text is not escaped:\n%s", r.body)
	}
	return mainText(t, r)
}

func TestAccountPageSessions(t *testing.T) {
	d := newTestService(t)
	b := d.signedInAs("ada@example.org", mapdata.Driver).withoutRedirects()
	car := d.signInAgain("ada@example.org", "Mozilla/5.0 (X11; GNU/Linux) AppleWebKit/537.36 Chromium/79.0 Tesla/2020")
	d.signInAgain("ada@example.org", hostile)
	d.advance(25 * time.Hour)
	text := checkAccountPage(t, b.send(http.MethodGet, "/account", "").want(t, http.StatusOK))
	for _, part := range []string{"ada@example.org", "Chromium 79 on a Tesla", "Unknown device", "Signed in 21 November 2026 , last used 22 November 2026", "this device", "Sign out all others"} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %q: %s", part, text)
		}
	}
	if strings.Contains(text, "08:00") || strings.Count(text, "this device") != 1 {
		t.Errorf("page: %s", text)
	}
	b.form("/account/sessions/"+car.ID+"/end", url.Values{}).wantRedirect(t, "/account?done=session-ended")
	if text := checkAccountPage(t, b.send(http.MethodGet, "/account?done=session-ended", "")); strings.Contains(text, "Tesla") || !strings.Contains(text, "That device is signed out.") {
		t.Errorf("page: %s", text)
	}
	b.form("/account/sessions/"+car.ID+"/end", url.Values{}).want(t, http.StatusNotFound)
	b.form("/account/end-others", url.Values{}).wantRedirect(t, "/account?done=others-ended")
	text = checkAccountPage(t, b.send(http.MethodGet, "/account", ""))
	if strings.Count(text, "Unknown device") != 1 || strings.Contains(text, "Sign out all others") {
		t.Errorf("others are still signed in: %s", text)
	}
	own := regexp.MustCompile(`/account/sessions/[a-z0-9]+/end`).FindString(b.send(http.MethodGet, "/account", "").body)
	b.form(own, url.Values{}).wantRedirect(t, "/sign-in?done=signed-out")
	b.send(http.MethodGet, "/account", "").wantRedirect(t, "/sign-in?next=%2Faccount")
}

func TestAccountPageTokens(t *testing.T) {
	d := newTestService(t)
	b := d.signedInAs("ada@example.org", mapdata.Driver).withoutRedirects()
	bad := b.form("/account/tokens", url.Values{"name": {strings.Repeat("x", 101)}}).want(t, http.StatusUnprocessableEntity)
	text := checkAccountPage(t, bad)
	if !strings.Contains(text, "One field needs attention: A name has 1 to 100 characters.") || !strings.Contains(bad.body, `aria-describedby="name-wrong"`) {
		t.Errorf("page: %s", text)
	}
	if fields, _ := fieldsOf(t, bad, "/account/tokens"); len(fields.Get("name")) != 101 {
		t.Error("the form lost its input")
	}
	shown := b.form("/account/tokens", url.Values{"name": {hostile}}).want(t, http.StatusSeeOther).Header.Get("Location")
	made := b.send(http.MethodGet, shown, "").want(t, http.StatusOK)
	text = checkAccountPage(t, made)
	token := regexp.MustCompile(`wsk_[A-Za-z0-9]{46}`).FindString(text)
	if token == "" || !strings.Contains(text, `curl -H "Authorization: Bearer `+token+`" \ "http://wayside.test/v2/entities/nearby?lat=52.37&lng=4.90&radius=5000"`) {
		t.Fatalf("no token, or no curl line: %s", text)
	}
	read := func(status int) {
		t.Helper()
		d.browser().send(http.MethodGet, "/v2/sources", "", "Authorization", "Bearer "+token).want(t, status)
	}
	read(http.StatusOK)
	page := b.send(http.MethodGet, "/account", "").want(t, http.StatusOK)
	if checkAccountPage(t, page); strings.Contains(page.body, token) {
		t.Error("the token is shown again")
	}
	revoke := regexp.MustCompile(`/account/tokens/[a-z0-9]+/revoke`).FindString(page.body)
	checkAccountPage(t, b.send(http.MethodGet, revoke, "").want(t, http.StatusOK))
	read(http.StatusOK)
	d.signedInAs("eve@example.org", mapdata.Admin).withoutRedirects().form(revoke, url.Values{}).want(t, http.StatusNotFound)
	b.form(revoke, url.Values{}).wantRedirect(t, "/account?done=token-revoked")
	d.advance(2 * time.Second)
	read(http.StatusUnauthorized)
	if strings.Contains(d.log.String(), token) {
		t.Error("the token is in the log")
	}
}

// TestNewTokenPageExpires checks that reloading the page that shows a new token creates no second one, and that the page shows the
// token for five minutes, to its owner, in the browser that created it.
func TestNewTokenPageExpires(t *testing.T) {
	d := newTestService(t)
	b := d.signedInAs("ada@example.org", mapdata.Driver).withoutRedirects()
	secret := regexp.MustCompile(`wsk_[A-Za-z0-9]{46}`)
	made := func() (path, token string) {
		t.Helper()
		path = b.form("/account/tokens", url.Values{"name": {"Server"}}).want(t, http.StatusSeeOther).Header.Get("Location")
		return path, secret.FindString(b.send(http.MethodGet, path, "").want(t, http.StatusOK).body)
	}
	path, token := made()
	again := b.send(http.MethodGet, path, "").want(t, http.StatusOK)
	if !strings.Contains(again.body, token) || token == "" {
		t.Errorf("after a reload, the page does not show the token: %s", again.body)
	}
	if n := strings.Count(b.send(http.MethodGet, "/account", "").body, "/revoke"); n != 1 {
		t.Errorf("%d tokens, want 1", n)
	}
	home, err := url.Parse(b.server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	kept := b.client.Jar.Cookies(home)
	for _, c := range kept {
		if strings.Contains(c.Value, token) {
			t.Error("the browser stores the token in plain text")
		}
	}
	other, _ := made()
	elsewhere, err := url.Parse(b.server.URL + other)
	if err != nil {
		t.Fatal(err)
	}
	b.client.Jar.SetCookies(elsewhere, kept)
	if got := b.send(http.MethodGet, other, ""); strings.Contains(got.body, token) {
		t.Error("the sealed token of one page is shown on another")
	}
	d.signedInAs("eve@example.org", mapdata.Admin).withoutRedirects().send(http.MethodGet, path, "").want(t, http.StatusNotFound)
	d.advance(5 * time.Minute)
	b.send(http.MethodGet, path, "").wantRedirect(t, "/account#tokens")
}

func TestDeletingAnAccount(t *testing.T) {
	d := newTestService(t)
	b := d.signedInAs("ada@example.org", mapdata.Driver).withoutRedirects()
	feed := b.registerPush("<b>Roads</b>")
	d.push(*feed.Token, rows(1, 52, 5)).want(t, http.StatusOK)
	d.signedInAs("curator@example.org", mapdata.Curator).send(http.MethodPost, feed.path()+"/approve", "").want(t, http.StatusOK)
	guest := d.browser()
	if len(d.nearbyIDs(guest)) != 1 {
		t.Fatal("the feed is not read")
	}
	page := b.send(http.MethodGet, "/account/delete", "").want(t, http.StatusOK)
	if text := checkAccountPage(t, page); !strings.Contains(text, "<b>Roads</b>") || !strings.Contains(text, "Your feed is deleted") || !strings.Contains(text, "enter ada@example.org") {
		t.Errorf("page: %s", text)
	}
	for _, typed := range []string{"", "eve@example.org", hostile} {
		wrong := b.form("/account/delete", url.Values{"email": {typed}}).want(t, http.StatusUnprocessableEntity)
		if text := checkAccountPage(t, wrong); !strings.Contains(text, "This is not your account’s address.") {
			t.Errorf("page: %s", text)
		}
	}
	b.form("/account/delete", url.Values{"email": {"ada@example.org"}}, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site").want(t, http.StatusForbidden)
	b.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK)

	done := b.form("/account/delete", url.Values{"email": {" ADA@example.org "}})
	done.wantRedirect(t, "/about?done=account-deleted")
	if cookies := done.Cookies(); len(cookies) != 1 || cookies[0].MaxAge >= 0 || cookies[0].Value != "" {
		t.Errorf("cookies %v", cookies)
	}
	b.send(http.MethodGet, "/v2/account", "").want(t, http.StatusUnauthorized)
	d.push(*feed.Token, rows(1, 52, 5)).want(t, http.StatusUnauthorized)
	if seen := d.nearbyIDs(guest); len(seen) != 0 {
		t.Errorf("readers still see %v", seen)
	}
	if text := checkAccountPage(t, guest.send(http.MethodGet, "/account", "")); !strings.Contains(text, "Sign in to open this page.") {
		t.Errorf("page: %s", text)
	}
}

// export is the part of an export that tests read.
type export struct {
	Account   map[string]any
	Sessions  []map[string]any
	APITokens []map[string]any `json:"api_tokens"`
	Feeds     []map[string]any
	Votes     []map[string]any
	Log       []map[string]any
}

func TestExportOfAnAccount(t *testing.T) {
	d := newTestService(t)
	_, other := d.publish("Voted", row("v", "alert.police", 0))
	b := d.signedInAs("ada@example.org", mapdata.Driver)
	feed := b.registerPush("Roads")
	b.send(http.MethodPost, "/v2/account/tokens", `{"name": "Server"}`).want(t, http.StatusCreated)
	id, _ := b.read(nearbyPath).Entities[0]["id"].(string)
	b.vote(id, "confirm")
	b.send(http.MethodPut, "/v2/account/preferences", `{"theme": "night"}`).want(t, http.StatusOK)
	r := b.send(http.MethodGet, "/v2/account/export", "").want(t, http.StatusOK)
	if got := r.Header.Get("Content-Disposition"); got != `attachment; filename="wayside-2026-11-21.json"` {
		t.Errorf("Content-Disposition %s", got)
	}
	var got export
	r.decode(t, &got)
	if got.Account["email"] != "ada@example.org" || len(got.Sessions) != 1 || len(got.APITokens) != 1 || len(got.Feeds) != 1 || len(got.Votes) != 1 {
		t.Errorf("export: %s", r.body)
	}
	if got.Feeds[0]["id"] != feed.id() || got.Votes[0]["entity_id"] != id || got.Votes[0]["vote"] != "confirm" || strings.Contains(r.body, other+`","name`) {
		t.Errorf("export: %s", r.body)
	}
	if strings.Contains(r.body, *feed.Token) || strings.Contains(r.body, "hash") {
		t.Error("a secret is in the export")
	}
	actions := map[any]bool{}
	for _, e := range got.Log {
		actions[e["action"]] = e["by_you"] == true
	}
	if !actions["feed.register"] || !actions["api_token.create"] {
		t.Errorf("log: %v", got.Log)
	}
}

// TestPageLanguageOfAGuest checks that the language that was chosen on a page applies to every page, and that without a choice
// Accept-Language does.
func TestPageLanguageOfAGuest(t *testing.T) {
	d := newTestService(t)
	b := d.browser().withoutRedirects()
	title := func(header ...string) string {
		t.Helper()
		r := b.send(http.MethodGet, "/sign-in", "", header...).want(t, http.StatusOK)
		checkPage(t, r)
		lang := regexp.MustCompile(`<html lang="(..)">`).FindStringSubmatch(r.body)
		if lang == nil || r.Header.Get("Content-Language") != lang[1] {
			t.Fatalf("language %v, %s", lang, r.Header.Get("Content-Language"))
		}
		return lang[1]
	}
	for header, want := range map[string]string{"": "en", "fr-CH, de;q=0.8": "fr", "nl, de;q=0.3": "de", "nl": "en"} {
		if got := title("Accept-Language", header); got != want {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
	}
	for _, back := range []string{"//evil.example", "https://evil.example/", "/nowhere", "/\\evil.example", "/%2fpair", "javascript:alert(1)", ""} {
		b.form("/language", url.Values{"language": {"de"}, "back": {back}}).wantRedirect(t, "/about")
	}
	b.form("/language", url.Values{"language": {"fr"}, "back": {"/sign-in?next=%2Faccount"}}).wantRedirect(t, "/sign-in?next=%2Faccount")
	b.form("/language", url.Values{"language": {"xx"}, "back": {"/pair"}}).wantRedirect(t, "/pair")
	if got := title("Accept-Language", "de"); got != "fr" {
		t.Errorf("after a choice: %s", got)
	}
}

// TestPageLanguageOfAnAccount checks that a language that is chosen while signed in is stored with the account and applies in
// every browser.
func TestPageLanguageOfAnAccount(t *testing.T) {
	d := newTestService(t)
	b := d.signedInAs("ada@example.org", mapdata.Driver).withoutRedirects()
	b.form("/language", url.Values{"language": {"de"}, "back": {"/account?done=language"}}).wantRedirect(t, "/account?done=language")
	link, err := d.accounts.LoginLink(t.Context(), "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	other := d.browser().withoutRedirects()
	other.form("/auth/verify", url.Values{"token": {link}}).want(t, http.StatusOK)
	text := checkAccountPage(t, other.send(http.MethodGet, "/account?done=language", "", "Accept-Language", "fr").want(t, http.StatusOK))
	if !strings.Contains(text, "Ihr Konto") || !strings.Contains(text, "Sprache gespeichert.") {
		t.Errorf("page: %s", text)
	}
}

// TestSignInRedirectsBack checks that signing in redirects to the page that was requested, and only to pages of this service.
func TestSignInRedirectsBack(t *testing.T) {
	d := newTestService(t)
	b := d.browser().withoutRedirects()
	b.send(http.MethodGet, "/account/delete?x=1", "").wantRedirect(t, "/sign-in?next=%2Faccount%2Fdelete%3Fx%3D1")
	b.send(http.MethodHead, "/account", "").wantRedirect(t, "/sign-in?next=%2Faccount")
	b.form("/account/tokens", url.Values{"name": {"x"}}).want(t, http.StatusUnauthorized)
	page := b.send(http.MethodGet, "/sign-in?next=%2Faccount%2Fdelete%3Fx%3D1", "").want(t, http.StatusOK)
	checkPage(t, page)
	fields, _ := fieldsOf(t, page, "/sign-in")
	if fields.Get("next") != "/account/delete?x=1" {
		t.Errorf("fields %v", fields)
	}
	for _, next := range []string{"//evil.example/account", "/%2faccount", "/account/../../x", "https://evil.example/account", "/sign-out", "\\account", "/v2/account"} {
		page := b.send(http.MethodGet, "/sign-in?next="+url.QueryEscape(next), "").want(t, http.StatusOK)
		if fields, _ := fieldsOf(t, page, "/sign-in"); fields.Has("next") {
			t.Errorf("sign-in redirects to %s", next)
		}
	}
	in := d.signedInAs("ada@example.org", mapdata.Driver).withoutRedirects()
	in.send(http.MethodGet, "/sign-in?next=%2Faccount%2Fdelete", "").wantRedirect(t, "/account/delete")
	in.send(http.MethodGet, "/sign-in?next=%2F%2Fevil.example", "").want(t, http.StatusOK)
}
