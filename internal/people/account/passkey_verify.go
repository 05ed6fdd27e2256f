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

// BeginSignIn begins a sign-in with any passkey of this service. It returns the options for navigator.credentials.get, as
// JSON, which do not depend on an account and so reveal none. It fails with mapdata.ErrConflict when browsers offer no passkeys
// here.
func (p *Passkeys) BeginSignIn() ([]byte, error) {
	if err := p.offered(); err != nil {
		return nil, err
	}
	options, _, err := p.web.BeginDiscoverableLogin(webauthn.WithChallenge(p.accounts.newChallenge(toSignIn, "")))
	if err != nil {
		return nil, fmt.Errorf("ask for a passkey: %w", err)
	}
	return json.Marshal(options)
}

// SignIn signs in with a passkey; answer is the JSON of PublicKeyCredential.toJSON. It fails with
// mapdata.ErrUnauthenticated and the same message for every invalid answer.
func (p *Passkeys) SignIn(ctx context.Context, answer []byte, from Browser) (*SignedIn, error) {
	if err := p.offered(); err != nil {
		return nil, err
	}
	v, err := p.verify(ctx, answer, toSignIn, "", protocol.VerificationPreferred)
	if err != nil {
		return nil, err
	}
	in := p.accounts.draftSession(clean(from.Agent, maxAgentLength), v.use.At)
	in.Account, in.Session.Account = v.account, v.account.ID
	in.Session.ProvedAt = v.use.At
	if v.userVerified {
		in.Session.PasskeyAt = v.use.At
	}
	v.use.NewSession, v.use.Replaces = in.Session, from.replaces()
	if err := p.store.UsePasskey(ctx, v.use); err != nil {
		return nil, usePasskeyError(err)
	}
	p.accounts.replaced(from)
	return in, nil
}

// BeginConfirming begins a confirmation with a passkey of the signed-in account, with user verification (fingerprint, face or
// PIN). It fails with mapdata.ErrConflict when the account has none, or browsers offer none here.
func (p *Passkeys) BeginConfirming(ctx context.Context, s *mapdata.Session, a *mapdata.Account) ([]byte, error) {
	if err := p.offered(); err != nil {
		return nil, err
	}
	h, err := p.holder(ctx, a)
	if err != nil {
		return nil, err
	}
	if len(h.credentials) == 0 {
		return nil, mapdata.Describe(mapdata.ErrConflict, "This account has no passkey. Add one on the page of your account.")
	}
	options, _, err := p.web.BeginLogin(h,
		webauthn.WithChallenge(p.accounts.newChallenge(toConfirm, s.ID)), webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return nil, fmt.Errorf("ask for a passkey: %w", err)
	}
	return json.Marshal(options)
}

// Confirm records the user's presence in the session, for Present and MayAdd. It fails with mapdata.ErrForbidden for an
// invalid answer, or one of another account's passkey.
func (p *Passkeys) Confirm(ctx context.Context, s *mapdata.Session, answer []byte) error {
	if err := p.offered(); err != nil {
		return err
	}
	v, err := p.verify(ctx, answer, toConfirm, s.ID, protocol.VerificationRequired)
	if err == nil && v.account.ID != s.Account {
		err = errPasskeyRefused()
	}
	if err == nil {
		v.use.Session = s.ID
		if err = p.store.UsePasskey(ctx, v.use); err != nil {
			err = usePasskeyError(err)
		}
		p.accounts.sessions.clear() // drops the session without the use
	}
	if errors.Is(err, mapdata.ErrUnauthenticated) { // the caller is signed in, so it is not an authentication error
		return mapdata.Describe(mapdata.ErrForbidden, errPasskeyRefused().Error())
	}
	return err
}

// verified is the result of a valid answer.
type verified struct {
	account      *mapdata.Account
	use          *mapdata.PasskeyUse // without its effect
	userVerified bool                // by fingerprint, face or PIN
}

// verify validates an answer, except for replays, which the store detects. A passkey whose signature counter decreased is
// rejected from then on, because two devices have its key.
func (p *Passkeys) verify(
	ctx context.Context, answer []byte, to purpose, session string, user protocol.UserVerificationRequirement,
) (*verified, error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		p.logRejected(ctx, err)
		return nil, errPasskeyRefused()
	}
	asked := parsed.Response.CollectedClientData.Challenge
	answered, ok := p.accounts.verifyChallenge(asked, to, session)
	if !ok {
		return nil, errPasskeyRefused()
	}
	stored, account, err := p.store.Passkey(ctx, parsed.RawID)
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil, errPasskeyRefused()
	}
	if err != nil {
		return nil, fmt.Errorf("find passkey: %w", err)
	}
	before, err := credentialOf(stored)
	if err != nil {
		return nil, err
	}
	known, err := p.validate(parsed, &holder{account, []webauthn.Credential{*before}}, webauthn.SessionData{
		Challenge: asked, UserVerification: user,
	})
	if err != nil {
		p.logRejected(ctx, err)
		return nil, errPasskeyRefused()
	}
	blob, err := json.Marshal(known)
	if err != nil {
		return nil, fmt.Errorf("write passkey: %w", err)
	}
	now := p.accounts.now()
	use := &mapdata.PasskeyUse{
		Passkey: stored.ID, Was: stored.Blob, Blob: blob, At: now, Day: now.Truncate(24 * time.Hour), Answer: answered,
	}
	if known.Authenticator.CloneWarning {
		return nil, p.rejectClone(ctx, use, account.ID, before.Authenticator.CloneWarning)
	}
	return &verified{account: account, use: use, userVerified: parsed.Response.AuthenticatorData.Flags.HasUserVerified()}, nil
}

// validate checks signature, origin, flags and counter with the library. Devices may omit the user handle when they were
// given a list of passkeys.
func (p *Passkeys) validate(
	parsed *protocol.ParsedCredentialAssertionData, h *holder, session webauthn.SessionData,
) (*webauthn.Credential, error) {
	if len(parsed.Response.UserHandle) == 0 && session.UserVerification == protocol.VerificationRequired {
		session.UserID = h.WebAuthnID()
		return p.web.ValidateLogin(h, session, parsed)
	}
	_, known, err := p.web.ValidatePasskeyLogin(func([]byte, []byte) (webauthn.User, error) { return h, nil }, session, parsed)
	return known, err
}

// rejectClone flags a passkey as possibly cloned and rejects it. A replayed answer has an old counter too, but does not flag the
// passkey: the store detects the replay.
func (p *Passkeys) rejectClone(ctx context.Context, use *mapdata.PasskeyUse, account mapdata.AccountID, before bool) error {
	if before {
		return errPasskeyRefused()
	}
	err := p.store.FlagPasskey(ctx, use, p.audit(ctx, mapdata.AuditPasskeyCloned, account, use.Passkey))
	if err != nil {
		return usePasskeyError(err)
	}
	p.accounts.log.Warn("a passkey's counter went back: it is refused from now on, and its holder is told", "account", account)
	return errPasskeyRefused()
}

// usePasskeyError maps an error of UsePasskey: a replay or a deleted passkey is a rejected passkey.
func usePasskeyError(err error) error {
	if errors.Is(err, mapdata.ErrConflict) || errors.Is(err, mapdata.ErrNotFound) {
		return errPasskeyRefused()
	}
	return fmt.Errorf("use passkey: %w", err)
}

func errPasskeyRefused() error {
	return mapdata.Describe(mapdata.ErrUnauthenticated, "This passkey is not known here, or took longer than five minutes. Try again, or ask for an e-mail.")
}
