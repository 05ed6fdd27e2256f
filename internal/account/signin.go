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

	"wayside/internal/mapdata"
)

// Limits of a sign-in (D11.1).
const (
	signInLife     = 10 * time.Minute
	codeTries      = 5
	lettersPerHour = 3
)

// Browser is what is known of the client that signs in.
type Browser struct {
	Agent    string           // User-Agent, that the session is listed with
	Language mapdata.Language // that it asks for; empty: none of ours. An account that has no language yet gets it.
}

// SignedIn is what a verified sign-in brings.
type SignedIn struct {
	Account *mapdata.Account
	Session *mapdata.Session
	Secret  string // the cookie's value; stored nowhere
}

// RequestSignIn has a letter with a link and a code sent to the address, unless three were sent within the hour. It does
// the same, and says the same, whether the address has an account or not: it does not look. The letter is written in the
// account's language, or else in the given one (empty: English). It fails with a mapdata.InvalidError when the text is no
// address.
func (s *Service) RequestSignIn(ctx context.Context, email string, language mapdata.Language) error {
	address, err := parseEmail(email)
	if err != nil {
		return err
	}
	code, err := newCode()
	if err != nil {
		return err
	}
	now := s.now()
	signIn, token := s.newSignIn(address, code, now)
	letter := &mapdata.Letter{
		Kind: mapdata.LetterSignIn, Data: map[string]string{"token": token, "code": code}, At: now, Due: now, Address: address,
		Language: language,
	}
	// That the limit is reached is not told either: the letters that were sent say enough to who may know.
	stored, err := s.store.CreateSignIn(ctx, signIn, letter, now.Add(-time.Hour), lettersPerHour)
	if err != nil {
		return fmt.Errorf("store sign-in: %w", err)
	}
	if stored {
		s.mail.Notify()
	}
	return nil
}

// newSignIn makes a waiting sign-in and its link's token. An empty code makes one that only the link opens.
func (s *Service) newSignIn(address, code string, now time.Time) (_ *mapdata.SignIn, token string) {
	token = newSecret()
	hash, _ := secretHash(token)
	if code == "" {
		code = newSecret() // nobody can guess what nobody was told
	}
	return &mapdata.SignIn{
		TokenHash: hash[:], Email: address, CodeHash: s.codeHash(address, code), CreatedAt: now, ExpiresAt: now.Add(signInLife),
	}, token
}

// newCode makes the eight digits of a letter.
func newCode() (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(100_000_000))
	if err != nil {
		return "", fmt.Errorf("draw code: %w", err)
	}
	return fmt.Sprintf("%08d", n), nil
}

// VerifyToken signs in with a letter's link, once. It fails with mapdata.ErrUnauthenticated.
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

// VerifyCode signs in with the address and a letter's code, once; spaces and hyphens in the code do not count. After five
// wrong codes the address's waiting codes are dead, and only their links work. It fails with mapdata.ErrUnauthenticated.
func (s *Service) VerifyCode(ctx context.Context, email, code string, from Browser) (*SignedIn, error) {
	address, err := parseEmail(email)
	if err != nil {
		return nil, errBadCode()
	}
	code = strings.NewReplacer(" ", "", "-", "").Replace(code)
	signIn, err := s.store.TakeSignInByCode(ctx, address, s.codeHash(address, code), s.now(), codeTries)
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
	return mapdata.Describe(mapdata.ErrUnauthenticated, "This code is wrong, used or older than ten minutes. After five wrong codes a new one is needed.")
}

// signIn gives the address its account, if it is new, and a session.
func (s *Service) signIn(ctx context.Context, address string, from Browser) (*SignedIn, error) {
	account, err := s.store.AccountByEmail(ctx, address)
	if errors.Is(err, mapdata.ErrNotFound) {
		account, err = s.create(ctx, address, from.Language)
	}
	if errors.Is(err, mapdata.ErrConflict) { // made by another sign-in of the same moment
		account, err = s.store.AccountByEmail(ctx, address)
	}
	if err != nil {
		return nil, fmt.Errorf("find account: %w", err)
	}
	if account, err = s.learnLanguage(ctx, account, from.Language); err != nil {
		return nil, err
	}
	return s.newSession(ctx, account, from.Agent)
}

// LoginLink makes a sign-in for an account without a letter, and returns the token that VerifyToken takes: for operators,
// where no mail arrives. It fails with mapdata.ErrNotFound.
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
