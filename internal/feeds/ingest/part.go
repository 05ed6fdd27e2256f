package ingest

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

// Part identifies the snapshot, pushed in several batches, to which a batch belongs.
type Part struct {
	SnapshotID string
	Complete   bool // the batch is the last one
}

// PartReport is the state of a snapshot after a batch.
type PartReport struct {
	ID       string `json:"id"`
	Complete bool   `json:"complete"`
	Rows     int    `json:"rows"`    // of all its batches so far
	Missing  int    `json:"missing"` // stored entities that it lacks, once it is complete
	Retired  int    `json:"retired"` // entities among them that were retired
}

// addPart adds to a batch's change its effect on the snapshot. The last batch compares the snapshot with the stored
// entities of the feed by the rules of D6.9: entities that were not seen since the snapshot began are missing. A batch
// of a snapshot that was completed before is a repetition, and changes nothing but its rows.
func (in *Ingester) addPart(ctx context.Context, change *mapdata.Change, allowed *allowance, b *Batch, s mapdata.PushSnapshot) (*PartReport, error) {
	mark := allowed.mark
	if s.Done {
		return &PartReport{ID: s.ID, Complete: true, Rows: s.Rows}, nil
	}
	s.Rows += b.total
	s.Done = b.Part.Complete
	taken := &mapdata.PartTaken{Snapshots: mapdata.WithPushSnapshot(mark.PushSnapshots, s)}
	change.Part = taken
	report := &PartReport{ID: s.ID, Complete: s.Done, Rows: s.Rows}
	if !s.Done {
		return report, nil
	}
	taken.Complete, taken.Number, taken.Rows = true, mark.Snapshot+1, s.Rows
	taken.Shrank = mark.Snapshot > 0 && 2*s.Rows < mark.LastRows
	pushed := make(map[string]bool, len(b.rows))
	for i := range b.rows {
		pushed[b.rows[i].ExternalID] = true
	}
	err := in.store.Stored(ctx, change.Feed, nil, func(st mapdata.Stored) {
		if pushed[st.ExternalID] || !lastSeen(&st, mark).Before(s.BegunAt) || !st.Alive(mark.SnapshotAt, change.At) {
			return
		}
		report.Missing++
		switch {
		case st.AbsentSince == 0:
			change.Absent = append(change.Absent, st.ExternalID)
		case st.Lifetime == 0 && taken.Number >= st.AbsentSince+retireAfter-1:
			change.Retired = append(change.Retired, st.ExternalID)
			allowed.retire(&st)
			report.Retired++
		}
	})
	change.Attempt.Retired = len(change.Retired)
	return report, err
}

// heldDespite lists the stored entities whose new versions found no room. The snapshot contains them, so that they
// remain unchanged and are not missing, as in a pulled snapshot.
func heldDespite(full []*RowError, stored map[string]*mapdata.Stored, mark *mapdata.Mark, now time.Time) (seen []string) {
	for _, e := range full {
		if id := *e.ExternalID; ifAlive(stored[id], mark.SnapshotAt, now) != nil {
			seen = append(seen, id)
		}
	}
	return seen
}

func lastSeen(st *mapdata.Stored, mark *mapdata.Mark) time.Time {
	if st.SeenAt.IsZero() {
		return mark.SnapshotAt
	}
	return st.SeenAt
}
