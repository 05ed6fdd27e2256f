package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// wantProblem checks the status and the type of a problem document.
func (r reply) wantProblem(t *testing.T, status int, name string) {
	t.Helper()
	if r.want(t, status); !strings.Contains(r.body, `"/docs#problem-`+name+`"`) {
		t.Errorf("want the problem %s: %s", name, r.body)
	}
}

// TestScreenMayReadAndVoteOnly checks that the session of a paired screen is not the whole account (D11.3), even an admin's.
func TestScreenMayReadAndVoteOnly(t *testing.T) {
	d := newTestService(t)
	owner := d.signedInAs("owner@example.org", mapdata.Driver)
	feed := owner.registerPush("Roads")
	d.publish("Voted", row("v", "alert.police", 0))
	phone := d.signedInAs("ada@example.org", mapdata.Admin)
	screen, victim := d.pairedScreen(phone), d.screen("another")

	for _, call := range []struct{ method, path, body string }{
		{http.MethodPost, feed.path() + "/approve", ""},
		{http.MethodPost, "/v2/account/tokens", `{"name": "mine"}`},
		{http.MethodPost, "/v2/auth/pair/" + victim.UserCode + "/approve", ""},
		{http.MethodGet, "/v2/account/sessions", ""},
		{http.MethodGet, "/v2/account/export", ""},
		{http.MethodGet, "/v2/feeds", ""},
		{http.MethodPost, "/v2/auth/passkey/confirm/begin", ""},
	} {
		screen.send(call.method, call.path, call.body).wantProblem(t, http.StatusForbidden, "sign-in-required")
	}
	for _, path := range []string{"/account", "/audit", "/review", "/feeds", "/pair"} {
		body := screen.send(http.MethodGet, path, "").want(t, http.StatusForbidden).body
		contains(t, body, "This screen was signed in from a phone", "Sign in")
		if !strings.Contains(body, `href="/sign-in?next=`+url.QueryEscape(path)+`"`) || strings.Contains(body, `href="/feeds"`) {
			t.Errorf("%s does not lead to where one signs in, or links to pages that are refused:\n%s", path, body)
		}
	}
	screen.form("/account/end-others", nil).want(t, http.StatusForbidden)
	screen.form("/account/delete", url.Values{"email": {"ada@example.org"}}).want(t, http.StatusForbidden)
	if got := owner.send(http.MethodGet, feed.path(), "").feedOf(t)["review_state"]; got != "pending" {
		t.Errorf("the feed is %v", got)
	}

	var brief struct{ Account map[string]any }
	screen.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK).decode(t, &brief)
	if len(brief.Account) != 3 || brief.Account["email"] != "ada@example.org" || brief.Account["tier"] != "account" || brief.Account["scope"] != "screen" {
		t.Errorf("the screen sees the account %v", brief.Account)
	}
	id, _ := screen.read(nearbyPath).Entities[0]["id"].(string)
	screen.vote(id, "confirm")
	screen.send(http.MethodDelete, "/v2/entities/"+id+"/vote", "").want(t, http.StatusOK)
	screen.send(http.MethodPut, "/v2/account/preferences", `{"theme": "night"}`).want(t, http.StatusOK)
	screen.send(http.MethodGet, "/v2/account/preferences", "").want(t, http.StatusOK)
	screen.send(http.MethodPost, "/v2/auth/sign-out", "").want(t, http.StatusNoContent)
	screen.send(http.MethodGet, "/v2/account", "").want(t, http.StatusUnauthorized)
	phone.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK)
}

