package account_test

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
)

// memoryStore implements account.Store in memory; it counts look-ups and can inject failures.
type memoryStore struct {
	mu       sync.Mutex
	accounts []mapdata.Account
	signIns  []mapdata.SignIn
	sent     []mapdata.SignIn // all ever created, for the limit
	emails   []mapdata.Email
	sessions []mapdata.Session
	tokens   []mapdata.APIToken
	audit    []mapdata.AuditEntry
	changes  []emailChange
	pairingStore
	savedPlacesStore
	lookUps int   // of sessions, tokens and accounts by address
	touches int   // of sessions and tokens
	fail    error // returned by every write
}

func (m *memoryStore) lock() func() { m.mu.Lock(); return m.mu.Unlock }

func (m *memoryStore) CreateAccount(_ context.Context, a *mapdata.Account) error {
	defer m.lock()()
	for i := range m.accounts {
		if m.accounts[i].Email == a.Email {
			return mapdata.ErrConflict
		}
	}
	m.accounts = append(m.accounts, *a)
	return m.fail
}

func (m *memoryStore) find(match func(*mapdata.Account) bool) (*mapdata.Account, error) {
	for i := range m.accounts {
		if match(&m.accounts[i]) {
			a := m.accounts[i]
			return &a, nil
		}
	}
	return nil, mapdata.ErrNotFound
}

func (m *memoryStore) Account(_ context.Context, id mapdata.AccountID) (*mapdata.Account, error) {
	defer m.lock()()
	return m.find(func(a *mapdata.Account) bool { return a.ID == id })
}

func (m *memoryStore) AccountByEmail(_ context.Context, email string) (*mapdata.Account, error) {
	defer m.lock()()
	m.lookUps++
	return m.find(func(a *mapdata.Account) bool { return a.Email == email })
}

func (m *memoryStore) Accounts(context.Context) ([]mapdata.Account, error) {
	defer m.lock()()
	return append([]mapdata.Account(nil), m.accounts...), nil
}

func (m *memoryStore) UpdateAccount(_ context.Context, a *mapdata.Account, audit mapdata.AuditEntry) error {
	defer m.lock()()
	for i := range m.accounts {
		if m.accounts[i].ID == a.ID {
			m.accounts[i] = *a
			m.audit = append(m.audit, audit)
			return m.fail
		}
	}
	return mapdata.ErrNotFound
}

func (m *memoryStore) SetLanguage(_ context.Context, id mapdata.AccountID, language mapdata.Language) error {
	defer m.lock()()
	for i := range m.accounts {
		if m.accounts[i].ID == id {
			m.accounts[i].Language = language
			return m.fail
		}
	}
	return mapdata.ErrNotFound
}

func (m *memoryStore) SetPublicName(_ context.Context, id mapdata.AccountID, name string) error {
	defer m.lock()()
	for i := range m.accounts {
		if m.accounts[i].ID == id {
			m.accounts[i].PublicName = name
			return m.fail
		}
	}
	return mapdata.ErrNotFound
}

func (m *memoryStore) CreateSignIn(_ context.Context, s *mapdata.SignIn, l *mapdata.Email, since time.Time, limit int) (bool, error) {
	defer m.lock()()
	n := 0
	for i := range m.sent {
		if m.sent[i].Email == s.Email && !m.sent[i].CreatedAt.Before(since) {
			n++
		}
	}
	if n >= limit {
		return false, m.fail
	}
	m.sent = append(m.sent, *s)
	m.signIns = append(m.signIns, *s)
	if l != nil {
		m.emails = append(m.emails, *l)
	}
	return true, m.fail
}

// useUp removes the other sign-ins of an address.
func (m *memoryStore) useUp(found *mapdata.SignIn, err error) (*mapdata.SignIn, error) {
	if found != nil {
		m.signIns = slices.DeleteFunc(m.signIns, func(s mapdata.SignIn) bool { return s.Email == found.Email })
	}
	return found, err
}

func (m *memoryStore) take(match func(*mapdata.SignIn) bool) (*mapdata.SignIn, error) {
	for i := range m.signIns {
		if s := m.signIns[i]; match(&s) {
			m.signIns = append(m.signIns[:i], m.signIns[i+1:]...)
			return &s, m.fail
		}
	}
	return nil, mapdata.ErrNotFound
}

func (m *memoryStore) TakeSignIn(_ context.Context, hash []byte, now time.Time) (*mapdata.SignIn, error) {
	defer m.lock()()
	return m.useUp(m.take(func(s *mapdata.SignIn) bool { return bytes.Equal(s.TokenHash, hash) && now.Before(s.ExpiresAt) }))
}

func (m *memoryStore) TakeSignInByCode(_ context.Context, email string, hash, browser []byte, now time.Time, most int) (*mapdata.SignIn, error) {
	defer m.lock()()
	found, err := m.take(func(s *mapdata.SignIn) bool {
		return s.Email == email && bytes.Equal(s.Browser, browser) && bytes.Equal(s.CodeHash, hash) && now.Before(s.ExpiresAt) && s.Tries < most
	})
	if err != nil {
		for i := range m.signIns {
			if m.signIns[i].Email == email && bytes.Equal(m.signIns[i].Browser, browser) {
				m.signIns[i].Tries++
			}
		}
	}
	return m.useUp(found, err)
}

func (m *memoryStore) CreateSession(_ context.Context, s *mapdata.Session, replaces string) error {
	defer m.lock()()
	m.sessions = slices.DeleteFunc(m.sessions, func(s mapdata.Session) bool { return s.ID == replaces })
	m.sessions = append(m.sessions, *s)
	return m.fail
}

