package account

import (
	"context"
	"fmt"

	"wayside/internal/ground/mapdata"
)

// maxPublicName bounds a public name, in characters.
const maxPublicName = 60

// SetPublicName sets the name under which the catalogue shows the account's apps; an empty one removes it. It fails with a
// mapdata.InvalidError for a name that cannot be published, and with mapdata.ErrNotFound.
func (s *Service) SetPublicName(ctx context.Context, id mapdata.AccountID, name string) error {
	var bad mapdata.FieldErrors
	name = bad.Line("public_name", name, 0, maxPublicName)
	if err := bad.Err(); err != nil {
		return err
	}
	err := s.store.SetPublicName(ctx, id, name)
	s.sessions.clear() // cached with the account
	s.tokens.clear()
	if err != nil {
		return fmt.Errorf("store public name: %w", err)
	}
	return nil
}
