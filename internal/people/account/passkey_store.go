package account

import (
	"context"

	"wayside/internal/ground/mapdata"
)

// PasskeyStore persists passkeys and answered challenges.
type PasskeyStore interface {
	// CreatePasskey stores a passkey, its answered challenge and the e-mail to its account (nil: none), in one
	// transaction. It fails with mapdata.ErrConflict when the credential is stored already or the challenge was
	// answered before, and with mapdata.ErrNotFound when the account does not exist.
	CreatePasskey(ctx context.Context, p *mapdata.Passkey, answer mapdata.Challenge, audit mapdata.AuditEntry, email *mapdata.Email) error
	// Passkey returns a passkey and its account by its credential's id, or fails with mapdata.ErrNotFound.
	Passkey(ctx context.Context, credentialID []byte) (*mapdata.Passkey, *mapdata.Account, error)
	// Passkeys lists the account's passkeys, oldest first.
	Passkeys(ctx context.Context, account mapdata.AccountID) ([]mapdata.Passkey, error)
	// UsePasskey stores a verified use and its effect in one transaction. It fails with mapdata.ErrConflict when
	// the challenge was answered before, and with mapdata.ErrNotFound when the passkey or the session is gone, or the passkey
	// has changed since it was verified.
	UsePasskey(ctx context.Context, u *mapdata.PasskeyUse) error
	// FlagPasskey stores that a passkey may have been cloned, and the answered challenge, without a session and without
	// counting a use. It fails as UsePasskey does.
	FlagPasskey(ctx context.Context, u *mapdata.PasskeyUse, audit mapdata.AuditEntry) error
	// RenamePasskey renames a passkey of the account, or fails with mapdata.ErrNotFound.
	RenamePasskey(ctx context.Context, account mapdata.AccountID, id, name string) error
	// DeletePasskey removes a passkey of the account, or fails with mapdata.ErrNotFound.
	DeletePasskey(ctx context.Context, account mapdata.AccountID, id string, audit mapdata.AuditEntry) error

	// Session returns a session and its account by the token's hash, or fails with mapdata.ErrNotFound.
	Session(ctx context.Context, tokenHash []byte) (*mapdata.Session, *mapdata.Account, error)
}
