package mapdata

import (
	"slices"
	"time"
)

// Bounds of a feed's snapshots that are pushed in batches.
const (
	maxPushSnapshots    = 8 // stored; the oldest is dropped first
	pushSnapshotExpires = 24 * time.Hour
)

// PushSnapshot is a snapshot that a provider pushes in several batches. It needs no list of its rows, because they were
// seen at BegunAt or later.
type PushSnapshot struct {
	ID      string    // chosen by the provider
	BegunAt time.Time // of the first batch; no batch of it counts as earlier
	Rows    int       // so far
	Done    bool      // its last batch was stored
}

// PushSnapshotOf returns the stored snapshot with the id, or a new one. A snapshot that was not completed within a day
// starts anew.
func PushSnapshotOf(all []PushSnapshot, id string, now time.Time) PushSnapshot {
	for _, s := range all {
		if s.ID == id && now.Sub(s.BegunAt) < pushSnapshotExpires {
			return s
		}
	}
	return PushSnapshot{ID: id, BegunAt: now}
}

// WithPushSnapshot returns the snapshots to store after a batch of s: the newest few.
func WithPushSnapshot(all []PushSnapshot, s PushSnapshot) []PushSnapshot {
	all = slices.DeleteFunc(slices.Clone(all), func(other PushSnapshot) bool {
		return other.ID == s.ID || s.BegunAt.Sub(other.BegunAt) >= pushSnapshotExpires
	})
	all = append(all, s)
	return all[max(0, len(all)-maxPushSnapshots):]
}

// PartTaken is a batch of a PushSnapshot, for the feed.
type PartTaken struct {
	Snapshots []PushSnapshot // to be stored from now on
	Complete  bool           // the batch was the last one; the following fields are set only then
	Number    int64          // of the snapshot
	Rows      int            // of the whole snapshot
	Shrank    bool           // fewer than half the rows of the one before (D6.9)
}
