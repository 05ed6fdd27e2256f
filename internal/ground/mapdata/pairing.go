package mapdata

import "time"

// Pairing is a screen's request to be signed in by a phone (D11.3).
type Pairing struct {
	ID         int64
	DeviceHash []byte // SHA-256 of the secret that the screen keeps
	Name       string // the first letters of the code; a wrong code is counted against the pairing with its name
	CodeHash   []byte // of the whole code
	Agent      string // User-Agent of the screen, at most 200 characters
	CreatedAt  time.Time
	ExpiresAt  time.Time // invalid from then on
	State      PairingState
	Account    AccountID // the account that answered; zero: not answered
	Tries      int       // wrong codes with its name while it was pending
}

// PairingAnswer is the answer of an account that approves or denies a pairing.
type PairingAnswer struct {
	Account AccountID
	Session string // ID of the session of the answer, which must not have ended in the meantime; empty: not checked
	State   PairingState
}

// PairingState is the state of a pairing.
type PairingState string

// The states of a pairing.
const (
	PairingWaiting  PairingState = "pending"
	PairingApproved PairingState = "approved"
	PairingDenied   PairingState = "denied"
	PairingUsed     PairingState = "used"    // the screen has its session
	PairingOver     PairingState = "expired" // expired, tried too often, or unknown; it is not stored
)

// At returns the state at now; maxTries wrong codes end a pending pairing.
func (p *Pairing) At(now time.Time, maxTries int) PairingState {
	if !now.Before(p.ExpiresAt) || p.State == PairingWaiting && p.Tries >= maxTries {
		return PairingOver
	}
	return p.State
}
