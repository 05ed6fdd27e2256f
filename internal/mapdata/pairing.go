package mapdata

import "time"

// Pairing is one screen that asks to be signed in by a phone (D11.3).
type Pairing struct {
	ID         int64
	DeviceHash []byte // SHA-256 of the secret that the screen keeps
	Name       string // the first letters of the code, by which a wrong code finds the pairing that it was tried at
	CodeHash   []byte // of the whole code
	Agent      string // User-Agent of the screen, at most 200 characters
	CreatedAt  time.Time
	ExpiresAt  time.Time // from then on it counts no more
	State      PairingState
	Account    AccountID // who answered; zero: nobody yet
	Tries      int       // wrong codes that began with its name while it waited
}

// PairingState is how far a pairing is.
type PairingState string

// The states of a pairing.
const (
	PairingWaiting  PairingState = "pending"
	PairingApproved PairingState = "approved"
	PairingDenied   PairingState = "denied"
	PairingUsed     PairingState = "used"    // the screen has its session
	PairingOver     PairingState = "expired" // too late, tried too often or never there; it is not stored
)

// At gives the state that counts at now, where maxTries wrong codes end a pairing that waits.
func (p *Pairing) At(now time.Time, maxTries int) PairingState {
	if !now.Before(p.ExpiresAt) || p.State == PairingWaiting && p.Tries >= maxTries {
		return PairingOver
	}
	return p.State
}
