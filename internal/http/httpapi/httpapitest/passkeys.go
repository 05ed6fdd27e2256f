package httpapitest

import (
	"encoding/json"
	"net/http"
	"net/url"

	"wayside/internal/ground/mapdata"
)

// PostForm posts a page's form, and returns the page to which it redirects.
func (b *Browser) PostForm(path string, values url.Values) Reply {
	b.T.Helper()
	return b.Send(http.MethodPost, path, values.Encode(), "Content-Type", FormType)
}

// Address of a service of passkeys.
const (
	PasskeyBase = "http://localhost:8080" // where browsers offer passkeys without a certificate
	PasskeyHost = "localhost"
)

// Begin requests the options that a page passes to the browser.
func (b *Browser) Begin(path string) CredentialOptions {
	b.T.Helper()
	var o CredentialOptions
	b.Send(http.MethodPost, path, "").Want(b.T, http.StatusOK).Decode(b.T, &o)
	return o
}

// Finish sends an authenticator's response.
func (b *Browser) Finish(path string, credential map[string]any, header ...string) Reply {
	b.T.Helper()
	body, err := json.Marshal(map[string]any{"credential": credential})
	if err != nil {
		b.T.Fatal(err)
	}
	return b.Send(http.MethodPost, path, string(body), header...)
}

// PasskeyLine is a passkey in the list of an account.
type PasskeyLine struct {
	ID, Name string
	Last     *string `json:"last_used_at"`
	Copied   bool
}

// PasskeyList reads the passkeys of the account.
func (b *Browser) PasskeyList() []PasskeyLine {
	b.T.Helper()
	var list struct{ Passkeys []PasskeyLine }
	b.Send(http.MethodGet, "/v2/account/passkeys", "").Want(b.T, http.StatusOK).Decode(b.T, &list)
	return list.Passkeys
}

// AddPasskey adds a passkey to the account that is signed in.
func (b *Browser) AddPasskey() (*Authenticator, PasskeyLine) {
	b.T.Helper()
	a := NewAuthenticator(b.T, PasskeyBase, PasskeyHost)
	var made struct{ Passkey PasskeyLine }
	b.Finish("/v2/account/passkeys", a.Create(b.Begin("/v2/account/passkeys/begin"))).Want(b.T, http.StatusCreated).Decode(b.T, &made)
	return a, made.Passkey
}

// SignInByPasskey signs in with a passkey.
func (b *Browser) SignInByPasskey(a *Authenticator) Reply {
	b.T.Helper()
	return b.Finish("/v2/auth/passkey/finish", a.Get(b.Begin("/v2/auth/passkey/begin")))
}

// Email returns the address of the account that is signed in.
func (b *Browser) Email() string {
	b.T.Helper()
	var who struct{ Account struct{ Email string } }
	b.Send(http.MethodGet, "/v2/account", "").Want(b.T, http.StatusOK).Decode(b.T, &who)
	return who.Account.Email
}

// AccountOf returns the account with an address.
func (d *Service) AccountOf(email string) *mapdata.Account {
	d.T.Helper()
	a, err := d.DB.AccountByEmail(d.T.Context(), email)
	if err != nil {
		d.T.Fatal(err)
	}
	return a
}
