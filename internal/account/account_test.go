package account_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

func TestOperators(t *testing.T) {
	h := newHouse(t)
	made, err := h.Create(t.Context(), "Ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.Create(t.Context(), "ada@EXAMPLE.org")
	wantErr(t, err, mapdata.ErrConflict)
	in := h.signIn("ada@example.org")
	if in.Account.ID != made.ID {
		t.Error("the sign-in made another account")
	}
	if _, _, err := h.Authenticate(t.Context(), in.Secret); err != nil {
		t.Fatal(err)
	}
	if _, err := h.SetRole(t.Context(), "ada@example.org", mapdata.Curator); err != nil {
		t.Fatal(err)
	}
	if _, err := h.SetTier(t.Context(), "ada@example.org", mapdata.TierPremium); err != nil {
		t.Fatal(err)
	}
	if _, holder, err := h.Authenticate(t.Context(), in.Secret); err != nil || holder.Role != mapdata.Curator || holder.Tier != mapdata.TierPremium {
		t.Errorf("account %+v, %v", holder, err)
	}
	notes := make([]string, 0, 2)
	for _, a := range h.store.audit {
		if !a.Actor.IsZero() || a.Subject != made.ID.String() {
			t.Errorf("audit %+v", a)
		}
		notes = append(notes, a.Action+": "+a.Note)
	}
	if want := []string{"account.role: driver to curator", "account.tier: account to premium"}; !slices.Equal(notes, want) {
		t.Errorf("audit %v, want %v", notes, want)
	}
	all, err := h.List(t.Context())
	if err != nil || len(all) != 1 || all[0].Role != mapdata.Curator {
		t.Errorf("list %+v, %v", all, err)
	}
	for name, err := range map[string]error{
		"role": second(h.SetRole(t.Context(), "ada@example.org", "king")),
		"tier": second(h.SetTier(t.Context(), "ada@example.org", mapdata.TierGuest)),
	} {
		if invalid := new(mapdata.InvalidError); !errors.As(err, &invalid) || invalid.Fields[0].Field != name {
			t.Errorf("%s: error %v", name, err)
		}
	}
	wantErr(t, second(h.SetRole(t.Context(), "nobody@example.org", mapdata.Admin)), mapdata.ErrNotFound)
}

func second[T any](_ T, err error) error { return err }

func TestLoginLink(t *testing.T) {
	h := newHouse(t)
	_, err := h.LoginLink(t.Context(), "ada@example.org")
	wantErr(t, err, mapdata.ErrNotFound)
	if _, err := h.Create(t.Context(), "ada@example.org"); err != nil {
		t.Fatal(err)
	}
	var links []string
	for range 5 { // operators have no limit of three
		link, err := h.LoginLink(t.Context(), "ada@example.org")
		if err != nil {
			t.Fatal(err)
		}
		links = append(links, link)
	}
	if len(h.store.letters) > 0 {
		t.Error("a letter was written")
	}
	_, err = h.VerifyCode(t.Context(), "ada@example.org", "", account.Browser{})
	wantErr(t, err, mapdata.ErrUnauthenticated)
	in, err := h.VerifyToken(t.Context(), links[4], account.Browser{})
	if err != nil || in.Account.Email != "ada@example.org" {
		t.Errorf("%v", err)
	}
	_, err = h.VerifyToken(t.Context(), links[4], account.Browser{})
	wantErr(t, err, mapdata.ErrUnauthenticated)
}
