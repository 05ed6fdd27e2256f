package account_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
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
			ts := newTestService(t)
			in := ts.signIn("ada@example.org")
			var err error
			for range tt.uses {
				ts.now = ts.now.Add(tt.every)
				_, _, err = ts.Authenticate(t.Context(), in.Secret)
			}
			if (err == nil) != tt.alive {
				t.Errorf("error %v", err)
			}
			left, err := ts.Sessions(t.Context(), in.Account.ID)
			if err != nil || (len(left) == 1) != tt.alive {
				t.Errorf("%d sessions listed, %v", len(left), err)
			}
		})
	}
}

func TestAuthenticateCachesForASecond(t *testing.T) {
	ts := newTestService(t)
	in := ts.signIn("ada@example.org")
	ts.store.lookUps = 0
	for range 100 {
		session, holder, err := ts.Authenticate(t.Context(), in.Secret)
		if err != nil || session.ID != in.Session.ID || holder.ID != in.Account.ID {
			t.Fatal("not the session that was made", err)
		}
	}
	if ts.store.lookUps != 1 {
		t.Errorf("%d look-ups, want 1", ts.store.lookUps)
	}
	ts.now = ts.now.Add(time.Second)
	if _, _, err := ts.Authenticate(t.Context(), in.Secret); err != nil || ts.store.lookUps != 2 {
		t.Errorf("%d look-ups after a second, want 2 (%v)", ts.store.lookUps, err)
	}
}

func TestSessionIsTouchedOnceAnHour(t *testing.T) {
	ts := newTestService(t)
	in := ts.signIn("ada@example.org")
	for range 3 * 60 {
		ts.now = ts.now.Add(time.Minute)
		if _, _, err := ts.Authenticate(t.Context(), in.Secret); err != nil {
			t.Fatal(err)
		}
	}
	if ts.store.touches != 3 {
		t.Errorf("%d writes in three hours, want 3", ts.store.touches)
	}
}

// TestAuthenticateWithReadOnlyStore checks that a store that cannot write does not fail requests, and that the log
// contains no secret.
func TestAuthenticateWithReadOnlyStore(t *testing.T) {
	ts := newTestService(t)
	in := ts.signIn("ada@example.org")
	text, _, err := ts.CreateAPIToken(t.Context(), in.Account.ID, "server")
	if err != nil {
		t.Fatal(err)
	}
	ts.store.fail = mapdata.ErrUnavailable
	ts.now = ts.now.Add(2 * time.Hour)
	if _, _, err := ts.Authenticate(t.Context(), in.Secret); err != nil {
		t.Error(err)
	}
	if _, err := ts.AuthenticateToken(t.Context(), text); err != nil {
		t.Error(err)
	}
	log := ts.log.String()
	if strings.Count(log, "last use not recorded") != 2 || strings.Contains(log, in.Secret) || strings.Contains(log, text) || strings.Contains(log, "ada@") {
		t.Errorf("log: %s", log)
	}
}

func TestAuthenticateRejectsMalformedWithoutLookUp(t *testing.T) {
	ts := newTestService(t)
	ts.signIn("ada@example.org")
	ts.store.lookUps = 0
	for _, secret := range []string{"", "x", strings.Repeat("A", 42), strings.Repeat("A", 44), strings.Repeat("é", 21) + "A", strings.Repeat("B", 43)} {
		_, _, err := ts.Authenticate(t.Context(), secret)
		wantErr(t, err, mapdata.ErrUnauthenticated)
	}
	if ts.store.lookUps != 0 {
		t.Errorf("%d look-ups for malformed secrets", ts.store.lookUps)
	}
	_, _, err := ts.Authenticate(t.Context(), strings.Repeat("A", 43))
	wantErr(t, err, mapdata.ErrUnauthenticated)
}

func TestRevocationIsImmediate(t *testing.T) {
	ts := newTestService(t)
	one, two := ts.signIn("ada@example.org"), ts.signIn("ada@example.org")
	other := ts.signIn("grace@example.org")
	alive := func(in *account.SignedIn) bool {
		_, _, err := ts.Authenticate(t.Context(), in.Secret)
		return err == nil
	}
	for _, in := range []*account.SignedIn{one, two, other} {
		if !alive(in) {
			t.Fatal("a new session does not count")
		}
	}
	if err := ts.SignOut(t.Context(), one.Session); err != nil {
		t.Fatal(err)
	}
	if err := ts.SignOut(t.Context(), one.Session); err != nil {
		t.Errorf("signing out twice: %v", err)
	}
	if alive(one) || !alive(two) {
		t.Error("after signing out: want that session gone and the other one alive")
	}
	wantErr(t, ts.EndSession(t.Context(), one.Account.ID, other.Session.ID), mapdata.ErrNotFound)
	if !alive(other) {
		t.Error("another account ended the session")
	}
	if err := ts.EndSession(t.Context(), one.Account.ID, two.Session.ID); err != nil || alive(two) {
		t.Errorf("a revoked session counts (%v)", err)
	}
}

func TestSessionAgentIsCleaned(t *testing.T) {
	ts := newTestService(t)
	link, _ := ts.email("ada@example.org")
	in, err := ts.VerifyToken(t.Context(), link, account.Browser{Agent: "Ev\x1b[31mil\xff\n" + strings.Repeat("ü", 300)})
	if err != nil {
		t.Fatal(err)
	}
	if n := len([]rune(in.Session.Agent)); n != 200 || strings.ContainsAny(in.Session.Agent, "\x1b\n") || !utf8.ValidString(in.Session.Agent) {
		t.Errorf("agent of %d characters: %q", n, in.Session.Agent)
	}
}
