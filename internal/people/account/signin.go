package account

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
)

// Limits of a sign-in (D11.1).
const (
	signInTTL        = 10 * time.Minute
	maxCodeTries     = 5
	maxEmailsPerHour = 3
)

// Browser describes the client that signs in.
type Browser struct {
	Session  *mapdata.Session // the browser's current one, which a sign-in ends; nil: none
	Secret   string           // result of RequestSignIn, kept by the browser; empty: it requested no e-mail
	Agent    string           // User-Agent, for the list of sessions
	Language mapdata.Language // requested language; empty if none is supported. An account without a language gets it.
}

// replaces returns the id of the session that a sign-in ends; empty: none.
func (b Browser) replaces() string {
	if b.Session == nil {
		return ""
	}
	return b.Session.ID
}

// SignedIn is the result of a sign-in.
type SignedIn struct {
	Account *mapdata.Account
	Session *mapdata.Session
	Secret  string // the cookie's value; not stored
}

// SecretTTL is how long a browser keeps the secret that RequestSignIn returns.
const SecretTTL = signInTTL

// RequestSignIn queues an e-mail with a link and a code to the address, unless three were queued within the hour. It does not look up the
// account, so that work and result do not reveal whether it exists. The code works only with the secret that is returned for the browser to
// keep; a browser that has a secret already keeps it, so that every code that it requested works (D11.10). The e-mail is written in the
// account's language, or else in the browser's. It fails with a mapdata.InvalidError for an invalid address.
func (s *Service) RequestSignIn(ctx context.Context, email string, from Browser) (browserSecret string, err error) {
	address, err := mapdata.ParseEmail(email)
	if err != nil {
		return "", err
	}
	code, err := newCode()
	if err != nil {
		return "", err
	}
	browserSecret = from.Secret
	browserHash, ok := secretHash(browserSecret)
	if !ok {
		browserSecret = newSecret()
		browserHash, _ = secretHash(browserSecret)
	}
	now := s.now()
	signIn, token := s.newSignIn(address, code, now)
	signIn.Browser = browserHash[:]
	message := &mapdata.Email{
		Kind: mapdata.EmailSignIn, Data: map[string]string{"token": token, "code": code}, At: now, Due: now, Address: address,
		Language: from.Language,
	}
	// Reaching the limit is not an error, so that it reveals nothing about the address.
	stored, err := s.store.CreateSignIn(ctx, signIn, message, now.Add(-time.Hour), maxEmailsPerHour)
	if err != nil {
		return "", fmt.Errorf("store sign-in: %w", err)
	}
	if stored {
		s.mail.Notify()
	}
	return browserSecret, nil
}

// newSignIn creates a pending sign-in and its link's token. With an empty code it works only by the link.
func (s *Service) newSignIn(address, code string, now time.Time) (_ *mapdata.SignIn, token string) {
	token = newSecret()
	hash, _ := secretHash(token)
	if code == "" {
		code = newSecret() // cannot be guessed
	}
	return &mapdata.SignIn{
		TokenHash: hash[:], Email: address, CodeHash: s.codeHash(address, code), CreatedAt: now, ExpiresAt: now.Add(signInTTL),
	}, token
}

// newCode draws a code of eight digits.
func newCode() (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(100_000_000))
	if err != nil {
		return "", fmt.Errorf("draw code: %w", err)
	}
	return fmt.Sprintf("%08d", n), nil
}

// VerifyToken signs in with the token of an e-mailed link, once. It fails with mapdata.ErrUnauthenticated.
func (s *Service) VerifyToken(ctx context.Context, token string, from Browser) (*SignedIn, error) {
	hash, ok := secretHash(token)
	if !ok {
		return nil, errBadLink()
	}
	signIn, err := s.store.TakeSignIn(ctx, hash[:], s.now())
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil, errBadLink()
	}
	if err != nil {
		return nil, fmt.Errorf("take sign-in by link: %w", err)
	}
	return s.signIn(ctx, signIn.Email, from)
}

// VerifyCode signs in with the address and an e-mailed code, once, in the browser that requested it; spaces and hyphens in the code are
// ignored. After five wrong codes the codes that the browser requested are invalid, and only their links work. It fails with
// mapdata.ErrUnauthenticated.
func (s *Service) VerifyCode(ctx context.Context, email, code string, from Browser) (*SignedIn, error) {
	address, err := mapdata.ParseEmail(email)
	if err != nil {
		return nil, errBadCode()
	}
	code = strings.NewReplacer(" ", "", "-", "").Replace(code)
	browser, _ := secretHash(from.Secret) // without a secret, nothing has the zero hash
	signIn, err := s.store.TakeSignInByCode(ctx, address, s.codeHash(address, code), browser[:], s.now(), maxCodeTries)
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil, errBadCode()
	}
	if err != nil {
		return nil, fmt.Errorf("take sign-in by code: %w", err)
	}
	return s.signIn(ctx, signIn.Email, from)
}

func errBadLink() error {
	return mapdata.Describe(mapdata.ErrUnauthenticated, "This link is wrong, used or older than ten minutes. Ask for a new one.")
}

func errBadCode() error {
	return mapdata.Describe(mapdata.ErrUnauthenticated, "This code is wrong, used, older than ten minutes, or another browser asked for it. After five wrong codes a new one is needed.")
}

// signIn creates the address's account, if it is new, and a session.
func (s *Service) signIn(ctx context.Context, address string, from Browser) (*SignedIn, error) {
	account, err := s.store.AccountByEmail(ctx, address)
	if errors.Is(err, mapdata.ErrNotFound) {
		account, err = s.create(ctx, address, from.Language)
	}
	if errors.Is(err, mapdata.ErrConflict) { // created by a concurrent sign-in
		account, err = s.store.AccountByEmail(ctx, address)
	}
	if err != nil {
		return nil, fmt.Errorf("find account: %w", err)
	}
	if account, err = s.setInitialLanguage(ctx, account, from.Language); err != nil {
		return nil, err
	}
	return s.newSession(ctx, account, from)
}

// LoginLink creates a sign-in without an e-mail and returns its token for VerifyToken: for operators, when mail does not
// work. It fails with mapdata.ErrNotFound.
func (s *Service) LoginLink(ctx context.Context, email string) (token string, err error) {
	account, err := s.byEmail(ctx, email)
	if err != nil {
		return "", err
	}
	now := s.now()
	signIn, token := s.newSignIn(account.Email, "", now)
	if _, err := s.store.CreateSignIn(ctx, signIn, nil, now, math.MaxInt32); err != nil {
		return "", fmt.Errorf("store sign-in: %w", err)
	}
	return token, nil
}
