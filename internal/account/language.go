package account

import (
	"context"
	"fmt"
	"slices"

	"wayside/internal/mapdata"
)

// SetLanguage keeps what the account's pages and letters are written in, from the next one on. It fails with a
// mapdata.InvalidError for a language that the service does not write, and with mapdata.ErrNotFound.
func (s *Service) SetLanguage(ctx context.Context, id mapdata.AccountID, language mapdata.Language) error {
	if !slices.Contains(mapdata.Languages(), language) {
		return &mapdata.InvalidError{Fields: []mapdata.FieldError{
			{Field: "language", Code: "invalid_language", Message: "must be en, de or fr"},
		}}
	}
	err := s.store.SetLanguage(ctx, id, language)
	s.sessions.clear() // which remember the account
	s.tokens.clear()
	if err != nil {
		return fmt.Errorf("store language: %w", err)
	}
	return nil
}

// learnLanguage gives an account that has no language yet the one that its holder's browser asks for.
func (s *Service) learnLanguage(ctx context.Context, account *mapdata.Account, language mapdata.Language) (*mapdata.Account, error) {
	if account.Language != "" || language == "" {
		return account, nil
	}
	if err := s.SetLanguage(ctx, account.ID, language); err != nil {
		return nil, err
	}
	own := *account
	own.Language = language
	return &own, nil
}
