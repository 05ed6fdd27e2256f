package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestSigningInEndsTheSessionThatCameAlong checks that each way of signing in ends the session of the cookie in the request (F8).
func TestSigningInEndsTheSessionThatCameAlong(t *testing.T) {
	for way, signIn := range map[string]func(b *browser){
		"link": func(b *browser) {
			token, _ := b.requestSignIn("ada@example.org")
			b.send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, token)).want(t, http.StatusOK)
		},
		"code of another account": func(b *browser) {
			_, code := b.requestSignIn("eve@example.org")
			b.send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"email": "eve@example.org", "code": %q}`, code)).want(t, http.StatusOK)
		},
		"page of a link": func(b *browser) {
			token, _ := b.requestSignIn("ada@example.org")
			b.form("/auth/verify", url.Values{"token": {token}}).want(t, http.StatusOK)
		},
		"page of a code": func(b *browser) {
			_, code := b.requestSignIn("ada@example.org")
			b.form("/sign-in/code", url.Values{"email": {"ada@example.org"}, "code": {code}}).want(t, http.StatusOK)
		},
	} {
		h := newAuthService(t, false)
		b := h.browser()
		token, _ := b.requestSignIn("ada@example.org")
		name, old := b.send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, token)).want(t, http.StatusOK).cookie(t, false)
		signIn(b)
		b.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK)
		if got := h.browser().send(http.MethodGet, "/v2/account", "", "Cookie", name+"="+old); got.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: the session that came along answers %d", way, got.StatusCode)
		}
	}
}

// TestPasskeySignInEndsTheSessionThatCameAlong checks the same for passkeys, and that the address's unused links end.
func TestPasskeySignInEndsTheSessionThatCameAlong(t *testing.T) {
	d := newPasskeyService(t)
	b := d.signedInAs("ada@example.org", mapdata.Driver)
	key, _ := b.addPasskey()
	link, err := d.accounts.LoginLink(t.Context(), "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	b.signInByPasskey(key).want(t, http.StatusOK)
	sessions, err := d.accounts.Sessions(t.Context(), d.accountOf("ada@example.org").ID)
	if err != nil || len(sessions) != 1 {
		t.Errorf("%d sessions, %v; want 1", len(sessions), err)
	}
	d.browser().send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, link)).want(t, http.StatusUnauthorized)
}

// TestSigningInUsesUpOtherEmails checks that a sign-in invalidates the address's other links and codes (F11).
func TestSigningInUsesUpOtherEmails(t *testing.T) {
	b := newAuthService(t, false).browser()
	var links, codes [3]string
	for i := range links {
		links[i], codes[i] = b.requestSignIn("ada@example.org")
	}
	verify := func(i int) reply {
		return b.send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"email": "ada@example.org", "code": %q}`, codes[i]))
	}
	verify(1).want(t, http.StatusOK)
	for i := range links {
		b.send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, links[i])).want(t, http.StatusUnauthorized)
		verify(i).want(t, http.StatusUnauthorized)
	}
}

// TestCodesWorkInTheBrowserThatAsked checks that another browser cannot use a code, nor use up its attempts, and that a link works
// anywhere (F18).
func TestCodesWorkInTheBrowserThatAsked(t *testing.T) {
	for _, secure := range []bool{false, true} {
		h := newAuthService(t, secure)
		mine, theirs := h.browser(), h.browser()
		_, code := mine.requestSignIn("ada@example.org")
		theirs.requestSignIn("eve@example.org")
		body := fmt.Sprintf(`{"email": "ada@example.org", "code": %q}`, code)
		for range 6 {
			theirs.send(http.MethodPost, "/v2/auth/verify", body).want(t, http.StatusUnauthorized)
		}
		answer := theirs.form("/sign-in/code", url.Values{"email": {"ada@example.org"}, "code": {code}}).want(t, http.StatusUnauthorized)
		contains(t, answer.body, "requested in another browser")
		mine.send(http.MethodPost, "/v2/auth/verify", body).want(t, http.StatusOK)

		link, _ := mine.requestSignIn("ada@example.org")
		theirs.send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, link)).want(t, http.StatusOK)
	}
}

// TestCodesOfOneBrowser checks that every code that a browser requested works, also on the page, and that the cookie is for that
// browser alone.
func TestCodesOfOneBrowser(t *testing.T) {
	h := newAuthService(t, true)
	b := h.browser()
	_, first := b.requestSignIn("ada@example.org")
	asked := b.form("/sign-in", url.Values{"email": {"ada@example.org"}}).want(t, http.StatusOK)
	c := asked.Cookies()[0]
	if c.Name != "__Host-wayside_sign_in" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.MaxAge != 600 || c.Path != "/" {
		t.Errorf("cookie %+v", c)
	}
	b.form("/sign-in/code", url.Values{"email": {"ada@example.org"}, "code": {first}}).want(t, http.StatusOK)
	b.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK)
}

