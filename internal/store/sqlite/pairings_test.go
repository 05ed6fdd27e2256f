package sqlite

import (
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestDeletingAnAccountDeletesPairingsAndPreferences checks that deleting an account deletes the data that it owns
// (D11.6).
func TestDeletingAnAccountDeletesPairingsAndPreferences(t *testing.T) {
	db := openNew(t, Options{Now: func() time.Time { return start }})
	feedOf(t, db)
	id, err := mapdata.NewAccountID()
	if err != nil {
		t.Fatal(err)
	}
	a := &mapdata.Account{ID: id, Email: "ada@example.org", CreatedAt: start}
	p := &mapdata.Pairing{
		DeviceHash: []byte("d"), Name: "BCDF", CodeHash: []byte("c"), CreatedAt: start, ExpiresAt: start.Add(time.Minute),
		State: mapdata.PairingWaiting,
	}
	for _, do := range []func() error{
		func() error { return db.CreateAccount(t.Context(), a) },
		func() error { return db.SetPreferences(t.Context(), id, &mapdata.Preferences{}) },
		func() error { return db.CreatePairing(t.Context(), p) },
		func() error {
			_, err := db.AnswerPairing(t.Context(), p.Name, p.CodeHash, start, 5, mapdata.PairingAnswer{Account: id, State: mapdata.PairingApproved})
			return err
		},
		func() error {
			_, err := db.writer.ExecContext(t.Context(), "DELETE FROM accounts WHERE id = ?", id[:])
			return err
		},
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"pairings", "preferences"} {
		if n := number(t, db, "SELECT COUNT(*) FROM "+table); n != 0 {
			t.Errorf("%d rows are left in %s", n, table)
		}
	}
}
