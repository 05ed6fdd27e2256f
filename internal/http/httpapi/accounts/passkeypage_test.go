package accounts_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

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
		{httpapitest.PasskeyBase, true},
		{"http://map.localhost:8080", true},
	} {
		d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 10_000, Requests: 60, Entities: 10_000, Base: tt.base})
		ada := d.SignedInAs("ada@example.org", mapdata.Driver)
		account := ada.Send(http.MethodGet, "/account", "").Want(t, http.StatusOK).Body
		if got := strings.Contains(account, `data-passkey="add"`); got != tt.offered {
			t.Errorf("%q: /account offers a passkey: %v", tt.base, got)
		}
		if got := strings.Contains(account, "Passkeys are not available here"); got == tt.offered {
			t.Errorf("%q: /account says that there are none: %v", tt.base, got)
		}
		page := d.Browser().Send(http.MethodGet, "/sign-in?pair=BCDFGHJK", "").Want(t, http.StatusOK).Body
		if got := strings.Contains(page, `data-passkey="sign-in" data-passkey-next="/pair?code=BCDFGHJK" hidden`); got != tt.offered {
			t.Errorf("%q: /sign-in offers a passkey: %v\n%s", tt.base, got, page)
		}
	}
}

// TestPasskeyPages checks that passkeys are renamed and removed on separate pages, and that a session that is too old gets
// instructions.
func TestPasskeyPages(t *testing.T) {
	d := newPasskeyService(t)
	ada := d.SignedInAs("ada@example.org", mapdata.Driver)
	_, made := ada.AddPasskey()
	page := "/account/passkeys/" + made.ID
	ada.Send(http.MethodGet, page, "").Want(t, http.StatusOK)
	const hostile = "<script>\u202eevil"
	if got := ada.PostForm(page, url.Values{"name": {strings.Repeat("x", 101)}}).Want(t, http.StatusUnprocessableEntity).Body; !strings.Contains(got, `id="name-wrong"`) {
		t.Errorf("says nothing of the name:\n%s", got)
	}
	got := ada.PostForm(page, url.Values{"name": {hostile}}).Want(t, http.StatusOK)
	if got.Request.URL.RequestURI() != "/account?done=passkey-named" || !strings.Contains(got.Body, "<bdi>&lt;script&gt;\u202eevil</bdi>") {
		t.Errorf("%s:\n%s", got.Request.URL, got.Body)
	}
	d.Advance(10 * time.Minute)
	if got := ada.Send(http.MethodGet, "/account", "").Body; strings.Contains(got, `data-passkey="add"`) || !strings.Contains(got, `data-passkey="confirm"`) {
		t.Errorf("an old session:\n%s", got)
	}
	ada.Send(http.MethodGet, page+"/remove", "").Want(t, http.StatusOK)
	if len(ada.PasskeyList()) != 1 {
		t.Error("removed by looking")
	}
	ada.PostForm(page+"/remove", url.Values{}).Want(t, http.StatusOK)
	if len(ada.PasskeyList()) != 0 {
		t.Error("not removed")
	}
	ada.Send(http.MethodGet, page, "").Want(t, http.StatusNotFound)
}

// TestReviewDecisionsRequireAPasskey checks that decisions on pages require a recent use of a passkey if the operator configures
// it (D11.1).
func TestReviewDecisionsRequireAPasskey(t *testing.T) {
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 10_000, Requests: 60, Entities: 10_000, Base: httpapitest.PasskeyBase, ReviewPasskey: true})
	owner, curator := d.SignedInAs("owner@example.org", mapdata.Driver), d.SignedInAs("curator@example.org", mapdata.Curator)
	feed := owner.RegisterPush("Roads")
	page := "/review/" + feed.ID()
	look := func() (version, body string) {
		t.Helper()
		body = curator.Send(http.MethodGet, page, "").Want(t, http.StatusOK).Body
		_, rest, _ := strings.Cut(body, `name="version" value="`)
		version, _, _ = strings.Cut(rest, `"`)
		return version, body
	}
	version, body := look()
	if !strings.Contains(body, "you don’t have one yet") || !strings.Contains(body, `/approve" data-passkey="confirm"`) {
		t.Errorf("does not ask for a passkey:\n%s", body)
	}
	for _, deed := range []string{"/approve", "/reject"} {
		curator.PostForm(page+deed, url.Values{"version": {version}, "note": {"no"}}).Want(t, http.StatusForbidden)
	}
	a, _ := curator.AddPasskey()
	curator.PostForm(page+"/approve", url.Values{"version": {version}}).Want(t, http.StatusForbidden) // having one is not using it
	curator.Finish("/v2/auth/passkey/confirm/finish", a.Get(curator.Begin("/v2/auth/passkey/confirm/begin"))).Want(t, http.StatusNoContent)
	if _, body := look(); strings.Contains(body, "data-passkey") {
		t.Errorf("still asks for a passkey:\n%s", body)
	}
	d.Advance(10 * time.Minute)
	curator.PostForm(page+"/approve", url.Values{"version": {version}}).Want(t, http.StatusForbidden)
	curator.Finish("/v2/auth/passkey/confirm/finish", a.Get(curator.Begin("/v2/auth/passkey/confirm/begin"))).Want(t, http.StatusNoContent)
	curator.PostForm(page+"/approve", url.Values{"version": {version}}).Want(t, http.StatusOK)
	if got := owner.Send(http.MethodGet, feed.Path(), "").FeedOf(t)["review_state"]; got != "approved" {
		t.Errorf("the feed is %v", got)
	}
}
