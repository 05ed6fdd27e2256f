package account_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"wayside/internal/account"
	"wayside/internal/mapdata"
)

func TestSessionLife(t *testing.T) {
	tests := []struct {
		name  string
		every time.Duration // between uses
		uses  int
		alive bool
	}{
		{"used within thirty days", 30*24*time.Hour - time.Minute, 1, true},
		{"unused for thirty days", 30 * 24 * time.Hour, 1, false},
		{"used daily for 179 days", 24 * time.Hour, 179, true},
		{"used daily for 180 days", 24 * time.Hour, 180, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t)
			in := h.signIn("ada@example.org")
			var err error
			for range tt.uses {
				h.now = h.now.Add(tt.every)
				_, _, err = h.Authenticate(t.Context(), in.Secret)
			}
			if (err == nil) != tt.alive {
				t.Errorf("error %v", err)
			}
			left, err := h.Sessions(t.Context(), in.Account.ID)
			if err != nil || (len(left) == 1) != tt.alive {
				t.Errorf("%d sessions listed, %v", len(left), err)
			}
		})
	}
}

func TestAuthenticateAsksTheStoreOnceASecond(t *testing.T) {
	h := newHouse(t)
	in := h.signIn("ada@example.org")
	h.store.lookUps = 0
	for range 100 {
		session, holder, err := h.Authenticate(t.Context(), in.Secret)
		if err != nil || session.ID != in.Session.ID || holder.ID != in.Account.ID {
			t.Fatal("not the session that was made", err)
		}
	}
	if h.store.lookUps != 1 {
		t.Errorf("%d look-ups, want 1", h.store.lookUps)
	}
	h.now = h.now.Add(time.Second)
	if _, _, err := h.Authenticate(t.Context(), in.Secret); err != nil || h.store.lookUps != 2 {
		t.Errorf("%d look-ups after a second, want 2 (%v)", h.store.lookUps, err)
	}
}

func TestSessionIsTouchedOnceAnHour(t *testing.T) {
	h := newHouse(t)
	in := h.signIn("ada@example.org")
	for range 3 * 60 {
		h.now = h.now.Add(time.Minute)
		if _, _, err := h.Authenticate(t.Context(), in.Secret); err != nil {
			t.Fatal(err)
		}
	}
	if h.store.touches != 3 {
		t.Errorf("%d writes in three hours, want 3", h.store.touches)
	}
}

// A full disk keeps nobody from reading, and is logged without the secret.
func TestAuthenticateWhenTheStoreCannotWrite(t *testing.T) {
	h := newHouse(t)
	in := h.signIn("ada@example.org")
	text, _, err := h.CreateAPIToken(t.Context(), in.Account.ID, "server")
	if err != nil {
		t.Fatal(err)
	}
	h.store.fail = mapdata.ErrUnavailable
	h.now = h.now.Add(2 * time.Hour)
	if _, _, err := h.Authenticate(t.Context(), in.Secret); err != nil {
		t.Error(err)
	}
	if _, err := h.AuthenticateToken(t.Context(), text); err != nil {
		t.Error(err)
	}
	log := h.log.String()
	if strings.Count(log, "last use not recorded") != 2 || strings.Contains(log, in.Secret) || strings.Contains(log, text) || strings.Contains(log, "ada@") {
		t.Errorf("log: %s", log)
	}
}

func TestAuthenticateRefusesWithoutALookUp(t *testing.T) {
	h := newHouse(t)
	h.signIn("ada@example.org")
	h.store.lookUps = 0
	for _, secret := range []string{"", "x", strings.Repeat("A", 42), strings.Repeat("A", 44), strings.Repeat("é", 21) + "A", strings.Repeat("B", 43)} {
		_, _, err := h.Authenticate(t.Context(), secret)
		wantErr(t, err, mapdata.ErrUnauthenticated)
	}
	if h.store.lookUps != 0 {
		t.Errorf("%d look-ups for what no cookie of ours holds", h.store.lookUps)
	}
	_, _, err := h.Authenticate(t.Context(), strings.Repeat("A", 43))
	wantErr(t, err, mapdata.ErrUnauthenticated)
}

func TestSignOutAndRevocationCountAtOnce(t *testing.T) {
	h := newHouse(t)
	one, two := h.signIn("ada@example.org"), h.signIn("ada@example.org")
	other := h.signIn("grace@example.org")
	alive := func(in *account.SignedIn) bool {
		_, _, err := h.Authenticate(t.Context(), in.Secret)
		return err == nil
	}
	for _, in := range []*account.SignedIn{one, two, other} {
		if !alive(in) {
			t.Fatal("a new session does not count")
		}
	}
	if err := h.SignOut(t.Context(), one.Session); err != nil {
		t.Fatal(err)
	}
	if err := h.SignOut(t.Context(), one.Session); err != nil {
		t.Errorf("signing out twice: %v", err)
	}
	if alive(one) || !alive(two) {
		t.Error("after signing out: want that session gone and the other one alive")
	}
	wantErr(t, h.EndSession(t.Context(), one.Account.ID, other.Session.ID), mapdata.ErrNotFound)
	if !alive(other) {
		t.Error("somebody else ended the session")
	}
	if err := h.EndSession(t.Context(), one.Account.ID, two.Session.ID); err != nil || alive(two) {
		t.Errorf("a revoked session counts (%v)", err)
	}
}

func TestSessionsKeepACleanAgent(t *testing.T) {
	h := newHouse(t)
	link, _ := h.letter("ada@example.org")
	in, err := h.VerifyToken(t.Context(), link, account.Browser{Agent: "Ev\x1b[31mil\xff\n" + strings.Repeat("ü", 300)})
	if err != nil {
		t.Fatal(err)
	}
	if n := len([]rune(in.Session.Agent)); n != 200 || strings.ContainsAny(in.Session.Agent, "\x1b\n") || !utf8.ValidString(in.Session.Agent) {
		t.Errorf("agent of %d characters: %q", n, in.Session.Agent)
	}
}
