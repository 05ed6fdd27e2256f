package account_test

import (
	"errors"
	"slices"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
)

func TestOperatorCommands(t *testing.T) {
	ts := newTestService(t)
	made, err := ts.Create(t.Context(), "Ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	_, err = ts.Create(t.Context(), "ada@EXAMPLE.org")
	wantErr(t, err, mapdata.ErrConflict)
	in := ts.signIn("ada@example.org")
	if in.Account.ID != made.ID {
		t.Error("the sign-in made another account")
	}
	if _, _, err := ts.Authenticate(t.Context(), in.Secret); err != nil {
		t.Fatal(err)
	}
	if _, err := ts.SetRole(t.Context(), "ada@example.org", mapdata.Curator); err != nil {
		t.Fatal(err)
	}
	if _, err := ts.SetTier(t.Context(), "ada@example.org", mapdata.TierPremium); err != nil {
		t.Fatal(err)
	}
	if _, holder, err := ts.Authenticate(t.Context(), in.Secret); err != nil || holder.Role != mapdata.Curator || holder.Tier != mapdata.TierPremium {
		t.Errorf("account %+v, %v", holder, err)
	}
	notes := make([]string, 0, 2)
	for _, a := range ts.store.audit {
		if !a.Actor.IsZero() || a.Subject != made.ID.String() {
			t.Errorf("audit %+v", a)
		}
		notes = append(notes, a.Action+": "+a.Note)
	}
	if want := []string{"account.role: driver to curator", "account.tier: account to premium"}; !slices.Equal(notes, want) {
		t.Errorf("audit %v, want %v", notes, want)
	}
	all, err := ts.List(t.Context())
	if err != nil || len(all) != 1 || all[0].Role != mapdata.Curator {
		t.Errorf("list %+v, %v", all, err)
	}
	for name, err := range map[string]error{
		"role": errOf(ts.SetRole(t.Context(), "ada@example.org", "king")),
		"tier": errOf(ts.SetTier(t.Context(), "ada@example.org", mapdata.TierGuest)),
	} {
		if invalid := new(mapdata.InvalidError); !errors.As(err, &invalid) || invalid.Fields[0].Field != name {
			t.Errorf("%s: error %v", name, err)
		}
	}
	wantErr(t, errOf(ts.SetRole(t.Context(), "unknown@example.org", mapdata.Admin)), mapdata.ErrNotFound)
}

func errOf[T any](_ T, err error) error { return err }

func TestLoginLink(t *testing.T) {
	ts := newTestService(t)
	_, err := ts.LoginLink(t.Context(), "ada@example.org")
	wantErr(t, err, mapdata.ErrNotFound)
	if _, err := ts.Create(t.Context(), "ada@example.org"); err != nil {
		t.Fatal(err)
	}
	var links []string
	for range 5 { // operators have no limit of three
		link, err := ts.LoginLink(t.Context(), "ada@example.org")
		if err != nil {
			t.Fatal(err)
		}
		links = append(links, link)
	}
	if len(ts.store.emails) > 0 {
		t.Error("an e-mail was queued")
	}
	_, err = ts.VerifyCode(t.Context(), "ada@example.org", "", asking)
	wantErr(t, err, mapdata.ErrUnauthenticated)
	in, err := ts.VerifyToken(t.Context(), links[4], account.Browser{})
	if err != nil || in.Account.Email != "ada@example.org" {
		t.Errorf("%v", err)
	}
	_, err = ts.VerifyToken(t.Context(), links[4], account.Browser{})
	wantErr(t, err, mapdata.ErrUnauthenticated)
}
