package account

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

// Store persists accounts and their credentials. Hashes are SHA-256; no secret is stored in clear.
type Store interface {
	// CreateAccount stores an account, or fails with mapdata.ErrConflict when the address has one.
	CreateAccount(ctx context.Context, a *mapdata.Account) error
	Account(ctx context.Context, id mapdata.AccountID) (*mapdata.Account, error)
	AccountByEmail(ctx context.Context, email string) (*mapdata.Account, error)
	Accounts(ctx context.Context) ([]mapdata.Account, error)
	// UpdateAccount stores role and tier, and ends the account's approvals of screens that have not signed in yet.
	UpdateAccount(ctx context.Context, a *mapdata.Account, audit mapdata.AuditEntry) error
	// SetLanguage stores the language of an account's pages and e-mails, or fails with mapdata.ErrNotFound.
	SetLanguage(ctx context.Context, account mapdata.AccountID, language mapdata.Language) error
	// SetPublicName stores the name of an account in the catalogue of apps, or fails with mapdata.ErrNotFound.
	SetPublicName(ctx context.Context, account mapdata.AccountID, name string) error

	// EndSessions ends one session of the account, or with an empty id all of them, and approvals of screens that have not signed in yet;
	// it returns how many sessions it ended. It fails with mapdata.ErrNotFound where the account has no such session.
	EndSessions(ctx context.Context, account mapdata.AccountID, id string, audit mapdata.AuditEntry) (int, error)
	// ChangeEmail changes the address of an account and ends the old one's pending sign-ins. It fails with mapdata.ErrNotFound, or with
	// mapdata.ErrConflict when the new address has an account.
	ChangeEmail(ctx context.Context, account mapdata.AccountID, email string, audit mapdata.AuditEntry) error
	// RequestEmailChange stores a change of an account's address with the e-mails to both addresses, and ends the account's previous
	// change. If limit changes of the account, or to the address, were stored since the given time, it stores nothing and returns false. It
	// does not check whether the new address has an account. It fails with mapdata.ErrNotFound.
	RequestEmailChange(ctx context.Context, c *mapdata.EmailChange, emails []mapdata.Email, since time.Time, limit int) (bool, error)
	// EmailChange returns the account's change that waits for a confirmation, or fails with mapdata.ErrNotFound.
	EmailChange(ctx context.Context, account mapdata.AccountID, now time.Time) (*mapdata.EmailChange, error)
	// ConfirmEmailChange records that the address with this token confirms its change, which takes effect when both have; the store sets
	// actor, subject and owner of the entry of the audit log. It fails with mapdata.ErrNotFound, or with mapdata.ErrConflict when the new
	// address confirms and has an account, or got one before the last confirmation; the step then states who confirmed.
	ConfirmEmailChange(ctx context.Context, tokenHash []byte, now time.Time, audit mapdata.AuditEntry) (mapdata.EmailChangeStep, error)
	// SuspendAccount ends an account's sessions and pairings and pauses its feeds, in one transaction, with the entries and e-mails of
	// side. Until ResumeAccount none of its sessions and API tokens is found, and CreateSession and its like fail with
	// mapdata.ErrForbidden. It fails with mapdata.ErrNotFound, and with mapdata.ErrConflict for an account that is suspended.
	SuspendAccount(ctx context.Context, id mapdata.AccountID, s mapdata.Suspension, side mapdata.Side) error
	// ResumeAccount ends a suspension and the pauses that it caused. It fails with mapdata.ErrNotFound, and with
	// mapdata.ErrConflict for an account that is not suspended.
	ResumeAccount(ctx context.Context, id mapdata.AccountID, side mapdata.Side) error

	// CreateSignIn stores a pending sign-in together with its e-mail (nil: the link is delivered otherwise). If limit sign-ins of the
	// address were created since the given time, it stores nothing and returns false. The e-mail goes to the sign-in's address, which may
	// have no account yet.
	CreateSignIn(ctx context.Context, s *mapdata.SignIn, email *mapdata.Email, since time.Time, limit int) (bool, error)
	// TakeSignIn removes and returns the unexpired sign-in with this token hash (one use), and uses up the others of its address (D11.10).
	// It fails with mapdata.ErrNotFound.
	TakeSignIn(ctx context.Context, tokenHash []byte, now time.Time) (*mapdata.SignIn, error)
	// TakeSignInByCode removes and returns the address's unexpired sign-in with this code hash that the browser requested, and uses up the
	// others of the address. A wrong code counts one try on every pending sign-in of the address that the browser requested; one with
	// maxTries wrong tries no longer matches. It fails with mapdata.ErrNotFound.
	TakeSignInByCode(ctx context.Context, email string, codeHash, browserHash []byte, now time.Time, maxTries int) (*mapdata.SignIn, error)

	// CreateSession stores a session and ends the one that it replaces (its id; empty: none) with that account's approvals of
	// screens, in one transaction.
	CreateSession(ctx context.Context, s *mapdata.Session, replaces string) error
	// Session returns a session and its account by the token's hash, or fails with mapdata.ErrNotFound.
	Session(ctx context.Context, tokenHash []byte) (*mapdata.Session, *mapdata.Account, error)
	TouchSession(ctx context.Context, id string, at time.Time) error
	Sessions(ctx context.Context, account mapdata.AccountID) ([]mapdata.Session, error)
	// DeleteSession ends a session of the account, and its approvals of screens that have not signed in yet. It fails with
	// mapdata.ErrNotFound.
	DeleteSession(ctx context.Context, account mapdata.AccountID, id string) error
	// DeleteOtherSessions ends all sessions of the account but one, and its approvals of screens that have not signed in yet.
	DeleteOtherSessions(ctx context.Context, account mapdata.AccountID, but string) error

	// CreateAPIToken stores a token and the e-mail to its account (nil: none) in one transaction.
	CreateAPIToken(ctx context.Context, t *mapdata.APIToken, audit mapdata.AuditEntry, email *mapdata.Email) error
	APIToken(ctx context.Context, tokenHash []byte) (*mapdata.APIToken, *mapdata.Account, error)
	TouchAPIToken(ctx context.Context, id string, at time.Time) error
	APITokens(ctx context.Context, account mapdata.AccountID) ([]mapdata.APIToken, error)
	// DeleteAPIToken revokes a token of the account, or fails with mapdata.ErrNotFound.
	DeleteAPIToken(ctx context.Context, account mapdata.AccountID, id string, audit mapdata.AuditEntry) error

	// CreatePairing stores a pending pairing and sets its ID. It fails with mapdata.ErrConflict when the secret or the code is
	// in use.
	CreatePairing(ctx context.Context, p *mapdata.Pairing) error
	// Pairing returns the pairing with the hash of its secret, whatever its state, or fails with mapdata.ErrNotFound.
	Pairing(ctx context.Context, deviceHash []byte) (*mapdata.Pairing, error)
	// PairingByCode returns the unexpired pairing with the hash of its code; a pending one with maxTries wrong tries no longer matches. A
	// code without a match counts one try on every pending pairing of the name. It fails with mapdata.ErrNotFound.
	PairingByCode(ctx context.Context, name string, codeHash []byte, now time.Time, maxTries int) (*mapdata.Pairing, error)
	// AnswerPairing stores the account's approval or denial of a pending pairing, found as by PairingByCode. Repeating the
	// same answer succeeds. It fails with mapdata.ErrNotFound, with mapdata.ErrConflict when the pairing was answered
	// differently, or with mapdata.ErrUnauthenticated when the session of the answer has ended.
	AnswerPairing(ctx context.Context, name string, codeHash []byte, now time.Time, maxTries int,
		by mapdata.PairingAnswer) (*mapdata.Pairing, error)
	// TakePairing marks the approved, unexpired pairing of the secret as used, stores the session of its account, ends the session that it
	// replaces (its id; empty: none) and stores the e-mail to the account, in one transaction; it sets the session's account, and returns
	// it. It fails with mapdata.ErrNotFound.
	TakePairing(ctx context.Context, deviceHash []byte, now time.Time, s *mapdata.Session, replaces string,
		email *mapdata.Email) (*mapdata.Account, error)

	// Preferences returns the account's preferences; fields that were never set are nil.
	Preferences(ctx context.Context, account mapdata.AccountID) (*mapdata.Preferences, error)
	// SetPreferences replaces the account's preferences, or fails with mapdata.ErrNotFound when the account does not exist.
	SetPreferences(ctx context.Context, account mapdata.AccountID, p *mapdata.Preferences) error

	// SavedPlaces returns the sealed places of the account; nil: none.
	SavedPlaces(ctx context.Context, account mapdata.AccountID) ([]byte, error)
	// SetSavedPlaces replaces the sealed places, or fails with mapdata.ErrNotFound when the account does not exist.
	SetSavedPlaces(ctx context.Context, account mapdata.AccountID, sealed []byte) error
	// DeleteSavedPlaces deletes the sealed places, also from the database's files.
	DeleteSavedPlaces(ctx context.Context, account mapdata.AccountID) error

	// ReviewEmails reports whether the account gets e-mails about feeds that wait for review, should it be a curator's.
	ReviewEmails(ctx context.Context, account mapdata.AccountID) (bool, error)
	// SetReviewEmails turns these e-mails on or off, or fails with mapdata.ErrNotFound.
	SetReviewEmails(ctx context.Context, account mapdata.AccountID, on bool) error

	// Ballots lists the votes that are still linked to the account (D9.7), oldest first.
	Ballots(ctx context.Context, account mapdata.AccountID) ([]mapdata.Ballot, error)
	// OwnReports lists the reports that are still linked to the account (D17.38), oldest first.
	OwnReports(ctx context.Context, account mapdata.AccountID) ([]mapdata.OwnReport, error)
	// Audit reads entries of the audit log, newest first.
	Audit(ctx context.Context, q *mapdata.AuditQuery) ([]mapdata.AuditRecord, error)
	// DeleteAccount deletes an account in one transaction: its sessions, API tokens, pairings, preferences, places and e-mails, the
	// pending sign-ins and e-mails of its address, and its feeds with their layers and entities, which raises the revision.
	// Its votes are kept anonymously. It fails with mapdata.ErrNotFound.
	DeleteAccount(ctx context.Context, id mapdata.AccountID, audit mapdata.AuditEntry) error
}
