package mapdata

import "time"

// PasskeyFresh is for how long a session that used a passkey counts as one whose holder is there (D11.1).
const PasskeyFresh = 10 * time.Minute

// Actions of the audit log about passkeys. The subject is the passkey's ID.
const (
	AuditPasskeyCreate = "passkey.create"
	AuditPasskeyDelete = "passkey.delete"
	AuditPasskeyCloned = "passkey.cloned" // its counter went back: it is refused from now on
)

// Passkey is a key pair whose private half only a person's own device has; it signs in instead of a letter.
type Passkey struct {
	ID           string // public name, for listing and removing
	CredentialID []byte // by which its device knows it; no two passkeys share one
	Account      AccountID
	Name         string // 1 to 100 characters, none of them a control character
	Blob         []byte // what is known of it, as the library that verifies it wrote it; nobody else reads it
	CreatedAt    time.Time
	UsedAt       time.Time // when last used, to the day; zero: never
}

// Challenge is a challenge that was answered: it must not be answered twice.
type Challenge struct {
	Hash      []byte // SHA-256
	ExpiresAt time.Time
}

// PasskeyUse is one use of a passkey that was verified.
type PasskeyUse struct {
	Passkey string // ID
	Was     []byte // blob that it was verified with
	Blob    []byte // as it is now
	At      time.Time
	Day     time.Time // for UsedAt
	Answer  Challenge
	// What the use is for: a new session, or an old one whose holder is there.
	NewSession *Session
	Session    string // ID of a session of the passkey's account; empty: NewSession is stored
}
