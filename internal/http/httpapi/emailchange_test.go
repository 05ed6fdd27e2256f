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

// changeEmails returns the waiting e-mails about changes of addresses, by recipient, and removes them from the outbox.
func (d *testService) changeEmails() map[string]mapdata.Email {
	d.t.Helper()
	all, err := d.db.DueEmails(d.t.Context(), d.time(), d.time().Add(time.Hour), 10)
	if err != nil {
		d.t.Fatal(err)
	}
	found := make(map[string]mapdata.Email)
	for _, email := range all {
		if err := d.db.EmailSent(d.t.Context(), email.ID); err != nil {
			d.t.Fatal(err)
		}
		if strings.HasPrefix(string(email.Kind), "email_change") {
			found[email.Address] = email
		}
	}
	return found
}

// TestEmailChange changes an address on the pages, and checks that both addresses confirm with a button, in any browser, and that
// the session stays.
func TestEmailChange(t *testing.T) {
	d := newTestService(t)
	b, elsewhere := d.signedInAs("ada@example.org", mapdata.Driver).withoutRedirects(), d.browser().withoutRedirects()
	d.changeEmails()
	same := b.form("/account/email", url.Values{"email": {"Ada@example.org"}}).want(t, http.StatusUnprocessableEntity)
	if text := checkAccountPage(t, same); !strings.Contains(text, "Your account already has this address.") {
		t.Errorf("page: %s", text)
	}
	b.form("/account/email", url.Values{"email": {"Countess@example.org"}}).wantRedirect(t, "/account?done=email-sent")
	if text := checkAccountPage(t, b.send(http.MethodGet, "/account?done=email-sent", "")); !strings.Contains(text, "A change to countess@example.org") {
		t.Errorf("page: %s", text)
	}
	if export := b.send(http.MethodGet, "/v2/account/export", "").want(t, http.StatusOK).body; !strings.Contains(export, `"email_change":{"email":"countess@example.org"`) {
		t.Errorf("export: %s", export)
	}
	emails := d.changeEmails()
	toOld, toNew := emails["ada@example.org"], emails["countess@example.org"]
	if len(emails) != 2 || toOld.Kind != mapdata.EmailChangeOld || toOld.Data["new_address"] != "countess@example.org" || len(toNew.Data) != 1 {
		t.Fatalf("e-mails %+v", emails)
	}
	press := func(b *browser, email mapdata.Email) reply {
		t.Helper()
		path := "/auth/email-change?token=" + url.QueryEscape(email.Data["token"])
		for range 2 { // opening the link changes nothing
			fields, _ := fieldsOf(t, b.send(http.MethodGet, path, "").want(t, http.StatusOK), "/auth/email-change")
			if fields.Get("token") != email.Data["token"] {
				t.Fatalf("fields %v", fields)
			}
		}
		return b.form("/auth/email-change", url.Values{"token": {email.Data["token"]}})
	}
	if text := checkAccountPage(t, press(elsewhere, toNew).want(t, http.StatusOK)); !strings.Contains(text, "once the other address is confirmed") {
		t.Errorf("page: %s", text)
	}
	if body := b.send(http.MethodGet, "/v2/account", "").body; !strings.Contains(body, "ada@example.org") {
		t.Errorf("one address has confirmed: %s", body)
	}
	if text := checkAccountPage(t, press(b, toOld).want(t, http.StatusOK)); !strings.Contains(text, "is now countess@example.org") {
		t.Errorf("page: %s", text)
	}
	if body := b.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK).body; !strings.Contains(body, "countess@example.org") {
		t.Errorf("both have confirmed: %s", body)
	}
	press(b, toOld).want(t, http.StatusUnauthorized)
	elsewhere.send(http.MethodGet, "/auth/email-change", "").want(t, http.StatusOK)
	log := b.send(http.MethodGet, "/v2/account/export", "").want(t, http.StatusOK).body
	if !strings.Contains(log, `"account.email"`) || strings.Contains(log, "ada@example.org") || strings.Contains(log, `"email_change"`) {
		t.Errorf("export: %s", log)
	}
}

// TestEmailChangeTellsNothing checks that the API answers the same for an address that has an account, and beyond three e-mails,
// and that only a visitor who opens the link that was sent to that address learns of its account.
func TestEmailChangeTellsNothing(t *testing.T) {
	d := newTestService(t)
	b := d.signedInAs("ada@example.org", mapdata.Driver)
	d.signedInAs("taken@example.org", mapdata.Driver)
	d.changeEmails()
	request := func(to string) reply {
		t.Helper()
		return b.send(http.MethodPost, "/v2/account/email", fmt.Sprintf(`{"email": %q}`, to)).want(t, http.StatusAccepted)
	}
	free, taken := request("free@example.org"), request("taken@example.org")
	if free.body != taken.body {
		t.Errorf("answers %s and %s", free.body, taken.body)
	}
	emails := d.changeEmails()
	confirm := func(address string) reply {
		t.Helper()
		return d.browser().send(http.MethodPost, "/v2/account/email/confirm", fmt.Sprintf(`{"token": %q}`, emails[address].Data["token"]))
	}
	if body := confirm("ada@example.org").want(t, http.StatusOK).body; !strings.Contains(body, `"waiting"`) {
		t.Errorf("the old address is answered %s", body)
	}
	if body := confirm("taken@example.org").want(t, http.StatusConflict).body; !strings.Contains(body, "has an account already") {
		t.Errorf("the new address is answered %s", body)
	}
	request("third@example.org")
	d.changeEmails()
	if again := request("fourth@example.org"); again.body != free.body || len(d.changeEmails()) != 0 {
		t.Errorf("a fourth within the hour is answered %s", again.body)
	}
	for body, status := range map[string]int{
		`{}`: http.StatusUnprocessableEntity, `{"email": "ada@example.org"}`: http.StatusUnprocessableEntity,
		`{"email": "nobody"}`: http.StatusUnprocessableEntity, `[`: http.StatusBadRequest,
	} {
		b.send(http.MethodPost, "/v2/account/email", body).want(t, status)
	}
	d.advance(24 * time.Hour)
	request("late@example.org")
	emails = d.changeEmails()
	confirm("late@example.org").want(t, http.StatusOK)
	d.advance(24 * time.Hour)
	confirm("ada@example.org").want(t, http.StatusUnauthorized)
	confirm("an address that got no e-mail").want(t, http.StatusUnauthorized)
}
