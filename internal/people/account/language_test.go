package account_test

import (
	"errors"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
)

func (ts *testService) signInFrom(email string, language mapdata.Language) *account.SignedIn {
	ts.t.Helper()
	link, _ := ts.email(email)
	in, err := ts.VerifyToken(ts.t.Context(), link, account.Browser{Language: language})
	if err != nil {
		ts.t.Fatal(err)
	}
	return in
}

// TestFirstBrowserSetsLanguage checks that the first browser that names a language sets it, until the holder changes
// it.
func TestFirstBrowserSetsLanguage(t *testing.T) {
	ts := newTestService(t)
	for i, step := range []struct{ browser, want mapdata.Language }{
		{"", ""}, {mapdata.German, mapdata.German}, {mapdata.French, mapdata.German}, {"", mapdata.German},
	} {
		in := ts.signInFrom("ada@example.org", step.browser)
		if in.Account.Language != step.want {
			t.Errorf("sign-in %d from a browser in %q: language %q, want %q", i, step.browser, in.Account.Language, step.want)
		}
		if _, holder, err := ts.Authenticate(t.Context(), in.Secret); err != nil || holder.Language != step.want {
			t.Errorf("sign-in %d: its session's account has %q (%v)", i, holder.Language, err)
		}
		ts.now = ts.now.Add(time.Hour)
	}
	if in := ts.signInFrom("grace@example.org", mapdata.French); in.Account.Language != mapdata.French {
		t.Errorf("a new account has language %q", in.Account.Language)
	}
}

func TestSetLanguageInvalidatesCache(t *testing.T) {
	ts := newTestService(t)
	in := ts.signInFrom("ada@example.org", mapdata.German)
	if _, _, err := ts.Authenticate(t.Context(), in.Secret); err != nil { // cached for a second
		t.Fatal(err)
	}
	if err := ts.SetLanguage(t.Context(), in.Account.ID, mapdata.French); err != nil {
		t.Fatal(err)
	}
	if _, holder, err := ts.Authenticate(t.Context(), in.Secret); err != nil || holder.Language != mapdata.French {
		t.Errorf("language %q (%v)", holder.Language, err)
	}
}

func TestSetLanguageErrors(t *testing.T) {
	ts := newTestService(t)
	in := ts.signInFrom("ada@example.org", mapdata.German)
	for _, language := range []mapdata.Language{"", "nl", "DE", "de-AT", "de\r\n"} {
		var invalid *mapdata.InvalidError
		if err := ts.SetLanguage(t.Context(), in.Account.ID, language); !errors.As(err, &invalid) || invalid.Fields[0].Field != "language" {
			t.Errorf("%q: %v", language, err)
		}
	}
	wantErr(t, ts.SetLanguage(t.Context(), mapdata.AccountID{9}, mapdata.German), mapdata.ErrNotFound)
}

func TestEmailHasRequestedLanguage(t *testing.T) {
	ts := newTestService(t)
	if _, err := ts.RequestSignIn(t.Context(), "ada@example.org", account.Browser{Language: mapdata.French}); err != nil {
		t.Fatal(err)
	}
	if got := ts.store.emails[0].Language; got != mapdata.French {
		t.Errorf("language %q", got)
	}
}
