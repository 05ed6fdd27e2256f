package mapdata

import "time"

// Mark is the state of a feed that a comparison was made against. The store refuses a change if another change was made
// since its Mark (optimistic locking).
type Mark struct {
	EntitiesRevision int64
	SnapshotAt       time.Time
	Snapshot         int64
	LastRows         int    // rows of the last good snapshot
	BodyHash         []byte // of the last good snapshot; nil: unknown
	PushSnapshots    []PushSnapshot
	Holds            Usage // what the feed stores
	AccountBytes     int64 // what all feeds of its owner store
	ApprovedOnce     bool  // the feed was, by a curator
}

// Change is everything that one batch or one snapshot changes in a feed, stored in one transaction. Within one change
// every external id is in one list only.
type Change struct {
	Feed FeedID
	Base int64 // EntitiesRevision of the Mark that the change was made from
	At   time.Time

	Upserts []Entity // new, changed or returned entities, complete
	Touched []string // unchanged; their SeenAt becomes At
	Absent  []string // missing from this snapshot for the first time: the last SnapshotAt becomes their own SeenAt
	Retired []string // gone

	// Holds is that of the Mark, and Grows what the change adds to it; less than zero where it takes away. AccountLimit is how
	// many bytes all feeds of the owner may then hold, if the change adds any; 0: no bound.
	Holds        Usage
	Grows        Usage
	AccountLimit int64

	Snapshot *SnapshotTaken // of a pull feed; nil for a push
	Part     *PartTaken     // of a push; nil: the batch belongs to no snapshot
	Attempt  Attempt
	Report   *NewReport // of a built-in feed's change with one entity; nil: it is no driver's report
	Emails   []Email

	// Rejections are the reasons for which rows of this attempt were rejected, and warnings about accepted ones (IsWarning), each
	// code once; their At is not read. SameRejections means instead that the body, and so its rejections and warnings, are
	// those of the previous attempt, which had some.
	Rejections     []Rejection
	SameRejections bool
}

// Moves says whether the change alters any entity, and so must raise the revision.
func (c *Change) Moves() bool {
	return len(c.Upserts)+len(c.Touched)+len(c.Absent)+len(c.Retired) > 0
}

// EndsSnapshot says whether the change is a whole snapshot, or the last batch of one, and gives the snapshot's number, its
// rows and whether it shrank.
func (c *Change) EndsSnapshot() (number int64, rows int, shrank, ends bool) {
	switch {
	case c.Snapshot != nil:
		return c.Snapshot.Snapshot, c.Snapshot.Polling.LastRows, c.Snapshot.Polling.Shrank, true
	case c.Part != nil && c.Part.Complete:
		return c.Part.Number, c.Part.Rows, c.Part.Shrank, true
	}
	return 0, 0, false, false
}

// SnapshotTaken advances a feed to its next good snapshot, taken at the change's At, with the schedule after it.
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
	Emails  []Email
	Audit   []AuditEntry
}

// FeedChange is what a replica applies: one revision of one feed, of the votes on live incidents, or of an account.
type FeedChange struct {
	Revision int64
	Feed     *Feed     // current state; nil: the feed was deleted with everything in it
	FeedID   FeedID    // also set when Feed is nil; zero: only Tallies are set, of live incidents
	Entities []Entity  // upserted or touched, current state
	Gone     []string  // external ids that are no longer stored
	Tallies  []Tally   // of votes, current state
	Attempts []Attempt // recorded by the revision; the replica fills them in

	// Account is one whose sessions ended or whose rights changed; everything else but Revision is zero then. Zero: none.
	Account AccountID
	// Apps is set where what is served of apps changed; everything else but Revision is zero then.
	Apps bool
}

// StoreState tells a replica whether it can continue from its revision in the log of changes.
type StoreState struct {
	Epoch    string // a different epoch requires a full load (after a restore)
	Revision int64  // of the newest change
	Floor    int64  // a replica below this revision missed pruned changes and requires a full load
}
