package account_test

import (
	"errors"
	"testing"
	"time"

	"wayside/internal/account"
	"wayside/internal/mapdata"
)

func (h *house) signInFrom(email string, language mapdata.Language) *account.SignedIn {
	h.t.Helper()
	link, _ := h.letter(email)
	in, err := h.VerifyToken(h.t.Context(), link, account.Browser{Language: language})
	if err != nil {
		h.t.Fatal(err)
	}
	return in
}

// The first browser that says what it likes decides, until the holder does.
func TestTheAccountLearnsItsLanguage(t *testing.T) {
	h := newHouse(t)
	for i, step := range []struct{ browser, want mapdata.Language }{
		{"", ""}, {mapdata.German, mapdata.German}, {mapdata.French, mapdata.German}, {"", mapdata.German},
	} {
		in := h.signInFrom("ada@example.org", step.browser)
		if in.Account.Language != step.want {
			t.Errorf("sign-in %d from a browser in %q: language %q, want %q", i, step.browser, in.Account.Language, step.want)
		}
		if _, holder, err := h.Authenticate(t.Context(), in.Secret); err != nil || holder.Language != step.want {
			t.Errorf("sign-in %d: its session's account has %q (%v)", i, holder.Language, err)
		}
		h.now = h.now.Add(time.Hour)
	}
	if in := h.signInFrom("grace@example.org", mapdata.French); in.Account.Language != mapdata.French {
		t.Errorf("a new account has language %q", in.Account.Language)
	}
}

func TestSetLanguageCountsAtOnce(t *testing.T) {
	h := newHouse(t)
	in := h.signInFrom("ada@example.org", mapdata.German)
	if _, _, err := h.Authenticate(t.Context(), in.Secret); err != nil { // remembered for a second
		t.Fatal(err)
	}
	if err := h.SetLanguage(t.Context(), in.Account.ID, mapdata.French); err != nil {
		t.Fatal(err)
	}
	if _, holder, err := h.Authenticate(t.Context(), in.Secret); err != nil || holder.Language != mapdata.French {
		t.Errorf("language %q (%v)", holder.Language, err)
	}
}

func TestSetLanguageRefuses(t *testing.T) {
	h := newHouse(t)
	in := h.signInFrom("ada@example.org", mapdata.German)
	for _, language := range []mapdata.Language{"", "nl", "DE", "de-AT", "de\r\n"} {
		var invalid *mapdata.InvalidError
		if err := h.SetLanguage(t.Context(), in.Account.ID, language); !errors.As(err, &invalid) || invalid.Fields[0].Field != "language" {
			t.Errorf("%q: %v", language, err)
		}
	}
	wantErr(t, h.SetLanguage(t.Context(), mapdata.AccountID{9}, mapdata.German), mapdata.ErrNotFound)
}

func TestTheLetterSaysInWhichLanguageItWasAskedFor(t *testing.T) {
	h := newHouse(t)
	if err := h.RequestSignIn(t.Context(), "ada@example.org", mapdata.French); err != nil {
		t.Fatal(err)
	}
	if got := h.store.letters[0].Language; got != mapdata.French {
		t.Errorf("language %q", got)
	}
}
