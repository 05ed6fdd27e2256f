package account_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/token"
	"wayside/internal/people/account"
)

// testService is a Service with an in-memory store and a settable clock.
type testService struct {
	*account.Service
	t     *testing.T
	store *memoryStore
	now   time.Time
	log   bytes.Buffer
}

func newTestService(t *testing.T) *testService {
	t.Helper()
	ts := &testService{t: t, store: &memoryStore{}, now: time.Date(2026, 11, 20, 8, 0, 0, 123456789, time.UTC)}
	ts.Service = account.New(account.Config{
		Store: ts.store, Now: func() time.Time { return ts.now }, Key: []byte("a secret of the server"),
		Log: slog.New(slog.NewTextHandler(&ts.log, nil)),
	})
	return ts
}

// asking is the browser that requests every e-mail.
var asking = account.Browser{Secret: strings.Repeat("A", 43)}

// email requests a sign-in and returns the token and code of its e-mail.
func (ts *testService) email(email string) (token, code string) {
	ts.t.Helper()
	before := len(ts.store.emails)
	if _, err := ts.RequestSignIn(ts.t.Context(), email, asking); err != nil {
		ts.t.Fatal(err)
	}
	if len(ts.store.emails) != before+1 {
		ts.t.Fatal("no e-mail")
	}
	data := ts.store.emails[before].Data
	return data["token"], data["code"]
}

func (ts *testService) signIn(email string) *account.SignedIn {
	ts.t.Helper()
	link, _ := ts.email(email)
	in, err := ts.VerifyToken(ts.t.Context(), link, account.Browser{Agent: "Test/1"})
	if err != nil {
		ts.t.Fatal(err)
	}
	return in
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

func TestAPITokens(t *testing.T) {
	ts := newTestService(t)
	ada, grace := ts.signIn("ada@example.org").Account, ts.signIn("grace@example.org").Account
	text, made, err := ts.CreateAPIToken(t.Context(), ada.ID, " my server ")
	if err != nil {
		t.Fatal(err)
	}
	if !token.Valid(token.API, text) || made.Name != "my server" || bytes.Contains(made.TokenHash, []byte(text)) {
		t.Errorf("token %+v", made)
	}
	ts.store.lookUps = 0
	for range 10 {
		got, err := ts.AuthenticateToken(t.Context(), text)
		if err != nil || got.ID != ada.ID {
			t.Fatal("the token does not stand for its account", err)
		}
	}
	if ts.store.lookUps != 1 || ts.store.touches != 1 {
		t.Errorf("%d look-ups and %d writes within a second, want 1 and 1", ts.store.lookUps, ts.store.touches)
	}
	if list, err := ts.APITokens(t.Context(), ada.ID); err != nil || len(list) != 1 || !list[0].UsedAt.Equal(ts.now.Truncate(time.Millisecond)) {
		t.Errorf("list %+v, %v", list, err)
	}
	wantErr(t, ts.DeleteAPIToken(t.Context(), grace.ID, made.ID), mapdata.ErrNotFound)
	if err := ts.DeleteAPIToken(t.Context(), ada.ID, made.ID); err != nil {
		t.Fatal(err)
	}
	_, err = ts.AuthenticateToken(t.Context(), text)
	wantErr(t, err, mapdata.ErrUnauthenticated)
	ts.store.lookUps = 0
	_, err = ts.AuthenticateToken(t.Context(), text[:len(text)-1]+"!")
	wantErr(t, err, mapdata.ErrUnauthenticated)
	if ts.store.lookUps != 0 {
		t.Error("a mistyped token cost a look-up")
	}
	want := []mapdata.AuditEntry{
		{At: ts.now.Truncate(time.Millisecond), Actor: ada.ID, Action: "api_token.create", Subject: made.ID},
		{At: ts.now.Truncate(time.Millisecond), Actor: ada.ID, Action: "api_token.delete", Subject: made.ID},
	}
	if diff := cmp.Diff(want, ts.store.audit); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

func TestCreateAPITokenLimits(t *testing.T) {
	ts := newTestService(t)
	ada := ts.signIn("ada@example.org").Account
	for _, name := range []string{"", "  ", strings.Repeat("x", 101), "a\nb", "\xff"} {
		_, _, err := ts.CreateAPIToken(t.Context(), ada.ID, name)
		if invalid := new(mapdata.InvalidError); !errors.As(err, &invalid) || invalid.Fields[0].Field != "name" {
			t.Errorf("name %q: error %v", name, err)
		}
	}
	for range 20 {
		if _, _, err := ts.CreateAPIToken(t.Context(), ada.ID, strings.Repeat("ü", 100)); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := ts.CreateAPIToken(t.Context(), ada.ID, "one more")
	wantErr(t, err, mapdata.ErrConflict)
}
