package httpapi_test

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
)

const (
	passkeyBase = "http://localhost:8080" // where browsers offer passkeys without a certificate
	passkeyHost = "localhost"
)

func newPasskeyService(t *testing.T) *testService {
	t.Helper()
	return newTestServiceWith(t, serviceOptions{manage: 10_000, requests: 60, entities: 10_000, base: passkeyBase})
}

// begin requests the options that a page passes to the browser.
func (b *browser) begin(path string) credentialOptions {
	b.t.Helper()
	var o credentialOptions
	b.send(http.MethodPost, path, "").want(b.t, http.StatusOK).decode(b.t, &o)
	return o
}

// finish sends an authenticator's response.
func (b *browser) finish(path string, credential map[string]any, header ...string) reply {
	b.t.Helper()
	body, err := json.Marshal(map[string]any{"credential": credential})
	if err != nil {
		b.t.Fatal(err)
	}
	return b.send(http.MethodPost, path, string(body), header...)
}

type passkeyLine struct {
	ID, Name string
	Last     *string `json:"last_used_at"`
	Copied   bool
}

func (b *browser) passkeyList() []passkeyLine {
	b.t.Helper()
	var list struct{ Passkeys []passkeyLine }
	b.send(http.MethodGet, "/v2/account/passkeys", "").want(b.t, http.StatusOK).decode(b.t, &list)
	return list.Passkeys
}

// addPasskey adds a passkey to the account that is signed in.
func (b *browser) addPasskey() (*authenticator, passkeyLine) {
	b.t.Helper()
	a := newAuthenticator(b.t, passkeyBase, passkeyHost)
	var made struct{ Passkey passkeyLine }
	b.finish("/v2/account/passkeys", a.create(b.begin("/v2/account/passkeys/begin"))).want(b.t, http.StatusCreated).decode(b.t, &made)
	return a, made.Passkey
}

// signInByPasskey signs in with a passkey.
func (b *browser) signInByPasskey(a *authenticator) reply {
	b.t.Helper()
	return b.finish("/v2/auth/passkey/finish", a.get(b.begin("/v2/auth/passkey/begin")))
}

func (b *browser) email() string {
	b.t.Helper()
	var who struct{ Account struct{ Email string } }
	b.send(http.MethodGet, "/v2/account", "").want(b.t, http.StatusOK).decode(b.t, &who)
	return who.Account.Email
}

