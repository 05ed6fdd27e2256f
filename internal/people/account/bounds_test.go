package account

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestDestinationsOfAccountsAreBounded checks that ten recent destinations are saved, with texts of 200 characters.
func TestDestinationsOfAccountsAreBounded(t *testing.T) {
	for recent, want := range map[int]bool{10: true, 11: false, 50: false} {
		if err := CheckSavedPlaces(&SavedPlaces{Recent: make([]Destination, recent)}); (err == nil) != want {
			t.Errorf("%d recent destinations: %v", recent, err)
		}
	}
	for characters, want := range map[int]bool{200: true, 201: false, 1500: false} {
		text := strings.Repeat("é", characters)
		for _, d := range []Destination{{Name: text}, {Detail: text}} {
			if err := checkDestination(&d); (err == nil) != want {
				t.Errorf("%d characters: %v", characters, err)
			}
		}
	}
}

// manyPasskeys is a PasskeyStore in which each account has so many passkeys.
type manyPasskeys struct {
	PasskeyStore
	count int
}

func (m *manyPasskeys) Passkeys(context.Context, mapdata.AccountID) ([]mapdata.Passkey, error) {
	all := make([]mapdata.Passkey, m.count)
	for i := range all {
		all[i].Blob = []byte("{}")
	}
	return all, nil
}

// TestPasskeysAreBounded checks that an account has at most 20 passkeys.
func TestPasskeysAreBounded(t *testing.T) {
	accounts := New(Config{Now: time.Now, Key: []byte("key"), Log: slog.New(slog.DiscardHandler)})
	for count, want := range map[int]bool{19: true, 20: false, 100: false} {
		p, err := NewPasskeys(PasskeyConfig{Accounts: accounts, Store: &manyPasskeys{count: count}, BaseURL: "https://wayside.example"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.BeginAdding(t.Context(), &mapdata.Session{ID: "s", ProvedAt: time.Now()}, &mapdata.Account{Email: "ada@example.org"})
		if (err == nil) != want || err != nil && !errors.Is(err, mapdata.ErrConflict) {
			t.Errorf("beside %d passkeys: %v", count, err)
		}
	}
}
