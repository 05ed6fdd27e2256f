package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wayside/internal/mapdata"
)

// Limits of a pairing (D11.3).
const (
	pairingLife  = 10 * time.Minute
	pairingTries = 5
	codeDraws    = 5 // until a code is found that nobody else shows
)

// PairingBegun is what the screen that asks is told.
type PairingBegun struct {
	Code      UserCode // to be shown
	Secret    string   // the screen's own; stored nowhere
	ExpiresAt time.Time
}

// BeginPairing lets a screen ask to be signed in by a phone. agent is the screen's User-Agent: the phone is shown it, and
// the session is listed with it.
func (s *Service) BeginPairing(ctx context.Context, agent string) (*PairingBegun, error) {
	now := s.now()
	for range codeDraws {
		code, err := newUserCode()
		if err != nil {
			return nil, err
		}
		secret := newSecret()
		hash, _ := secretHash(secret)
		p := &mapdata.Pairing{
			DeviceHash: hash[:], Name: code.name(), CodeHash: s.userCodeHash(code), Agent: clean(agent, agentLength),
			CreatedAt: now, ExpiresAt: now.Add(pairingLife), State: mapdata.PairingWaiting,
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

// PollPairing tells the screen how far its pairing is. The first time that it is approved, the screen is signed in, once;
// the session is nil otherwise.
func (s *Service) PollPairing(ctx context.Context, secret string) (*SignedIn, mapdata.PairingState, error) {
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
	state := p.At(now, pairingTries)
	if state != mapdata.PairingApproved {
		return nil, state, nil
	}
	in := s.draftSession(p.Agent, now)
	in.Account, err = s.store.TakePairing(ctx, hash[:], now, in.Session)
	if errors.Is(err, mapdata.ErrNotFound) { // another question of the same screen was faster
		return nil, mapdata.PairingUsed, nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("take pairing: %w", err)
	}
	return in, mapdata.PairingApproved, nil
}

// FindPairing shows a phone which screen asks. It changes nothing but the count of wrong codes, and fails with
// mapdata.ErrNotFound for a code that is wrong or too old.
func (s *Service) FindPairing(ctx context.Context, code UserCode) (*mapdata.Pairing, error) {
	p, err := s.store.PairingByCode(ctx, code.name(), s.userCodeHash(code), s.now(), pairingTries)
	return p, pairingError("find pairing", err)
}

// AnswerPairing approves a pairing, or denies it: then the screen is signed in to the account, as soon as it asks, or
// never. An answer counts once; an account that repeats its own is told the same. It fails with mapdata.ErrNotFound for a
// code that is wrong or too old, and with mapdata.ErrConflict where the screen was answered otherwise.
func (s *Service) AnswerPairing(ctx context.Context, code UserCode, id mapdata.AccountID, approve bool) (*mapdata.Pairing, error) {
	answer := mapdata.PairingDenied
	if approve {
		answer = mapdata.PairingApproved
	}
	p, err := s.store.AnswerPairing(ctx, code.name(), s.userCodeHash(code), s.now(), pairingTries, id, answer)
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

// ErrWrongUserCode is what is said of a code that is none: the same, whatever is wrong with it.
func ErrWrongUserCode() error {
	return mapdata.Describe(mapdata.ErrNotFound, "No screen shows this code now: it is mistyped, or older than ten minutes.")
}

// userCodeHash is what is stored of a code that a screen shows.
func (s *Service) userCodeHash(code UserCode) []byte {
	return s.keyed("wayside pairing code\x00" + string(code))
}
