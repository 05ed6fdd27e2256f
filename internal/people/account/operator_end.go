package account

import (
	"context"
	"errors"
	"fmt"

	"wayside/internal/ground/mapdata"
)

// ByEmail finds the account of an address, for operators. It fails with mapdata.ErrNotFound or a mapdata.InvalidError.
func (s *Service) ByEmail(ctx context.Context, email string) (*mapdata.Account, error) {
	return s.byEmail(ctx, email)
}

// EndSessions ends one session of an account, or all of them where session is empty, for operators. It returns their
// number. A running service accepts them for up to a second more. It fails with mapdata.ErrNotFound.
func (s *Service) EndSessions(ctx context.Context, email, session string) (*mapdata.Account, int, error) {
	account, err := s.byEmail(ctx, email)
	if err != nil {
		return nil, 0, err
	}
	note := "all sessions"
	if session != "" {
		note = "one session"
	}
	ended, err := s.store.EndSessions(ctx, account.ID, session, s.operatorEntry(ctx, mapdata.AuditAccountSignOut, account, note))
	s.rightsChanged()
	if session != "" && errors.Is(err, mapdata.ErrNotFound) {
		return nil, 0, mapdata.Describe(mapdata.ErrNotFound, "The account has no session with this id.")
	}
	if err != nil {
		return nil, 0, fmt.Errorf("end sessions: %w", err)
	}
	return account, ended, nil
}

// Remove deletes an account as Delete does, for operators. It fails with mapdata.ErrNotFound.
func (s *Service) Remove(ctx context.Context, email string) (*mapdata.Account, error) {
	account, err := s.byEmail(ctx, email)
	if err != nil {
		return nil, err
	}
	if err := s.delete(ctx, account.ID, s.operatorEntry(ctx, mapdata.AuditAccountDelete, account, "")); err != nil {
		return nil, err
	}
	return account, nil
}

// ChangeEmail changes the address of an account, for operators, without a confirmation. It fails with
// mapdata.ErrNotFound, with mapdata.ErrConflict when the new address has an account, or with a mapdata.InvalidError.
func (s *Service) ChangeEmail(ctx context.Context, email, to string) (*mapdata.Account, error) {
	account, err := s.byEmail(ctx, email)
	if err != nil {
		return nil, err
	}
	address, err := mapdata.ParseEmail(to)
	if err != nil {
		return nil, err
	}
	err = s.store.ChangeEmail(ctx, account.ID, address, s.operatorEntry(ctx, mapdata.AuditAccountEmail, account, ""))
	s.ForgetCached()
	if errors.Is(err, mapdata.ErrConflict) {
		return nil, mapdata.Describe(mapdata.ErrConflict, "This address has an account already.")
	}
	if err != nil {
		return nil, fmt.Errorf("change address: %w", err)
	}
	changed := *account
	changed.Email = address
	return &changed, nil
}

// operatorEntry returns the audit entry of an operator's action on an account.
func (s *Service) operatorEntry(ctx context.Context, action string, account *mapdata.Account, note string) mapdata.AuditEntry {
	return mapdata.AuditEntry{
		At: s.now(), Via: mapdata.ViaOf(ctx), Action: action, Subject: account.ID.String(), Owner: account.ID, Note: note,
	}
}
