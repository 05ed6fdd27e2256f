package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wayside/internal/ground/mapdata"
)

// Limits of a pairing (D11.3).
const (
	pairingTTL      = 10 * time.Minute
	maxPairingTries = 5
	maxCodeDraws    = 5 // attempts to draw a code that is not in use
)

// PairingBegun is the result of BeginPairing, for the screen.
type PairingBegun struct {
	Code      UserCode // shown on the screen
	Secret    string   // kept by the screen; not stored
	ExpiresAt time.Time
}

// BeginPairing starts a pairing, by which a phone signs in a screen. agent is the screen's User-Agent, which is shown on the
// phone and in the list of sessions.
func (s *Service) BeginPairing(ctx context.Context, agent string) (*PairingBegun, error) {
	now := s.now()
	for range maxCodeDraws {
		code, err := newUserCode()
		if err != nil {
			return nil, err
		}
		secret := newSecret()
		hash, _ := secretHash(secret)
		p := &mapdata.Pairing{
			DeviceHash: hash[:], Name: code.name(), CodeHash: s.userCodeHash(code), Agent: clean(agent, maxAgentLength),
			CreatedAt: now, ExpiresAt: now.Add(pairingTTL), State: mapdata.PairingWaiting,
		}
		err = s.store.CreatePairing(ctx, p)
		if errors.Is(err, mapdata.ErrConflict) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("store pairing: %w", err)
		}
		return &PairingBegun{Code: code, Secret: secret, ExpiresAt: p.ExpiresAt}, nil
	}
	return nil, mapdata.Describe(mapdata.ErrUnavailable, "No code is free just now. Try again.")
}

// PollPairing returns the state of the screen's pairing. The first poll after the approval signs the screen in, with a
// session of the scope mapdata.ScopeScreen in place of the screen's current one, and e-mails the account; the session is nil
// otherwise.
func (s *Service) PollPairing(ctx context.Context, secret string, from Browser) (*SignedIn, mapdata.PairingState, error) {
	hash, ok := secretHash(secret)
	if !ok {
		return nil, mapdata.PairingOver, nil
	}
	now := s.now()
	p, err := s.store.Pairing(ctx, hash[:])
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil, mapdata.PairingOver, nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("find pairing: %w", err)
	}
	state := p.At(now, maxPairingTries)
	if state != mapdata.PairingApproved {
		return nil, state, nil
	}
	in := s.draftSession(p.Agent, now)
	in.Session.Scope = mapdata.ScopeScreen
	email := &mapdata.Email{
		Kind: mapdata.EmailScreenPaired, Data: map[string]string{"name": DeviceWords(p.Agent)}, At: now, Due: now,
	}
	in.Account, err = s.store.TakePairing(ctx, hash[:], now, in.Session, from.replaces(), email)
	if errors.Is(err, mapdata.ErrNotFound) { // a concurrent poll of the same screen took it
		return nil, mapdata.PairingUsed, nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("take pairing: %w", err)
	}
	s.replaced(from)
	s.mail.Notify()
	return in, mapdata.PairingApproved, nil
}

// FindPairing returns the pairing of a code, for the phone. It changes nothing but the count of wrong codes, and fails with
// mapdata.ErrNotFound for a code that is wrong or expired.
func (s *Service) FindPairing(ctx context.Context, code UserCode) (*mapdata.Pairing, error) {
	p, err := s.store.PairingByCode(ctx, code.name(), s.userCodeHash(code), s.now(), maxPairingTries)
	return p, pairingError("find pairing", err)
}

// AnswerPairing approves or denies a pairing. After an approval the screen's next poll signs it in to the account. The first answer counts;
// repeating it succeeds. It fails with mapdata.ErrNotFound for a code that is wrong or expired, with mapdata.ErrConflict for a pairing that
// was answered differently, and with mapdata.ErrUnauthenticated when the session has ended in the meantime.
func (s *Service) AnswerPairing(ctx context.Context, code UserCode, by *mapdata.Session, approve bool) (*mapdata.Pairing, error) {
	answer := mapdata.PairingAnswer{Account: by.Account, Session: by.ID, State: mapdata.PairingDenied}
	if approve {
		answer.State = mapdata.PairingApproved
	}
	p, err := s.store.AnswerPairing(ctx, code.name(), s.userCodeHash(code), s.now(), maxPairingTries, answer)
	return p, pairingError("answer pairing", err)
}

func pairingError(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, mapdata.ErrNotFound):
		return ErrWrongUserCode()
	case errors.Is(err, mapdata.ErrConflict):
		return mapdata.Describe(mapdata.ErrConflict, "This screen was answered already. If it still asks, let it show a new code.")
	}
	return fmt.Errorf("%s: %w", what, err)
}

// ErrWrongUserCode returns the error for an invalid code; it does not depend on the reason.
func ErrWrongUserCode() error {
	return mapdata.Describe(mapdata.ErrNotFound, "No screen shows this code now: it is mistyped, or older than ten minutes.")
}

// userCodeHash returns the keyed hash under which a screen's code is stored.
func (s *Service) userCodeHash(code UserCode) []byte {
	return s.keyedHash("wayside pairing code\x00" + string(code))
}
