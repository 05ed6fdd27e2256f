package mapdata

import (
	"slices"
	"time"
)

// ManagedBy says whether the account looks after the feed: its owner, or one of its maintainers.
func (f *Feed) ManagedBy(account AccountID) bool {
	return !account.IsZero() && (f.Owner == account || slices.Contains(f.Maintainers, account))
}

// Managers are the owner and the maintainers.
func (f *Feed) Managers() []AccountID { return append([]AccountID{f.Owner}, f.Maintainers...) }

// Maintainer is an account that looks after a feed beside its owner.
type Maintainer struct {
	Account AccountID
	Email   string
	Since   time.Time
}

// InvitedTo is what an invitation is about.
type InvitedTo string

// What an invitation is about.
const (
	InvitedToMaintain InvitedTo = "maintain" // the feed, beside its owner
	InvitedToTransfer InvitedTo = "transfer" // become its owner
)

// Invitation asks the holder of an e-mail address to maintain a feed or to take it over. A sign-in at the address is what
// proves who may accept; an account need not exist before.
type Invitation struct {
	ID        string
	Feed      FeedID
	FeedName  string // current name
	What      InvitedTo
	Email     string
	By        AccountID
	ByEmail   string // current address
	At        time.Time
	ExpiresAt time.Time
}

// Rules of maintainers and invitations. They bound what accounts can store, and the e-mails that they can cause.
const (
	MaxMaintainers       = 5                  // of a feed
	MaxOpenInvitations   = 5                  // of a feed, of both kinds
	InvitationLifetime   = 7 * 24 * time.Hour // while it can be accepted
	InvitationWindow     = 24 * time.Hour     // in which the next two count
	InvitationsByAccount = 10
	InvitationsToAddress = 10
)

// ReceiverLimits bound what the receiver of a feed may have with it. 0: no bound.
type ReceiverLimits struct {
	Feeds int
	Bytes int64 // stored by all its feeds
}
