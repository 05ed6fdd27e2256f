package httpapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// postForm posts a page's form, and returns the page to which it redirects.
func (b *browser) postForm(path string, values url.Values) reply {
	b.t.Helper()
	return b.send(http.MethodPost, path, values.Encode(), "Content-Type", formType)
}

// TestPagesOfferPasskeys checks that the pages contain hidden buttons, which their script shows in browsers with passkeys.
func TestPagesOfferPasskeys(t *testing.T) {
	for _, tt := range []struct {
		base    string
		offered bool
	}{
		{"", false},
		{"http://127.0.0.1:8080", false},
		{"http://[::1]:8080", false},
		{"http://localhost.evil.example", false},
		{passkeyBase, true},
		{"http://map.localhost:8080", true},
	} {
		d := newTestServiceWith(t, serviceOptions{manage: 10_000, requests: 60, entities: 10_000, base: tt.base})
		ada := d.signedInAs("ada@example.org", mapdata.Driver)
		account := ada.send(http.MethodGet, "/account", "").want(t, http.StatusOK).body
		if got := strings.Contains(account, `data-passkey="add"`); got != tt.offered {
			t.Errorf("%q: /account offers a passkey: %v", tt.base, got)
		}
		if got := strings.Contains(account, "Passkeys are not available here"); got == tt.offered {
			t.Errorf("%q: /account says that there are none: %v", tt.base, got)
		}
		page := d.browser().send(http.MethodGet, "/sign-in?pair=BCDFGHJK", "").want(t, http.StatusOK).body
		if got := strings.Contains(page, `data-passkey="sign-in" data-passkey-next="/pair?code=BCDFGHJK" hidden`); got != tt.offered {
			t.Errorf("%q: /sign-in offers a passkey: %v\n%s", tt.base, got, page)
		}
	}
}

// TestPasskeyPages checks that passkeys are renamed and removed on separate pages, and that a session that is too old gets
// instructions.
func TestPasskeyPages(t *testing.T) {
	d := newPasskeyService(t)
	ada := d.signedInAs("ada@example.org", mapdata.Driver)
	_, made := ada.addPasskey()
	page := "/account/passkeys/" + made.ID
	ada.send(http.MethodGet, page, "").want(t, http.StatusOK)
	const hostile = "<script>\u202eevil"
	if got := ada.postForm(page, url.Values{"name": {strings.Repeat("x", 101)}}).want(t, http.StatusUnprocessableEntity).body; !strings.Contains(got, `id="name-wrong"`) {
		t.Errorf("says nothing of the name:\n%s", got)
	}
	got := ada.postForm(page, url.Values{"name": {hostile}}).want(t, http.StatusOK)
	if got.Request.URL.RequestURI() != "/account?done=passkey-named" || !strings.Contains(got.body, "<bdi>&lt;script&gt;\u202eevil</bdi>") {
		t.Errorf("%s:\n%s", got.Request.URL, got.body)
	}
	d.advance(10 * time.Minute)
	if got := ada.send(http.MethodGet, "/account", "").body; strings.Contains(got, `data-passkey="add"`) || !strings.Contains(got, `data-passkey="confirm"`) {
		t.Errorf("an old session:\n%s", got)
	}
	ada.send(http.MethodGet, page+"/remove", "").want(t, http.StatusOK)
	if len(ada.passkeyList()) != 1 {
		t.Error("removed by looking")
	}
	ada.postForm(page+"/remove", url.Values{}).want(t, http.StatusOK)
	if len(ada.passkeyList()) != 0 {
		t.Error("not removed")
	}
	ada.send(http.MethodGet, page, "").want(t, http.StatusNotFound)
}

// TestReviewDecisionsRequireAPasskey checks that decisions on pages require a recent use of a passkey if the operator configures
// it (D11.1).
func TestReviewDecisionsRequireAPasskey(t *testing.T) {
	d := newTestServiceWith(t, serviceOptions{manage: 10_000, requests: 60, entities: 10_000, base: passkeyBase, reviewPasskey: true})
	owner, curator := d.signedInAs("owner@example.org", mapdata.Driver), d.signedInAs("curator@example.org", mapdata.Curator)
	feed := owner.registerPush("Roads")
	page := "/review/" + feed.id()
	look := func() (version, body string) {
		t.Helper()
		body = curator.send(http.MethodGet, page, "").want(t, http.StatusOK).body
		_, rest, _ := strings.Cut(body, `name="version" value="`)
		version, _, _ = strings.Cut(rest, `"`)
		return version, body
	}
	version, body := look()
	if !strings.Contains(body, "you don’t have one yet") || !strings.Contains(body, `/approve" data-passkey="confirm"`) {
		t.Errorf("does not ask for a passkey:\n%s", body)
	}
	for _, deed := range []string{"/approve", "/reject"} {
		curator.postForm(page+deed, url.Values{"version": {version}, "note": {"no"}}).want(t, http.StatusForbidden)
	}
	a, _ := curator.addPasskey()
	curator.postForm(page+"/approve", url.Values{"version": {version}}).want(t, http.StatusForbidden) // having one is not using it
	curator.finish("/v2/auth/passkey/confirm/finish", a.get(curator.begin("/v2/auth/passkey/confirm/begin"))).want(t, http.StatusNoContent)
	if _, body := look(); strings.Contains(body, "data-passkey") {
		t.Errorf("still asks for a passkey:\n%s", body)
	}
	d.advance(10 * time.Minute)
	curator.postForm(page+"/approve", url.Values{"version": {version}}).want(t, http.StatusForbidden)
	curator.finish("/v2/auth/passkey/confirm/finish", a.get(curator.begin("/v2/auth/passkey/confirm/begin"))).want(t, http.StatusNoContent)
	curator.postForm(page+"/approve", url.Values{"version": {version}}).want(t, http.StatusOK)
	if got := owner.send(http.MethodGet, feed.path(), "").feedOf(t)["review_state"]; got != "approved" {
		t.Errorf("the feed is %v", got)
	}
}
