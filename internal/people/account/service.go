package account

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"log/slog"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
)

// Config holds the dependencies of a Service.
type Config struct {
	Store Store
	Now   func() time.Time
	// Key is a secret of the server, kept outside the database, for hashing codes: eight digits could be recovered from a
	// plain hash by brute force if the database were stolen. Nil hashes without a key.
	Key []byte
	// Places seals drivers' saved places, with a key that is kept outside the database.
	Places Sealer
	Log    *slog.Logger
	// StoreChanged is notified after an account was deleted, with its feeds.
	StoreChanged signal.StoreChanged
	// MailQueued is notified after an e-mail with a sign-in link was stored.
	MailQueued signal.MailQueued
}

// Sealer encrypts texts for one owner, such as an account.
type Sealer interface {
	Seal(plain []byte, owner [16]byte) []byte
	// Open fails for a text that was sealed with another key or for another owner.
	Open(sealed []byte, owner [16]byte) ([]byte, error)
}

// Service implements the use cases. Its methods are safe for concurrent use. Accounts and sessions that it returns are shared
// and must not be changed.
type Service struct {
	store    Store
	clock    func() time.Time
	key      []byte
	places   Sealer
	log      *slog.Logger
	sessions *cache[signedIn]
	tokens   *cache[mapdata.Account]
	changed  signal.StoreChanged
	mail     signal.MailQueued

	destinations *destinations
}

// New creates a Service.
func New(c Config) *Service {
	s := &Service{
		store: c.Store, clock: c.Now, key: c.Key, places: c.Places, log: c.Log, changed: c.StoreChanged, mail: c.MailQueued,
		sessions: newCache[signedIn](), tokens: newCache[mapdata.Account](),
	}
	s.destinations = newDestinations(s.keyedHash)
	return s
}

// now returns the time as it is stored: UTC, to the millisecond.
func (s *Service) now() time.Time { return s.clock().UTC().Truncate(time.Millisecond) }

// touchInterval is the resolution at which the last use of a session or token is recorded.
const touchInterval = time.Hour

// newSecret creates the secret of a link or cookie: 256 random bits in base64url (D11.2).
func newSecret() string {
	var random [sha256.Size]byte
	_, _ = rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// secretHash returns the stored hash of a secret; ok is false for a text that newSecret cannot have created, which needs no
// look-up.
func secretHash(secret string) (_ [sha256.Size]byte, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	if err != nil || len(raw) != sha256.Size || len(secret) != base64.RawURLEncoding.EncodedLen(sha256.Size) {
		return [sha256.Size]byte{}, false
	}
	return sha256.Sum256([]byte(secret)), true
}

// newID creates the public id of a session, API token or passkey: 130 random bits.
func newID() string { return strings.ToLower(rand.Text()) }

// codeHash returns the stored hash of a code. It includes the address, so that one precomputed table does not cover all
// accounts.
func (s *Service) codeHash(email, code string) []byte {
	return s.keyedHash("wayside sign-in code\x00" + email + "\x00" + code)
}

// keyedHash hashes a guessable text with the server's key.
func (s *Service) keyedHash(text string) []byte {
	mac := hmac.New(sha256.New, s.key)
	_, _ = io.WriteString(mac, text) // a hash never fails
	return mac.Sum(nil)
}