// TestEndingSessionsEndsApprovals checks that a screen that a session approved and that has not polled yet is not signed in after
// that session has ended (F9).
func TestEndingSessionsEndsApprovals(t *testing.T) {
	d := newTestService(t)
	mine := d.signedInAs("ada@example.org", mapdata.Driver)
	for name, end := range map[string]func(thief *browser){
		"end of others": func(*browser) { mine.form("/account/end-others", nil).want(t, http.StatusOK) },
		"sign-out":      func(b *browser) { b.send(http.MethodPost, "/v2/auth/sign-out", "").want(t, http.StatusNoContent) },
		"role": func(*browser) {
			if _, err := d.accounts.SetRole(t.Context(), "ada@example.org", mapdata.Curator); err != nil {
				t.Fatal(err)
			}
		},
	} {
		thief, screen := d.anotherBrowser("ada@example.org"), d.screen("x")
		thief.send(http.MethodPost, screen.path()+"/approve", "").want(t, http.StatusOK)
		end(thief)
		if got := screen.poll(); got.StatusCode != http.StatusGone {
			t.Errorf("%s: the screen is answered %d", name, got.StatusCode)
		}
		screen.send(http.MethodGet, "/v2/account", "").want(t, http.StatusUnauthorized)
	}
}

// TestSessionsEndByAge checks that a session ends 30 days after its last use, and 180 days after its beginning however often it is
// used (D11.2).
func TestSessionsEndByAge(t *testing.T) {
	d := newTestService(t)
	const day = 24 * time.Hour
	idle, used := d.signedInAs("idle@example.org", mapdata.Driver), d.signedInAs("used@example.org", mapdata.Driver)
	d.advance(30*day - time.Second)
	used.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK)
	idle.page("/account", http.StatusOK)
	d.advance(30*day - time.Second)
	idle.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK) // the use before counts
	used.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK)
	d.advance(30 * day)
	idle.send(http.MethodGet, "/v2/account", "").want(t, http.StatusUnauthorized)
	used.send(http.MethodGet, "/v2/account", "").want(t, http.StatusUnauthorized)

	used = d.anotherBrowser("used@example.org")
	for range 8 {
		d.advance(20 * day)
		used.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK)
	}
	d.advance(20*day - time.Second)
	used.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK)
	d.advance(time.Second)
	used.send(http.MethodGet, "/v2/account", "").want(t, http.StatusUnauthorized)
}

// TestVotesAreSevered checks that 30 days after it was cast a vote is no longer linked to its account, and still counts (D9.7).
func TestVotesAreSevered(t *testing.T) {
	d := newTestService(t)
	d.publish("Cameras", row("v", "camera.speed", 0))
	voter := d.signedInAs("ada@example.org", mapdata.Driver)
	id, _ := voter.read(nearbyPath).Entities[0]["id"].(string)
	voter.vote(id, "confirm")
	votes := func() int {
		t.Helper()
		var out struct{ Votes []json.RawMessage }
		voter.send(http.MethodGet, "/v2/account/export", "").want(t, http.StatusOK).decode(t, &out)
		return len(out.Votes)
	}
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{30*24*time.Hour - time.Second, 1}, {2 * time.Second, 0}} {
		d.advance(step.after)
		voter = d.anotherBrowser("ada@example.org")
		if err := d.db.Prune(t.Context(), d.time()); err != nil { // the service does so every few minutes
			t.Fatal(err)
		}
		if got := votes(); got != step.want {
			t.Errorf("after %v the account has %d votes, want %d", step.after, got, step.want)
		}
		if e := voter.read(nearbyPath).Entities[0]; fmt.Sprint(e["confirm_count"]) != "1" {
			t.Errorf("the vote does not count any more: %v", e)
		}
	}
}

// TestCookiesUnderHTTPS checks that every cookie of the pages is Secure and has a prefix, and that signing out clears the browser's
// cache (F13).
func TestCookiesUnderHTTPS(t *testing.T) {
	d := newTestServiceWith(t, serviceOptions{manage: 10_000, base: "https://wayside.example.org"})
	d.signedInAs("ada@example.org", mapdata.Driver)
	link, err := d.accounts.LoginLink(t.Context(), "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	session := d.browser().send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, link)).want(t, http.StatusOK).Cookies()[0]
	with := []string{"Cookie", session.Name + "=" + session.Value}
	ada := d.browser().withoutRedirects() // the test's server is plain http, to which no browser sends a Secure cookie
	check := func(r reply, name string) *http.Cookie {
		t.Helper()
		for _, c := range r.Cookies() {
			if c.Name == name && c.Secure && c.HttpOnly {
				return c
			}
		}
		t.Errorf("cookies %v, want %s, Secure", r.Cookies(), name)
		return &http.Cookie{}
	}
	language := check(ada.form("/language", url.Values{"language": {"de"}, "back": {"/about"}}), "__Host-wayside_language")
	if language.Path != "/" || language.Domain != "" {
		t.Errorf("a browser refuses %+v", language)
	}
	contains(t, ada.send(http.MethodGet, "/about", "", "Cookie", language.Name+"="+language.Value).want(t, http.StatusOK).body, "Deutsch")
	made := ada.form("/account/tokens", url.Values{"name": {"Server"}}, with...)
	token := check(made, "__Secure-wayside_new_token")
	shown := ada.send(http.MethodGet, made.Header.Get("Location"), "", "Cookie", with[1]+"; "+token.Name+"="+token.Value).want(t, http.StatusOK)
	if !strings.Contains(shown.body, "wsk_") {
		t.Error("the page does not show the token")
	}
	out := ada.send(http.MethodPost, "/v2/auth/sign-out", "", with...).want(t, http.StatusNoContent)
	if got := out.Header.Get("Clear-Site-Data"); got != `"cache"` {
		t.Errorf("Clear-Site-Data: %s", got)
	}
	if got := ada.form("/sign-out", nil).Header.Get("Clear-Site-Data"); got != `"cache"` {
		t.Errorf("Clear-Site-Data of the page: %s", got)
	}
}
