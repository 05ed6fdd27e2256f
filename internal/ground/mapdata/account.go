package mapdata

import "time"

// Role determines an account's rights besides driving (D11.4).
type Role string

// The roles of an account.
const (
	Driver  Role = "driver"
	Curator Role = "curator"
	Admin   Role = "admin"
)

// Tier determines the entities that an account may read (D4.7).
type Tier string

// The tiers. A guest has no account.
const (
	TierGuest   Tier = "guest"
	TierAccount Tier = "account"
	TierPremium Tier = "premium"
)

// Account is a person who has signed in.
type Account struct {
	ID         AccountID
	Email      string // lower case; never logged
	Role       Role
	Tier       Tier
	CreatedAt  time.Time
	Language   Language // of pages and e-mails; empty: unknown
	Suspension Suspension
	PublicName string // in the catalogue of apps; empty: none
}

// MayReview reports whether the account may approve and reject feeds.
func (a *Account) MayReview() bool { return a.Role == Curator || a.Role == Admin }

// Scope limits the use of a session (D11.3).
type Scope string

// The scopes.
const (
	ScopeAccount Scope = ""       // everything that the account may do
	ScopeScreen  Scope = "screen" // a screen that was signed in by a phone
)

// Session is a browser that is signed in (D11.2).
type Session struct {
	ID        string // public name, for listing and revoking; not the secret
	TokenHash []byte // SHA-256 of the cookie's token
	Account   AccountID
	CreatedAt time.Time
	SeenAt    time.Time // when last used, to the hour
	Agent     string    // User-Agent it was made with, at most 200 characters
	ProvedAt  time.Time // when an e-mail or a passkey last verified the person; zero: never, a paired screen
	PasskeyAt time.Time // last use of a passkey with user verification; zero: never
	Scope     Scope
}

// Lifetimes of a session (D11.2).
const (
	SessionIdle  = 30 * 24 * time.Hour
	SessionTotal = 180 * 24 * time.Hour
)

// Alive reports whether the session is valid at now.
func (s *Session) Alive(now time.Time) bool {
	return now.Before(s.SeenAt.Add(SessionIdle)) && now.Before(s.CreatedAt.Add(SessionTotal))
}

// SignIn is a pending sign-in by link or code (D11.1).
type SignIn struct {
	ID        int64
	TokenHash []byte // SHA-256 of the link's token
	Email     string
	CodeHash  []byte // of the 8 digits and the address
	Browser   []byte // SHA-256 of the secret of the browser in which the code is valid; nil: the code is not valid anywhere (D11.10)
	CreatedAt time.Time
	ExpiresAt time.Time
	Tries     int // wrong codes so far
}

// APIToken allows a server to read with an account's limits (D11.5).
type APIToken struct {
	ID        string
	Account   AccountID
	Name      string
	TokenHash []byte
	CreatedAt time.Time
	UsedAt    time.Time // to the hour; zero: never
}
