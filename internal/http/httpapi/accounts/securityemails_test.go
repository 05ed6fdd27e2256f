package accounts_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestSecurityEmails checks that the owner of an account gets an e-mail about every new passkey and API token, with its name and
// time, in the account's language, and with the id by which the linked page removes it.
func TestSecurityEmails(t *testing.T) {
	d := newPasskeyService(t)
	b := d.SignedInAs("ada@example.org", mapdata.Driver).WithoutRedirects()
	b.Form("/language", url.Values{"language": {"de"}, "back": {"/account"}}).WantRedirect(t, "/account")
	told := func(kind mapdata.EmailKind) mapdata.Email {
		t.Helper()
		emails, err := d.DB.DueEmails(t.Context(), d.Time(), d.Time().Add(time.Hour), 10)
		if err != nil || len(emails) != 1 {
			t.Fatalf("%d e-mails, %v; want 1", len(emails), err)
		}
		l := emails[0]
		if l.Kind != kind || l.Address != "ada@example.org" || l.Language != mapdata.German || !l.At.Equal(d.Time()) {
			t.Errorf("e-mail %+v", l)
		}
		if err := d.DB.EmailSent(t.Context(), l.ID); err != nil {
			t.Fatal(err)
		}
		return l
	}
	b.Form("/account/tokens", url.Values{"name": {"Server"}}).Want(t, http.StatusSeeOther)
	l := told(mapdata.EmailTokenMade)
	if l.Data["name"] != "Server" || len(l.Data) != 2 {
		t.Errorf("data %v", l.Data)
	}
	revoke := "/account/tokens/" + l.Data["made_id"] + "/revoke"
	b.Send(http.MethodGet, revoke, "").Want(t, http.StatusOK)
	b.Form(revoke, url.Values{}).WantRedirect(t, "/account?done=token-revoked")

	b.Send(http.MethodPost, "/v2/account/tokens", `{"name": "Other"}`).Want(t, http.StatusCreated)
	told(mapdata.EmailTokenMade)
	b.Send(http.MethodPost, "/v2/account/tokens", `{"name": ""}`).Want(t, http.StatusUnprocessableEntity)

	_, line := b.AddPasskey()
	l = told(mapdata.EmailPasskeyAdded)
	if l.Data["name"] != line.Name || l.Data["made_id"] != line.ID {
		t.Errorf("data %v of passkey %+v", l.Data, line)
	}
	b.Send(http.MethodGet, "/account/passkeys/"+l.Data["made_id"]+"/remove", "").Want(t, http.StatusOK)
}
