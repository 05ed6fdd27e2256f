package account

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/token"
)

const (
	maxAPITokens  = 20
	maxNameLength = 100 // characters
)

// CreateAPIToken creates a token that reads with the account's limits (D11.5), and returns its text, which is not stored.
// The account's holder gets an e-mail. It fails with a mapdata.InvalidError for a name that is empty, has more than 100
// characters or control characters, and with mapdata.ErrConflict when the account has 20 tokens.
func (s *Service) CreateAPIToken(ctx context.Context, id mapdata.AccountID, name string) (string, *mapdata.APIToken, error) {
	name, err := parseName(name)
	if err != nil {
		return "", nil, err
	}
	have, err := s.store.APITokens(ctx, id)
	if err != nil {
		return "", nil, fmt.Errorf("list API tokens: %w", err)
	}
	if len(have) >= maxAPITokens {
		return "", nil, mapdata.Explain(mapdata.ErrConflict, "tokens_many", "An account has at most 20 API tokens. Delete one first.")
	}
	text, now := token.New(token.API), s.now()
	t := &mapdata.APIToken{ID: newID(), Account: id, Name: name, TokenHash: token.Hash(text), CreatedAt: now}
	audit := mapdata.AuditEntry{At: now, Actor: id, Via: mapdata.ViaOf(ctx), Action: mapdata.AuditTokenCreate, Subject: t.ID}
	if err := s.store.CreateAPIToken(ctx, t, audit, securityEmail(mapdata.EmailTokenMade, id, t.ID, name, now)); err != nil {
		return "", nil, fmt.Errorf("store API token: %w", err)
	}
	return text, t, nil
}

// securityEmail returns the e-mail that informs an account's holder of a new credential. It contains no secret: only
// the credential's name, and the id by which it is revoked.
func securityEmail(kind mapdata.EmailKind, account mapdata.AccountID, id, name string, at time.Time) *mapdata.Email {
	return &mapdata.Email{Account: account, Kind: kind, Data: map[string]string{"name": name, "made_id": id}, At: at, Due: at}
}

// parseName trims and validates the name of a token or passkey.
func parseName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" || utf8.RuneCountInString(name) > maxNameLength || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return "", &mapdata.InvalidError{Fields: []mapdata.FieldError{
			{Field: "name", Code: "invalid_name", Message: "must be 1 to 100 characters, none of them a control character"},
		}}
	}
	return name, nil
}

// APITokens lists the account's tokens.
func (s *Service) APITokens(ctx context.Context, id mapdata.AccountID) ([]mapdata.APIToken, error) {
	all, err := s.store.APITokens(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("list API tokens: %w", err)
	}
	return all, nil
}

// DeleteAPIToken revokes a token of the account, immediately on this node. It fails with mapdata.ErrNotFound.
func (s *Service) DeleteAPIToken(ctx context.Context, id mapdata.AccountID, tokenID string) error {
	audit := mapdata.AuditEntry{At: s.now(), Actor: id, Via: mapdata.ViaOf(ctx), Action: mapdata.AuditTokenDelete, Subject: tokenID}
	err := s.store.DeleteAPIToken(ctx, id, tokenID, audit)
	s.rightsChanged()
	if err != nil {
		return fmt.Errorf("delete API token: %w", err)
	}
	return nil
}

// AuthenticateToken finds the account of an API token. The result is cached for a second. It fails with
// mapdata.ErrUnauthenticated.
func (s *Service) AuthenticateToken(ctx context.Context, text string) (*mapdata.Account, error) {
	if !token.Valid(token.API, text) {
		return nil, mapdata.ErrUnauthenticated
	}
	hash := [sha256.Size]byte(token.Hash(text))
	now := s.now()
	account, epoch := s.tokens.get(hash, now)
	if account != nil {
		return account, nil
	}
	t, account, err := s.store.APIToken(ctx, hash[:])
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil, mapdata.ErrUnauthenticated
	}
	if err != nil {
		return nil, fmt.Errorf("find API token: %w", err)
	}
	s.touch(&t.UsedAt, now, func() error { return s.store.TouchAPIToken(ctx, t.ID, now) })
	s.tokens.put(hash, account, epoch, now)
	return account, nil
}
