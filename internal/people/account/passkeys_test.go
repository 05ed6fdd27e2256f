package account_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
)

// FuzzPasskeys checks that arbitrary device answers to valid challenges are rejected with the documented errors, and
// that only a valid attestation adds a passkey.
func FuzzPasskeys(f *testing.F) {
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	db, err := sqlite.Open(f.Context(), sqlitetest.Path(f), sqlite.Options{Now: clock})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := db.Close(); err != nil {
			f.Error(err)
		}
	})
	accounts := account.New(account.Config{Store: db, Now: clock, Key: []byte("key"), Log: slog.New(slog.DiscardHandler)})
	passkeys, err := account.NewPasskeys(account.PasskeyConfig{Accounts: accounts, Store: db, BaseURL: "https://wayside.example"})
	if err != nil {
		f.Fatal(err)
	}
	holder, err := accounts.Create(f.Context(), "ada@example.org")
	if err != nil {
		f.Fatal(err)
	}
	session := &mapdata.Session{ID: "s", TokenHash: []byte("s"), Account: holder.ID, CreatedAt: now, SeenAt: now, ProvedAt: now}
	if err := db.CreateSession(f.Context(), session, ""); err != nil {
		f.Fatal(err)
	}
	object, err := base64.StdEncoding.DecodeString("o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVgl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("https://wayside.example", []byte("id"), append(object, make([]byte, 37)...), make([]byte, 37), []byte("signature"), holder.ID[:], []byte(`{}`))
	f.Add("https://evil.example", []byte{}, []byte{0xa3}, []byte{}, []byte{}, []byte{}, []byte(`{"id": [`))
	f.Fuzz(func(t *testing.T, origin string, id, object, data, signature, user, raw []byte) {
		b64 := base64.RawURLEncoding.EncodeToString
		answer := func(kind string, options []byte, err error, response map[string]string) []byte {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			var asked struct{ PublicKey struct{ Challenge string } }
			if err := json.Unmarshal(options, &asked); err != nil {
				t.Fatal(err)
			}
			client, err := json.Marshal(map[string]string{"type": kind, "challenge": asked.PublicKey.Challenge, "origin": origin})
			if err != nil {
				t.Fatal(err)
			}
			response["clientDataJSON"] = b64(client)
			body, err := json.Marshal(map[string]any{"id": b64(id), "rawId": b64(id), "type": "public-key", "response": response})
			if err != nil {
				t.Fatal(err)
			}
			return body
		}
		assertion := func() map[string]string {
			return map[string]string{"authenticatorData": b64(data), "signature": b64(signature), "userHandle": b64(user)}
		}
		options, err := passkeys.BeginSignIn()
		for _, body := range [][]byte{raw, answer("webauthn.get", options, err, assertion())} {
			if _, err := passkeys.SignIn(t.Context(), body, account.Browser{}); !errors.Is(err, mapdata.ErrUnauthenticated) {
				t.Errorf("sign in: %v", err)
			}
			if err := passkeys.Confirm(t.Context(), session, body); !errors.Is(err, mapdata.ErrForbidden) {
				t.Errorf("confirm: %v", err)
			}
		}
		options, err = passkeys.BeginAdding(t.Context(), session, holder)
		if errors.Is(err, mapdata.ErrConflict) {
			return // the fuzzer has added twenty passkeys
		}
		for _, body := range [][]byte{raw, answer("webauthn.create", options, err, map[string]string{"attestationObject": b64(object)})} {
			_, err := passkeys.Add(t.Context(), session, holder, "", "", body)
			if err != nil && !errors.Is(err, mapdata.ErrMalformed) && !errors.Is(err, mapdata.ErrConflict) {
				t.Errorf("add: %v", err)
			}
		}
	})
}

// TestPresentReadsStore checks that a use at another node takes effect here immediately.
func TestPresentReadsStore(t *testing.T) {
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	db, err := sqlite.Open(t.Context(), sqlitetest.Path(t), sqlite.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	accounts := account.New(account.Config{Store: db, Now: clock, Key: []byte("key"), Log: slog.New(slog.DiscardHandler)})
	passkeys, err := account.NewPasskeys(account.PasskeyConfig{Accounts: accounts, Store: db, BaseURL: "https://wayside.example"})
	if err != nil {
		t.Fatal(err)
	}
	holder, err := accounts.Create(t.Context(), "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	stored := &mapdata.Session{ID: "s", TokenHash: []byte("s"), Account: holder.ID, CreatedAt: now, SeenAt: now, PasskeyAt: now}
	if err := db.CreateSession(t.Context(), stored, ""); err != nil {
		t.Fatal(err)
	}
	known := *stored // as cached by this node
	known.PasskeyAt = time.Time{}
	if ok, err := passkeys.Present(t.Context(), &known); err != nil || !ok {
		t.Errorf("present: %v, %v", ok, err)
	}
	if passkeys.MayAdd(&known) {
		t.Error("a session that proved nothing adds passkeys")
	}
	now = now.Add(mapdata.PasskeyFresh)
	if ok, err := passkeys.Present(t.Context(), &known); err != nil || ok {
		t.Errorf("present after ten minutes: %v, %v", ok, err)
	}
	gone := &mapdata.Session{ID: "gone", TokenHash: []byte("gone")}
	if ok, err := passkeys.Present(t.Context(), gone); err != nil || ok {
		t.Errorf("a session that ended is present: %v, %v", ok, err)
	}
}
