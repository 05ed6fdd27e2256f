package account

import (
	"context"
	"errors"
	"fmt"

	"wayside/internal/ground/mapdata"
)

// Reports lists the reports that are still linked to the account, oldest first; they are anonymized after 30 days
// (D17.38).
func (s *Service) Reports(ctx context.Context, id mapdata.AccountID) ([]mapdata.OwnReport, error) {
	all, err := s.store.OwnReports(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read reports: %w", err)
	}
	return all, nil
}

// Ballots lists the votes that are still linked to the account, oldest first; they are anonymized after 30 days (D9.7).
func (s *Service) Ballots(ctx context.Context, id mapdata.AccountID) ([]mapdata.Ballot, error) {
	all, err := s.store.Ballots(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("list votes: %w", err)
	}
	return all, nil
}

// Log lists the audit entries of the account's actions and of its feeds, newest first.
func (s *Service) Log(ctx context.Context, id mapdata.AccountID) ([]mapdata.AuditRecord, error) {
	const maxEntries = 10_000 // more than accounts have; fits into one answer
	all, err := s.store.Audit(ctx, &mapdata.AuditQuery{Account: id, Limit: maxEntries})
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	return all, nil
}

// Delete removes an account with its data (D11.6), immediately on this node; other nodes accept its sessions for up to
// a second more. It deletes its feeds, and keeps its votes anonymously. email is the account's address as its holder
// typed it, as a confirmation: a different one is a mapdata.InvalidError. A missing account is not an error.
func (s *Service) Delete(ctx context.Context, a *mapdata.Account, email string) error {
	if typed, err := mapdata.ParseEmail(email); err != nil || typed != a.Email {
		return &mapdata.InvalidError{Fields: []mapdata.FieldError{
			{Field: "email", Code: "not_yours", Message: "must be the address of this account"},
		}}
	}
	audit := mapdata.AuditEntry{
		At: s.now(), Actor: a.ID, Via: mapdata.ViaOf(ctx), Action: mapdata.AuditAccountDelete, Subject: a.ID.String(), Owner: a.ID,
	}
	return s.delete(ctx, a.ID, audit)
}

func (s *Service) delete(ctx context.Context, id mapdata.AccountID, audit mapdata.AuditEntry) error {
	err := s.store.DeleteAccount(ctx, id, audit)
	s.rightsChanged()
	if err != nil && !errors.Is(err, mapdata.ErrNotFound) {
		return fmt.Errorf("delete account: %w", err)
	}
	return nil
}
