package account

import (
	"context"
	"errors"
	"fmt"

	"wayside/internal/ground/mapdata"
)

// Create creates an account without a sign-in, for operators. It fails with mapdata.ErrConflict when the address has one.
func (s *Service) Create(ctx context.Context, email string) (*mapdata.Account, error) {
	address, err := mapdata.ParseEmail(email)
	if err != nil {
		return nil, err
	}
	account, err := s.create(ctx, address, "")
	if errors.Is(err, mapdata.ErrConflict) {
		return nil, mapdata.Describe(mapdata.ErrConflict, "This address has an account already.")
	}
	return account, err
}

func (s *Service) create(ctx context.Context, address string, language mapdata.Language) (*mapdata.Account, error) {
	id, err := mapdata.NewAccountID()
	if err != nil {
		return nil, fmt.Errorf("make account id: %w", err)
	}
	account := &mapdata.Account{
		ID: id, Email: address, Role: mapdata.Driver, Tier: mapdata.TierAccount, CreatedAt: s.now(), Language: language,
	}
	if err := s.store.CreateAccount(ctx, account); err != nil {
		return nil, fmt.Errorf("store account: %w", err)
	}
	return account, nil
}

// List returns every account.
func (s *Service) List(ctx context.Context) ([]mapdata.Account, error) {
	all, err := s.store.Accounts(ctx)
	if err != nil {
		return nil, fmt.Errorf("list accounts: %w", err)
	}
	return all, nil
}

// SetRole sets an account's role (D11.4), for operators. It fails with mapdata.ErrNotFound or a mapdata.InvalidError.
func (s *Service) SetRole(ctx context.Context, email string, role mapdata.Role) (*mapdata.Account, error) {
	switch role {
	case mapdata.Driver, mapdata.Curator, mapdata.Admin:
	default:
		return nil, &mapdata.InvalidError{Fields: []mapdata.FieldError{
			{Field: "role", Code: "invalid_role", Message: "must be driver, curator or admin"},
		}}
	}
	return s.update(ctx, email, mapdata.AuditAccountRole, func(a *mapdata.Account) (from, to string) {
		from, a.Role = string(a.Role), role
		return from, string(role)
	})
}

// SetTier sets an account's tier (D11.4), for operators. It fails with mapdata.ErrNotFound or a mapdata.InvalidError.
func (s *Service) SetTier(ctx context.Context, email string, tier mapdata.Tier) (*mapdata.Account, error) {
	switch tier {
	case mapdata.TierAccount, mapdata.TierPremium:
	default:
		return nil, &mapdata.InvalidError{Fields: []mapdata.FieldError{
			{Field: "tier", Code: "invalid_tier", Message: "must be account or premium"},
		}}
	}
	return s.update(ctx, email, mapdata.AuditAccountTier, func(a *mapdata.Account) (from, to string) {
		from, a.Tier = string(a.Tier), tier
		return from, string(tier)
	})
}

func (s *Service) update(ctx context.Context, email, action string, change func(*mapdata.Account) (from, to string)) (*mapdata.Account, error) {
	found, err := s.byEmail(ctx, email)
	if err != nil {
		return nil, err
	}
	account := *found
	from, to := change(&account)
	audit := mapdata.AuditEntry{
		At: s.now(), Via: mapdata.ViaOf(ctx), Action: action, Subject: account.ID.String(), Owner: account.ID, Note: from + " to " + to,
	}
	if err := s.store.UpdateAccount(ctx, &account, audit); err != nil {
		return nil, fmt.Errorf("update account: %w", err)
	}
	s.rightsChanged()
	return &account, nil
}

func (s *Service) byEmail(ctx context.Context, email string) (*mapdata.Account, error) {
	address, err := mapdata.ParseEmail(email)
	if err != nil {
		return nil, err
	}
	account, err := s.store.AccountByEmail(ctx, address)
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil, mapdata.Describe(mapdata.ErrNotFound, "No account has this address.")
	}
	if err != nil {
		return nil, fmt.Errorf("find account: %w", err)
	}
	return account, nil
}
