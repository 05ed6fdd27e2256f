package signal

// Set is one of each signal within a process.
type Set struct {
	StoreChanged StoreChanged
	FeedDue      FeedDue
	MailQueued   MailQueued
	AppsChanged  AppsChanged
	ReviewQueued ReviewQueued

	// Moved collects where answers to readers of this node changed. Package stream consumes it.
	Moved *Moved
	// MovedLive collects where this node's calls of upstreams changed live incidents, for the other nodes. Package cluster consumes
	// it.
	MovedLive *Moved
}

// NewSet returns a Set in which every signal delivers.
func NewSet() Set {
	return Set{
		StoreChanged: NewStoreChanged(), FeedDue: NewFeedDue(), MailQueued: NewMailQueued(), AppsChanged: NewAppsChanged(), ReviewQueued: NewReviewQueued(),
		Moved: NewMoved(), MovedLive: NewMoved(),
	}
}
