package account_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
)

func TestRequestSignIn(t *testing.T) {
	ts := newTestService(t)
	link, code := ts.email(" Ada@Example.ORG ")
	if !regexp.MustCompile(`^[0-9]{8}$`).MatchString(code) || !regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`).MatchString(link) {
		t.Error("the e-mail holds no code of 8 digits, or no link token of 256 bits")
	}
	l, s := ts.store.emails[0], ts.store.signIns[0]
	if l.Kind != mapdata.EmailSignIn || l.Address != "ada@example.org" || s.Email != "ada@example.org" {
		t.Errorf("e-mail of kind %s to %s for a sign-in of %s", l.Kind, l.Address, s.Email)
	}
	if want := s.CreatedAt.Add(10 * time.Minute); !s.ExpiresAt.Equal(want) {
		t.Errorf("ends at %v, want %v", s.ExpiresAt, want)
	}
	if s.CreatedAt.Nanosecond()%int(time.Millisecond) != 0 {
		t.Error("a time finer than a millisecond is stored")
	}
	if bytes.Contains(s.TokenHash, []byte(link)) || len(s.TokenHash) != 32 || len(s.CodeHash) != 32 {
		t.Error("what is stored are no hashes")
	}
}

// TestRequestSignInDoesNotRevealAccounts checks that a known and an unknown address cause the same calls of the store,
// so that result and timing are the same (D11.1).
func TestRequestSignInDoesNotRevealAccounts(t *testing.T) {
	ts := newTestService(t)
	ts.signIn("known@example.org")
	ts.store.lookUps = 0
	ts.email("known@example.org")
	ts.email("unknown@example.org")
	if ts.store.lookUps != 0 {
		t.Errorf("%d look-ups", ts.store.lookUps)
	}
	if len(ts.store.accounts) != 1 {
		t.Error("an account was created before a sign-in was completed")
	}
}

func TestRequestSignInLimit(t *testing.T) {
	ts := newTestService(t)
	for range 5 {
		if _, err := ts.RequestSignIn(t.Context(), "ada@example.org", asking); err != nil {
			t.Fatalf("the limit is reported as an error: %v", err)
		}
		ts.now = ts.now.Add(time.Minute)
	}
	if len(ts.store.emails) != 3 {
		t.Errorf("%d e-mails, want 3", len(ts.store.emails))
	}
	ts.email("grace@example.org")
	ts.now = ts.now.Add(time.Hour)
	ts.email("ada@example.org")
}

func TestRequestSignInAddresses(t *testing.T) {
	long := strings.Repeat("a", 64)
	tests := []struct {
		email string
		ok    bool
	}{
		{"a@b.example", true},
		{"a+tag@b.example", true},
		{"o'brien@b.example", true},
		{"a@localhost", true},
		{long + "@b.example", true},
		{"", false},
		{"a", false},
		{"a@", false},
		{"@b.example", false},
		{"a@b@c.example", false},
		{"a b@c.example", false},
		{"Ada <a@b.example>", false},
		{"<a@b.example>", false},
		{"a@b.example, c@d.example", false},
		{"a@b.example\r\nBcc: c@d.example", false},
		{"a@b.example\x00", false},
		{`"a b"@c.example`, false},
		{"a@[192.0.2.1]", false},
		{"a@b..example", false},
		{"a@-b.example", false},
		{"a@b_c.example", false},
		{"ä@b.example", false},
		{"a@bücher.example", false},
		{"a@b.example(comment)", false},
		{long + "a@b.example", false},
		{"a@" + strings.Repeat(strings.Repeat("b", 60)+".", 5) + "example", false},
	}
	for _, tt := range tests {
		t.Run(tt.email, func(t *testing.T) {
			ts := newTestService(t)
			_, err := ts.RequestSignIn(t.Context(), tt.email, asking)
			if tt.ok != (err == nil) {
				t.Fatalf("error %v", err)
			}
			if tt.ok {
				return
			}
			var invalid *mapdata.InvalidError
			if !errors.As(err, &invalid) || invalid.Fields[0].Field != "email" {
				t.Errorf("error %v, want one of the field email", err)
			}
			if len(tt.email) > 1 && strings.Contains(err.Error(), tt.email) {
				t.Error("the error repeats the address")
			}
			if len(ts.store.emails) > 0 {
				t.Error("an e-mail was queued")
			}
		})
	}
}

func TestVerifyToken(t *testing.T) {
	tests := []struct {
		name  string
		wait  time.Duration
		twist func(string) string
		ok    bool
	}{
		{"at once", 0, nil, true},
		{"just in time", 10*time.Minute - time.Second, nil, true},
		{"after ten minutes", 10 * time.Minute, nil, false},
		{"another token", 0, func(string) string { return strings.Repeat("A", 43) }, false},
		{"padded", 0, func(s string) string { return s + "=" }, false},
		{"with a line break", 0, func(s string) string { return s + "\n" }, false},
		{"empty", 0, func(string) string { return "" }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ts := newTestService(t)
			link, _ := ts.email("ada@example.org")
			if tt.twist != nil {
				link = tt.twist(link)
			}
			ts.now = ts.now.Add(tt.wait)
			in, err := ts.VerifyToken(t.Context(), link, account.Browser{Agent: "Test/1"})
			if !tt.ok {
				wantErr(t, err, mapdata.ErrUnauthenticated)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := &mapdata.Account{Email: "ada@example.org", Role: mapdata.Driver, Tier: mapdata.TierAccount, CreatedAt: ts.now.Truncate(time.Millisecond)}
			if diff := cmp.Diff(want, in.Account, cmpopts.IgnoreFields(mapdata.Account{}, "ID")); diff != "" {
				t.Errorf("account (-want +got):\n%s", diff)
			}
			if in.Account.ID.IsZero() || in.Session.Account != in.Account.ID || in.Session.Agent != "Test/1" {
				t.Error("the session is not the account's")
			}
		})
	}
}

func TestSignInIsSingleUse(t *testing.T) {
	ts := newTestService(t)
	link, code := ts.email("ada@example.org")
	if _, err := ts.VerifyToken(t.Context(), link, account.Browser{}); err != nil {
		t.Fatal(err)
	}
	_, err := ts.VerifyToken(t.Context(), link, account.Browser{})
	wantErr(t, err, mapdata.ErrUnauthenticated)
	_, err = ts.VerifyCode(t.Context(), "ada@example.org", code, asking)
	wantErr(t, err, mapdata.ErrUnauthenticated)
}

func TestRepeatedSignInUsesSameAccount(t *testing.T) {
	ts := newTestService(t)
	first, errOf := ts.signIn("ada@example.org"), ts.signIn("ADA@example.org")
	if first.Account.ID != errOf.Account.ID || first.Session.ID == errOf.Session.ID || first.Secret == errOf.Secret {
		t.Error("want one account with two sessions")
	}
}

func TestVerifyCode(t *testing.T) {
	wrong := func(code string) string { return string([]byte{'0' + (code[0]-'0'+1)%10}) + code[1:] }
	t.Run("right, with another spelling", func(t *testing.T) {
		ts := newTestService(t)
		_, code := ts.email("ada@example.org")
		if _, err := ts.VerifyCode(t.Context(), "Ada@Example.org", code[:4]+" "+code[4:], asking); err != nil {
			t.Error(err)
		}
	})
	t.Run("of another address", func(t *testing.T) {
		ts := newTestService(t)
		_, code := ts.email("ada@example.org")
		ts.email("grace@example.org")
		_, err := ts.VerifyCode(t.Context(), "grace@example.org", code, asking)
		wantErr(t, err, mapdata.ErrUnauthenticated)
	})
	t.Run("after ten minutes", func(t *testing.T) {
		ts := newTestService(t)
		_, code := ts.email("ada@example.org")
		ts.now = ts.now.Add(10 * time.Minute)
		_, err := ts.VerifyCode(t.Context(), "ada@example.org", code, asking)
		wantErr(t, err, mapdata.ErrUnauthenticated)
	})
	for tries, ok := range map[int]bool{4: true, 5: false} {
		t.Run(fmt.Sprintf("right after %d wrong ones", tries), func(t *testing.T) {
			ts := newTestService(t)
			link, code := ts.email("ada@example.org")
			for range tries {
				_, err := ts.VerifyCode(t.Context(), "ada@example.org", wrong(code), asking)
				wantErr(t, err, mapdata.ErrUnauthenticated)
			}
			if _, err := ts.VerifyCode(t.Context(), "ada@example.org", code, asking); (err == nil) != ok {
				t.Errorf("error %v", err)
			}
			if !ok {
				if _, err := ts.VerifyToken(t.Context(), link, account.Browser{}); err != nil {
					t.Errorf("wrong codes invalidated the link: %v", err)
				}
			}
		})
	}
}

// TestCodeHashNeedsKey checks that without the server's key, codes cannot be recovered from the database by brute
// force.
func TestCodeHashNeedsKey(t *testing.T) {
	store := &memoryStore{}
	now := func() time.Time { return time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC) }
	one := account.New(account.Config{Store: store, Now: now, Key: []byte("one")})
	other := account.New(account.Config{Store: store, Now: now, Key: []byte("other")})
	if _, err := one.RequestSignIn(t.Context(), "ada@example.org", asking); err != nil {
		t.Fatal(err)
	}
	code := store.emails[0].Data["code"]
	_, err := other.VerifyCode(t.Context(), "ada@example.org", code, asking)
	wantErr(t, err, mapdata.ErrUnauthenticated)
	if _, err := one.VerifyCode(t.Context(), "ada@example.org", code, asking); err != nil {
		t.Error(err)
	}
}

func TestConcurrentSignInsCreateOneAccount(t *testing.T) {
	ts := newTestService(t)
	var links []string
	for range 3 {
		link, _ := ts.email("ada@example.org")
		links = append(links, link)
	}
	var wg sync.WaitGroup
	var signedIn atomic.Int32
	for _, link := range links {
		wg.Go(func() {
			if _, err := ts.VerifyToken(t.Context(), link, account.Browser{}); err == nil {
				signedIn.Add(1)
			} else {
				wantErr(t, err, mapdata.ErrUnauthenticated)
			}
		})
	}
	wg.Wait()
	if len(ts.store.accounts) != 1 || signedIn.Load() != 1 { // one uses up the others (D11.10)
		t.Errorf("%d accounts, signed in %d times", len(ts.store.accounts), signedIn.Load())
	}
}
