package accounts_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestSigningInEndsTheSessionThatCameAlong checks that each way of signing in ends the session of the cookie in the request (F8).
func TestSigningInEndsTheSessionThatCameAlong(t *testing.T) {
	for way, signIn := range map[string]func(b *httpapitest.Browser){
		"link": func(b *httpapitest.Browser) {
			token, _ := b.RequestSignIn("ada@example.org")
			b.Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, token)).Want(t, http.StatusOK)
		},
		"code of another account": func(b *httpapitest.Browser) {
			_, code := b.RequestSignIn("eve@example.org")
			b.Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"email": "eve@example.org", "code": %q}`, code)).Want(t, http.StatusOK)
		},
		"page of a link": func(b *httpapitest.Browser) {
			token, _ := b.RequestSignIn("ada@example.org")
			b.Form("/auth/verify", url.Values{"token": {token}}).Want(t, http.StatusOK)
		},
		"page of a code": func(b *httpapitest.Browser) {
			_, code := b.RequestSignIn("ada@example.org")
			b.Form("/sign-in/code", url.Values{"email": {"ada@example.org"}, "code": {code}}).Want(t, http.StatusOK)
		},
	} {
		h := newAuthService(t, false)
		b := h.Browser()
		token, _ := b.RequestSignIn("ada@example.org")
		name, old := b.Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, token)).Want(t, http.StatusOK).Cookie(t, false)
		signIn(b)
		b.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK)
		if got := h.Browser().Send(http.MethodGet, "/v2/account", "", "Cookie", name+"="+old); got.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: the session that came along answers %d", way, got.StatusCode)
		}
	}
}

// TestPasskeySignInEndsTheSessionThatCameAlong checks the same for passkeys, and that the address's unused links end.
func TestPasskeySignInEndsTheSessionThatCameAlong(t *testing.T) {
	d := newPasskeyService(t)
	b := d.SignedInAs("ada@example.org", mapdata.Driver)
	key, _ := b.AddPasskey()
	link, err := d.Accounts.LoginLink(t.Context(), "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	b.SignInByPasskey(key).Want(t, http.StatusOK)
	sessions, err := d.Accounts.Sessions(t.Context(), d.AccountOf("ada@example.org").ID)
	if err != nil || len(sessions) != 1 {
		t.Errorf("%d sessions, %v; want 1", len(sessions), err)
	}
	d.Browser().Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, link)).Want(t, http.StatusUnauthorized)
}

// TestSigningInUsesUpOtherEmails checks that a sign-in invalidates the address's other links and codes (F11).
func TestSigningInUsesUpOtherEmails(t *testing.T) {
	b := newAuthService(t, false).Browser()
	var links, codes [3]string
	for i := range links {
		links[i], codes[i] = b.RequestSignIn("ada@example.org")
	}
	verify := func(i int) httpapitest.Reply {
		return b.Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"email": "ada@example.org", "code": %q}`, codes[i]))
	}
	verify(1).Want(t, http.StatusOK)
	for i := range links {
		b.Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, links[i])).Want(t, http.StatusUnauthorized)
		verify(i).Want(t, http.StatusUnauthorized)
	}
}

// TestCodesWorkInTheBrowserThatAsked checks that another browser cannot use a code, nor use up its attempts, and that a link works
// anywhere (F18).
func TestCodesWorkInTheBrowserThatAsked(t *testing.T) {
	for _, secure := range []bool{false, true} {
		h := newAuthService(t, secure)
		mine, theirs := h.Browser(), h.Browser()
		_, code := mine.RequestSignIn("ada@example.org")
		theirs.RequestSignIn("eve@example.org")
		body := fmt.Sprintf(`{"email": "ada@example.org", "code": %q}`, code)
		for range 6 {
			theirs.Send(http.MethodPost, "/v2/auth/verify", body).Want(t, http.StatusUnauthorized)
		}
		answer := theirs.Form("/sign-in/code", url.Values{"email": {"ada@example.org"}, "code": {code}}).Want(t, http.StatusUnauthorized)
		httpapitest.Contains(t, answer.Body, "requested in another browser")
		mine.Send(http.MethodPost, "/v2/auth/verify", body).Want(t, http.StatusOK)

		link, _ := mine.RequestSignIn("ada@example.org")
		theirs.Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, link)).Want(t, http.StatusOK)
	}
}

// TestCodesOfOneBrowser checks that every code that a browser requested works, also on the page, and that the cookie is for that
// browser alone.
func TestCodesOfOneBrowser(t *testing.T) {
	h := newAuthService(t, true)
	b := h.Browser()
	_, first := b.RequestSignIn("ada@example.org")
	asked := b.Form("/sign-in", url.Values{"email": {"ada@example.org"}}).Want(t, http.StatusOK)
	c := asked.Cookies()[0]
	if c.Name != "__Host-wayside_sign_in" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.MaxAge != 600 || c.Path != "/" {
		t.Errorf("cookie %+v", c)
	}
	b.Form("/sign-in/code", url.Values{"email": {"ada@example.org"}, "code": {first}}).Want(t, http.StatusOK)
	b.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK)
}

