package account_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"wayside/internal/account"
	"wayside/internal/mapdata"
)

func TestRequestSignInWritesALetter(t *testing.T) {
	h := newHouse(t)
	link, code := h.letter(" Ada@Example.ORG ")
	if !regexp.MustCompile(`^[0-9]{8}$`).MatchString(code) || !regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`).MatchString(link) {
		t.Error("the letter holds no code of 8 digits, or no link token of 256 bits")
	}
	l, s := h.store.letters[0], h.store.signIns[0]
	if l.Kind != mapdata.LetterSignIn || l.Address != "ada@example.org" || s.Email != "ada@example.org" {
		t.Errorf("letter of kind %s to %s for a sign-in of %s", l.Kind, l.Address, s.Email)
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

// The same steps for a known and an unknown address: the store is asked the same, so words and time are the same (D11.1).
func TestRequestSignInDoesNotLookWhetherTheAddressIsKnown(t *testing.T) {
	h := newHouse(t)
	h.signIn("known@example.org")
	h.store.lookUps = 0
	h.letter("known@example.org")
	h.letter("unknown@example.org")
	if h.store.lookUps != 0 {
		t.Errorf("%d look-ups", h.store.lookUps)
	}
	if len(h.store.accounts) != 1 {
		t.Error("an account was made before its letter was answered")
	}
}

func TestRequestSignInAtMostThreeLettersAnHour(t *testing.T) {
	h := newHouse(t)
	for range 5 {
		if err := h.RequestSignIn(t.Context(), "ada@example.org", ""); err != nil {
			t.Fatalf("the limit is told: %v", err)
		}
		h.now = h.now.Add(time.Minute)
	}
	if len(h.store.letters) != 3 {
		t.Errorf("%d letters, want 3", len(h.store.letters))
	}
	h.letter("grace@example.org")
	h.now = h.now.Add(time.Hour)
	h.letter("ada@example.org")
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
			h := newHouse(t)
			err := h.RequestSignIn(t.Context(), tt.email, "")
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
			if len(h.store.letters) > 0 {
				t.Error("a letter was written")
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
			h := newHouse(t)
			link, _ := h.letter("ada@example.org")
			if tt.twist != nil {
				link = tt.twist(link)
			}
			h.now = h.now.Add(tt.wait)
			in, err := h.VerifyToken(t.Context(), link, account.Browser{Agent: "Test/1"})
			if !tt.ok {
				wantErr(t, err, mapdata.ErrUnauthenticated)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := &mapdata.Account{Email: "ada@example.org", Role: mapdata.Driver, Tier: mapdata.TierAccount, CreatedAt: h.now.Truncate(time.Millisecond)}
			if diff := cmp.Diff(want, in.Account, cmpopts.IgnoreFields(mapdata.Account{}, "ID")); diff != "" {
				t.Errorf("account (-want +got):\n%s", diff)
			}
			if in.Account.ID.IsZero() || in.Session.Account != in.Account.ID || in.Session.Agent != "Test/1" {
				t.Error("the session is not the account's")
			}
		})
	}
}

func TestALetterIsUsedOnce(t *testing.T) {
	h := newHouse(t)
	link, code := h.letter("ada@example.org")
	if _, err := h.VerifyToken(t.Context(), link, account.Browser{}); err != nil {
		t.Fatal(err)
	}
	_, err := h.VerifyToken(t.Context(), link, account.Browser{})
	wantErr(t, err, mapdata.ErrUnauthenticated)
	_, err = h.VerifyCode(t.Context(), "ada@example.org", code, account.Browser{})
	wantErr(t, err, mapdata.ErrUnauthenticated)
}

func TestSigningInAgainIsTheSameAccount(t *testing.T) {
	h := newHouse(t)
	first, second := h.signIn("ada@example.org"), h.signIn("ADA@example.org")
	if first.Account.ID != second.Account.ID || first.Session.ID == second.Session.ID || first.Secret == second.Secret {
		t.Error("want one account with two sessions")
	}
}

func TestVerifyCode(t *testing.T) {
	wrong := func(code string) string { return string([]byte{'0' + (code[0]-'0'+1)%10}) + code[1:] }
	t.Run("right, with another spelling", func(t *testing.T) {
		h := newHouse(t)
		_, code := h.letter("ada@example.org")
		if _, err := h.VerifyCode(t.Context(), "Ada@Example.org", code[:4]+" "+code[4:], account.Browser{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("of somebody else", func(t *testing.T) {
		h := newHouse(t)
		_, code := h.letter("ada@example.org")
		h.letter("grace@example.org")
		_, err := h.VerifyCode(t.Context(), "grace@example.org", code, account.Browser{})
		wantErr(t, err, mapdata.ErrUnauthenticated)
	})
	t.Run("after ten minutes", func(t *testing.T) {
		h := newHouse(t)
		_, code := h.letter("ada@example.org")
		h.now = h.now.Add(10 * time.Minute)
		_, err := h.VerifyCode(t.Context(), "ada@example.org", code, account.Browser{})
		wantErr(t, err, mapdata.ErrUnauthenticated)
	})
	for tries, ok := range map[int]bool{4: true, 5: false} {
		t.Run(fmt.Sprintf("right after %d wrong ones", tries), func(t *testing.T) {
			h := newHouse(t)
			link, code := h.letter("ada@example.org")
			for range tries {
				_, err := h.VerifyCode(t.Context(), "ada@example.org", wrong(code), account.Browser{})
				wantErr(t, err, mapdata.ErrUnauthenticated)
			}
			if _, err := h.VerifyCode(t.Context(), "ada@example.org", code, account.Browser{}); (err == nil) != ok {
				t.Errorf("error %v", err)
			}
			if !ok {
				if _, err := h.VerifyToken(t.Context(), link, account.Browser{}); err != nil {
					t.Errorf("somebody else's guesses broke the link: %v", err)
				}
			}
		})
	}
}

// Whoever has the database but not the server's key finds no code in it by trying all of them.
func TestCodesAreHashedWithTheKey(t *testing.T) {
	store := &memory{}
	now := func() time.Time { return time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC) }
	one := account.New(account.Config{Store: store, Now: now, Key: []byte("one")})
	other := account.New(account.Config{Store: store, Now: now, Key: []byte("other")})
	if err := one.RequestSignIn(t.Context(), "ada@example.org", ""); err != nil {
		t.Fatal(err)
	}
	code := store.letters[0].Data["code"]
	_, err := other.VerifyCode(t.Context(), "ada@example.org", code, account.Browser{})
	wantErr(t, err, mapdata.ErrUnauthenticated)
	if _, err := one.VerifyCode(t.Context(), "ada@example.org", code, account.Browser{}); err != nil {
		t.Error(err)
	}
}

func TestTwoSignInsOfOneMomentMakeOneAccount(t *testing.T) {
	h := newHouse(t)
	var links []string
	for range 3 {
		link, _ := h.letter("ada@example.org")
		links = append(links, link)
	}
	var wg sync.WaitGroup
	for _, link := range links {
		wg.Go(func() {
			if _, err := h.VerifyToken(t.Context(), link, account.Browser{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(h.store.accounts) != 1 {
		t.Errorf("%d accounts", len(h.store.accounts))
	}
}
