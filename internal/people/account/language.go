package account

import (
	"context"
	"fmt"
	"slices"

	"wayside/internal/ground/mapdata"
)

// SetLanguage sets the language of the account's pages and e-mails. It fails with a mapdata.InvalidError for an unsupported
// language, and with mapdata.ErrNotFound.
func (s *Service) SetLanguage(ctx context.Context, id mapdata.AccountID, language mapdata.Language) error {
	if !slices.Contains(mapdata.Languages(), language) {
		return &mapdata.InvalidError{Fields: []mapdata.FieldError{
			{Field: "language", Code: "invalid_language", Message: "must be en, de or fr"},
		}}
	}
	err := s.store.SetLanguage(ctx, id, language)
	s.sessions.clear() // cached with the account
	s.tokens.clear()
	if err != nil {
		return fmt.Errorf("store language: %w", err)
	}
	return nil
}

// setInitialLanguage sets the language of an account without one to that of the browser.
func (s *Service) setInitialLanguage(ctx context.Context, account *mapdata.Account, language mapdata.Language) (*mapdata.Account, error) {
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
