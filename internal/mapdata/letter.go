package mapdata

import "time"

// LetterKind names what an e-mail is about (D11.7).
type LetterKind string

// The letters that the service writes.
const (
	LetterSignIn      LetterKind = "sign_in"
	LetterApproved    LetterKind = "feed_approved"
	LetterRejected    LetterKind = "feed_rejected"
	LetterDeactivated LetterKind = "feed_deactivated"
	LetterShrank      LetterKind = "feed_shrank"

	// What lets somebody in, or read, in an account's name: its holder is told, who may not have made it.
	LetterPasskeyAdded LetterKind = "passkey_added"
	LetterTokenMade    LetterKind = "api_token_made"
)

// Letter is an e-mail that waits to be sent. It is stored in the transaction of what it tells about, and its text is
// made when it leaves.
type Letter struct {
	ID      int64     // given by the store
	Account AccountID // whose address it goes to
	Kind    LetterKind
	Data    map[string]string // what the text needs, by name: feed_name, feed_id, note, code, token, name, made_id, rows, rows_before, …
	At      time.Time
	Tries   int       // failed so far
	Due     time.Time // not to be sent before
	Address string    // resolved by the store when the letter is due; never logged
	// Language is the one that the letter was asked for in; when it is due, the store puts that of the account which has
	// the address in its place, if there is one that has chosen. Empty: nobody knows.
	Language Language
}
