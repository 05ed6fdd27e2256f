package mapdata

import "time"

// EmailChangeTTL is the time within which both addresses must confirm the change of an account's address.
const EmailChangeTTL = 24 * time.Hour

// EmailChange is the change of an account's e-mail address, which takes place once the old and the new address have
// confirmed it.
type EmailChange struct {
	Account   AccountID
	Email     string // the new address; lower case; never logged
	OldHash   []byte // SHA-256 of the token that was sent to the account's address
	NewHash   []byte // SHA-256 of the token that was sent to the new address
	CreatedAt time.Time
	ExpiresAt time.Time
}

// EmailChangeStep is the result of a confirmation.
type EmailChangeStep struct {
	Done  bool   // both addresses have confirmed: the account has the new one
	ByNew bool   // the new address confirmed, otherwise the old one
	Email string // the new address
}
