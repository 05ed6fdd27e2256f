package account_test

import (
	"bytes"
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

// emailChange is a change of address with its confirmations.
type emailChange struct {
	mapdata.EmailChange
	old, new bool
}

func (m *memoryStore) RequestEmailChange(
	_ context.Context, c *mapdata.EmailChange, emails []mapdata.Email, since time.Time, limit int,
) (bool, error) {
	defer m.lock()()
	ofAccount, toAddress := 0, 0
	for i := range m.changes {
		if m.changes[i].CreatedAt.Before(since) {
			continue
		}
		if m.changes[i].Account == c.Account {
			ofAccount++
		}
		if m.changes[i].Email == c.Email {
			toAddress++
		}
	}
	if ofAccount >= limit || toAddress >= limit {
		return false, m.fail
	}
	for i := range m.changes {
		if m.changes[i].Account == c.Account {
			m.changes[i].ExpiresAt = m.changes[i].CreatedAt
		}
	}
	m.changes = append(m.changes, emailChange{EmailChange: *c})
	m.emails = append(m.emails, emails...)
	return true, m.fail
}

func (m *memoryStore) EmailChange(_ context.Context, account mapdata.AccountID, now time.Time) (*mapdata.EmailChange, error) {
	defer m.lock()()
	for i := range m.changes {
		if m.changes[i].Account == account && now.Before(m.changes[i].ExpiresAt) {
			change := m.changes[i].EmailChange
			return &change, nil
		}
	}
	return nil, mapdata.ErrNotFound
}

func (m *memoryStore) ConfirmEmailChange(
	_ context.Context, tokenHash []byte, now time.Time, audit mapdata.AuditEntry,
) (step mapdata.EmailChangeStep, err error) {
	defer m.lock()()
	for i := range m.changes {
		c := &m.changes[i]
		byOld, byNew := bytes.Equal(c.OldHash, tokenHash), bytes.Equal(c.NewHash, tokenHash)
		if !byOld && !byNew || !now.Before(c.ExpiresAt) {
			continue
		}
		step = mapdata.EmailChangeStep{ByNew: byNew, Email: c.Email, Done: (c.old || byOld) && (c.new || byNew)}
		if _, err := m.find(func(a *mapdata.Account) bool { return a.Email == c.Email }); err == nil && (byNew || step.Done) {
			return step, mapdata.ErrConflict
		}
		c.old, c.new = c.old || byOld, c.new || byNew
		if step.Done {
			for j := range m.accounts {
				if m.accounts[j].ID == c.Account {
					m.accounts[j].Email = c.Email
				}
			}
			audit.Actor, audit.Subject, audit.Owner = c.Account, c.Account.String(), c.Account
			m.audit = append(m.audit, audit)
			m.changes = append(m.changes[:i], m.changes[i+1:]...)
		}
		return step, m.fail
	}
	return step, mapdata.ErrNotFound
}
