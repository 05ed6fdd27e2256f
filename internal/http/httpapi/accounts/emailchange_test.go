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

// TestEmailChange changes an address on the pages, and checks that both addresses confirm with a button, in any browser, and that
// the session stays.
func TestEmailChange(t *testing.T) {
	d := httpapitest.NewService(t)
	b, elsewhere := d.SignedInAs("ada@example.org", mapdata.Driver).WithoutRedirects(), d.Browser().WithoutRedirects()
	d.ChangeEmails()
	same := b.Form("/account/email", url.Values{"email": {"Ada@example.org"}}).Want(t, http.StatusUnprocessableEntity)
	if text := checkAccountPage(t, same); !strings.Contains(text, "Your account already has this address.") {
		t.Errorf("page: %s", text)
	}
	b.Form("/account/email", url.Values{"email": {"Countess@example.org"}}).WantRedirect(t, "/account?done=email-sent")
	if text := checkAccountPage(t, b.Send(http.MethodGet, "/account?done=email-sent", "")); !strings.Contains(text, "A change to countess@example.org") {
		t.Errorf("page: %s", text)
	}
	if export := b.Send(http.MethodGet, "/v2/account/export", "").Want(t, http.StatusOK).Body; !strings.Contains(export, `"email_change":{"email":"countess@example.org"`) {
		t.Errorf("export: %s", export)
	}
	emails := d.ChangeEmails()
	toOld, toNew := emails["ada@example.org"], emails["countess@example.org"]
	if len(emails) != 2 || toOld.Kind != mapdata.EmailChangeOld || toOld.Data["new_address"] != "countess@example.org" || len(toNew.Data) != 1 {
		t.Fatalf("e-mails %+v", emails)
	}
	press := func(b *httpapitest.Browser, email mapdata.Email) httpapitest.Reply {
		t.Helper()
		path := "/auth/email-change?token=" + url.QueryEscape(email.Data["token"])
		for range 2 { // opening the link changes nothing
			fields, _ := httpapitest.FieldsOf(t, b.Send(http.MethodGet, path, "").Want(t, http.StatusOK), "/auth/email-change")
			if fields.Get("token") != email.Data["token"] {
				t.Fatalf("fields %v", fields)
			}
		}
		return b.Form("/auth/email-change", url.Values{"token": {email.Data["token"]}})
	}
	if text := checkAccountPage(t, press(elsewhere, toNew).Want(t, http.StatusOK)); !strings.Contains(text, "once the other address is confirmed") {
		t.Errorf("page: %s", text)
	}
	if body := b.Send(http.MethodGet, "/v2/account", "").Body; !strings.Contains(body, "ada@example.org") {
		t.Errorf("one address has confirmed: %s", body)
	}
	if text := checkAccountPage(t, press(b, toOld).Want(t, http.StatusOK)); !strings.Contains(text, "is now countess@example.org") {
		t.Errorf("page: %s", text)
	}
	if body := b.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK).Body; !strings.Contains(body, "countess@example.org") {
		t.Errorf("both have confirmed: %s", body)
	}
	press(b, toOld).Want(t, http.StatusUnauthorized)
	elsewhere.Send(http.MethodGet, "/auth/email-change", "").Want(t, http.StatusOK)
	log := b.Send(http.MethodGet, "/v2/account/export", "").Want(t, http.StatusOK).Body
	if !strings.Contains(log, `"account.email"`) || strings.Contains(log, "ada@example.org") || strings.Contains(log, `"email_change"`) {
		t.Errorf("export: %s", log)
	}
}

// TestEmailChangeTellsNothing checks that the API answers the same for an address that has an account, and beyond three e-mails,
// and that only a visitor who opens the link that was sent to that address learns of its account.
func TestEmailChangeTellsNothing(t *testing.T) {
	d := httpapitest.NewService(t)
	b := d.SignedInAs("ada@example.org", mapdata.Driver)
	d.SignedInAs("taken@example.org", mapdata.Driver)
	d.ChangeEmails()
	request := func(to string) httpapitest.Reply {
		t.Helper()
		return b.Send(http.MethodPost, "/v2/account/email", fmt.Sprintf(`{"email": %q}`, to)).Want(t, http.StatusAccepted)
	}
	free, taken := request("free@example.org"), request("taken@example.org")
	if free.Body != taken.Body {
		t.Errorf("answers %s and %s", free.Body, taken.Body)
	}
	emails := d.ChangeEmails()
	confirm := func(address string) httpapitest.Reply {
		t.Helper()
		return d.Browser().Send(http.MethodPost, "/v2/account/email/confirm", fmt.Sprintf(`{"token": %q}`, emails[address].Data["token"]))
	}
	if body := confirm("ada@example.org").Want(t, http.StatusOK).Body; !strings.Contains(body, `"waiting"`) {
		t.Errorf("the old address is answered %s", body)
	}
	if body := confirm("taken@example.org").Want(t, http.StatusConflict).Body; !strings.Contains(body, "has an account already") {
		t.Errorf("the new address is answered %s", body)
	}
	request("third@example.org")
	d.ChangeEmails()
	if again := request("fourth@example.org"); again.Body != free.Body || len(d.ChangeEmails()) != 0 {
		t.Errorf("a fourth within the hour is answered %s", again.Body)
	}
	for body, status := range map[string]int{
		`{}`: http.StatusUnprocessableEntity, `{"email": "ada@example.org"}`: http.StatusUnprocessableEntity,
		`{"email": "nobody"}`: http.StatusUnprocessableEntity, `[`: http.StatusBadRequest,
	} {
		b.Send(http.MethodPost, "/v2/account/email", body).Want(t, status)
	}
	d.Advance(24 * time.Hour)
	request("late@example.org")
	emails = d.ChangeEmails()
	confirm("late@example.org").Want(t, http.StatusOK)
	d.Advance(24 * time.Hour)
	confirm("ada@example.org").Want(t, http.StatusUnauthorized)
	confirm("an address that got no e-mail").Want(t, http.StatusUnauthorized)
}
