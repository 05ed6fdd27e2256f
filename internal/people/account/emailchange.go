package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wayside/internal/ground/mapdata"
)

// RequestEmailChange sends a link to the account's address and one to the new address; the account has the new address once both links were
// confirmed, within a day. Like a sign-in, it sends at most three e-mails to an address within the hour, and three to the account's own;
// beyond that it sends nothing and returns the same result, as it does for an address that has an account (D11.1). Another request ends the
// previous one. It fails with a mapdata.InvalidError.
func (s *Service) RequestEmailChange(ctx context.Context, a *mapdata.Account, email string) error {
	address, err := mapdata.ParseEmail(email)
	if err != nil {
		return err
	}
	if address == a.Email {
		return &mapdata.InvalidError{Fields: []mapdata.FieldError{
			{Field: "email", Code: "same", Message: "must be another address than the account has"},
		}}
	}
	now := s.now()
	oldToken, newToken := newSecret(), newSecret()
	oldHash, _ := secretHash(oldToken)
	newHash, _ := secretHash(newToken)
	change := &mapdata.EmailChange{
		Account: a.ID, Email: address, OldHash: oldHash[:], NewHash: newHash[:], CreatedAt: now, ExpiresAt: now.Add(mapdata.EmailChangeTTL),
	}
	emails := []mapdata.Email{
		{Account: a.ID, Kind: mapdata.EmailChangeOld, Data: map[string]string{"token": oldToken, "new_address": address}, At: now, Due: now},
		{Account: a.ID, Address: address, Kind: mapdata.EmailChangeNew, Data: map[string]string{"token": newToken}, At: now, Due: now},
	}
	stored, err := s.store.RequestEmailChange(ctx, change, emails, now.Add(-time.Hour), maxEmailsPerHour)
	if err != nil {
		return fmt.Errorf("store change of address: %w", err)
	}
	if stored {
		s.mail.Notify()
	}
	return nil
}

// EmailChange returns the change of the account's address that waits for a confirmation; nil: none.
func (s *Service) EmailChange(ctx context.Context, id mapdata.AccountID) (*mapdata.EmailChange, error) {
	change, err := s.store.EmailChange(ctx, id, s.now())
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read change of address: %w", err)
	}
	return change, nil
}

// ConfirmEmailChange confirms a change of address with the token of a link. Once both links were confirmed, the account has the new
// address: its sessions stay, sign-ins that wait for the old address end. It fails with mapdata.ErrUnauthenticated for a token that is
// wrong, used or expired. It fails with mapdata.ErrConflict when the new address has an account, which only a person learns who has proved
// the new address by its link.
func (s *Service) ConfirmEmailChange(ctx context.Context, token string) (mapdata.EmailChangeStep, error) {
	hash, ok := secretHash(token)
	if !ok {
		return mapdata.EmailChangeStep{}, errBadChangeLink()
	}
	now := s.now()
	audit := mapdata.AuditEntry{At: now, Via: mapdata.ViaOf(ctx), Action: mapdata.AuditAccountEmail}
	step, err := s.store.ConfirmEmailChange(ctx, hash[:], now, audit)
	switch {
	case errors.Is(err, mapdata.ErrNotFound), errors.Is(err, mapdata.ErrConflict) && !step.ByNew:
		return mapdata.EmailChangeStep{}, errBadChangeLink()
	case errors.Is(err, mapdata.ErrConflict):
		return step, mapdata.Describe(mapdata.ErrConflict, "This address has an account already. Delete that account first, or choose another address.")
	case err != nil:
		return step, fmt.Errorf("confirm change of address: %w", err)
	}
	if step.Done {
		s.ForgetCached()
	}
	return step, nil
}

func errBadChangeLink() error {
	return mapdata.Describe(mapdata.ErrUnauthenticated, "This link is wrong, older than a day, or a newer one replaced it. Ask for the change again.")
}
