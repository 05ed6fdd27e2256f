package httpapitest

import (
	"context"
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store/sqlite"
)

// RecordingStore is the real store. It records the calls of signing in and the e-mails, and fails their writes on
// demand.
type RecordingStore struct {
	*sqlite.DB

	mu     sync.Mutex
	Asked  []string
	Emails []mapdata.Email
	Fail   error
}

func (l *RecordingStore) record(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Asked = append(l.Asked, name)
}

// CreateAccount records the call, and creates the account.
func (l *RecordingStore) CreateAccount(ctx context.Context, a *mapdata.Account) error {
	l.record("CreateAccount")
	if l.Fail != nil {
		return l.Fail
	}
	return l.DB.CreateAccount(ctx, a)
}

// AccountByEmail records the call, and finds the account.
func (l *RecordingStore) AccountByEmail(ctx context.Context, email string) (*mapdata.Account, error) {
	l.record("AccountByEmail")
	return l.DB.AccountByEmail(ctx, email)
}

// CreateSignIn records the call and the e-mail, and stores the sign-in.
func (l *RecordingStore) CreateSignIn(ctx context.Context, s *mapdata.SignIn, email *mapdata.Email, since time.Time, limit int) (bool, error) {
	l.record("CreateSignIn")
	if l.Fail != nil {
		return false, l.Fail
	}
	stored, err := l.DB.CreateSignIn(ctx, s, email, since, limit)
	if stored && email != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.Emails = append(l.Emails, *email)
	}
	return stored, err
}

// TakeSignIn records the call, and takes the sign-in.
func (l *RecordingStore) TakeSignIn(ctx context.Context, hash []byte, now time.Time) (*mapdata.SignIn, error) {
	l.record("TakeSignIn")
	if l.Fail != nil {
		return nil, l.Fail
	}
	return l.DB.TakeSignIn(ctx, hash, now)
}