// TestPairingIsEmailed checks that the account gets an e-mail when a screen is signed in, not before, and sees the screen among its
// sessions.
func TestPairingIsEmailed(t *testing.T) {
	d := newTestService(t)
	phone := d.signedInAs("ada@example.org", mapdata.Driver)
	emails := func() []mapdata.Email {
		t.Helper()
		all, err := d.db.DueEmails(t.Context(), d.time(), d.time(), 10)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	waiting := d.screen("x")
	phone.send(http.MethodPost, "/v2/auth/pair/"+waiting.UserCode+"/approve", "").want(t, http.StatusOK)
	if all := emails(); len(all) != 0 {
		t.Errorf("%d e-mails before a screen is signed in", len(all))
	}
	d.advance(time.Second) // the list is in the order of time
	d.pairedScreen(phone)
	all := emails()
	if len(all) != 1 || all[0].Kind != mapdata.EmailScreenPaired || all[0].Address != "ada@example.org" || !strings.Contains(all[0].Data["name"], "a Tesla") {
		t.Fatalf("e-mails %+v", all)
	}
	var sessions struct {
		Sessions []struct {
			Scope   string
			Current bool
		}
	}
	phone.send(http.MethodGet, "/v2/account/sessions", "").want(t, http.StatusOK).decode(t, &sessions)
	got := fmt.Sprint(sessions.Sessions)
	if got != "[{account true} {screen false}]" {
		t.Errorf("sessions %s", got)
	}
	contains(t, phone.page("/account", http.StatusOK), "a Tesla")
}

// TestScreenSignsInLikeAGuest checks that the page of signing in does not send a screen back to a page that refuses it, and that
// the screen's session ends with the sign-in.
func TestScreenSignsInLikeAGuest(t *testing.T) {
	d := newTestService(t)
	phone := d.signedInAs("ada@example.org", mapdata.Driver)
	screen := d.pairedScreen(phone).withoutRedirects()
	for _, path := range []string{"/sign-in", "/sign-in?next=%2Ffeeds", "/sign-in?pair="} {
		contains(t, screen.page(path, http.StatusOK), "Your e-mail address")
	}
	link, err := d.accounts.LoginLink(t.Context(), "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	screen.send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, link)).want(t, http.StatusOK)
	screen.page("/account", http.StatusOK)
	sessions, err := d.accounts.Sessions(t.Context(), d.accountOf("ada@example.org").ID)
	if err != nil || len(sessions) != 2 || sessions[1].Scope != mapdata.ScopeAccount {
		t.Errorf("sessions %+v, %v", sessions, err)
	}
}

// TestPairingLinksOfOtherSites checks that a link on another site's page looks nothing up, so that it uses up no attempts, and
// makes the driver compare the code (F12).
func TestPairingLinksOfOtherSites(t *testing.T) {
	d := newTestService(t)
	phone := d.signedInAs("ada@example.org", mapdata.Driver).withoutRedirects()
	mine := d.screen("Car")
	for i := range 8 {
		wrong := fmt.Sprintf("BCDFGHJ%c", "BCDFGHJK"[i])
		body := phone.send(http.MethodGet, "/pair?code="+wrong, "", "Sec-Fetch-Site", "cross-site").want(t, http.StatusOK).body
		contains(t, body, "link on another site")
		if !strings.Contains(body, `value="`+wrong[:4]+"-"+wrong[4:]+`"`) || strings.Contains(body, "approve") {
			t.Errorf("the code is not in the form, or can be approved:\n%s", body)
		}
		phone.send(http.MethodGet, "/v2/auth/pair/"+wrong, "", "Sec-Fetch-Site", "cross-site").wantProblem(t, http.StatusForbidden, "forbidden")
	}
	contains(t, phone.send(http.MethodGet, "/pair?code="+mine.UserCode, "", "Sec-Fetch-Site", "cross-site").want(t, http.StatusOK).body, "link on another site")
	contains(t, phone.send(http.MethodGet, "/pair?code="+mine.UserCode, "", "Sec-Fetch-Site", "same-origin").want(t, http.StatusOK).body, "Is this your car")
	contains(t, phone.send(http.MethodGet, "/pair?code="+mine.UserCode, "", "Sec-Fetch-Site", "none").want(t, http.StatusOK).body, "Is this your car")
	phone.send(http.MethodPost, "/v2/auth/pair/"+mine.UserCode+"/approve", "").want(t, http.StatusOK)

	// A guest who signs in first compares the code as well.
	guest := d.browser().withoutRedirects()
	bare := strings.ReplaceAll(mine.UserCode, "-", "")
	guest.send(http.MethodGet, "/pair?code="+bare, "", "Sec-Fetch-Site", "cross-site").wantRedirect(t, "/sign-in?pair="+bare+"&linked=")
	guest.send(http.MethodGet, "/pair?code="+bare, "", "Sec-Fetch-Site", "none").wantRedirect(t, "/sign-in?pair="+bare)
	for _, path := range []string{"/sign-in?pair=" + bare + "&linked=", "/sign-in?pair=" + bare} {
		fields, _ := fieldsOf(t, guest.send(http.MethodGet, path, "", "Sec-Fetch-Site", "cross-site").want(t, http.StatusOK), "/sign-in")
		if !fields.Has("linked") || fields.Get("pair") != bare {
			t.Errorf("the form of %s continues with %v", path, fields)
		}
	}
	phone.send(http.MethodGet, "/sign-in?pair="+bare, "", "Sec-Fetch-Site", "cross-site").wantRedirect(t, "/pair?code="+bare+"&linked=")
	contains(t, phone.send(http.MethodGet, "/pair?code="+bare+"&linked=", "", "Sec-Fetch-Site", "same-origin").want(t, http.StatusOK).body, "link on another site")
}

// TestStreamsEndWithTheirSessions checks that a stream ends within a second when its session or API token ends, or the account's
// role changes, and that other streams continue (F15).
func TestStreamsEndWithTheirSessions(t *testing.T) {
	d := newTestService(t)
	d.waitForIndex()
	other := d.signedInAs("other@example.org", mapdata.Driver).openStream(streamQuery)
	other.wantEvents("snapshot")
	const email = "ada@example.org"
	phone := d.signedInAs(email, mapdata.Driver)
	ada := d.accountOf(email)
	for name, test := range map[string]struct {
		open func() *browser
		end  func(streaming *browser)
	}{
		"sign-out": {
			func() *browser { return d.anotherBrowser(email) },
			func(b *browser) { b.send(http.MethodPost, "/v2/auth/sign-out", "").want(t, http.StatusNoContent) },
		},
		"sign-in again": {
			func() *browser { return d.anotherBrowser(email) },
			func(b *browser) {
				link, err := d.accounts.LoginLink(t.Context(), email)
				if err != nil {
					t.Fatal(err)
				}
				b.send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, link)).want(t, http.StatusOK)
			},
		},
		"end of others": {
			func() *browser { return d.anotherBrowser(email) },
			func(*browser) { phone.form("/account/end-others", nil).want(t, http.StatusOK) },
		},
		"screen ended": {
			func() *browser { return d.pairedScreen(phone) },
			func(*browser) {
				sessions, err := d.accounts.Sessions(t.Context(), ada.ID)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range sessions {
					if s.Scope == mapdata.ScopeScreen {
						phone.send(http.MethodDelete, "/v2/account/sessions/"+s.ID, "").want(t, http.StatusNoContent)
					}
				}
			},
		},
		"role": {
			func() *browser { return d.anotherBrowser(email) },
			func(*browser) {
				if _, err := d.accounts.SetRole(t.Context(), email, mapdata.Curator); err != nil {
					t.Fatal(err)
				}
			},
		},
	} {
		w := test.open()
		s := w.openStream(streamQuery)
		s.wantEvents("snapshot")
		began := time.Now()
		test.end(w)
		s.wantEnd(name)
		if took := time.Since(began); took > 3*time.Second { // one second, more on a busy machine
			t.Errorf("%s: the stream ended after %v", name, took)
		}
	}

	text, token, err := d.accounts.CreateAPIToken(t.Context(), ada.ID, "server")
	if err != nil {
		t.Fatal(err)
	}
	byToken, last := d.browser().openStream(streamQuery, "Authorization", "Bearer "+text), phone.openStream(streamQuery)
	byToken.wantEvents("snapshot")
	last.wantEvents("snapshot")
	phone.send(http.MethodDelete, "/v2/account/tokens/"+token.ID, "").want(t, http.StatusNoContent)
	byToken.wantEnd("API token")
	phone.form("/account/delete", url.Values{"email": {email}}).want(t, http.StatusOK)
	last.wantEnd("deletion")

	d.publish("After", row("a", "alert.police", 0))
	other.wantEvents("entity a reported")
}

// wantEnd waits until a stream has ended.
func (w *testStream) wantEnd(name string) {
	w.t.Helper()
	timeout := time.After(eventTimeout)
	for {
		select {
		case _, open := <-w.events:
			if !open {
				return
			}
		case <-timeout:
			w.t.Fatalf("%s: the stream does not end", name)
		}
	}
}

// anotherBrowser signs an account in, in another browser.
func (d *testService) anotherBrowser(email string) *browser {
	d.t.Helper()
	link, err := d.accounts.LoginLink(d.t.Context(), email)
	if err != nil {
		d.t.Fatal(err)
	}
	b := d.browser()
	b.send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, link)).want(d.t, http.StatusOK)
	return b
}
