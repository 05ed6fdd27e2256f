package mapdata

import (
	"slices"
	"time"
)

// ManagedBy reports whether the account manages the feed: its owner, or one of its maintainers.
func (f *Feed) ManagedBy(account AccountID) bool {
	return !account.IsZero() && (f.Owner == account || slices.Contains(f.Maintainers, account))
}

// Managers returns the owner and the maintainers.
func (f *Feed) Managers() []AccountID { return append([]AccountID{f.Owner}, f.Maintainers...) }

// Maintainer is an account that manages a feed beside its owner.
type Maintainer struct {
	Account AccountID
	Email   string
	Since   time.Time
}

// InvitedTo is the subject of an invitation.
type InvitedTo string

// The subjects of invitations.
const (
	InvitedToMaintain InvitedTo = "maintain" // the feed, beside its owner
	InvitedToTransfer InvitedTo = "transfer" // become its owner
)

// Invitation asks the holder of an e-mail address to maintain a feed or to take it over. A sign-in at the address
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
	InvitationLifetime   = 7 * 24 * time.Hour // during which it can be accepted
	InvitationWindow     = 24 * time.Hour     // the period for which the next two limits apply
	InvitationsByAccount = 10
	InvitationsToAddress = 10
)

// ReceiverLimits bound the feeds and the storage of an account that receives a feed. 0: no bound.
type ReceiverLimits struct {
	Feeds int
	Bytes int64 // stored by all its feeds
}
