package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"wayside/internal/ground/mapdata"
)

// ProofFresh is how long a session may add passkeys after a sign-in by e-mail or passkey. A session that was left open, or
// was obtained by pairing a screen, must not be turned into a permanent credential.
const ProofFresh = 10 * time.Minute

// MayAdd reports whether the session may add a passkey now, without signing in again first.
func (p *Passkeys) MayAdd(s *mapdata.Session) bool {
	return !s.ProvedAt.IsZero() && p.accounts.now().Sub(s.ProvedAt) < ProofFresh
}

// BeginAdding begins the registration of a passkey. It returns the options for navigator.credentials.create, as JSON.
// It fails with mapdata.ErrUnauthenticated when the session's holder must sign in again first, and with
// mapdata.ErrConflict when the account has 20 passkeys, or browsers offer none here.
func (p *Passkeys) BeginAdding(ctx context.Context, s *mapdata.Session, a *mapdata.Account) ([]byte, error) {
	if err := p.offered(); err != nil {
		return nil, err
	}
	if !p.MayAdd(s) {
		return nil, mapdata.Describe(mapdata.ErrUnauthenticated, "Sign in again, or use a passkey, to add a passkey.")
	}
	h, err := p.holder(ctx, a)
	if err != nil {
		return nil, err
	}
	if len(h.credentials) >= maxPasskeys {
		return nil, mapdata.Describe(mapdata.ErrConflict, "An account has at most 20 passkeys. Remove one first.")
	}
	options, _, err := p.web.BeginRegistration(h, webauthn.WithExclusions(h.descriptors()),
		func(o *protocol.PublicKeyCredentialCreationOptions) error {
			o.Challenge = p.accounts.newChallenge(toRegister, s.ID)
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("ask for a passkey: %w", err)
	}
	return json.Marshal(options)
}

// Add stores a new passkey. answer is the JSON of PublicKeyCredential.toJSON. An empty name is derived from agent, the
// browser's User-Agent. The account's holder gets an e-mail. It fails with mapdata.ErrMalformed for an answer that is not
// valid for a challenge of this session, with mapdata.ErrConflict for one that was sent before, and with a
// mapdata.InvalidError for a name of more than 100 characters, or one with control characters.
func (p *Passkeys) Add(
	ctx context.Context, s *mapdata.Session, a *mapdata.Account, name, agent string, answer []byte,
) (*mapdata.Passkey, error) {
	if err := p.offered(); err != nil {
		return nil, err
	}
	if name == "" {
		name = DeviceWords(agent)
	}
	name, err := parseName(name)
	if err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		p.logRejected(ctx, err)
		return nil, errBadPasskey()
	}
	asked := parsed.Response.CollectedClientData.Challenge
	answered, ok := p.accounts.verifyChallenge(asked, toRegister, s.ID)
	if !ok {
		return nil, errBadPasskey()
	}
	known, err := p.web.CreateCredential(&holder{account: a}, webauthn.SessionData{
		Challenge: asked, UserID: a.ID[:], UserVerification: p.web.Config.AuthenticatorSelection.UserVerification,
		CredParams: webauthn.CredentialParametersDefault(),
	}, parsed)
	if err != nil {
		p.logRejected(ctx, err)
		return nil, errBadPasskey()
	}
	blob, err := json.Marshal(known)
	if err != nil {
		return nil, fmt.Errorf("write passkey: %w", err)
	}
	made := &mapdata.Passkey{ID: newID(), CredentialID: known.ID, Account: a.ID, Name: name, Blob: blob, CreatedAt: p.accounts.now()}
	err = p.store.CreatePasskey(ctx, made, answered, p.audit(ctx, mapdata.AuditPasskeyCreate, a.ID, made.ID),
		securityEmail(mapdata.EmailPasskeyAdded, a.ID, made.ID, name, made.CreatedAt))
	if errors.Is(err, mapdata.ErrConflict) {
		return nil, mapdata.Describe(mapdata.ErrConflict, "This passkey was added already.")
	}
	if err != nil {
		return nil, fmt.Errorf("store passkey: %w", err)
	}
	return made, nil
}

func errBadPasskey() error {
	return mapdata.Describe(mapdata.ErrMalformed, "This passkey was not created for this page within the last five minutes. Try again.")
}
