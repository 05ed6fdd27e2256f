package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"wayside/internal/ground/mapdata"
)

// maxPasskeys is the limit per account.
const maxPasskeys = 20

// PasskeyConfig holds the dependencies of Passkeys.
type PasskeyConfig struct {
	Accounts *Service // provides key, clock and log
	Store    PasskeyStore
	BaseURL  string // public address: passkeys are bound to its host and origin
	// ForDecisions reports whether a curator's decision requires a recent use of a passkey (D11.1, D11.9).
	ForDecisions bool
}

// Passkeys implements sign-in by passkey (D11.1). Its methods are safe for concurrent use. A nil one offers no passkeys.
type Passkeys struct {
	accounts *Service
	store    PasskeyStore
	required bool               // for decisions
	web      *webauthn.WebAuthn // nil: browsers offer no passkeys at the public address
}

// NewPasskeys creates a Passkeys.
func NewPasskeys(c PasskeyConfig) (*Passkeys, error) {
	p := &Passkeys{accounts: c.Accounts, store: c.Store, required: c.ForDecisions}
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("passkeys: %w", err)
	}
	if !offersPasskeys(base) {
		return p, nil
	}
	p.web, err = webauthn.New(&webauthn.Config{
		RPID: base.Hostname(), RPDisplayName: "Wayside", RPOrigins: []string{c.BaseURL},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: new(true),
			UserVerification: protocol.VerificationPreferred,
		},
		// Password managers return extensions that were not requested; they are ignored.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return nil, fmt.Errorf("passkeys: %w", err)
	}
	return p, nil
}

// offersPasskeys reports whether browsers offer passkeys at an address: they require https, except for localhost, and a host
// name.
func offersPasskeys(base *url.URL) bool {
	host := base.Hostname()
	if net.ParseIP(host) != nil || protocol.ValidateRPID(host) != nil {
		return false
	}
	return base.Scheme == "https" || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// Offered reports whether browsers offer passkeys at the public address.
func (p *Passkeys) Offered() bool { return p != nil && p.web != nil }

func (p *Passkeys) offered() error {
	if !p.Offered() {
		return mapdata.Describe(mapdata.ErrConflict, "Passkeys work at https:// addresses with a name, and at http://localhost.")
	}
	return nil
}

// PasskeyLine is a passkey as its holder sees it.
type PasskeyLine struct {
	mapdata.Passkey
	Copied bool // its signature counter decreased, so it may have been cloned; it is rejected
}

// List returns the account's passkeys, oldest first.
func (p *Passkeys) List(ctx context.Context, id mapdata.AccountID) ([]PasskeyLine, error) {
	if p == nil {
		return nil, nil
	}
	all, err := p.store.Passkeys(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("list passkeys: %w", err)
	}
	lines := make([]PasskeyLine, len(all))
	for i := range all {
		known, err := credentialOf(&all[i])
		if err != nil {
			return nil, err
		}
		lines[i] = PasskeyLine{all[i], known.Authenticator.CloneWarning}
	}
	return lines, nil
}

// Find returns a passkey of the account. It fails with mapdata.ErrNotFound.
func (p *Passkeys) Find(ctx context.Context, id mapdata.AccountID, passkey string) (*PasskeyLine, error) {
	all, err := p.List(ctx, id)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].ID == passkey {
			return &all[i], nil
		}
	}
	return nil, fmt.Errorf("find passkey: %w", mapdata.ErrNotFound)
}

// Rename renames a passkey of the account. It fails with mapdata.ErrNotFound, or with a mapdata.InvalidError for a name that
// is empty, has more than 100 characters or control characters.
func (p *Passkeys) Rename(ctx context.Context, id mapdata.AccountID, passkey, name string) error {
	name, err := parseName(name)
	if err != nil {
		return err
	}
	if err := p.store.RenamePasskey(ctx, id, passkey, name); err != nil {
		return fmt.Errorf("rename passkey: %w", err)
	}
	return nil
}

