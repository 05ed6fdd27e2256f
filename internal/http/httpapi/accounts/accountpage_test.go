package accounts_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// hostile is markup that every page must escape.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>` + "\u202e{{.}}</bdi>"

// checkAccountPage checks what applies to every page, for a page whose forms have several targets.
func checkAccountPage(t *testing.T, r httpapitest.Reply) string {
	t.Helper()
	checkPage(t, r)
	if strings.Contains(r.Body, "<script") || strings.Contains(r.Body, "onerror=alert(1)>") {
		t.Errorf("user text is not escaped:\n%s", r.Body)
	}
	return mainText(t, r)
}

func TestAccountPageSessions(t *testing.T) {
	d := httpapitest.NewService(t)
	b := d.SignedInAs("ada@example.org", mapdata.Driver).WithoutRedirects()
	car := d.SignInAgain("ada@example.org", "Mozilla/5.0 (X11; GNU/Linux) AppleWebKit/537.36 Chromium/79.0 Tesla/2020")
	d.SignInAgain("ada@example.org", hostile)
	d.Advance(25 * time.Hour)
	text := checkAccountPage(t, b.Send(http.MethodGet, "/account", "").Want(t, http.StatusOK))
	for _, part := range []string{"ada@example.org", "Chromium 79 on a Tesla", "Unknown device", "Signed in 21 November 2026 , last used 22 November 2026", "this device", "Sign out all others"} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %q: %s", part, text)
		}
	}
	if strings.Contains(text, "08:00") || strings.Count(text, "this device") != 1 {
		t.Errorf("page: %s", text)
	}
	b.Form("/account/sessions/"+car.ID+"/end", url.Values{}).WantRedirect(t, "/account?done=session-ended")
	if text := checkAccountPage(t, b.Send(http.MethodGet, "/account?done=session-ended", "")); strings.Contains(text, "Tesla") || !strings.Contains(text, "That device is signed out.") {
		t.Errorf("page: %s", text)
	}
	b.Form("/account/sessions/"+car.ID+"/end", url.Values{}).Want(t, http.StatusNotFound)
	b.Form("/account/end-others", url.Values{}).WantRedirect(t, "/account?done=others-ended")
	text = checkAccountPage(t, b.Send(http.MethodGet, "/account", ""))
	if strings.Count(text, "Unknown device") != 1 || strings.Contains(text, "Sign out all others") {
		t.Errorf("others are still signed in: %s", text)
	}
	own := regexp.MustCompile(`/account/sessions/[a-z0-9]+/end`).FindString(b.Send(http.MethodGet, "/account", "").Body)
	b.Form(own, url.Values{}).WantRedirect(t, "/sign-in?done=signed-out")
	b.Send(http.MethodGet, "/account", "").WantRedirect(t, "/sign-in?next=%2Faccount")
}

func TestAccountPageTokens(t *testing.T) {
	d := httpapitest.NewService(t)
	b := d.SignedInAs("ada@example.org", mapdata.Driver).WithoutRedirects()
	bad := b.Form("/account/tokens", url.Values{"name": {strings.Repeat("x", 101)}}).Want(t, http.StatusUnprocessableEntity)
	text := checkAccountPage(t, bad)
	if !strings.Contains(text, "One field needs attention: A name has 1 to 100 characters.") || !strings.Contains(bad.Body, `aria-describedby="name-wrong"`) {
		t.Errorf("page: %s", text)
	}
	if fields, _ := httpapitest.FieldsOf(t, bad, "/account/tokens"); len(fields.Get("name")) != 101 {
		t.Error("the form lost its input")
	}
	shown := b.Form("/account/tokens", url.Values{"name": {hostile}}).Want(t, http.StatusSeeOther).Header.Get("Location")
	made := b.Send(http.MethodGet, shown, "").Want(t, http.StatusOK)
	text = checkAccountPage(t, made)
	token := regexp.MustCompile(`wsk_[A-Za-z0-9]{46}`).FindString(text)
	if token == "" || !strings.Contains(text, `curl -H "Authorization: Bearer `+token+`" \ "http://wayside.test/v2/entities/nearby?lat=52.37&lng=4.90&radius=5000"`) {
		t.Fatalf("no token, or no curl line: %s", text)
	}
	read := func(status int) {
		t.Helper()
		d.Browser().Send(http.MethodGet, "/v2/sources", "", "Authorization", "Bearer "+token).Want(t, status)
	}
	read(http.StatusOK)
	page := b.Send(http.MethodGet, "/account", "").Want(t, http.StatusOK)
	if checkAccountPage(t, page); strings.Contains(page.Body, token) {
		t.Error("the token is shown again")
	}
	revoke := regexp.MustCompile(`/account/tokens/[a-z0-9]+/revoke`).FindString(page.Body)
	checkAccountPage(t, b.Send(http.MethodGet, revoke, "").Want(t, http.StatusOK))
	read(http.StatusOK)
	d.SignedInAs("eve@example.org", mapdata.Admin).WithoutRedirects().Form(revoke, url.Values{}).Want(t, http.StatusNotFound)
	b.Form(revoke, url.Values{}).WantRedirect(t, "/account?done=token-revoked")
	d.Advance(2 * time.Second)
	read(http.StatusUnauthorized)
	if strings.Contains(d.Log.String(), token) {
		t.Error("the token is in the log")
	}
}