// TestPasskeySignsIn follows a passkey: add, list, sign in elsewhere, rename, remove.
func TestPasskeySignsIn(t *testing.T) {
	d := newPasskeyService(t)
	ada := d.signedInAs("ada@example.org", mapdata.Driver)
	o := ada.begin("/v2/account/passkeys/begin")
	if o.PublicKey.AuthenticatorSelection.ResidentKey != "required" || o.PublicKey.Rp.ID != passkeyHost {
		t.Errorf("asked for %+v", o.PublicKey)
	}
	a, made := ada.addPasskey()
	if got := ada.begin("/v2/account/passkeys/begin").PublicKey.ExcludeCredentials; len(got) != 1 || got[0].ID != b64(a.id) {
		t.Errorf("excludes %v", got)
	}
	d.advance(3 * time.Hour)
	b := d.browser()
	in := b.signInByPasskey(a).want(t, http.StatusOK)
	in.cookie(t, false)
	if got := b.email(); got != "ada@example.org" {
		t.Errorf("signed in as %s", got)
	}
	day := "2026-11-21T00:00:00.000Z"
	want := []passkeyLine{{made.ID, made.Name, &day, false}}
	if diff := cmp.Diff(want, b.passkeyList()); diff != "" {
		t.Errorf("passkeys (-want +got):\n%s", diff)
	}

	b.send(http.MethodPatch, "/v2/account/passkeys/"+made.ID, `{"name": "Phone"}`).want(t, http.StatusOK)
	if got := b.passkeyList()[0].Name; got != "Phone" {
		t.Errorf("named %q", got)
	}
	b.send(http.MethodPatch, "/v2/account/passkeys/"+made.ID, `{"name": "\u0007"}`).want(t, http.StatusUnprocessableEntity)

	b.send(http.MethodDelete, "/v2/account/passkeys/"+made.ID, "").want(t, http.StatusNoContent)
	d.browser().signInByPasskey(a).want(t, http.StatusUnauthorized)
	b.email() // a session that was opened with it stays valid
	log, err := d.db.Audit(t.Context(), &mapdata.AuditQuery{Subject: made.ID, Limit: 10})
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
	ada, bob := d.signedInAs("ada@example.org", mapdata.Driver), d.signedInAs("bob@example.org", mapdata.Driver)
	a, _ := ada.addPasskey()
	other, _ := bob.addPasskey()
	guest := d.browser()
	finish := func(bend func(o *credentialOptions, a *authenticator)) func() reply {
		return func() reply {
			bent := *a
			o := guest.begin("/v2/auth/passkey/begin")
			bend(&o, &bent)
			answer := bent.get(o)
			a.counter = bent.counter
			return guest.finish("/v2/auth/passkey/finish", answer)
		}
	}
	words := ""
	for name, try := range map[string]func() reply{
		"another origin": finish(func(_ *credentialOptions, a *authenticator) { a.origin = "http://localhost.evil.example" }),
		"another port":   finish(func(_ *credentialOptions, a *authenticator) { a.origin = "http://localhost:8081" }),
		"another host":   finish(func(_ *credentialOptions, a *authenticator) { a.rp = "evil.example" }),
		"a challenge of ours for something else": finish(func(o *credentialOptions, _ *authenticator) {
			o.PublicKey.Challenge = ada.begin("/v2/auth/passkey/confirm/begin").PublicKey.Challenge
		}),
		"a challenge of the device's own": finish(func(o *credentialOptions, _ *authenticator) { o.PublicKey.Challenge = b64(make([]byte, 56)) }),
		"a challenge that was prolonged": finish(func(o *credentialOptions, _ *authenticator) {
			raw, err := base64.RawURLEncoding.DecodeString(o.PublicKey.Challenge)
			if err != nil {
				t.Fatal(err)
			}
			raw[20]++
			o.PublicKey.Challenge = b64(raw)
		}),
		"an unknown passkey":        finish(func(_ *credentialOptions, a *authenticator) { a.id = []byte("unknown passkey") }),
		"another account's key":     finish(func(_ *credentialOptions, a *authenticator) { a.key = other.key }),
		"another account's handle":  finish(func(_ *credentialOptions, a *authenticator) { a.user = other.user }),
		"another account's passkey": finish(func(_ *credentialOptions, a *authenticator) { a.id = other.id }),
		"no user handle":            finish(func(_ *credentialOptions, a *authenticator) { a.user = nil }),
		"no user presence":          finish(func(_ *credentialOptions, a *authenticator) { a.flags = 0 }),
		"a registration's answer": func() reply {
			return guest.finish("/v2/auth/passkey/finish", a.create(ada.begin("/v2/account/passkeys/begin")))
		},
		"an answer that came before":  nil,
		"an answer five minutes late": nil,
	} {
		t.Run(name, func(t *testing.T) {
			if try == nil {
				answer := a.get(guest.begin("/v2/auth/passkey/begin"))
				if strings.Contains(name, "before") {
					d.browser().finish("/v2/auth/passkey/finish", answer).want(t, http.StatusOK)
				} else {
					d.advance(5 * time.Minute)
				}
				try = func() reply { return guest.finish("/v2/auth/passkey/finish", answer) }
			}
			got := try().want(t, http.StatusUnauthorized)
			if len(got.Cookies()) != 0 {
				t.Error("a cookie")
			}
			if words == "" {
				words = got.body
			}
			if got.body != words {
				t.Errorf("says %s, elsewhere %s", got.body, words)
			}
		})
	}
	guest.signInByPasskey(a).want(t, http.StatusOK) // the refused attempts changed nothing
}

