package mapdata

import "time"

// PasskeyFresh is how long the use of a passkey counts as a confirmation of the session (D11.1).
const PasskeyFresh = 10 * time.Minute

// Actions of the audit log about passkeys. The subject is the passkey's ID.
const (
	AuditPasskeyCreate = "passkey.create"
	AuditPasskeyDelete = "passkey.delete"
	AuditPasskeyCloned = "passkey.cloned" // its counter decreased, so that it is refused from then on
)

// Passkey is a credential whose private key only a person's own device has; it replaces the e-mail at sign-in.
type Passkey struct {
	ID           string // public name, for listing and removing
	CredentialID []byte // the authenticator's unique id of the credential
	Account      AccountID
	Name         string // 1 to 100 characters, none of them a control character
	Blob         []byte // record of the library that verifies it; opaque to everything else
	CreatedAt    time.Time
	UsedAt       time.Time // when last used, to the day; zero: never
}

// Challenge is an answered challenge. It is stored so that it cannot be answered again.
type Challenge struct {
	Hash      []byte // SHA-256
	ExpiresAt time.Time
}

// PasskeyUse is one verified use of a passkey.
type PasskeyUse struct {
	Passkey string // ID
	Was     []byte // blob before the use
	Blob    []byte // blob after the use
	At      time.Time
	Day     time.Time // for UsedAt
	Answer  Challenge
	// The purpose of the use: a new session, or the confirmation of an existing one.
	NewSession *Session
	Replaces   string // ID of the session that NewSession replaces; empty: none
	Session    string // ID of a session of the passkey's account; empty: NewSession is stored
}