// TestNewTokenPageExpires checks that reloading the page that shows a new token creates no second one, and that the page shows the
// token for five minutes, to its owner, in the browser that created it.
func TestNewTokenPageExpires(t *testing.T) {
	d := httpapitest.NewService(t)
	b := d.SignedInAs("ada@example.org", mapdata.Driver).WithoutRedirects()
	secret := regexp.MustCompile(`wsk_[A-Za-z0-9]{46}`)
	made := func() (path, token string) {
		t.Helper()
		path = b.Form("/account/tokens", url.Values{"name": {"Server"}}).Want(t, http.StatusSeeOther).Header.Get("Location")
		return path, secret.FindString(b.Send(http.MethodGet, path, "").Want(t, http.StatusOK).Body)
	}
	path, token := made()
	again := b.Send(http.MethodGet, path, "").Want(t, http.StatusOK)
	if !strings.Contains(again.Body, token) || token == "" {
		t.Errorf("after a reload, the page does not show the token: %s", again.Body)
	}
	if n := strings.Count(b.Send(http.MethodGet, "/account", "").Body, "/revoke"); n != 1 {
		t.Errorf("%d tokens, want 1", n)
	}
	home, err := url.Parse(b.Server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	kept := b.Client.Jar.Cookies(home)
	for _, c := range kept {
		if strings.Contains(c.Value, token) {
			t.Error("the browser stores the token in plain text")
		}
	}
	other, _ := made()
	elsewhere, err := url.Parse(b.Server.URL + other)
	if err != nil {
		t.Fatal(err)
	}
	b.Client.Jar.SetCookies(elsewhere, kept)
	if got := b.Send(http.MethodGet, other, ""); strings.Contains(got.Body, token) {
		t.Error("the sealed token of one page is shown on another")
	}
	d.SignedInAs("eve@example.org", mapdata.Admin).WithoutRedirects().Send(http.MethodGet, path, "").Want(t, http.StatusNotFound)
	d.Advance(5 * time.Minute)
	b.Send(http.MethodGet, path, "").WantRedirect(t, "/account#tokens")
}

func TestDeletingAnAccount(t *testing.T) {
	d := httpapitest.NewService(t)
	b := d.SignedInAs("ada@example.org", mapdata.Driver).WithoutRedirects()
	feed := b.RegisterPush("<b>Roads</b>")
	d.Push(*feed.Token, httpapitest.Rows(1, 52, 5)).Want(t, http.StatusOK)
	d.SignedInAs("curator@example.org", mapdata.Curator).Send(http.MethodPost, feed.Path()+"/approve", "").Want(t, http.StatusOK)
	guest := d.Browser()
	if len(d.NearbyIDs(guest)) != 1 {
		t.Fatal("the feed is not read")
	}
	page := b.Send(http.MethodGet, "/account/delete", "").Want(t, http.StatusOK)
	if text := checkAccountPage(t, page); !strings.Contains(text, "<b>Roads</b>") || !strings.Contains(text, "Your feed is deleted") || !strings.Contains(text, "enter ada@example.org") {
		t.Errorf("page: %s", text)
	}
	for _, typed := range []string{"", "eve@example.org", hostile} {
		wrong := b.Form("/account/delete", url.Values{"email": {typed}}).Want(t, http.StatusUnprocessableEntity)
		if text := checkAccountPage(t, wrong); !strings.Contains(text, "This is not your account’s address.") {
			t.Errorf("page: %s", text)
		}
	}
	b.Form("/account/delete", url.Values{"email": {"ada@example.org"}}, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site").Want(t, http.StatusForbidden)
	b.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK)

	done := b.Form("/account/delete", url.Values{"email": {" ADA@example.org "}})
	done.WantRedirect(t, "/about?done=account-deleted")
	if cookies := done.Cookies(); len(cookies) != 1 || cookies[0].MaxAge >= 0 || cookies[0].Value != "" {
		t.Errorf("cookies %v", cookies)
	}
	b.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusUnauthorized)
	d.Push(*feed.Token, httpapitest.Rows(1, 52, 5)).Want(t, http.StatusUnauthorized)
	if seen := d.NearbyIDs(guest); len(seen) != 0 {
		t.Errorf("readers still see %v", seen)
	}
	if text := checkAccountPage(t, guest.Send(http.MethodGet, "/account", "")); !strings.Contains(text, "Sign in to open this page.") {
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
	d := httpapitest.NewService(t)
	_, other := d.Publish("Voted", httpapitest.Row("v", "alert.police", 0))
	b := d.SignedInAs("ada@example.org", mapdata.Driver)
	feed := b.RegisterPush("Roads")
	b.Send(http.MethodPost, "/v2/account/tokens", `{"name": "Server"}`).Want(t, http.StatusCreated)
	id, _ := b.Read(httpapitest.NearbyPath).Entities[0]["id"].(string)
	b.Vote(id, "confirm")
	b.Send(http.MethodPut, "/v2/account/preferences", `{"theme": "night"}`).Want(t, http.StatusOK)
	r := b.Send(http.MethodGet, "/v2/account/export", "").Want(t, http.StatusOK)
	if got := r.Header.Get("Content-Disposition"); got != `attachment; filename="wayside-2026-11-21.json"` {
		t.Errorf("Content-Disposition %s", got)
	}
	var got export
	r.Decode(t, &got)
	if got.Account["email"] != "ada@example.org" || len(got.Sessions) != 1 || len(got.APITokens) != 1 || len(got.Feeds) != 1 || len(got.Votes) != 1 {
		t.Errorf("export: %s", r.Body)
	}
	if got.Feeds[0]["id"] != feed.ID() || got.Votes[0]["entity_id"] != id || got.Votes[0]["vote"] != "confirm" || strings.Contains(r.Body, other+`","name`) {
		t.Errorf("export: %s", r.Body)
	}
	if strings.Contains(r.Body, *feed.Token) || strings.Contains(r.Body, "hash") {
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
	d := httpapitest.NewService(t)
	b := d.Browser().WithoutRedirects()
	title := func(header ...string) string {
		t.Helper()
		r := b.Send(http.MethodGet, "/sign-in", "", header...).Want(t, http.StatusOK)
		checkPage(t, r)
		lang := regexp.MustCompile(`<html lang="(..)">`).FindStringSubmatch(r.Body)
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
		b.Form("/language", url.Values{"language": {"de"}, "back": {back}}).WantRedirect(t, "/about")
	}
	b.Form("/language", url.Values{"language": {"fr"}, "back": {"/sign-in?next=%2Faccount"}}).WantRedirect(t, "/sign-in?next=%2Faccount")
	b.Form("/language", url.Values{"language": {"xx"}, "back": {"/pair"}}).WantRedirect(t, "/pair")
	if got := title("Accept-Language", "de"); got != "fr" {
		t.Errorf("after a choice: %s", got)
	}
}

// TestPageLanguageOfAnAccount checks that a language that is chosen while signed in is stored with the account and applies in
// every browser.
func TestPageLanguageOfAnAccount(t *testing.T) {
	d := httpapitest.NewService(t)
	b := d.SignedInAs("ada@example.org", mapdata.Driver).WithoutRedirects()
	b.Form("/language", url.Values{"language": {"de"}, "back": {"/account?done=language"}}).WantRedirect(t, "/account?done=language")
	link, err := d.Accounts.LoginLink(t.Context(), "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	other := d.Browser().WithoutRedirects()
	other.Form("/auth/verify", url.Values{"token": {link}}).Want(t, http.StatusOK)
	text := checkAccountPage(t, other.Send(http.MethodGet, "/account?done=language", "", "Accept-Language", "fr").Want(t, http.StatusOK))
	if !strings.Contains(text, "Ihr Konto") || !strings.Contains(text, "Sprache gespeichert.") {
		t.Errorf("page: %s", text)
	}
}

// TestSignInRedirectsBack checks that signing in redirects to the page that was requested, and only to pages of this service.
func TestSignInRedirectsBack(t *testing.T) {
	d := httpapitest.NewService(t)
	b := d.Browser().WithoutRedirects()
	b.Send(http.MethodGet, "/account/delete?x=1", "").WantRedirect(t, "/sign-in?next=%2Faccount%2Fdelete%3Fx%3D1")
	b.Send(http.MethodHead, "/account", "").WantRedirect(t, "/sign-in?next=%2Faccount")
	b.Form("/account/tokens", url.Values{"name": {"x"}}).Want(t, http.StatusUnauthorized)
	page := b.Send(http.MethodGet, "/sign-in?next=%2Faccount%2Fdelete%3Fx%3D1", "").Want(t, http.StatusOK)
	checkPage(t, page)
	fields, _ := httpapitest.FieldsOf(t, page, "/sign-in")
	if fields.Get("next") != "/account/delete?x=1" {
		t.Errorf("fields %v", fields)
	}
	for _, next := range []string{"//evil.example/account", "/%2faccount", "/account/../../x", "https://evil.example/account", "/sign-out", "\\account", "/v2/account"} {
		page := b.Send(http.MethodGet, "/sign-in?next="+url.QueryEscape(next), "").Want(t, http.StatusOK)
		if fields, _ := httpapitest.FieldsOf(t, page, "/sign-in"); fields.Has("next") {
			t.Errorf("sign-in redirects to %s", next)
		}
	}
	in := d.SignedInAs("ada@example.org", mapdata.Driver).WithoutRedirects()
	in.Send(http.MethodGet, "/sign-in?next=%2Faccount%2Fdelete", "").WantRedirect(t, "/account/delete")
	in.Send(http.MethodGet, "/sign-in?next=%2F%2Fevil.example", "").Want(t, http.StatusOK)
}
