package account

import (
	"context"
	"time"

	"wayside/internal/mapdata"
)

// Store keeps accounts and what lets people in. Hashes are SHA-256; no secret is stored in clear.
type Store interface {
	// CreateAccount stores an account, or fails with mapdata.ErrConflict when the address has one.
	CreateAccount(ctx context.Context, a *mapdata.Account) error
	Account(ctx context.Context, id mapdata.AccountID) (*mapdata.Account, error)
	AccountByEmail(ctx context.Context, email string) (*mapdata.Account, error)
	Accounts(ctx context.Context) ([]mapdata.Account, error)
	// UpdateAccount stores role and tier.
	UpdateAccount(ctx context.Context, a *mapdata.Account, audit mapdata.AuditEntry) error
	// SetLanguage stores what an account's pages and letters are written in, or fails with mapdata.ErrNotFound.
	SetLanguage(ctx context.Context, account mapdata.AccountID, language mapdata.Language) error

	// CreateSignIn stores a waiting sign-in together with its letter (nil: the link is handed out otherwise), unless limit
	// sign-ins of the address were made since the given time; it then stores nothing and reports false. The letter goes to
	// the sign-in's address, which may have no account yet.
	CreateSignIn(ctx context.Context, s *mapdata.SignIn, letter *mapdata.Letter, since time.Time, limit int) (bool, error)
	// TakeSignIn removes and returns the unexpired sign-in with this token hash (one use), or fails with
	// mapdata.ErrNotFound.
	TakeSignIn(ctx context.Context, tokenHash []byte, now time.Time) (*mapdata.SignIn, error)
	// TakeSignInByCode removes and returns the address's unexpired sign-in with this code hash. A wrong code counts one
	// try on every waiting sign-in of the address; one with maxTries wrong tries no longer matches. Fails with
	// mapdata.ErrNotFound.
	TakeSignInByCode(ctx context.Context, email string, codeHash []byte, now time.Time, maxTries int) (*mapdata.SignIn, error)

	CreateSession(ctx context.Context, s *mapdata.Session) error
	// Session finds a session and its account by the token's hash, or fails with mapdata.ErrNotFound.
	Session(ctx context.Context, tokenHash []byte) (*mapdata.Session, *mapdata.Account, error)
	TouchSession(ctx context.Context, id string, at time.Time) error
	Sessions(ctx context.Context, account mapdata.AccountID) ([]mapdata.Session, error)
	// DeleteSession ends a session of the account, or fails with mapdata.ErrNotFound.
	DeleteSession(ctx context.Context, account mapdata.AccountID, id string) error

	// CreateAPIToken stores a token and the letter that tells its account of it (nil: none), both or neither.
	CreateAPIToken(ctx context.Context, t *mapdata.APIToken, audit mapdata.AuditEntry, letter *mapdata.Letter) error
	APIToken(ctx context.Context, tokenHash []byte) (*mapdata.APIToken, *mapdata.Account, error)
	TouchAPIToken(ctx context.Context, id string, at time.Time) error
	APITokens(ctx context.Context, account mapdata.AccountID) ([]mapdata.APIToken, error)
	// DeleteAPIToken revokes a token of the account, or fails with mapdata.ErrNotFound.
	DeleteAPIToken(ctx context.Context, account mapdata.AccountID, id string, audit mapdata.AuditEntry) error

	// CreatePairing stores a pairing that waits, and sets its ID. It fails with mapdata.ErrConflict when the secret or the
	// code is another's.
	CreatePairing(ctx context.Context, p *mapdata.Pairing) error
	// Pairing finds a pairing by the hash of its secret, whatever its state, or fails with mapdata.ErrNotFound.
	Pairing(ctx context.Context, deviceHash []byte) (*mapdata.Pairing, error)
	// PairingByCode finds an unexpired pairing by the hash of its code; one that waits and had maxTries wrong tries no
	// longer matches. A code that matches nothing counts one try on every waiting pairing of the name. Fails with
	// mapdata.ErrNotFound.
	PairingByCode(ctx context.Context, name string, codeHash []byte, now time.Time, maxTries int) (*mapdata.Pairing, error)
	// AnswerPairing has the account approve or deny a pairing that waits, found as by PairingByCode. Whoever repeats an
	// answer of their own is told the same again. It fails with mapdata.ErrNotFound, or with mapdata.ErrConflict when it
	// was answered otherwise.
	AnswerPairing(ctx context.Context, name string, codeHash []byte, now time.Time, maxTries int,
		account mapdata.AccountID, answer mapdata.PairingState) (*mapdata.Pairing, error)
	// TakePairing uses up the approved, unexpired pairing of the secret and stores the session as its account's, both or
	// neither; it sets the session's account, and returns it. Fails with mapdata.ErrNotFound.
	TakePairing(ctx context.Context, deviceHash []byte, now time.Time, s *mapdata.Session) (*mapdata.Account, error)

	// Preferences reads what the account chose; all nil where nothing was stored.
	Preferences(ctx context.Context, account mapdata.AccountID) (*mapdata.Preferences, error)
	// SetPreferences stores what the account chose in place of all that it chose before, or fails with mapdata.ErrNotFound
	// when there is no such account.
	SetPreferences(ctx context.Context, account mapdata.AccountID, p *mapdata.Preferences) error

	// Ballots lists the votes that are still tied to the account (D9.7), oldest first.
	Ballots(ctx context.Context, account mapdata.AccountID) ([]mapdata.Ballot, error)
	// Audit reads entries of the audit log, newest first.
	Audit(ctx context.Context, q *mapdata.AuditQuery) ([]mapdata.AuditRecord, error)
	// DeleteAccount forgets an account, in one transaction: its sessions, API tokens, pairings, preferences and letters, the
	// sign-ins and letters that wait for its address, and its feeds with their layers and entities, of which followers are
	// told. Its votes stay, severed. It fails with mapdata.ErrNotFound.
	DeleteAccount(ctx context.Context, id mapdata.AccountID, audit mapdata.AuditEntry) error
}
