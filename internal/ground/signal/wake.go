package signal

// wake is a notification without content. On a zero value, Notify does nothing and C never delivers.
type wake struct{ c chan struct{} }

func newWake() wake { return wake{make(chan struct{}, 1)} }

// Notify wakes the consumer. It never blocks.
func (w wake) Notify() {
	select {
	case w.c <- struct{}{}:
	default: // a notification is waiting already
	}
}

// C returns a channel that delivers one value for all notifications since the last value was received.
func (w wake) C() <-chan struct{} { return w.c }

// StoreChanged signals that a transaction was committed that readers could notice. Package replica consumes it and reads the log of
// changes. The zero value has no consumer.
type StoreChanged struct{ wake }

// NewStoreChanged returns a signal that delivers.
func NewStoreChanged() StoreChanged { return StoreChanged{newWake()} }

// AppsChanged signals that the served apps may have changed, on whichever node. Package apps consumes it and reads its catalogue
// again. The zero value has no consumer.
type AppsChanged struct{ wake }

// NewAppsChanged returns a signal that delivers.
func NewAppsChanged() AppsChanged { return AppsChanged{newWake()} }

// FeedDue signals that a feed may be due for a poll before its scheduled time, for example a new one. The poller (provider/pull)
// consumes it and claims the feeds that are due. The zero value has no consumer.
type FeedDue struct{ wake }

// NewFeedDue returns a signal that delivers.
func NewFeedDue() FeedDue { return FeedDue{newWake()} }

// MailQueued signals that an e-mail may be waiting in the outbox. The sender (package mail) consumes it and reads the outbox. The
// zero value has no consumer.
type MailQueued struct{ wake }

// NewMailQueued returns a signal that delivers.
func NewMailQueued() MailQueued { return MailQueued{newWake()} }

// ReviewQueued signals that a feed or an app may have begun to wait for review. The job that e-mails curators (package feed)
// consumes it and reads the queue. The zero value has no consumer.
type ReviewQueued struct{ wake }

// NewReviewQueued returns a signal that delivers.
func NewReviewQueued() ReviewQueued { return ReviewQueued{newWake()} }
