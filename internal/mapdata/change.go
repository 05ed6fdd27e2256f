package mapdata

import "time"

// Mark is the state of a feed that a comparison was made against. A change made from it is refused once another one
// has moved it.
type Mark struct {
	EntitiesRevision int64
	SnapshotAt       time.Time
	Snapshot         int64
	LastRows         int    // rows of the last good snapshot
	BodyHash         []byte // as the last good snapshot left it; nil: nothing is known of its body
}

// Change is everything that one batch or one snapshot does to a feed, stored whole or not at all. Within one change
// every external id stands in one list only.
type Change struct {
	Feed FeedID
	Base int64 // EntitiesRevision of the Mark that the change was made from
	At   time.Time

	Upserts []Entity // new, changed or returned entities, whole
	Touched []string // unchanged; their SeenAt becomes At
	Absent  []string // missing from this snapshot for the first time: keep the last SnapshotAt as their own SeenAt
	Retired []string // gone

	Snapshot *SnapshotTaken // of a pull feed; nil for a push
	Attempt  Attempt
	Letters  []Letter

	// Rejections say why rows of this attempt were rejected, each code once; their At is not read. SameRejections says
	// instead that the body was the one before, and so is what was rejected of it.
	Rejections     []Rejection
	SameRejections bool
}

// Moves says whether the change alters any entity, and so must raise the revision.
func (c *Change) Moves() bool {
	return len(c.Upserts)+len(c.Touched)+len(c.Absent)+len(c.Retired) > 0
}

// SnapshotTaken moves a feed to its next good snapshot: number Snapshot, seen at the change's At, and where the schedule
// stands after it.
type SnapshotTaken struct {
	Snapshot int64
	Lease    Lease // of the poll that brought the snapshot
	Polling  Polling
}

// PollFailed is a poll that brought no snapshot: it changes no entity (D6.8).
type PollFailed struct {
	Feed    FeedID
	Lease   Lease
	Active  bool // false: this failure deactivates the feed
	Polling Polling
	Attempt Attempt
	Letters []Letter
	Audit   []AuditEntry
}

// FeedChange is what a follower applies: one revision of one feed, or of the votes on live incidents.
type FeedChange struct {
	Revision int64
	Feed     *Feed     // as it is now; nil: the feed is gone with all that it had
	FeedID   FeedID    // also when Feed is nil; zero: only Tallies count, and they are of live incidents
	Entities []Entity  // upserted or touched, as they are now
	Gone     []string  // external ids that are no longer stored
	Tallies  []Tally   // of votes, as they are now
	Attempts []Attempt // recorded by the revision; the replica fills them in
}

// StoreState tells a follower whether its place in the stream of changes still exists.
type StoreState struct {
	Epoch    string // another epoch: load everything again (after a restore)
	Revision int64  // of the newest change
	Floor    int64  // a follower below this missed pruned changes and must load everything again
}
