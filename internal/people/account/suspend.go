package account

import (
	"context"
	"errors"
	"fmt"

	"wayside/internal/ground/mapdata"
)

// Find returns the account of an id or an e-mail address, for operators and admins. It fails with mapdata.ErrNotFound.
func (s *Service) Find(ctx context.Context, idOrEmail string) (*mapdata.Account, error) {
	id, ok := mapdata.ParseAccountID(idOrEmail)
	if !ok {
		return s.byEmail(ctx, idOrEmail)
	}
	account, err := s.store.Account(ctx, id)
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil, mapdata.Describe(mapdata.ErrNotFound, "No account has this id.")
	}
	if err != nil {
		return nil, fmt.Errorf("read account: %w", err)
	}
	return account, nil
}

// Suspend ends the sessions of an account, keeps it from signing in, makes its API tokens and push tokens invalid and
// hides its feeds, in one step and until Resume. The holder gets the reason, 1 to 500 characters, in an e-mail. by is
// the admin who decides; nil: the operator. It fails with mapdata.ErrForbidden for anybody else and for an admin's own
// account, with mapdata.ErrNotFound, with mapdata.ErrConflict for an account that is suspended, and with a
// *mapdata.InvalidError for the reason.
func (s *Service) Suspend(ctx context.Context, by *mapdata.Account, idOrEmail, reason string) (*mapdata.Account, error) {
	account, err := s.maySuspend(ctx, by, idOrEmail)
	if err != nil {
		return nil, err
	}
	if reason, err = mapdata.CleanReason(reason); err != nil {
		return nil, err
	}
	suspension := mapdata.Suspension{At: s.now(), Reason: reason}
	side := suspensionSide(ctx, by, account, mapdata.AuditAccountSuspend, mapdata.EmailAccountSuspended, suspension)
	err = s.store.SuspendAccount(ctx, account.ID, suspension, side)
	if errors.Is(err, mapdata.ErrConflict) {
		return nil, mapdata.Explain(mapdata.ErrConflict, "suspended_already", "The account is suspended already.")
	}
	if err != nil {
		return nil, fmt.Errorf("suspend account: %w", err)
	}
	account.Suspension = suspension
	s.suspensionChanged()
	return account, nil
}

// Resume ends a suspension: the holder can sign in, API tokens are valid again, and the feeds that were not paused
// otherwise are served. It fails as Suspend does, with mapdata.ErrConflict for an account that is not suspended.
func (s *Service) Resume(ctx context.Context, by *mapdata.Account, idOrEmail string) (*mapdata.Account, error) {
	account, err := s.maySuspend(ctx, by, idOrEmail)
	if err != nil {
		return nil, err
	}
	side := suspensionSide(ctx, by, account, mapdata.AuditAccountResume, mapdata.EmailAccountResumed, mapdata.Suspension{At: s.now()})
	err = s.store.ResumeAccount(ctx, account.ID, side)
	if errors.Is(err, mapdata.ErrConflict) {
		return nil, mapdata.Explain(mapdata.ErrConflict, "not_suspended", "The account is not suspended.")
	}
	if err != nil {
		return nil, fmt.Errorf("resume account: %w", err)
	}
	account.Suspension = mapdata.Suspension{}
	s.suspensionChanged()
	return account, nil
}

// maySuspend checks the caller and finds the account, of which it returns a copy.
func (s *Service) maySuspend(ctx context.Context, by *mapdata.Account, idOrEmail string) (*mapdata.Account, error) {
	if by != nil && by.Role != mapdata.Admin {
		return nil, mapdata.Describe(mapdata.ErrForbidden, "Only admins suspend accounts.")
	}
	found, err := s.Find(ctx, idOrEmail)
	if err != nil {
		return nil, err
	}
	if by != nil && found.ID == by.ID {
		return nil, mapdata.Explain(mapdata.ErrForbidden, "own_account", "Another admin has to decide on your own account.")
	}
	account := *found
	return &account, nil
}

func suspensionSide(
	ctx context.Context, by, account *mapdata.Account, action string, email mapdata.EmailKind, now mapdata.Suspension,
) mapdata.Side {
	entry := mapdata.AuditEntry{
		At: now.At, Via: mapdata.ViaOf(ctx), Action: action, Subject: account.ID.String(), Owner: account.ID, Note: now.Reason,
	}
	if by != nil {
		entry.Actor = by.ID
	}
	return mapdata.Side{
		Audit:  []mapdata.AuditEntry{entry},
		Emails: []mapdata.Email{{Account: account.ID, Kind: email, At: now.At, Due: now.At, Data: map[string]string{"note": now.Reason}}},
	}
}

// suspensionChanged notifies followers of the change of rights, and queues the e-mail about it.
func (s *Service) suspensionChanged() {
	s.rightsChanged()
	s.mail.Notify()
}
