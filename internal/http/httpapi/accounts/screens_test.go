package accounts_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestScreenMayReadAndVoteOnly checks that the session of a paired screen is not the whole account (D11.3), even an admin's.
func TestScreenMayReadAndVoteOnly(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.org", mapdata.Driver)
	feed := owner.RegisterPush("Roads")
	d.Publish("Voted", httpapitest.Row("v", "alert.police", 0))
	phone := d.SignedInAs("ada@example.org", mapdata.Admin)
	screen, victim := d.PairedScreen(phone), d.Screen("another")

	for _, call := range []struct{ method, path, body string }{
		{http.MethodPost, feed.Path() + "/approve", ""},
		{http.MethodPost, "/v2/account/tokens", `{"name": "mine"}`},
		{http.MethodPost, "/v2/auth/pair/" + victim.UserCode + "/approve", ""},
		{http.MethodGet, "/v2/account/sessions", ""},
		{http.MethodGet, "/v2/account/export", ""},
		{http.MethodGet, "/v2/feeds", ""},
		{http.MethodPost, "/v2/auth/passkey/confirm/begin", ""},
	} {
		screen.Send(call.method, call.path, call.body).WantProblem(t, http.StatusForbidden, "sign-in-required")
	}
	for _, path := range []string{"/account", "/audit", "/review", "/feeds", "/pair"} {
		body := screen.Send(http.MethodGet, path, "").Want(t, http.StatusForbidden).Body
		httpapitest.Contains(t, body, "This screen was signed in from a phone", "Sign in")
		if !strings.Contains(body, `href="/sign-in?next=`+url.QueryEscape(path)+`"`) || strings.Contains(body, `href="/feeds"`) {
			t.Errorf("%s does not lead to where one signs in, or links to pages that are refused:\n%s", path, body)
		}
	}
	screen.Form("/account/end-others", nil).Want(t, http.StatusForbidden)
	screen.Form("/account/delete", url.Values{"email": {"ada@example.org"}}).Want(t, http.StatusForbidden)
	if got := owner.Send(http.MethodGet, feed.Path(), "").FeedOf(t)["review_state"]; got != "pending" {
		t.Errorf("the feed is %v", got)
	}

	var brief struct{ Account map[string]any }
	screen.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK).Decode(t, &brief)
	if len(brief.Account) != 3 || brief.Account["email"] != "ada@example.org" || brief.Account["tier"] != "account" || brief.Account["scope"] != "screen" {
		t.Errorf("the screen sees the account %v", brief.Account)
	}
	id, _ := screen.Read(httpapitest.NearbyPath).Entities[0]["id"].(string)
	screen.Vote(id, "confirm")
	screen.Send(http.MethodDelete, "/v2/entities/"+id+"/vote", "").Want(t, http.StatusOK)
	screen.Send(http.MethodPut, "/v2/account/preferences", `{"theme": "night"}`).Want(t, http.StatusOK)
	screen.Send(http.MethodGet, "/v2/account/preferences", "").Want(t, http.StatusOK)
	screen.Send(http.MethodPost, "/v2/auth/sign-out", "").Want(t, http.StatusNoContent)
	screen.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusUnauthorized)
	phone.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK)
}

