package account_test

import (
	"errors"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
)

func TestSetPublicName(t *testing.T) {
	ts := newTestService(t)
	in := ts.signInFrom("ada@example.org", mapdata.German)
	if _, _, err := ts.Authenticate(t.Context(), in.Secret); err != nil { // cached for a second
		t.Fatal(err)
	}
	for _, name := range []string{" Ada Apps ", strings.Repeat("ä", 60), ""} {
		if err := ts.SetPublicName(t.Context(), in.Account.ID, name); err != nil {
			t.Fatal(err)
		}
		if _, holder, err := ts.Authenticate(t.Context(), in.Secret); err != nil || holder.PublicName != strings.TrimSpace(name) {
			t.Errorf("%q: the account has %q (%v)", name, holder.PublicName, err)
		}
	}
	for name, code := range map[string]string{strings.Repeat("ä", 61): "too_long", "a\u202eb": "invalid_characters", "a\nb": "invalid_characters"} {
		var invalid *mapdata.InvalidError
		err := ts.SetPublicName(t.Context(), in.Account.ID, name)
		if !errors.As(err, &invalid) || invalid.Fields[0].Field != "public_name" || invalid.Fields[0].Code != code {
			t.Errorf("%q: %v", name, err)
		}
	}
	wantErr(t, ts.SetPublicName(t.Context(), mapdata.AccountID{9}, "x"), mapdata.ErrNotFound)
}
