package account_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/account"
	"wayside/internal/mapdata"
	"wayside/internal/token"
)

// house is a service, its store and its clock.
type house struct {
	*account.Service
	t     *testing.T
	store *memory
	now   time.Time
	log   bytes.Buffer
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, store: &memory{}, now: time.Date(2026, 11, 20, 8, 0, 0, 123456789, time.UTC)}
	h.Service = account.New(account.Config{
		Store: h.store, Now: func() time.Time { return h.now }, Key: []byte("a secret of the server"),
		Log: slog.New(slog.NewTextHandler(&h.log, nil)),
	})
	return h
}

// letter asks for a sign-in and gives what its letter says.
func (h *house) letter(email string) (token, code string) {
	h.t.Helper()
	before := len(h.store.letters)
	if err := h.RequestSignIn(h.t.Context(), email, ""); err != nil {
		h.t.Fatal(err)
	}
	if len(h.store.letters) != before+1 {
		h.t.Fatal("no letter")
	}
	data := h.store.letters[before].Data
	return data["token"], data["code"]
}

func (h *house) signIn(email string) *account.SignedIn {
	h.t.Helper()
	link, _ := h.letter(email)
	in, err := h.VerifyToken(h.t.Context(), link, account.Browser{Agent: "Test/1"})
	if err != nil {
		h.t.Fatal(err)
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
	h := newHouse(t)
	ada, grace := h.signIn("ada@example.org").Account, h.signIn("grace@example.org").Account
	text, made, err := h.CreateAPIToken(t.Context(), ada.ID, " my server ")
	if err != nil {
		t.Fatal(err)
	}
	if !token.Valid(token.API, text) || made.Name != "my server" || bytes.Contains(made.TokenHash, []byte(text)) {
		t.Errorf("token %+v", made)
	}
	h.store.lookUps = 0
	for range 10 {
		got, err := h.AuthenticateToken(t.Context(), text)
		if err != nil || got.ID != ada.ID {
			t.Fatal("the token does not stand for its account", err)
		}
	}
	if h.store.lookUps != 1 || h.store.touches != 1 {
		t.Errorf("%d look-ups and %d writes within a second, want 1 and 1", h.store.lookUps, h.store.touches)
	}
	if list, err := h.APITokens(t.Context(), ada.ID); err != nil || len(list) != 1 || !list[0].UsedAt.Equal(h.now.Truncate(time.Millisecond)) {
		t.Errorf("list %+v, %v", list, err)
	}
	wantErr(t, h.DeleteAPIToken(t.Context(), grace.ID, made.ID), mapdata.ErrNotFound)
	if err := h.DeleteAPIToken(t.Context(), ada.ID, made.ID); err != nil {
		t.Fatal(err)
	}
	_, err = h.AuthenticateToken(t.Context(), text)
	wantErr(t, err, mapdata.ErrUnauthenticated)
	h.store.lookUps = 0
	_, err = h.AuthenticateToken(t.Context(), text[:len(text)-1]+"!")
	wantErr(t, err, mapdata.ErrUnauthenticated)
	if h.store.lookUps != 0 {
		t.Error("a mistyped token cost a look-up")
	}
	want := []mapdata.AuditEntry{
		{At: h.now.Truncate(time.Millisecond), Actor: ada.ID, Action: "api_token.create", Subject: made.ID},
		{At: h.now.Truncate(time.Millisecond), Actor: ada.ID, Action: "api_token.delete", Subject: made.ID},
	}
	if diff := cmp.Diff(want, h.store.audit); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

func TestCreateAPITokenLimits(t *testing.T) {
	h := newHouse(t)
	ada := h.signIn("ada@example.org").Account
	for _, name := range []string{"", "  ", strings.Repeat("x", 101), "a\nb", "\xff"} {
		_, _, err := h.CreateAPIToken(t.Context(), ada.ID, name)
		if invalid := new(mapdata.InvalidError); !errors.As(err, &invalid) || invalid.Fields[0].Field != "name" {
			t.Errorf("name %q: error %v", name, err)
		}
	}
	for range 20 {
		if _, _, err := h.CreateAPIToken(t.Context(), ada.ID, strings.Repeat("ü", 100)); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := h.CreateAPIToken(t.Context(), ada.ID, "one more")
	wantErr(t, err, mapdata.ErrConflict)
}
