package account

import (
	"context"

	"wayside/internal/mapdata"
)

// PasskeyStore keeps passkeys, and which challenges were answered.
type PasskeyStore interface {
	// CreatePasskey stores a passkey, the answer that brought it and the letter that tells its account (nil: none), all or
	// nothing. It fails with mapdata.ErrConflict when the credential is stored already or the challenge was answered before,
	// and with mapdata.ErrNotFound when there is no such account.
	CreatePasskey(ctx context.Context, p *mapdata.Passkey, answer mapdata.Challenge, audit mapdata.AuditEntry, letter *mapdata.Letter) error
	// Passkey finds a passkey and its account by its credential's id, or fails with mapdata.ErrNotFound.
	Passkey(ctx context.Context, credentialID []byte) (*mapdata.Passkey, *mapdata.Account, error)
	// Passkeys lists the account's passkeys, oldest first.
	Passkeys(ctx context.Context, account mapdata.AccountID) ([]mapdata.Passkey, error)
	// UsePasskey stores a use that was verified, and what it is for: all or nothing. It fails with mapdata.ErrConflict when
	// the challenge was answered before, and with mapdata.ErrNotFound when the passkey or the session is gone, or the passkey
	// is no longer what it was verified with.
	UsePasskey(ctx context.Context, u *mapdata.PasskeyUse) error
	// FlagPasskey stores what is newly known of a passkey that is refused, and the answer that told it: no session comes of
	// it, and it is not counted as a use. It fails as UsePasskey does.
	FlagPasskey(ctx context.Context, u *mapdata.PasskeyUse, audit mapdata.AuditEntry) error
	// RenamePasskey gives a passkey of the account another name, or fails with mapdata.ErrNotFound.
	RenamePasskey(ctx context.Context, account mapdata.AccountID, id, name string) error
	// DeletePasskey removes a passkey of the account, or fails with mapdata.ErrNotFound.
	DeletePasskey(ctx context.Context, account mapdata.AccountID, id string, audit mapdata.AuditEntry) error

	// Session finds a session and its account by the token's hash, or fails with mapdata.ErrNotFound.
	Session(ctx context.Context, tokenHash []byte) (*mapdata.Session, *mapdata.Account, error)
}
