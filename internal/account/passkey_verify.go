package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"wayside/internal/mapdata"
)

// BeginSignIn asks a browser for any passkey of this service: it returns what navigator.credentials.get takes, as JSON. It
// knows nothing of accounts, so it tells nothing of them. It fails with mapdata.ErrConflict when browsers offer no passkeys
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

// SignIn signs in with a passkey; answer is as it came: what PublicKeyCredential.toJSON gives. It fails with
// mapdata.ErrUnauthenticated for all that is wrong with it, in the same words.
func (p *Passkeys) SignIn(ctx context.Context, answer []byte, from Browser) (*SignedIn, error) {
	if err := p.offered(); err != nil {
		return nil, err
	}
	v, err := p.verify(ctx, answer, toSignIn, "", protocol.VerificationPreferred)
	if err != nil {
		return nil, err
	}
	in := p.accounts.draftSession(clean(from.Agent, agentLength), v.use.At)
	in.Account, in.Session.Account = v.account, v.account.ID
	in.Session.ProvedAt = v.use.At
	if v.knewHolder {
		in.Session.PasskeyAt = v.use.At
	}
	v.use.NewSession = in.Session
	if err := p.store.UsePasskey(ctx, v.use); err != nil {
		return nil, useFailed(err)
	}
	return in, nil
}

// BeginConfirming asks a browser for a passkey of the account that is signed in already, one that knows its holder by a
// finger, a face or a PIN. It fails with mapdata.ErrConflict when the account has none, or browsers offer none here.
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

// Confirm notes that the session's holder is there, for Present and MayAdd. It fails with mapdata.ErrForbidden for an answer
// that is not good, or not of a passkey of the session's account.
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
			err = useFailed(err)
		}
		p.accounts.sessions.clear() // it knows of the use
	}
	if errors.Is(err, mapdata.ErrUnauthenticated) { // who asks is signed in all the same
		return mapdata.Describe(mapdata.ErrForbidden, errPasskeyRefused().Error())
	}
	return err
}

// verified is a good answer.
type verified struct {
	account    *mapdata.Account
	use        *mapdata.PasskeyUse // what it is for is not filled in yet
	knewHolder bool                // by a finger, a face or a PIN
}

// verify judges an answer but for whether it was given before. A passkey whose counter went back is refused from then on:
// two devices hold its key.
func (p *Passkeys) verify(
	ctx context.Context, answer []byte, to purpose, session string, user protocol.UserVerificationRequirement,
) (*verified, error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		p.refused(ctx, err)
		return nil, errPasskeyRefused()
	}
	asked := parsed.Response.CollectedClientData.Challenge
	answered, ok := p.accounts.readChallenge(asked, to, session)
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
		p.refused(ctx, err)
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
		return nil, p.copied(ctx, use, account.ID, before.Authenticator.CloneWarning)
	}
	return &verified{account: account, use: use, knewHolder: parsed.Response.AuthenticatorData.Flags.HasUserVerified()}, nil
}

// validate has the library check signature, origin, flags and counter. Devices need not name the holder when they were told
// which passkeys would do.
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

// copied remembers that a passkey is no good any more, and refuses it. An answer that came before has an old counter too, and
// is no copy: the store tells.
func (p *Passkeys) copied(ctx context.Context, use *mapdata.PasskeyUse, account mapdata.AccountID, before bool) error {
	if before {
		return errPasskeyRefused()
	}
	err := p.store.FlagPasskey(ctx, use, p.audit(ctx, mapdata.AuditPasskeyCloned, account, use.Passkey))
	if err != nil {
		return useFailed(err)
	}
	p.accounts.log.Warn("a passkey's counter went back: it is refused from now on, and its holder is told", "account", account)
	return errPasskeyRefused()
}

// useFailed says what a use that was not stored means to who asked: it was one before, or the passkey is gone.
func useFailed(err error) error {
	if errors.Is(err, mapdata.ErrConflict) || errors.Is(err, mapdata.ErrNotFound) {
		return errPasskeyRefused()
	}
	return fmt.Errorf("use passkey: %w", err)
}

func errPasskeyRefused() error {
	return mapdata.Describe(mapdata.ErrUnauthenticated, "This passkey is not known here, or took longer than five minutes. Try again, or ask for a letter.")
}
