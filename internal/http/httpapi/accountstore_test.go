package httpapi_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
)

// recordingStore is the real store. It records the calls of signing in and the e-mails, and fails their writes on
// demand.
type recordingStore struct {
	*sqlite.DB

	mu     sync.Mutex
	asked  []string
	emails []mapdata.Email
	fail   error
}

func newRecordingStore(t testing.TB, now func() time.Time) *recordingStore {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlitetest.Path(t), sqlite.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &recordingStore{DB: db}
}

func (l *recordingStore) record(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, name)
}

func (l *recordingStore) CreateAccount(ctx context.Context, a *mapdata.Account) error {
	l.record("CreateAccount")
	if l.fail != nil {
		return l.fail
	}
	return l.DB.CreateAccount(ctx, a)
}

func (l *recordingStore) AccountByEmail(ctx context.Context, email string) (*mapdata.Account, error) {
	l.record("AccountByEmail")
	return l.DB.AccountByEmail(ctx, email)
}

func (l *recordingStore) CreateSignIn(ctx context.Context, s *mapdata.SignIn, email *mapdata.Email, since time.Time, limit int) (bool, error) {
	l.record("CreateSignIn")
	if l.fail != nil {
		return false, l.fail
	}
	stored, err := l.DB.CreateSignIn(ctx, s, email, since, limit)
	if stored && email != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.emails = append(l.emails, *email)
	}
	return stored, err
}

func (l *recordingStore) TakeSignIn(ctx context.Context, hash []byte, now time.Time) (*mapdata.SignIn, error) {
	l.record("TakeSignIn")
	if l.fail != nil {
		return nil, l.fail
	}
	return l.DB.TakeSignIn(ctx, hash, now)
}