// TestPairingIsEmailed checks that the account gets an e-mail when a screen is signed in, not before, and sees the screen among its
// sessions.
func TestPairingIsEmailed(t *testing.T) {
	d := httpapitest.NewService(t)
	phone := d.SignedInAs("ada@example.org", mapdata.Driver)
	emails := func() []mapdata.Email {
		t.Helper()
		all, err := d.DB.DueEmails(t.Context(), d.Time(), d.Time(), 10)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	waiting := d.Screen("x")
	phone.Send(http.MethodPost, "/v2/auth/pair/"+waiting.UserCode+"/approve", "").Want(t, http.StatusOK)
	if all := emails(); len(all) != 0 {
		t.Errorf("%d e-mails before a screen is signed in", len(all))
	}
	d.Advance(time.Second) // the list is in the order of time
	d.PairedScreen(phone)
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
	phone.Send(http.MethodGet, "/v2/account/sessions", "").Want(t, http.StatusOK).Decode(t, &sessions)
	got := fmt.Sprint(sessions.Sessions)
	if got != "[{account true} {screen false}]" {
		t.Errorf("sessions %s", got)
	}
	httpapitest.Contains(t, phone.Page("/account", http.StatusOK), "a Tesla")
}

// TestScreenSignsInLikeAGuest checks that the page of signing in does not send a screen back to a page that refuses it, and that
// the screen's session ends with the sign-in.
func TestScreenSignsInLikeAGuest(t *testing.T) {
	d := httpapitest.NewService(t)
	phone := d.SignedInAs("ada@example.org", mapdata.Driver)
	screen := d.PairedScreen(phone).WithoutRedirects()
	for _, path := range []string{"/sign-in", "/sign-in?next=%2Ffeeds", "/sign-in?pair="} {
		httpapitest.Contains(t, screen.Page(path, http.StatusOK), "Your e-mail address")
	}
	link, err := d.Accounts.LoginLink(t.Context(), "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	screen.Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, link)).Want(t, http.StatusOK)
	screen.Page("/account", http.StatusOK)
	sessions, err := d.Accounts.Sessions(t.Context(), d.AccountOf("ada@example.org").ID)
	if err != nil || len(sessions) != 2 || sessions[1].Scope != mapdata.ScopeAccount {
		t.Errorf("sessions %+v, %v", sessions, err)
	}
}

// TestPairingLinksOfOtherSites checks that a link on another site's page looks nothing up, so that it uses up no attempts, and
// makes the driver compare the code (F12).
func TestPairingLinksOfOtherSites(t *testing.T) {
	d := httpapitest.NewService(t)
	phone := d.SignedInAs("ada@example.org", mapdata.Driver).WithoutRedirects()
	mine := d.Screen("Car")
	for i := range 8 {
		wrong := fmt.Sprintf("BCDFGHJ%c", "BCDFGHJK"[i])
		body := phone.Send(http.MethodGet, "/pair?code="+wrong, "", "Sec-Fetch-Site", "cross-site").Want(t, http.StatusOK).Body
		httpapitest.Contains(t, body, "link on another site")
		if !strings.Contains(body, `value="`+wrong[:4]+"-"+wrong[4:]+`"`) || strings.Contains(body, "approve") {
			t.Errorf("the code is not in the form, or can be approved:\n%s", body)
		}
		phone.Send(http.MethodGet, "/v2/auth/pair/"+wrong, "", "Sec-Fetch-Site", "cross-site").WantProblem(t, http.StatusForbidden, "forbidden")
	}
	httpapitest.Contains(t, phone.Send(http.MethodGet, "/pair?code="+mine.UserCode, "", "Sec-Fetch-Site", "cross-site").Want(t, http.StatusOK).Body, "link on another site")
	httpapitest.Contains(t, phone.Send(http.MethodGet, "/pair?code="+mine.UserCode, "", "Sec-Fetch-Site", "same-origin").Want(t, http.StatusOK).Body, "Is this your car")
	httpapitest.Contains(t, phone.Send(http.MethodGet, "/pair?code="+mine.UserCode, "", "Sec-Fetch-Site", "none").Want(t, http.StatusOK).Body, "Is this your car")
	phone.Send(http.MethodPost, "/v2/auth/pair/"+mine.UserCode+"/approve", "").Want(t, http.StatusOK)

	// A guest who signs in first compares the code as well.
	guest := d.Browser().WithoutRedirects()
	bare := strings.ReplaceAll(mine.UserCode, "-", "")
	guest.Send(http.MethodGet, "/pair?code="+bare, "", "Sec-Fetch-Site", "cross-site").WantRedirect(t, "/sign-in?pair="+bare+"&linked=")
	guest.Send(http.MethodGet, "/pair?code="+bare, "", "Sec-Fetch-Site", "none").WantRedirect(t, "/sign-in?pair="+bare)
	for _, path := range []string{"/sign-in?pair=" + bare + "&linked=", "/sign-in?pair=" + bare} {
		fields, _ := httpapitest.FieldsOf(t, guest.Send(http.MethodGet, path, "", "Sec-Fetch-Site", "cross-site").Want(t, http.StatusOK), "/sign-in")
		if !fields.Has("linked") || fields.Get("pair") != bare {
			t.Errorf("the form of %s continues with %v", path, fields)
		}
	}
	phone.Send(http.MethodGet, "/sign-in?pair="+bare, "", "Sec-Fetch-Site", "cross-site").WantRedirect(t, "/pair?code="+bare+"&linked=")
	httpapitest.Contains(t, phone.Send(http.MethodGet, "/pair?code="+bare+"&linked=", "", "Sec-Fetch-Site", "same-origin").Want(t, http.StatusOK).Body, "link on another site")
}

// TestStreamsEndWithTheirSessions checks that a stream ends within a second when its session or API token ends, or the account's
// role changes, and that other streams continue (F15).
func TestStreamsEndWithTheirSessions(t *testing.T) {
	d := httpapitest.NewService(t)
	d.WaitForIndex()
	other := d.SignedInAs("other@example.org", mapdata.Driver).OpenStream(httpapitest.StreamQuery)
	other.WantEvents("snapshot")
	const email = "ada@example.org"
	phone := d.SignedInAs(email, mapdata.Driver)
	ada := d.AccountOf(email)
	for name, test := range map[string]struct {
		open func() *httpapitest.Browser
		end  func(streaming *httpapitest.Browser)
	}{
		"sign-out": {
			func() *httpapitest.Browser { return d.AnotherBrowser(email) },
			func(b *httpapitest.Browser) {
				b.Send(http.MethodPost, "/v2/auth/sign-out", "").Want(t, http.StatusNoContent)
			},
		},
		"sign-in again": {
			func() *httpapitest.Browser { return d.AnotherBrowser(email) },
			func(b *httpapitest.Browser) {
				link, err := d.Accounts.LoginLink(t.Context(), email)
				if err != nil {
					t.Fatal(err)
				}
				b.Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, link)).Want(t, http.StatusOK)
			},
		},
		"end of others": {
			func() *httpapitest.Browser { return d.AnotherBrowser(email) },
			func(*httpapitest.Browser) { phone.Form("/account/end-others", nil).Want(t, http.StatusOK) },
		},
		"screen ended": {
			func() *httpapitest.Browser { return d.PairedScreen(phone) },
			func(*httpapitest.Browser) {
				sessions, err := d.Accounts.Sessions(t.Context(), ada.ID)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range sessions {
					if s.Scope == mapdata.ScopeScreen {
						phone.Send(http.MethodDelete, "/v2/account/sessions/"+s.ID, "").Want(t, http.StatusNoContent)
					}
				}
			},
		},
		"role": {
			func() *httpapitest.Browser { return d.AnotherBrowser(email) },
			func(*httpapitest.Browser) {
				if _, err := d.Accounts.SetRole(t.Context(), email, mapdata.Curator); err != nil {
					t.Fatal(err)
				}
			},
		},
	} {
		w := test.open()
		s := w.OpenStream(httpapitest.StreamQuery)
		s.WantEvents("snapshot")
		began := time.Now()
		test.end(w)
		s.WantEnd(name)
		if took := time.Since(began); took > 3*time.Second { // one second, more on a busy machine
			t.Errorf("%s: the stream ended after %v", name, took)
		}
	}

	text, token, err := d.Accounts.CreateAPIToken(t.Context(), ada.ID, "server")
	if err != nil {
		t.Fatal(err)
	}
	byToken, last := d.Browser().OpenStream(httpapitest.StreamQuery, "Authorization", "Bearer "+text), phone.OpenStream(httpapitest.StreamQuery)
	byToken.WantEvents("snapshot")
	last.WantEvents("snapshot")
	phone.Send(http.MethodDelete, "/v2/account/tokens/"+token.ID, "").Want(t, http.StatusNoContent)
	byToken.WantEnd("API token")
	phone.Form("/account/delete", url.Values{"email": {email}}).Want(t, http.StatusOK)
	last.WantEnd("deletion")

	d.Publish("After", httpapitest.Row("a", "alert.police", 0))
	other.WantEvents("entity a reported")
}
