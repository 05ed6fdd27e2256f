package account_test

import (
	"context"
	"slices"

	"wayside/internal/ground/mapdata"
)

func (m *memoryStore) suspend(id mapdata.AccountID, s mapdata.Suspension, side mapdata.Side) error {
	defer m.lock()()
	for i := range m.accounts {
		a := &m.accounts[i]
		if a.ID != id {
			continue
		}
		if a.Suspended() == !s.At.IsZero() {
			return mapdata.ErrConflict
		}
		a.Suspension = s
		m.sessions = slices.DeleteFunc(m.sessions, func(s mapdata.Session) bool { return s.Account == id })
		m.audit, m.emails = append(m.audit, side.Audit...), append(m.emails, side.Emails...)
		return m.fail
	}
	return mapdata.ErrNotFound
}

func (m *memoryStore) SuspendAccount(_ context.Context, id mapdata.AccountID, s mapdata.Suspension, side mapdata.Side) error {
	return m.suspend(id, s, side)
}

func (m *memoryStore) ResumeAccount(_ context.Context, id mapdata.AccountID, side mapdata.Side) error {
	return m.suspend(id, mapdata.Suspension{}, side)
}
