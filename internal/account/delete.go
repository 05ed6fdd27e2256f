package account

import (
	"context"
	"errors"
	"fmt"

	"wayside/internal/mapdata"
)

// Ballots lists the votes that are still tied to the account, oldest first: they are severed from it after 30 days (D9.7).
func (s *Service) Ballots(ctx context.Context, id mapdata.AccountID) ([]mapdata.Ballot, error) {
	all, err := s.store.Ballots(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("list votes: %w", err)
	}
	return all, nil
}

// Log lists what the account did and what was done to what is its own, newest first, as far as the audit log goes back.
func (s *Service) Log(ctx context.Context, id mapdata.AccountID) ([]mapdata.AuditRecord, error) {
	const most = 10_000 // entries: nobody has so many, and one answer holds them
	all, err := s.store.Audit(ctx, &mapdata.AuditQuery{Account: id, Limit: most})
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	return all, nil
}

// Delete forgets an account with all that is its own (D11.6), at once on this node; other nodes know its sessions for a
// second longer. Feeds go with it, votes stay without it. email is the account's address as its holder typed it, so that
// nobody deletes one by mistake: another one is a mapdata.InvalidError. An account that is gone already is no error.
func (s *Service) Delete(ctx context.Context, a *mapdata.Account, email string) error {
	if typed, err := parseEmail(email); err != nil || typed != a.Email {
		return &mapdata.InvalidError{Fields: []mapdata.FieldError{
			{Field: "email", Code: "not_yours", Message: "must be the address of this account"},
		}}
	}
	audit := mapdata.AuditEntry{
		At: s.now(), Actor: a.ID, Via: mapdata.ViaOf(ctx), Action: mapdata.AuditAccountDelete, Subject: a.ID.String(), Owner: a.ID,
	}
	err := s.store.DeleteAccount(ctx, a.ID, audit)
	s.sessions.clear()
	s.tokens.clear()
	if err != nil && !errors.Is(err, mapdata.ErrNotFound) {
		return fmt.Errorf("delete account: %w", err)
	}
	s.changed.Notify()
	return nil
}
