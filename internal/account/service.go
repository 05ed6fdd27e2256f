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

	"wayside/internal/mapdata"
	"wayside/internal/signal"
)

// Config is what a Service needs.
type Config struct {
	Store Store
	Now   func() time.Time
	// Key is a secret of the server, kept outside the database, that codes are hashed with: eight digits alone are found
	// from their plain hash in a blink, so that a stolen database would let its thief in. Nil hashes without a key.
	Key []byte
	Log *slog.Logger
	// StoreChanged is notified after an account was deleted, with its feeds.
	StoreChanged signal.StoreChanged
	// MailQueued is notified after an e-mail with a sign-in link was stored.
	MailQueued signal.MailQueued
}

// Service is the use case. Its methods may be called from many goroutines. Accounts and sessions that it returns are
// shared and must not be changed.
type Service struct {
	store    Store
	clock    func() time.Time
	key      []byte
	log      *slog.Logger
	sessions *cache[signedIn]
	tokens   *cache[mapdata.Account]
	changed  signal.StoreChanged
	mail     signal.MailQueued
}

// New makes a Service.
func New(c Config) *Service {
	return &Service{
		store: c.Store, clock: c.Now, key: c.Key, log: c.Log, changed: c.StoreChanged, mail: c.MailQueued,
		sessions: newCache[signedIn](), tokens: newCache[mapdata.Account](),
	}
}

// now is the time as it is stored: UTC, to the millisecond.
func (s *Service) now() time.Time { return s.clock().UTC().Truncate(time.Millisecond) }

// touchEvery is how closely the last use of a session or token is recorded.
const touchEvery = time.Hour

// newSecret makes what a link or a cookie holds: 256 random bits in base64url (D11.2).
func newSecret() string {
	var random [sha256.Size]byte
	_, _ = rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// secretHash is what is stored of a secret, and ok false for a text that newSecret never makes: no look-up is spent on it.
func secretHash(secret string) (_ [sha256.Size]byte, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	if err != nil || len(raw) != sha256.Size || len(secret) != base64.RawURLEncoding.EncodedLen(sha256.Size) {
		return [sha256.Size]byte{}, false
	}
	return sha256.Sum256([]byte(secret)), true
}

// newID makes a public name for a session or an API token: 130 random bits.
func newID() string { return strings.ToLower(rand.Text()) }

// codeHash is what is stored of a code: of the address too, so that one table of all codes serves no thief.
func (s *Service) codeHash(email, code string) []byte {
	return s.keyed("wayside sign-in code\x00" + email + "\x00" + code)
}

// keyed hashes a text that could be guessed with the server's secret.
func (s *Service) keyed(text string) []byte {
	mac := hmac.New(sha256.New, s.key)
	_, _ = io.WriteString(mac, text) // a hash never fails
	return mac.Sum(nil)
}
