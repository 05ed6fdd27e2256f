package mapdata

import "time"

// When curators are e-mailed about feeds that wait for review.
const (
	ReviewDigestInterval = 24 * time.Hour   // between the e-mails of a queue that is not empty
	ReviewReminderAge    = 20 * time.Hour   // a feed that waits this long is brought to mind: reviews usually take less than 24 hours
	reviewCallInterval   = 15 * time.Minute // at least; bounds what a provider who edits a feed again and again can send
)

// MaxWaiting is how many waiting feeds, and how many apps, the e-mails to curators count.
const MaxWaiting = 1000

// WaitingFeed is a public feed or an app that waits for review, as e-mails to curators name it.
type WaitingFeed struct {
	ID    FeedID // of a feed
	IsApp bool
	Name  string
	Since time.Time

	Managers []AccountID // none of them decides on it (D11.9)
}

// ReviewCalls is what a curator was e-mailed about the queue. The zero value: nothing yet.
type ReviewCalls struct {
	Waiting         bool      // something has waited ever since EmailedAt
	EmailedAt       time.Time // newest e-mail that listed the queue
	RemindedAt      time.Time // newest e-mail about feeds that wait for ReviewReminderAge
	RemindedThrough time.Time // those that have waited since then or longer were in one
}

// Next says which e-mail about a queue, the longest waiting first, is due at now, and notes it as sent. due is false if
// none is: a curator gets one immediately for the first that waits, a digest each day while something goes on waiting, and a
// reminder of what has waited for 20 hours.
func (c *ReviewCalls) Next(queue []WaitingFeed, now time.Time) (kind EmailKind, due bool) {
	if len(queue) == 0 {
		c.Waiting = false
		return "", false
	}
	var late time.Time // the newest of those that wait too long
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
		c.RemindedThrough = late // the e-mail says how long each has waited
	}
	return kind, true
}

// ReviewLookKept is how long a curator who opened a review counts as looking at it.
const ReviewLookKept = 10 * time.Minute

// ReviewLook is a curator who has a review open.
type ReviewLook struct {
	Email string
	At    time.Time // when the review was opened last
}
