package feed

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

// Store persists feeds. Every method is one transaction; those that change a feed raise the revision, so that every node
// replicates the change.
type Store interface {
	MaintainerStore

	// CreateFeed stores a new feed together with the entries of the audit log. Its layer's slug is made unique by a random
	// ending ("police", "police-x7k2m9", …) and set on feed. It fails with mapdata.ErrConflict when the owner has limit feeds already.
	CreateFeed(ctx context.Context, feed *mapdata.Feed, limit int, audit ...mapdata.AuditEntry) error
	// Feed reads one feed, or fails with mapdata.ErrNotFound.
	Feed(ctx context.Context, id mapdata.FeedID) (*mapdata.Feed, error)
	// FeedByPushToken reads the active push feed whose token has this hash, or fails with mapdata.ErrNotFound.
	FeedByPushToken(ctx context.Context, hash []byte) (*mapdata.Feed, error)
	// Feeds lists the feeds of owner and, when public is true, every served feed of others, oldest first. A zero owner and
	// public false list all feeds.
	Feeds(ctx context.Context, owner mapdata.AccountID, public bool) ([]mapdata.Feed, error)
	// UpdateFeed reads the feed, calls edit to change it, and stores it with the audit entries and e-mails that edit returns, in one
	// transaction. It stores the settings (not the poll schedule, except NextFetchAt, ConsecutiveFailures and Active). An error of edit is
	// returned as it is and nothing is changed.
	UpdateFeed(ctx context.Context, id mapdata.FeedID, edit func(*mapdata.Feed) (Side, error)) (*mapdata.Feed, error)
	// DeleteFeed removes feed, layer and entities, and the feed's texts in the audit log; it stores the entry and the e-mails.
	DeleteFeed(ctx context.Context, id mapdata.FeedID, audit mapdata.AuditEntry, emails ...mapdata.Email) error
	// PendingFeeds lists the feeds that wait for a review, the longest waiting first.
	PendingFeeds(ctx context.Context) ([]mapdata.PendingFeed, error)
	// NotifyOwners queues an e-mail for every account that has a feed and did not get this notice before. With dryRun it only
	// counts.
	NotifyOwners(ctx context.Context, n *mapdata.Notice, dryRun bool) (mapdata.NoticeResult, error)
	// WaitingFeeds lists the public feeds that wait for review as e-mails name them, the longest waiting first, at most limit.
	WaitingFeeds(ctx context.Context, limit int) ([]mapdata.WaitingFeed, error)
	// WaitingApps lists the apps that wait for review likewise.
	WaitingApps(ctx context.Context, limit int) ([]mapdata.WaitingFeed, error)
	// Curators lists the accounts that may review and did not turn off e-mails about the queue.
	Curators(ctx context.Context) ([]mapdata.AccountID, error)
	// CallCurator calls decide to update the record of a curator's e-mails, and stores it together with the e-mail that decide returns
	// (nil: none). It does not call decide where the account turned such e-mails off.
	CallCurator(ctx context.Context, account mapdata.AccountID, decide func(*mapdata.ReviewCalls) *mapdata.Email) error
	// NothingWaits records that nothing waits for review, so that the next feed that does counts as the first again.
	NothingWaits(ctx context.Context) error
	// WarnSilent e-mails the owners of at most limit push feeds that were not pushed to for a day, each once until a push
	// arrives.
	WarnSilent(ctx context.Context, now time.Time, limit int) error
	// ReviewTimes lists how long the feeds had waited that were decided on after the given time, the newest decisions first.
	ReviewTimes(ctx context.Context, after time.Time, limit int) ([]time.Duration, error)
	// LookAtReview records that a curator opened the review of a feed, and lists the others who have it open, at most limit.
	LookAtReview(ctx context.Context, feed mapdata.FeedID, account mapdata.AccountID, now time.Time, limit int) ([]mapdata.ReviewLook, error)
	// VoteDays counts the votes on a source's entities since the given time by days, the newest first, at most limit.
	VoteDays(ctx context.Context, source mapdata.SourceID, since time.Time, limit int) ([]mapdata.VoteDay, error)
	// Account reads an account, or fails with mapdata.ErrNotFound.
	Account(ctx context.Context, id mapdata.AccountID) (*mapdata.Account, error)
	// Audit reads entries of the audit log, newest first.
	Audit(ctx context.Context, q *mapdata.AuditQuery) ([]mapdata.AuditRecord, error)
	// CountEntities counts the feed's entities that have not expired at now.
	CountEntities(ctx context.Context, id mapdata.FeedID, now time.Time) (int, error)
	// FeedEntities yields those entities ordered by external id, at most limit. Yielded values remain valid.
	FeedEntities(ctx context.Context, id mapdata.FeedID, now time.Time, limit int, yield func(*mapdata.Entity)) error
	// HiddenPins lists the entities of a source that curators hide at now, at most limit.
	HiddenPins(ctx context.Context, source mapdata.SourceID, now time.Time, limit int) ([]mapdata.HiddenPin, error)
	// Timeline reads the feed's newest attempts later than after, newest first, at most limit.
	Timeline(ctx context.Context, id mapdata.FeedID, after time.Time, limit int) ([]mapdata.Attempt, error)
	// Rejections returns the reasons for which rows of the feed were rejected after the given time: each code once, newest first.
	Rejections(ctx context.Context, id mapdata.FeedID, after time.Time) ([]mapdata.Rejection, error)
}

// MaintainerStore persists maintainers and invitations.
type MaintainerStore interface {
	// Maintainers lists a feed's maintainers in the order in which they joined.
	Maintainers(ctx context.Context, feed mapdata.FeedID) ([]mapdata.Maintainer, error)
	// InvitationsOf lists a feed's invitations that are open at now, and InvitationsTo those to an address, oldest first.
	InvitationsOf(ctx context.Context, feed mapdata.FeedID, now time.Time) ([]mapdata.Invitation, error)
	InvitationsTo(ctx context.Context, email string, now time.Time) ([]mapdata.Invitation, error)
	// Invite stores an invitation together with the Side that check returns for its feed. It returns an error of check as it is. It fails
	// with mapdata.ErrConflict where the same invitation is open or as many as a feed may have, and with a *mapdata.LimitError where the
	// account or the address had too many.
	Invite(ctx context.Context, i *mapdata.Invitation, check func(*mapdata.Feed) (Side, error)) error
	// AnswerInvitation closes an invitation that is open at now and calls edit to change its feed's maintainers or owner. The feed's usage
	// moves to a new owner, within limits, or it fails with mapdata.ErrConflict.
	AnswerInvitation(ctx context.Context, id string, now time.Time, limits mapdata.ReceiverLimits,
		edit func(*mapdata.Feed, *mapdata.Invitation) (Side, error)) (*mapdata.Feed, error)
}

// Side is stored in the same transaction as a change of a feed. It is declared in mapdata so that stores need not import this
// package.
type Side = mapdata.Side

// Published delays the answer to a change until this node shows the change (D12.7).
type Published interface {
	// Await waits until readers of this node see the changes committed before the call, for a short time at most.
	Await(ctx context.Context)
}
