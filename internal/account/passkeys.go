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

	"wayside/internal/mapdata"
)

// passkeysPerAccount is how many an account may have.
const passkeysPerAccount = 20

// PasskeyConfig is what Passkeys needs.
type PasskeyConfig struct {
	Accounts *Service // whose key, clock and log it uses
	Store    PasskeyStore
	BaseURL  string // public address: passkeys are tied to its host, and are good for pages from there alone
}

// Passkeys is the use case of those who sign in without a letter (D11.1). Its methods may be called from many goroutines. A
// nil one offers none.
type Passkeys struct {
	accounts *Service
	store    PasskeyStore
	web      *webauthn.WebAuthn // nil: browsers offer no passkeys at the public address
}

// NewPasskeys makes the use case.
func NewPasskeys(c PasskeyConfig) (*Passkeys, error) {
	p := &Passkeys{accounts: c.Accounts, store: c.Store}
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
		// Managers of passwords tell more than they were asked; nothing here depends on it.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return nil, fmt.Errorf("passkeys: %w", err)
	}
	return p, nil
}

// offersPasskeys says whether browsers offer passkeys at an address: they take no plain http but from this computer, and no
// address without a name.
func offersPasskeys(base *url.URL) bool {
	host := base.Hostname()
	if net.ParseIP(host) != nil || protocol.ValidateRPID(host) != nil {
		return false
	}
	return base.Scheme == "https" || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// Offered says whether browsers offer passkeys at the public address.
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
	Copied bool // its counter went back: somebody may have a copy, and it is refused
}

// List gives the account's passkeys, oldest first.
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

// Find gives a passkey of the account. It fails with mapdata.ErrNotFound.
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

// Rename gives a passkey of the account another name. It fails with mapdata.ErrNotFound, or with a mapdata.InvalidError for
// a name of none or more than 100 characters, or one with control characters.
func (p *Passkeys) Rename(ctx context.Context, id mapdata.AccountID, passkey, name string) error {
	name, err := checkName(name)
	if err != nil {
		return err
	}
	if err := p.store.RenamePasskey(ctx, id, passkey, name); err != nil {
		return fmt.Errorf("rename passkey: %w", err)
	}
	return nil
}

// Remove forgets a passkey of the account. Who signed in with it stays signed in. It fails with mapdata.ErrNotFound.
func (p *Passkeys) Remove(ctx context.Context, id mapdata.AccountID, passkey string) error {
	if err := p.store.DeletePasskey(ctx, id, passkey, p.audit(ctx, mapdata.AuditPasskeyDelete, id, passkey)); err != nil {
		return fmt.Errorf("remove passkey: %w", err)
	}
	return nil
}

func (p *Passkeys) audit(ctx context.Context, action string, id mapdata.AccountID, passkey string) mapdata.AuditEntry {
	return mapdata.AuditEntry{At: p.accounts.now(), Actor: id, Via: mapdata.ViaOf(ctx), Action: action, Subject: passkey}
}

// Present says whether the session used a passkey that knew its holder within the last mapdata.PasskeyFresh: decisions of
// curators may need that (D11.1). What this node does not know yet, it asks the store.
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

func fresh(at, now time.Time) bool { return !at.IsZero() && now.Sub(at) < mapdata.PasskeyFresh }

// holder is an account as the library wants it, with those of its passkeys that matter.
type holder struct {
	account     *mapdata.Account
	credentials []webauthn.Credential
}

// WebAuthnID is what devices know the account by: its id says nothing of a person.
func (h *holder) WebAuthnID() []byte { return h.account.ID[:] }

// WebAuthnName is what devices show.
func (h *holder) WebAuthnName() string { return h.account.Email }

// WebAuthnDisplayName is what devices show besides.
func (h *holder) WebAuthnDisplayName() string { return h.account.Email }

// WebAuthnCredentials are its passkeys.
func (h *holder) WebAuthnCredentials() []webauthn.Credential { return h.credentials }

// descriptors name the account's passkeys to a device.
func (h *holder) descriptors() []protocol.CredentialDescriptor {
	all := make([]protocol.CredentialDescriptor, len(h.credentials))
	for i := range h.credentials {
		all[i] = h.credentials[i].Descriptor()
	}
	return all
}

// holder reads an account's passkeys. Those that may have been copied are no use to it.
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

// credentialOf reads what is known of a passkey.
func credentialOf(p *mapdata.Passkey) (*webauthn.Credential, error) {
	var known webauthn.Credential
	if err := json.Unmarshal(p.Blob, &known); err != nil {
		return nil, fmt.Errorf("read passkey: %w", err)
	}
	return &known, nil
}

// refused tells whoever looks for it why an answer was not taken; the person is told less.
func (p *Passkeys) refused(ctx context.Context, err error) {
	reason := "unreadable"
	var known *protocol.Error
	if errors.As(err, &known) {
		reason = known.Details
	}
	p.accounts.log.LogAttrs(ctx, slog.LevelDebug, "passkey refused", slog.String("reason", reason))
}
