package account_test

import (
	"errors"
	"testing"

	"wayside/internal/ground/mapdata"
)

// TestSuspend checks who may suspend whom, the stored suspension, and that it takes effect on this node immediately.
func TestSuspend(t *testing.T) {
	ts := newTestService(t)
	in := ts.signIn("ada@example.org")
	admin := ts.signIn("admin@example.org").Account
	if _, err := ts.SetRole(t.Context(), "admin@example.org", mapdata.Admin); err != nil {
		t.Fatal(err)
	}
	boss := *admin
	boss.Role = mapdata.Admin
	if _, _, err := ts.Authenticate(t.Context(), in.Secret); err != nil { // cached now
		t.Fatal(err)
	}
	ts.store.audit, ts.store.emails = nil, nil

	wantErr(t, errOf(ts.Suspend(t.Context(), admin, "ada@example.org", "x")), mapdata.ErrForbidden) // a driver
	wantErr(t, errOf(ts.Suspend(t.Context(), &boss, "admin@example.org", "x")), mapdata.ErrForbidden)
	wantErr(t, errOf(ts.Suspend(t.Context(), &boss, "unknown@example.org", "x")), mapdata.ErrNotFound)
	wantErr(t, errOf(ts.Suspend(t.Context(), &boss, mapdata.AccountID{1}.String(), "x")), mapdata.ErrNotFound)
	for _, reason := range []string{"", " \n", "a\x00", string(make([]byte, 501))} {
		var invalid *mapdata.InvalidError
		if err := errOf(ts.Suspend(t.Context(), nil, "ada@example.org", reason)); !errors.As(err, &invalid) || invalid.Fields[0].Field != "reason" {
			t.Errorf("reason %q: %v", reason, err)
		}
	}
	if len(ts.store.audit)+len(ts.store.emails) != 0 {
		t.Fatalf("stored with what was refused: %+v", ts.store.audit)
	}

	a, err := ts.Suspend(t.Context(), &boss, in.Account.ID.String(), " Abuse. ")
	if err != nil || a.Suspension.Reason != "Abuse." || !a.Suspended() {
		t.Fatalf("suspended %+v, %v", a, err)
	}
	_, _, err = ts.Authenticate(t.Context(), in.Secret)
	wantErr(t, err, mapdata.ErrUnauthenticated)
	entry, email := ts.store.audit[0], ts.store.emails[0]
	if entry.Actor != boss.ID || entry.Action != mapdata.AuditAccountSuspend || entry.Note != "Abuse." || entry.Subject != in.Account.ID.String() {
		t.Errorf("entry %+v", entry)
	}
	if email.Account != in.Account.ID || email.Kind != mapdata.EmailAccountSuspended || email.Data["note"] != "Abuse." {
		t.Errorf("e-mail %+v", email)
	}
	wantErr(t, errOf(ts.Suspend(t.Context(), nil, "ada@example.org", "x")), mapdata.ErrConflict)

	if a, err = ts.Resume(t.Context(), nil, "ada@example.org"); err != nil || a.Suspended() {
		t.Errorf("resumed %+v, %v", a, err)
	}
	wantErr(t, errOf(ts.Resume(t.Context(), nil, "ada@example.org")), mapdata.ErrConflict)
}