// Remove deletes a passkey of the account. Sessions that were opened with it stay open. It fails with mapdata.ErrNotFound.
func (p *Passkeys) Remove(ctx context.Context, id mapdata.AccountID, passkey string) error {
	if err := p.store.DeletePasskey(ctx, id, passkey, p.audit(ctx, mapdata.AuditPasskeyDelete, id, passkey)); err != nil {
		return fmt.Errorf("remove passkey: %w", err)
	}
	return nil
}

func (p *Passkeys) audit(ctx context.Context, action string, id mapdata.AccountID, passkey string) mapdata.AuditEntry {
	return mapdata.AuditEntry{At: p.accounts.now(), Actor: id, Via: mapdata.ViaOf(ctx), Action: action, Subject: passkey}
}

// Present reports whether the session used a passkey with user verification within the last mapdata.PasskeyFresh, which
// curators' decisions may require (D11.1). It reads the store if this node does not know of such a use.
func (p *Passkeys) Present(ctx context.Context, s *mapdata.Session) (bool, error) {
	now := p.accounts.now()
	if fresh(s.PasskeyAt, now) {
		return true, nil
	}
	stored, _, err := p.store.Session(ctx, s.TokenHash)
	if errors.Is(err, mapdata.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find session: %w", err)
	}
	return fresh(stored.PasskeyAt, now), nil
}

// AllowDecision fails with mapdata.ErrPasskeyRequired if the operator requires a passkey for curators' decisions and the session
// used none within the last mapdata.PasskeyFresh. Pages and API check it alike (D11.9).
func (p *Passkeys) AllowDecision(ctx context.Context, s *mapdata.Session) error {
	if p == nil || !p.required {
		return nil
	}
	present, err := p.Present(ctx, s)
	if err != nil || present {
		return err
	}
	return mapdata.Explain(mapdata.ErrPasskeyRequired, "passkey_decide",
		"A decision needs a passkey that was used within the last ten minutes: POST /v2/auth/passkey/confirm/begin, then /finish.")
}

func fresh(at, now time.Time) bool { return !at.IsZero() && now.Sub(at) < mapdata.PasskeyFresh }

// holder implements webauthn.User for an account and its usable passkeys.
type holder struct {
	account     *mapdata.Account
	credentials []webauthn.Credential
}

// WebAuthnID returns the user handle on devices: the account's id, which contains no personal data.
func (h *holder) WebAuthnID() []byte { return h.account.ID[:] }

// WebAuthnName returns the account name that devices show.
func (h *holder) WebAuthnName() string { return h.account.Email }

// WebAuthnDisplayName returns the display name that devices show.
func (h *holder) WebAuthnDisplayName() string { return h.account.Email }

// WebAuthnCredentials returns the passkeys.
func (h *holder) WebAuthnCredentials() []webauthn.Credential { return h.credentials }

// descriptors returns the ids of the passkeys, for devices.
func (h *holder) descriptors() []protocol.CredentialDescriptor {
	all := make([]protocol.CredentialDescriptor, len(h.credentials))
	for i := range h.credentials {
		all[i] = h.credentials[i].Descriptor()
	}
	return all
}

// holder reads an account's passkeys, without those that may have been cloned.
func (p *Passkeys) holder(ctx context.Context, a *mapdata.Account) (*holder, error) {
	all, err := p.store.Passkeys(ctx, a.ID)
	if err != nil {
		return nil, fmt.Errorf("list passkeys: %w", err)
	}
	h := &holder{account: a}
	for i := range all {
		known, err := credentialOf(&all[i])
		if err != nil {
			return nil, err
		}
		h.credentials = append(h.credentials, *known)
	}
	return h, nil
}

// credentialOf decodes the stored credential of a passkey.
func credentialOf(p *mapdata.Passkey) (*webauthn.Credential, error) {
	var known webauthn.Credential
	if err := json.Unmarshal(p.Blob, &known); err != nil {
		return nil, fmt.Errorf("read passkey: %w", err)
	}
	return &known, nil
}

// logRejected logs why an answer was rejected, at debug level; the client gets a generic error.
func (p *Passkeys) logRejected(ctx context.Context, err error) {
	reason := "unreadable"
	var known *protocol.Error
	if errors.As(err, &known) {
		reason = known.Details
	}
	p.accounts.log.LogAttrs(ctx, slog.LevelDebug, "passkey refused", slog.String("reason", reason))
}
