package httpapi_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"wayside/internal/mapdata"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
)

// ledger is the real store, with a note of what signing in asks of it and of the letters that it took. It fails every
// write of signing in when it is told to.
type ledger struct {
	*sqlite.DB

	mu      sync.Mutex
	asked   []string
	letters []mapdata.Letter
	fail    error
}

func newLedger(t testing.TB, now func() time.Time) *ledger {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlitetest.Path(t), sqlite.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &ledger{DB: db}
}

func (l *ledger) note(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, name)
}

func (l *ledger) CreateAccount(ctx context.Context, a *mapdata.Account) error {
	l.note("CreateAccount")
	if l.fail != nil {
		return l.fail
	}
	return l.DB.CreateAccount(ctx, a)
}

func (l *ledger) AccountByEmail(ctx context.Context, email string) (*mapdata.Account, error) {
	l.note("AccountByEmail")
	return l.DB.AccountByEmail(ctx, email)
}

func (l *ledger) CreateSignIn(ctx context.Context, s *mapdata.SignIn, letter *mapdata.Letter, since time.Time, limit int) (bool, error) {
	l.note("CreateSignIn")
	if l.fail != nil {
		return false, l.fail
	}
	stored, err := l.DB.CreateSignIn(ctx, s, letter, since, limit)
	if stored && letter != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.letters = append(l.letters, *letter)
	}
	return stored, err
}

func (l *ledger) TakeSignIn(ctx context.Context, hash []byte, now time.Time) (*mapdata.SignIn, error) {
	l.note("TakeSignIn")
	if l.fail != nil {
		return nil, l.fail
	}
	return l.DB.TakeSignIn(ctx, hash, now)
}