// TestClonedPasskeyIsRefused checks two devices with one key, which have different counters: once that shows, neither can sign in.
func TestClonedPasskeyIsRefused(t *testing.T) {
	d := newPasskeyService(t)
	ada := d.signedInAs("ada@example.org", mapdata.Driver)
	a, made := ada.addPasskey()
	twin := *a
	d.browser().signInByPasskey(a).want(t, http.StatusOK)
	d.browser().signInByPasskey(&twin).want(t, http.StatusUnauthorized)
	d.browser().signInByPasskey(a).want(t, http.StatusUnauthorized)
	if got := ada.passkeyList(); !got[0].Copied || got[0].ID != made.ID {
		t.Errorf("passkeys %+v", got)
	}
	log, err := d.db.Audit(t.Context(), &mapdata.AuditQuery{Actions: []string{mapdata.AuditPasskeyCloned}, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if len(log) != 1 || log[0].Subject != made.ID {
		t.Errorf("audit log %+v", log)
	}
	if strings.Contains(d.log.String(), "ada@") {
		t.Errorf("the log names an address:\n%s", d.log.String())
	}
}

// TestPasskeysWithoutCounterAreNotClones checks synchronised passkeys, which always report a counter of 0.
func TestPasskeysWithoutCounterAreNotClones(t *testing.T) {
	d := newPasskeyService(t)
	a := newAuthenticator(t, passkeyBase, passkeyHost)
	ada := d.signedInAs("ada@example.org", mapdata.Driver)
	const none = ^uint32(0) // the next counter is 0
	a.counter = none
	ada.finish("/v2/account/passkeys", a.create(ada.begin("/v2/account/passkeys/begin"))).want(t, http.StatusCreated)
	for range 3 {
		a.counter = none
		d.browser().signInByPasskey(a).want(t, http.StatusOK)
	}
}

// TestAddPasskeyChallenges checks that a challenge is valid for one session and one response, and that a credential belongs to one
// account.
func TestAddPasskeyChallenges(t *testing.T) {
	d := newPasskeyService(t)
	ada, bob := d.signedInAs("ada@example.org", mapdata.Driver), d.signedInAs("bob@example.org", mapdata.Driver)
	const add = "/v2/account/passkeys"
	a := newAuthenticator(t, passkeyBase, passkeyHost)
	answer := a.create(ada.begin(add + "/begin"))
	bob.finish(add, answer).want(t, http.StatusBadRequest)
	d.browser().finish(add, answer).want(t, http.StatusUnauthorized)
	ada.finish(add, answer, "Origin", "https://evil.example").want(t, http.StatusForbidden)
	ada.finish(add, answer).want(t, http.StatusCreated)
	ada.finish(add, answer).want(t, http.StatusConflict)
	bob.finish(add, a.create(bob.begin(add+"/begin"))).want(t, http.StatusConflict)

	ada.send(http.MethodDelete, add+"/"+ada.passkeyList()[0].ID, "").want(t, http.StatusNoContent)
	ada.finish(add, answer).want(t, http.StatusConflict) // even after the passkey was removed

	elsewhere := newAuthenticator(t, "https://evil.example", passkeyHost)
	ada.finish(add, elsewhere.create(ada.begin(add+"/begin"))).want(t, http.StatusBadRequest)
	late := a.create(ada.begin(add + "/begin"))
	d.advance(5 * time.Minute)
	ada.finish(add, late).want(t, http.StatusBadRequest)
}

// TestAddPasskeyNeedsARecentSignIn checks that a session that is older, or was created by pairing, cannot add a passkey, so that an
// attacker with a stolen session cannot.
func TestAddPasskeyNeedsARecentSignIn(t *testing.T) {
	d := newPasskeyService(t)
	ada := d.signedInAs("ada@example.org", mapdata.Driver)
	a, _ := ada.addPasskey()
	const begin = "/v2/account/passkeys/begin"
	d.advance(10 * time.Minute)
	ada.send(http.MethodPost, begin, "").want(t, http.StatusUnauthorized)
	another := newAuthenticator(t, passkeyBase, passkeyHost) // a challenge for another purpose is refused too
	ada.finish("/v2/account/passkeys", another.create(ada.begin("/v2/auth/passkey/confirm/begin"))).want(t, http.StatusBadRequest)
	ada.finish("/v2/auth/passkey/confirm/finish", a.get(ada.begin("/v2/auth/passkey/confirm/begin"))).want(t, http.StatusNoContent)
	ada.begin(begin)

	begun, err := d.accounts.BeginPairing(t.Context(), "a car")
	if err != nil {
		t.Fatal(err)
	}
	ada.send(http.MethodPost, "/v2/auth/pair/"+begun.Code.Shown()+"/approve", "").want(t, http.StatusOK)
	car := d.browser()
	car.send(http.MethodPost, "/v2/auth/pair/token", `{"device_code": "`+begun.Secret+`"}`).want(t, http.StatusOK)
	car.send(http.MethodPost, begin, "").want(t, http.StatusForbidden)
}

// TestConfirmByPasskey checks that using a passkey of the session's account with user verification confirms the session for ten
// minutes.
func TestConfirmByPasskey(t *testing.T) {
	d := newPasskeyService(t)
	ada, bob := d.signedInAs("ada@example.org", mapdata.Curator), d.signedInAs("bob@example.org", mapdata.Curator)
	const begin, finish = "/v2/auth/passkey/confirm/begin", "/v2/auth/passkey/confirm/finish"
	ada.send(http.MethodPost, begin, "").want(t, http.StatusConflict) // it has no passkey
	a, _ := ada.addPasskey()
	other, _ := bob.addPasskey()
	present := func() bool {
		t.Helper()
		sessions, err := d.accounts.Sessions(t.Context(), d.accountOf("ada@example.org").ID)
		if err != nil {
			t.Fatal(err)
		}
		ok, err := d.passkeys.Present(t.Context(), &sessions[0])
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if present() {
		t.Error("present before any passkey")
	}
	o := ada.begin(begin)
	if o.PublicKey.UserVerification != "required" || len(o.PublicKey.AllowCredentials) != 1 || o.PublicKey.AllowCredentials[0].ID != b64(a.id) {
		t.Errorf("asked for %+v", o.PublicKey)
	}
	ada.finish(finish, other.get(o)).want(t, http.StatusForbidden)
	bob.finish(finish, a.get(o)).want(t, http.StatusForbidden)
	bare := *a
	bare.flags = userPresent
	ada.finish(finish, bare.get(o)).want(t, http.StatusForbidden)
	a.counter = bare.counter
	if present() {
		t.Error("present after refused attempts")
	}
	nameless := a.get(o)
	response := maps.Clone(nameless["response"].(map[string]any))
	delete(response, "userHandle") // devices may leave it out when the request names the passkeys
	nameless["response"] = response
	ada.finish(finish, nameless).want(t, http.StatusNoContent)
	if !present() {
		t.Error("not present")
	}
	ada.finish(finish, nameless).want(t, http.StatusForbidden)
	d.advance(10 * time.Minute)
	if present() {
		t.Error("present after ten minutes")
	}
}

// TestPasskeySignInCountsAsConfirmation checks that signing in with user verification counts as a confirmation, and that signing in
// without does not.
func TestPasskeySignInCountsAsConfirmation(t *testing.T) {
	d := newPasskeyService(t)
	ada := d.signedInAs("ada@example.org", mapdata.Curator)
	a, _ := ada.addPasskey()
	for _, flags := range []byte{userPresent, userPresent | userVerified} {
		a.flags = flags
		_, secret := d.browser().signInByPasskey(a).want(t, http.StatusOK).cookie(t, false)
		session, _, err := d.accounts.Authenticate(t.Context(), secret)
		if err != nil {
			t.Fatal(err)
		}
		ok, err := d.passkeys.Present(t.Context(), session)
		if err != nil || ok != (flags&userVerified != 0) {
			t.Errorf("flags %x: present %v, %v", flags, ok, err)
		}
	}
}

// TestPasskeyChallengesDoNotRevealAccounts checks that a guest gets the same challenge whatever accounts exist, and that other
// sites get none.
func TestPasskeyChallengesDoNotRevealAccounts(t *testing.T) {
	d := newPasskeyService(t)
	guest := d.browser()
	shape := func() string {
		t.Helper()
		got := guest.send(http.MethodPost, "/v2/auth/passkey/begin", "").want(t, http.StatusOK)
		var o credentialOptions
		got.decode(t, &o)
		if len(o.PublicKey.AllowCredentials) != 0 {
			t.Errorf("names passkeys: %s", got.body)
		}
		return strings.Replace(got.body, o.PublicKey.Challenge, "…", 1)
	}
	before := shape()
	d.signedInAs("ada@example.org", mapdata.Driver).addPasskey()
	if after := shape(); after != before {
		t.Errorf("says %s, before %s", after, before)
	}
	guest.send(http.MethodPost, "/v2/auth/passkey/begin", "", "Origin", "https://evil.example").want(t, http.StatusForbidden)
	guest.send(http.MethodPost, "/v2/auth/passkey/finish", "{}", "Origin", "https://evil.example").want(t, http.StatusForbidden)
}

// TestPasskeySignInLimits checks that attempts of one client address are limited.
func TestPasskeySignInLimits(t *testing.T) {
	d := newPasskeyService(t)
	guest := d.browser()
	for range 60 {
		guest.begin("/v2/auth/passkey/begin")
	}
	guest.send(http.MethodPost, "/v2/auth/passkey/begin", "").want(t, http.StatusTooManyRequests)
	guest.finish("/v2/auth/passkey/finish", map[string]any{}).want(t, http.StatusTooManyRequests)
}

// TestMaxPasskeys checks that an account has at most twenty passkeys.
func TestMaxPasskeys(t *testing.T) {
	d := newPasskeyService(t)
	ada := d.signedInAs("ada@example.org", mapdata.Driver)
	for range 20 {
		ada.addPasskey()
	}
	ada.send(http.MethodPost, "/v2/account/passkeys/begin", "").want(t, http.StatusConflict)
}

// TestPasskeysWithoutHTTPS checks that a service on plain HTTP, except localhost, offers no passkeys.
func TestPasskeysWithoutHTTPS(t *testing.T) {
	d := newTestService(t)
	ada := d.signedInAs("ada@example.org", mapdata.Driver)
	for _, path := range []string{"/v2/auth/passkey/begin", "/v2/auth/passkey/confirm/begin", "/v2/account/passkeys/begin"} {
		ada.send(http.MethodPost, path, "").want(t, http.StatusConflict)
	}
	ada.finish("/v2/auth/passkey/finish", map[string]any{}).want(t, http.StatusConflict)
	if got := ada.passkeyList(); len(got) != 0 {
		t.Errorf("passkeys %v", got)
	}
}

func (d *testService) accountOf(email string) *mapdata.Account {
	d.t.Helper()
	a, err := d.db.AccountByEmail(d.t.Context(), email)
	if err != nil {
		d.t.Fatal(err)
	}
	return a
}