func (m *memoryStore) Session(_ context.Context, hash []byte) (*mapdata.Session, *mapdata.Account, error) {
	defer m.lock()()
	m.lookUps++
	for i := range m.sessions {
		if s := m.sessions[i]; bytes.Equal(s.TokenHash, hash) {
			a, err := m.find(func(a *mapdata.Account) bool { return a.ID == s.Account })
			return &s, a, err
		}
	}
	return nil, nil, mapdata.ErrNotFound
}

func (m *memoryStore) TouchSession(_ context.Context, id string, at time.Time) error {
	defer m.lock()()
	m.touches++
	for i := range m.sessions {
		if m.sessions[i].ID == id && m.fail == nil {
			m.sessions[i].SeenAt = at
		}
	}
	return m.fail
}

func (m *memoryStore) Sessions(_ context.Context, account mapdata.AccountID) ([]mapdata.Session, error) {
	defer m.lock()()
	var all []mapdata.Session
	for _, s := range m.sessions {
		if s.Account == account {
			all = append(all, s)
		}
	}
	return all, nil
}

func (m *memoryStore) DeleteSession(_ context.Context, account mapdata.AccountID, id string) error {
	defer m.lock()()
	for i, s := range m.sessions {
		if s.Account == account && s.ID == id {
			m.sessions = append(m.sessions[:i], m.sessions[i+1:]...)
			return m.fail
		}
	}
	return mapdata.ErrNotFound
}

func (m *memoryStore) EndSessions(_ context.Context, account mapdata.AccountID, id string, audit mapdata.AuditEntry) (int, error) {
	defer m.lock()()
	before := len(m.sessions)
	m.sessions = slices.DeleteFunc(m.sessions, func(s mapdata.Session) bool { return s.Account == account && (id == "" || s.ID == id) })
	ended := before - len(m.sessions)
	if ended == 0 && id != "" {
		return 0, mapdata.ErrNotFound
	}
	m.audit = append(m.audit, audit)
	return ended, m.fail
}

func (m *memoryStore) ChangeEmail(_ context.Context, account mapdata.AccountID, email string, audit mapdata.AuditEntry) error {
	defer m.lock()()
	for i := range m.accounts {
		if m.accounts[i].Email == email {
			return mapdata.ErrConflict
		}
	}
	for i := range m.accounts {
		if m.accounts[i].ID == account {
			m.accounts[i].Email = email
			m.audit = append(m.audit, audit)
			return m.fail
		}
	}
	return mapdata.ErrNotFound
}

func (m *memoryStore) DeleteOtherSessions(_ context.Context, account mapdata.AccountID, but string) error {
	defer m.lock()()
	m.sessions = slices.DeleteFunc(m.sessions, func(s mapdata.Session) bool { return s.Account == account && s.ID != but })
	return m.fail
}

func (m *memoryStore) CreateAPIToken(_ context.Context, t *mapdata.APIToken, audit mapdata.AuditEntry, email *mapdata.Email) error {
	defer m.lock()()
	m.tokens = append(m.tokens, *t)
	m.audit = append(m.audit, audit)
	m.emails = append(m.emails, *email)
	return m.fail
}

func (m *memoryStore) APIToken(_ context.Context, hash []byte) (*mapdata.APIToken, *mapdata.Account, error) {
	defer m.lock()()
	m.lookUps++
	for i := range m.tokens {
		if t := m.tokens[i]; bytes.Equal(t.TokenHash, hash) {
			a, err := m.find(func(a *mapdata.Account) bool { return a.ID == t.Account })
			return &t, a, err
		}
	}
	return nil, nil, mapdata.ErrNotFound
}

func (m *memoryStore) TouchAPIToken(_ context.Context, id string, at time.Time) error {
	defer m.lock()()
	m.touches++
	for i := range m.tokens {
		if m.tokens[i].ID == id && m.fail == nil {
			m.tokens[i].UsedAt = at
		}
	}
	return m.fail
}

func (m *memoryStore) APITokens(_ context.Context, account mapdata.AccountID) ([]mapdata.APIToken, error) {
	defer m.lock()()
	var all []mapdata.APIToken
	for _, t := range m.tokens {
		if t.Account == account {
			all = append(all, t)
		}
	}
	return all, nil
}

func (m *memoryStore) DeleteAPIToken(_ context.Context, account mapdata.AccountID, id string, audit mapdata.AuditEntry) error {
	defer m.lock()()
	for i, t := range m.tokens {
		if t.Account == account && t.ID == id {
			m.tokens = append(m.tokens[:i], m.tokens[i+1:]...)
			m.audit = append(m.audit, audit)
			return m.fail
		}
	}
	return mapdata.ErrNotFound
}

func (m *memoryStore) OwnReports(context.Context, mapdata.AccountID) ([]mapdata.OwnReport, error) {
	return nil, nil
}

func (m *memoryStore) Ballots(_ context.Context, account mapdata.AccountID) ([]mapdata.Ballot, error) {
	defer m.lock()()
	return []mapdata.Ballot{{Account: account}}, m.fail
}

func (m *memoryStore) DeleteAccount(_ context.Context, id mapdata.AccountID, audit mapdata.AuditEntry) error {
	defer m.lock()()
	for i, a := range m.accounts {
		if a.ID == id && m.fail == nil {
			m.accounts = slices.Delete(m.accounts, i, i+1)
			m.sessions = slices.DeleteFunc(m.sessions, func(s mapdata.Session) bool { return s.Account == id })
			m.tokens = slices.DeleteFunc(m.tokens, func(t mapdata.APIToken) bool { return t.Account == id })
			m.audit = append(m.audit, audit)
			return nil
		}
	}
	return cmp.Or(m.fail, mapdata.ErrNotFound)
}

func (m *memoryStore) Audit(context.Context, *mapdata.AuditQuery) ([]mapdata.AuditRecord, error) {
	return nil, m.fail
}
