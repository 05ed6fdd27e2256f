package account_test

import (
	"bytes"
	"context"
	"slices"
	"time"

	"wayside/internal/ground/mapdata"
)

// pairingStore is the part of memoryStore for pairings and preferences.
type pairingStore struct {
	pairings    []mapdata.Pairing
	conflicts   int // number of next CreatePairing calls that fail with ErrConflict
	preferences map[mapdata.AccountID]mapdata.Preferences
}

func (m *memoryStore) CreatePairing(_ context.Context, p *mapdata.Pairing) error {
	defer m.lock()()
	if m.conflicts > 0 {
		m.conflicts--
		return mapdata.ErrConflict
	}
	p.ID = int64(len(m.pairings) + 1)
	m.pairings = append(m.pairings, *p)
	return m.fail
}

func (m *memoryStore) Pairing(_ context.Context, hash []byte) (*mapdata.Pairing, error) {
	defer m.lock()()
	for _, p := range m.pairings {
		if bytes.Equal(p.DeviceHash, hash) {
			return &p, nil
		}
	}
	return nil, mapdata.ErrNotFound
}

// byCode returns the matching pairing, or counts a wrong try.
func (m *memoryStore) byCode(name string, hash []byte, now time.Time, most int) (*mapdata.Pairing, error) {
	for i := range m.pairings {
		if p := &m.pairings[i]; bytes.Equal(p.CodeHash, hash) && p.At(now, most) != mapdata.PairingOver {
			return p, nil
		}
	}
	for i := range m.pairings {
		if p := &m.pairings[i]; p.Name == name && p.State == mapdata.PairingWaiting {
			p.Tries++
		}
	}
	return nil, mapdata.ErrNotFound
}

func (m *memoryStore) PairingByCode(_ context.Context, name string, hash []byte, now time.Time, most int) (*mapdata.Pairing, error) {
	defer m.lock()()
	p, err := m.byCode(name, hash, now, most)
	if err != nil {
		return nil, err
	}
	own := *p
	return &own, nil
}

func (m *memoryStore) AnswerPairing(
	_ context.Context, name string, hash []byte, now time.Time, most int, by mapdata.PairingAnswer,
) (*mapdata.Pairing, error) {
	defer m.lock()()
	p, err := m.byCode(name, hash, now, most)
	if err != nil {
		return nil, err
	}
	if p.State == mapdata.PairingWaiting {
		p.State, p.Account = by.State, by.Account
	} else if p.Account != by.Account || (p.State == mapdata.PairingDenied) != (by.State == mapdata.PairingDenied) {
		return nil, mapdata.ErrConflict
	}
	own := *p
	return &own, m.fail
}

func (m *memoryStore) TakePairing(
	_ context.Context, hash []byte, now time.Time, s *mapdata.Session, replaces string, email *mapdata.Email,
) (*mapdata.Account, error) {
	defer m.lock()()
	m.sessions = slices.DeleteFunc(m.sessions, func(s mapdata.Session) bool { return s.ID == replaces })
	for i := range m.pairings {
		p := &m.pairings[i]
		if bytes.Equal(p.DeviceHash, hash) && p.State == mapdata.PairingApproved && now.Before(p.ExpiresAt) {
			p.State, s.Account = mapdata.PairingUsed, p.Account
			m.sessions = append(m.sessions, *s)
			m.emails = append(m.emails, *email)
			return m.find(func(a *mapdata.Account) bool { return a.ID == s.Account })
		}
	}
	return nil, mapdata.ErrNotFound
}

func (m *memoryStore) Preferences(_ context.Context, id mapdata.AccountID) (*mapdata.Preferences, error) {
	defer m.lock()()
	p := m.preferences[id]
	return &p, nil
}

func (m *memoryStore) ReviewEmails(context.Context, mapdata.AccountID) (bool, error) {
	return true, nil
}

func (m *memoryStore) SetReviewEmails(context.Context, mapdata.AccountID, bool) error { return nil }

func (m *memoryStore) SetPreferences(_ context.Context, id mapdata.AccountID, p *mapdata.Preferences) error {
	defer m.lock()()
	if m.preferences == nil {
		m.preferences = make(map[mapdata.AccountID]mapdata.Preferences)
	}
	m.preferences[id] = *p
	return m.fail
}
