package mapdata

import "time"

// When curators get e-mails about feeds that wait for review.
const (
	ReviewDigestInterval = 24 * time.Hour   // between the e-mails of a queue that is not empty
	ReviewReminderAge    = 20 * time.Hour   // age at which a curator is reminded of a feed, because reviews usually take less than 24 hours
	reviewCallInterval   = 15 * time.Minute // minimum; bounds the e-mails that a provider can cause by editing a feed repeatedly
)

// MaxWaiting is the largest number of waiting feeds, and of apps, that e-mails to curators count.
const MaxWaiting = 1000

// WaitingFeed is a public feed or an app that waits for review, as e-mails to curators name it.
type WaitingFeed struct {
	ID    FeedID // of a feed
	IsApp bool
	Name  string
	Since time.Time

	Managers []AccountID // they may not decide on it (D11.9)
}

// ReviewCalls records the e-mails that a curator got about the queue. The zero value: none yet.
type ReviewCalls struct {
	Waiting         bool      // the queue has not been empty since EmailedAt
	EmailedAt       time.Time // time of the newest e-mail that listed the queue
	RemindedAt      time.Time // time of the newest e-mail about feeds that wait for ReviewReminderAge
	RemindedThrough time.Time // feeds that have waited since then or longer were in such an e-mail
}

// Next returns which e-mail about a queue, ordered by waiting time, longest first, is due at now, and records it as
// sent. due is false if none is. A curator gets an e-mail immediately for the first feed that waits, a daily digest
// while the queue is not empty, and a reminder of feeds that have waited for 20 hours.
func (c *ReviewCalls) Next(queue []WaitingFeed, now time.Time) (kind EmailKind, due bool) {
	if len(queue) == 0 {
		c.Waiting = false
		return "", false
	}
	var late time.Time // the newest of the feeds that have waited too long
	for i := range queue {
		if since := queue[i].Since; !since.After(now.Add(-ReviewReminderAge)) && since.After(late) {
			late = since
		}
	}
	switch since := now.Sub(c.EmailedAt); {
	case !c.Waiting && since >= reviewCallInterval:
		kind = EmailReviewWaiting
	case since >= ReviewDigestInterval:
		kind = EmailReviewDigest
	case late.After(c.RemindedThrough) && now.Sub(c.RemindedAt) >= reviewCallInterval:
		c.RemindedAt, c.RemindedThrough = now, late
		return EmailReviewReminder, true
	default:
		return "", false
	}
	c.EmailedAt, c.Waiting = now, true
	if late.After(c.RemindedThrough) {
		c.RemindedThrough = late // the e-mail lists how long each has waited
	}
	return kind, true
}

// ReviewLookKept is how long after opening a review a curator counts as looking at it.
const ReviewLookKept = 10 * time.Minute

// ReviewLook is a curator who has a review open.
type ReviewLook struct {
	Email string
	At    time.Time // when the review was last opened
}
