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
	Holds            Usage // stored usage of the feed
	AccountBytes     int64 // stored bytes of all feeds of its owner
	ApprovedOnce     bool  // the feed was approved by a curator at some time
}

// Change is the complete effect of one batch or one snapshot on a feed, stored in one transaction. Within one change every external id is
// in one list only.
type Change struct {
	Feed FeedID
	Base int64 // EntitiesRevision of the Mark that the change was made from
	At   time.Time

	Upserts []Entity // new, changed or returned entities, complete
	Touched []string // unchanged; their SeenAt becomes At
	Absent  []string // missing from this snapshot for the first time: the last SnapshotAt becomes their own SeenAt
	Retired []string // no longer in the feed

	// Holds is that of the Mark, and Grows is the difference that the change makes, which may be negative. AccountLimit is the largest
	// number of bytes that all feeds of the owner may then hold, if the change adds any; 0: no bound.
	Holds        Usage
	Grows        Usage
	AccountLimit int64

	Snapshot *SnapshotTaken // of a pull feed; nil for a push
	Part     *PartTaken     // of a push; nil: the batch belongs to no snapshot
	Attempt  Attempt
	Report   *NewReport // of a change of a built-in feed with one entity; nil: not a driver's report
	Emails   []Email

	// Rejections are the reasons for which rows of this attempt were rejected, and warnings about accepted ones (IsWarning), each code
	// once; their At is not read. SameRejections means instead that the body is that of the previous attempt, so that its rejections and
	// warnings still apply.
	Rejections     []Rejection
	SameRejections bool
}

// Moves reports whether the change alters any entity, and so must raise the revision.
func (c *Change) Moves() bool {
	return len(c.Upserts)+len(c.Touched)+len(c.Absent)+len(c.Retired) > 0
}

// EndsSnapshot reports whether the change is a whole snapshot, or the last batch of one, and returns the snapshot's number, its rows and
// whether it shrank.
func (c *Change) EndsSnapshot() (number int64, rows int, shrank, ends bool) {
	switch {
	case c.Snapshot != nil:
		return c.Snapshot.Snapshot, c.Snapshot.Polling.LastRows, c.Snapshot.Polling.Shrank, true
	case c.Part != nil && c.Part.Complete:
		return c.Part.Number, c.Part.Rows, c.Part.Shrank, true
	}
	return 0, 0, false, false
}

// SnapshotTaken advances a feed to its next good snapshot, taken at the change's At, with the resulting schedule.
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

// FeedChange is the unit that a replica applies: one revision of one feed, of the votes on live incidents, or of an account.
type FeedChange struct {
	Revision int64
	Feed     *Feed     // current state; nil: the feed was deleted with everything in it
	FeedID   FeedID    // also set when Feed is nil; zero: only Tallies are set, of live incidents
	Entities []Entity  // upserted or touched, current state
	Gone     []string  // external ids that are no longer stored
	Tallies  []Tally   // of votes, current state
	Attempts []Attempt // recorded by the revision; the replica fills them in

	// Account is an account whose sessions ended or whose rights changed; all other fields but Revision are zero then. Zero: none.
	Account AccountID
	// Apps is set where the served content of apps changed; all other fields but Revision are zero then.
	Apps bool
}

// StoreState determines whether a replica can continue from its revision in the log of changes.
type StoreState struct {
	Epoch    string // a different epoch requires a full load (after a restore)
	Revision int64  // of the newest change
	Floor    int64  // a replica below this revision missed pruned changes and requires a full load
}
