package accounts_test

import (
	"encoding/base64"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

func newPasskeyService(t *testing.T) *httpapitest.Service {
	t.Helper()
	return httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 10_000, Requests: 60, Entities: 10_000, Base: httpapitest.PasskeyBase})
}

// TestPasskeySignsIn follows a passkey: add, list, sign in elsewhere, rename, remove.
func TestPasskeySignsIn(t *testing.T) {
	d := newPasskeyService(t)
	ada := d.SignedInAs("ada@example.org", mapdata.Driver)
	o := ada.Begin("/v2/account/passkeys/begin")
	if o.PublicKey.AuthenticatorSelection.ResidentKey != "required" || o.PublicKey.Rp.ID != httpapitest.PasskeyHost {
		t.Errorf("asked for %+v", o.PublicKey)
	}
	a, made := ada.AddPasskey()
	if got := ada.Begin("/v2/account/passkeys/begin").PublicKey.ExcludeCredentials; len(got) != 1 || got[0].ID != httpapitest.Base64(a.ID) {
		t.Errorf("excludes %v", got)
	}
	d.Advance(3 * time.Hour)
	b := d.Browser()
	in := b.SignInByPasskey(a).Want(t, http.StatusOK)
	in.Cookie(t, false)
	if got := b.Email(); got != "ada@example.org" {
		t.Errorf("signed in as %s", got)
	}
	day := "2026-11-21T00:00:00.000Z"
	want := []httpapitest.PasskeyLine{{ID: made.ID, Name: made.Name, Last: &day, Copied: false}}
	if diff := cmp.Diff(want, b.PasskeyList()); diff != "" {
		t.Errorf("passkeys (-want +got):\n%s", diff)
	}

	b.Send(http.MethodPatch, "/v2/account/passkeys/"+made.ID, `{"name": "Phone"}`).Want(t, http.StatusOK)
	if got := b.PasskeyList()[0].Name; got != "Phone" {
		t.Errorf("named %q", got)
	}
	b.Send(http.MethodPatch, "/v2/account/passkeys/"+made.ID, `{"name": "\u0007"}`).Want(t, http.StatusUnprocessableEntity)

	b.Send(http.MethodDelete, "/v2/account/passkeys/"+made.ID, "").Want(t, http.StatusNoContent)
	d.Browser().SignInByPasskey(a).Want(t, http.StatusUnauthorized)
	b.Email() // a session that was opened with it stays valid
	log, err := d.DB.Audit(t.Context(), &mapdata.AuditQuery{Subject: made.ID, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for i := range log {
		told = append(told, log[i].Action+" "+string(log[i].Via))
	}
	if diff := cmp.Diff([]string{"passkey.delete api", "passkey.create api"}, told); diff != "" {
		t.Errorf("audit log (-want +got):\n%s", diff)
	}
}

// TestPasskeyIsRefused checks that forged responses are refused, all with the same text.
func TestPasskeyIsRefused(t *testing.T) {
	d := newPasskeyService(t)
	ada, bob := d.SignedInAs("ada@example.org", mapdata.Driver), d.SignedInAs("bob@example.org", mapdata.Driver)
	a, _ := ada.AddPasskey()
	other, _ := bob.AddPasskey()
	guest := d.Browser()
	finish := func(bend func(o *httpapitest.CredentialOptions, a *httpapitest.Authenticator)) func() httpapitest.Reply {
		return func() httpapitest.Reply {
			bent := *a
			o := guest.Begin("/v2/auth/passkey/begin")
			bend(&o, &bent)
			answer := bent.Get(o)
			a.Counter = bent.Counter
			return guest.Finish("/v2/auth/passkey/finish", answer)
		}
	}
	words := ""
	for name, try := range map[string]func() httpapitest.Reply{
		"another origin": finish(func(_ *httpapitest.CredentialOptions, a *httpapitest.Authenticator) {
			a.Origin = "http://localhost.evil.example"
		}),
		"another port": finish(func(_ *httpapitest.CredentialOptions, a *httpapitest.Authenticator) {
			a.Origin = "http://localhost:8081"
		}),
		"another host": finish(func(_ *httpapitest.CredentialOptions, a *httpapitest.Authenticator) { a.RP = "evil.example" }),
		"a challenge of ours for something else": finish(func(o *httpapitest.CredentialOptions, _ *httpapitest.Authenticator) {
			o.PublicKey.Challenge = ada.Begin("/v2/auth/passkey/confirm/begin").PublicKey.Challenge
		}),
		"a challenge of the device's own": finish(func(o *httpapitest.CredentialOptions, _ *httpapitest.Authenticator) {
			o.PublicKey.Challenge = httpapitest.Base64(make([]byte, 56))
		}),
		"a challenge that was prolonged": finish(func(o *httpapitest.CredentialOptions, _ *httpapitest.Authenticator) {
			raw, err := base64.RawURLEncoding.DecodeString(o.PublicKey.Challenge)
			if err != nil {
				t.Fatal(err)
			}
			raw[20]++
			o.PublicKey.Challenge = httpapitest.Base64(raw)
		}),
		"an unknown passkey":        finish(func(_ *httpapitest.CredentialOptions, a *httpapitest.Authenticator) { a.ID = []byte("unknown passkey") }),
		"another account's key":     finish(func(_ *httpapitest.CredentialOptions, a *httpapitest.Authenticator) { a.Key = other.Key }),
		"another account's handle":  finish(func(_ *httpapitest.CredentialOptions, a *httpapitest.Authenticator) { a.User = other.User }),
		"another account's passkey": finish(func(_ *httpapitest.CredentialOptions, a *httpapitest.Authenticator) { a.ID = other.ID }),
		"no user handle":            finish(func(_ *httpapitest.CredentialOptions, a *httpapitest.Authenticator) { a.User = nil }),
		"no user presence":          finish(func(_ *httpapitest.CredentialOptions, a *httpapitest.Authenticator) { a.Flags = 0 }),
		"a registration's answer": func() httpapitest.Reply {
			return guest.Finish("/v2/auth/passkey/finish", a.Create(ada.Begin("/v2/account/passkeys/begin")))
		},
		"an answer that came before":  nil,
		"an answer five minutes late": nil,
	} {
		t.Run(name, func(t *testing.T) {
			if try == nil {
				answer := a.Get(guest.Begin("/v2/auth/passkey/begin"))
				if strings.Contains(name, "before") {
					d.Browser().Finish("/v2/auth/passkey/finish", answer).Want(t, http.StatusOK)
				} else {
					d.Advance(5 * time.Minute)
				}
				try = func() httpapitest.Reply { return guest.Finish("/v2/auth/passkey/finish", answer) }
			}
			got := try().Want(t, http.StatusUnauthorized)
			if len(got.Cookies()) != 0 {
				t.Error("a cookie")
			}
			if words == "" {
				words = got.Body
			}
			if got.Body != words {
				t.Errorf("says %s, elsewhere %s", got.Body, words)
			}
		})
	}
	guest.SignInByPasskey(a).Want(t, http.StatusOK) // the refused attempts changed nothing
}

// TestClonedPasskeyIsRefused checks two devices with one key, which have different counters: once that shows, neither can sign in.
func TestClonedPasskeyIsRefused(t *testing.T) {
	d := newPasskeyService(t)
	ada := d.SignedInAs("ada@example.org", mapdata.Driver)
	a, made := ada.AddPasskey()
	twin := *a
	d.Browser().SignInByPasskey(a).Want(t, http.StatusOK)
	d.Browser().SignInByPasskey(&twin).Want(t, http.StatusUnauthorized)
	d.Browser().SignInByPasskey(a).Want(t, http.StatusUnauthorized)
	if got := ada.PasskeyList(); !got[0].Copied || got[0].ID != made.ID {
		t.Errorf("passkeys %+v", got)
	}
	log, err := d.DB.Audit(t.Context(), &mapdata.AuditQuery{Actions: []string{mapdata.AuditPasskeyCloned}, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if len(log) != 1 || log[0].Subject != made.ID {
		t.Errorf("audit log %+v", log)
	}
	if strings.Contains(d.Log.String(), "ada@") {
		t.Errorf("the log names an address:\n%s", d.Log.String())
	}
}

// TestPasskeysWithoutCounterAreNotClones checks synchronised passkeys, which always report a counter of 0.
func TestPasskeysWithoutCounterAreNotClones(t *testing.T) {
	d := newPasskeyService(t)
	a := httpapitest.NewAuthenticator(t, httpapitest.PasskeyBase, httpapitest.PasskeyHost)
	ada := d.SignedInAs("ada@example.org", mapdata.Driver)
	const none = ^uint32(0) // the next counter is 0
	a.Counter = none
	ada.Finish("/v2/account/passkeys", a.Create(ada.Begin("/v2/account/passkeys/begin"))).Want(t, http.StatusCreated)
	for range 3 {
		a.Counter = none
		d.Browser().SignInByPasskey(a).Want(t, http.StatusOK)
	}
}

// TestAddPasskeyChallenges checks that a challenge is valid for one session and one response, and that a credential belongs to one
// account.
func TestAddPasskeyChallenges(t *testing.T) {
	d := newPasskeyService(t)
	ada, bob := d.SignedInAs("ada@example.org", mapdata.Driver), d.SignedInAs("bob@example.org", mapdata.Driver)
	const add = "/v2/account/passkeys"
	a := httpapitest.NewAuthenticator(t, httpapitest.PasskeyBase, httpapitest.PasskeyHost)
	answer := a.Create(ada.Begin(add + "/begin"))
	bob.Finish(add, answer).Want(t, http.StatusBadRequest)
	d.Browser().Finish(add, answer).Want(t, http.StatusUnauthorized)
	ada.Finish(add, answer, "Origin", "https://evil.example").Want(t, http.StatusForbidden)
	ada.Finish(add, answer).Want(t, http.StatusCreated)
	ada.Finish(add, answer).Want(t, http.StatusConflict)
	bob.Finish(add, a.Create(bob.Begin(add+"/begin"))).Want(t, http.StatusConflict)

	ada.Send(http.MethodDelete, add+"/"+ada.PasskeyList()[0].ID, "").Want(t, http.StatusNoContent)
	ada.Finish(add, answer).Want(t, http.StatusConflict) // even after the passkey was removed

	elsewhere := httpapitest.NewAuthenticator(t, "https://evil.example", httpapitest.PasskeyHost)
	ada.Finish(add, elsewhere.Create(ada.Begin(add+"/begin"))).Want(t, http.StatusBadRequest)
	late := a.Create(ada.Begin(add + "/begin"))
	d.Advance(5 * time.Minute)
	ada.Finish(add, late).Want(t, http.StatusBadRequest)
}

// TestAddPasskeyNeedsARecentSignIn checks that a session that is older, or was created by pairing, cannot add a passkey, so that an
// attacker with a stolen session cannot.
func TestAddPasskeyNeedsARecentSignIn(t *testing.T) {
	d := newPasskeyService(t)
	ada := d.SignedInAs("ada@example.org", mapdata.Driver)
	a, _ := ada.AddPasskey()
	const begin = "/v2/account/passkeys/begin"
	d.Advance(10 * time.Minute)
	ada.Send(http.MethodPost, begin, "").Want(t, http.StatusUnauthorized)
	another := httpapitest.NewAuthenticator(t, httpapitest.PasskeyBase, httpapitest.PasskeyHost) // a challenge for another purpose is refused too
	ada.Finish("/v2/account/passkeys", another.Create(ada.Begin("/v2/auth/passkey/confirm/begin"))).Want(t, http.StatusBadRequest)
	ada.Finish("/v2/auth/passkey/confirm/finish", a.Get(ada.Begin("/v2/auth/passkey/confirm/begin"))).Want(t, http.StatusNoContent)
	ada.Begin(begin)

	begun, err := d.Accounts.BeginPairing(t.Context(), "a car")
	if err != nil {
		t.Fatal(err)
	}
	ada.Send(http.MethodPost, "/v2/auth/pair/"+begun.Code.Shown()+"/approve", "").Want(t, http.StatusOK)
	car := d.Browser()
	car.Send(http.MethodPost, "/v2/auth/pair/token", `{"device_code": "`+begun.Secret+`"}`).Want(t, http.StatusOK)
	car.Send(http.MethodPost, begin, "").Want(t, http.StatusForbidden)
}

// TestConfirmByPasskey checks that using a passkey of the session's account with user verification confirms the session for ten
// minutes.
func TestConfirmByPasskey(t *testing.T) {
	d := newPasskeyService(t)
	ada, bob := d.SignedInAs("ada@example.org", mapdata.Curator), d.SignedInAs("bob@example.org", mapdata.Curator)
	const begin, finish = "/v2/auth/passkey/confirm/begin", "/v2/auth/passkey/confirm/finish"
	ada.Send(http.MethodPost, begin, "").Want(t, http.StatusConflict) // it has no passkey
	a, _ := ada.AddPasskey()
	other, _ := bob.AddPasskey()
	present := func() bool {
		t.Helper()
		sessions, err := d.Accounts.Sessions(t.Context(), d.AccountOf("ada@example.org").ID)
		if err != nil {
			t.Fatal(err)
		}
		ok, err := d.Passkeys.Present(t.Context(), &sessions[0])
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if present() {
		t.Error("present before any passkey")
	}
	o := ada.Begin(begin)
	if o.PublicKey.UserVerification != "required" || len(o.PublicKey.AllowCredentials) != 1 || o.PublicKey.AllowCredentials[0].ID != httpapitest.Base64(a.ID) {
		t.Errorf("asked for %+v", o.PublicKey)
	}
	ada.Finish(finish, other.Get(o)).Want(t, http.StatusForbidden)
	bob.Finish(finish, a.Get(o)).Want(t, http.StatusForbidden)
	bare := *a
	bare.Flags = httpapitest.UserPresent
	ada.Finish(finish, bare.Get(o)).Want(t, http.StatusForbidden)
	a.Counter = bare.Counter
	if present() {
		t.Error("present after refused attempts")
	}
	nameless := a.Get(o)
	response := maps.Clone(nameless["response"].(map[string]any))
	delete(response, "userHandle") // devices may leave it out when the request names the passkeys
	nameless["response"] = response
	ada.Finish(finish, nameless).Want(t, http.StatusNoContent)
	if !present() {
		t.Error("not present")
	}
	ada.Finish(finish, nameless).Want(t, http.StatusForbidden)
	d.Advance(10 * time.Minute)
	if present() {
		t.Error("present after ten minutes")
	}
}

// TestPasskeySignInCountsAsConfirmation checks that signing in with user verification counts as a confirmation, and that signing in
// without does not.
func TestPasskeySignInCountsAsConfirmation(t *testing.T) {
	d := newPasskeyService(t)
	ada := d.SignedInAs("ada@example.org", mapdata.Curator)
	a, _ := ada.AddPasskey()
	for _, flags := range []byte{httpapitest.UserPresent, httpapitest.UserPresent | httpapitest.UserVerified} {
		a.Flags = flags
		_, secret := d.Browser().SignInByPasskey(a).Want(t, http.StatusOK).Cookie(t, false)
		session, _, err := d.Accounts.Authenticate(t.Context(), secret)
		if err != nil {
			t.Fatal(err)
		}
		ok, err := d.Passkeys.Present(t.Context(), session)
		if err != nil || ok != (flags&httpapitest.UserVerified != 0) {
			t.Errorf("flags %x: present %v, %v", flags, ok, err)
		}
	}
}

// TestPasskeyChallengesDoNotRevealAccounts checks that a guest gets the same challenge whatever accounts exist, and that other
// sites get none.
func TestPasskeyChallengesDoNotRevealAccounts(t *testing.T) {
	d := newPasskeyService(t)
	guest := d.Browser()
	shape := func() string {
		t.Helper()
		got := guest.Send(http.MethodPost, "/v2/auth/passkey/begin", "").Want(t, http.StatusOK)
		var o httpapitest.CredentialOptions
		got.Decode(t, &o)
		if len(o.PublicKey.AllowCredentials) != 0 {
			t.Errorf("names passkeys: %s", got.Body)
		}
		return strings.Replace(got.Body, o.PublicKey.Challenge, "…", 1)
	}
	before := shape()
	d.SignedInAs("ada@example.org", mapdata.Driver).AddPasskey()
	if after := shape(); after != before {
		t.Errorf("says %s, before %s", after, before)
	}
	guest.Send(http.MethodPost, "/v2/auth/passkey/begin", "", "Origin", "https://evil.example").Want(t, http.StatusForbidden)
	guest.Send(http.MethodPost, "/v2/auth/passkey/finish", "{}", "Origin", "https://evil.example").Want(t, http.StatusForbidden)
}

// TestPasskeySignInLimits checks that attempts of one client address are limited.
func TestPasskeySignInLimits(t *testing.T) {
	d := newPasskeyService(t)
	guest := d.Browser()
	for range 60 {
		guest.Begin("/v2/auth/passkey/begin")
	}
	guest.Send(http.MethodPost, "/v2/auth/passkey/begin", "").Want(t, http.StatusTooManyRequests)
	guest.Finish("/v2/auth/passkey/finish", map[string]any{}).Want(t, http.StatusTooManyRequests)
}

// TestMaxPasskeys checks that an account has at most twenty passkeys.
func TestMaxPasskeys(t *testing.T) {
	d := newPasskeyService(t)
	ada := d.SignedInAs("ada@example.org", mapdata.Driver)
	for range 20 {
		ada.AddPasskey()
	}
	ada.Send(http.MethodPost, "/v2/account/passkeys/begin", "").Want(t, http.StatusConflict)
}

// TestPasskeysWithoutHTTPS checks that a service on plain HTTP, except localhost, offers no passkeys.
func TestPasskeysWithoutHTTPS(t *testing.T) {
	d := httpapitest.NewService(t)
	ada := d.SignedInAs("ada@example.org", mapdata.Driver)
	for _, path := range []string{"/v2/auth/passkey/begin", "/v2/auth/passkey/confirm/begin", "/v2/account/passkeys/begin"} {
		ada.Send(http.MethodPost, path, "").Want(t, http.StatusConflict)
	}
	ada.Finish("/v2/auth/passkey/finish", map[string]any{}).Want(t, http.StatusConflict)
	if got := ada.PasskeyList(); len(got) != 0 {
		t.Errorf("passkeys %v", got)
	}
}
