package signal

// Set is one of each signal within a process.
type Set struct {
	StoreChanged StoreChanged
	FeedDue      FeedDue
	MailQueued   MailQueued
	AppsChanged  AppsChanged
	ReviewQueued ReviewQueued

	// Moved says what readers of this node see change. Package stream consumes it.
	Moved *Moved
	// MovedLive says where this node's calls of upstreams changed live incidents, for the other nodes. Package cluster
	// consumes it.
	MovedLive *Moved
}

// NewSet makes a Set in which every signal delivers.
func NewSet() Set {
	return Set{
		StoreChanged: NewStoreChanged(), FeedDue: NewFeedDue(), MailQueued: NewMailQueued(), AppsChanged: NewAppsChanged(), ReviewQueued: NewReviewQueued(),
		Moved: NewMoved(), MovedLive: NewMoved(),
	}
}