// TestEndingSessionsEndsApprovals checks that a screen that a session approved and that has not polled yet is not signed in after
// that session has ended (F9).
func TestEndingSessionsEndsApprovals(t *testing.T) {
	d := httpapitest.NewService(t)
	mine := d.SignedInAs("ada@example.org", mapdata.Driver)
	for name, end := range map[string]func(thief *httpapitest.Browser){
		"end of others": func(*httpapitest.Browser) { mine.Form("/account/end-others", nil).Want(t, http.StatusOK) },
		"sign-out": func(b *httpapitest.Browser) {
			b.Send(http.MethodPost, "/v2/auth/sign-out", "").Want(t, http.StatusNoContent)
		},
		"role": func(*httpapitest.Browser) {
			if _, err := d.Accounts.SetRole(t.Context(), "ada@example.org", mapdata.Curator); err != nil {
				t.Fatal(err)
			}
		},
	} {
		thief, screen := d.AnotherBrowser("ada@example.org"), d.Screen("x")
		thief.Send(http.MethodPost, screen.Path()+"/approve", "").Want(t, http.StatusOK)
		end(thief)
		if got := screen.Poll(); got.StatusCode != http.StatusGone {
			t.Errorf("%s: the screen is answered %d", name, got.StatusCode)
		}
		screen.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusUnauthorized)
	}
}

// TestSessionsEndByAge checks that a session ends 30 days after its last use, and 180 days after its beginning however often it is
// used (D11.2).
func TestSessionsEndByAge(t *testing.T) {
	d := httpapitest.NewService(t)
	const day = 24 * time.Hour
	idle, used := d.SignedInAs("idle@example.org", mapdata.Driver), d.SignedInAs("used@example.org", mapdata.Driver)
	d.Advance(30*day - time.Second)
	used.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK)
	idle.Page("/account", http.StatusOK)
	d.Advance(30*day - time.Second)
	idle.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK) // the use before counts
	used.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK)
	d.Advance(30 * day)
	idle.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusUnauthorized)
	used.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusUnauthorized)

	used = d.AnotherBrowser("used@example.org")
	for range 8 {
		d.Advance(20 * day)
		used.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK)
	}
	d.Advance(20*day - time.Second)
	used.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK)
	d.Advance(time.Second)
	used.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusUnauthorized)
}

// TestVotesAreSevered checks that 30 days after it was cast a vote is no longer linked to its account, and still counts (D9.7).
func TestVotesAreSevered(t *testing.T) {
	d := httpapitest.NewService(t)
	d.Publish("Cameras", httpapitest.Row("v", "camera.speed", 0))
	voter := d.SignedInAs("ada@example.org", mapdata.Driver)
	id, _ := voter.Read(httpapitest.NearbyPath).Entities[0]["id"].(string)
	voter.Vote(id, "confirm")
	votes := func() int {
		t.Helper()
		var out struct{ Votes []json.RawMessage }
		voter.Send(http.MethodGet, "/v2/account/export", "").Want(t, http.StatusOK).Decode(t, &out)
		return len(out.Votes)
	}
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{30*24*time.Hour - time.Second, 1}, {2 * time.Second, 0}} {
		d.Advance(step.after)
		voter = d.AnotherBrowser("ada@example.org")
		if err := d.DB.Prune(t.Context(), d.Time()); err != nil { // the service does so every few minutes
			t.Fatal(err)
		}
		if got := votes(); got != step.want {
			t.Errorf("after %v the account has %d votes, want %d", step.after, got, step.want)
		}
		if e := voter.Read(httpapitest.NearbyPath).Entities[0]; fmt.Sprint(e["confirm_count"]) != "1" {
			t.Errorf("the vote does not count any more: %v", e)
		}
	}
}

// TestCookiesUnderHTTPS checks that every cookie of the pages is Secure and has a prefix, and that signing out clears the browser's
// cache (F13).
func TestCookiesUnderHTTPS(t *testing.T) {
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 10_000, Base: "https://wayside.example.org"})
	d.SignedInAs("ada@example.org", mapdata.Driver)
	link, err := d.Accounts.LoginLink(t.Context(), "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	session := d.Browser().Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, link)).Want(t, http.StatusOK).Cookies()[0]
	with := []string{"Cookie", session.Name + "=" + session.Value}
	ada := d.Browser().WithoutRedirects() // the test's server is plain http, to which no browser sends a Secure cookie
	check := func(r httpapitest.Reply, name string) *http.Cookie {
		t.Helper()
		for _, c := range r.Cookies() {
			if c.Name == name && c.Secure && c.HttpOnly {
				return c
			}
		}
		t.Errorf("cookies %v, want %s, Secure", r.Cookies(), name)
		return &http.Cookie{}
	}
	language := check(ada.Form("/language", url.Values{"language": {"de"}, "back": {"/about"}}), "__Host-wayside_language")
	if language.Path != "/" || language.Domain != "" {
		t.Errorf("a browser refuses %+v", language)
	}
	httpapitest.Contains(t, ada.Send(http.MethodGet, "/about", "", "Cookie", language.Name+"="+language.Value).Want(t, http.StatusOK).Body, "Deutsch")
	made := ada.Form("/account/tokens", url.Values{"name": {"Server"}}, with...)
	token := check(made, "__Secure-wayside_new_token")
	shown := ada.Send(http.MethodGet, made.Header.Get("Location"), "", "Cookie", with[1]+"; "+token.Name+"="+token.Value).Want(t, http.StatusOK)
	if !strings.Contains(shown.Body, "wsk_") {
		t.Error("the page does not show the token")
	}
	out := ada.Send(http.MethodPost, "/v2/auth/sign-out", "", with...).Want(t, http.StatusNoContent)
	if got := out.Header.Get("Clear-Site-Data"); got != `"cache"` {
		t.Errorf("Clear-Site-Data: %s", got)
	}
	if got := ada.Form("/sign-out", nil).Header.Get("Clear-Site-Data"); got != `"cache"` {
		t.Errorf("Clear-Site-Data of the page: %s", got)
	}
}
