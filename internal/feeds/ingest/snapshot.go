package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"wayside/internal/ground/mapdata"
)

// Snapshot is a complete, fetched answer of a pull URL.
type Snapshot struct {
	Open func() (io.ReadCloser, error) // the body from its beginning, each time it is called
	// Source, unless it is nil, yields the rows of a foreign document, and Open is not used. It is called again after a conflict, and not
	// at all when the document is the same as before and could change nothing.
	Source Source
	Hash   []byte    // SHA-256 of the body; with a Source, of everything that determines its rows
	At     time.Time // when it was fetched
	// Lease is that of the poll; the store refuses the snapshot with mapdata.ErrFenced once it no longer matches.
	Lease mapdata.Lease
	// Finish converts the outcome to the record of the poll. It may be called again after a conflict. When it fails, nothing is stored.
	Finish func(Result) (Record, error)

	whole bool // of a built-in feed: see Replace
}

// Record is stored for a good poll, in one transaction with its rows.
type Record struct {
	Polling mapdata.Polling
	Attempt mapdata.Attempt
}

// Result is the outcome of a good snapshot.
type Result struct {
	Report     Report // its Errors are nil when the body was the same as before
	Rows       int
	RowsBefore int    // of the previous good snapshot; 0 for the first
	Shrank     bool   // fewer than half the rows of the previous one (D6.9)
	BodyHash   []byte // to be stored as Polling.BodyHash

	unchanged int // accepted rows that change nothing
	warned    int // warnings of the body
	stored    []mapdata.Rejection
}

// Snapshot stores a snapshot as a whole, durably, before it returns; rows equal to the stored ones cost a comparison and no write (D6.10).
// It fails as decode, Finish and Store.Apply do, having stored nothing.
func (in *Ingester) Snapshot(ctx context.Context, feed mapdata.FeedID, s Snapshot) (Report, error) {
	var report Report
	err := in.retry(ctx, func() error {
		mark, err := in.store.Mark(ctx, feed)
		if err != nil {
			return err
		}
		at := s.At.UTC().Truncate(time.Millisecond)
		change := &mapdata.Change{Feed: feed, Base: mark.EntitiesRevision, At: at, Holds: mark.Holds}
		result, same := unchanged(&mark, s.Hash, at)
		if !same {
			if result, err = in.compareSnapshot(ctx, change, &mark, s); err != nil {
				return err
			}
		}
		record, err := s.Finish(result)
		if err != nil {
			return err
		}
		change.Snapshot = &mapdata.SnapshotTaken{Snapshot: mark.Snapshot + 1, Lease: s.Lease, Polling: record.Polling}
		change.Attempt = record.Attempt
		change.Attempt.Unchanged, change.Attempt.Retired = result.unchanged, len(change.Retired)
		change.Rejections, change.SameRejections = result.stored, same && result.Report.Rejected+result.warned > 0
		report = result.Report
		return in.store.Apply(ctx, change)
	})
	if err != nil {
		return Report{}, fmt.Errorf("store snapshot: %w", err)
	}
	in.changed.Notify()
	return report, nil
}

// hashLength is that of a SHA-256. Polling.BodyHash consists of a body's hash, the shortest lifetime of its rows in milliseconds, the
// number of its rejected rows and that of its warnings, and, if a foreign document has one, its next start or end in milliseconds since
// 1970.
const (
	hashLength = 32
	keptLength = hashLength + 3*8
	keptAgain  = keptLength + 8
)

// Standing returns the hash of the body of the last good snapshot of a feed, if reading the same body again at the given time would change
// nothing: nothing can have expired, nothing waits to be retired, and no start or end has passed (D17.6). kept is the feed's
// Polling.BodyHash. A Snapshot with that hash and time does not read its body.
func Standing(kept []byte, snapshotAt, at time.Time) (hash []byte, ok bool) {
	if len(kept) != keptLength && len(kept) != keptAgain {
		return nil, false
	}
	at = at.UTC().Truncate(time.Millisecond)
	shortest := time.Duration(binary.BigEndian.Uint64(kept[hashLength:])) * time.Millisecond
	if shortest != 0 && !at.Before(snapshotAt.Add(shortest)) {
		return nil, false
	}
	if len(kept) == keptAgain && at.UnixMilli() >= int64(binary.BigEndian.Uint64(kept[keptLength:])) {
		return nil, false
	}
	return kept[:hashLength], true
}

// unchanged reports whether a body equals the previous one and none of its rows can have expired since, so that it changes nothing and need
// not be read.
func unchanged(mark *mapdata.Mark, hash []byte, at time.Time) (Result, bool) {
	kept := mark.BodyHash
	if before, ok := Standing(kept, mark.SnapshotAt, at); !ok || !bytes.Equal(before, hash) {
		return Result{}, false
	}
	rejected := int(binary.BigEndian.Uint64(kept[hashLength+8:]))
	warned := int(binary.BigEndian.Uint64(kept[hashLength+16:]))
	return Result{
		Report: Report{Accepted: mark.LastRows - rejected, Rejected: rejected},
		Rows:   mark.LastRows, RowsBefore: mark.LastRows, BodyHash: kept, unchanged: mark.LastRows - rejected, warned: warned,
	}, true
}

// comparison is a snapshot that is being compared, row by row.
type comparison struct {
	feed    mapdata.FeedID
	mark    *mapdata.Mark
	at      time.Time
	stored  []mapdata.Stored
	places  map[string]int32 // indexes in seen, by external id
	seen    []sighting
	upserts []mapdata.Entity
	owners  []int32 // of upserts: indexes in seen
	kept    []byte
	allowed *allowance
	whole   bool // entities that the snapshot lacks are retired immediately
	verdict
	shortest time.Duration
	timely   bool // a result depends on the time of day: an observed_at in the future

	foreign bool      // the rows come from a bridge
	held    int64     // bytes of its rows in upserts
	again   time.Time // the earliest start or end after at in the document; zero: none
}

// sighting is the state of one external id in the rows of a snapshot so far.
type sighting struct {
	stored int32 // index in stored; -1: none
	row    int32 // the last row that named it; -1: none
	upsert int32 // index in upserts; -1: none
	retire bool
}

// compareSnapshot reads the body and fills the change with the differences.
func (in *Ingester) compareSnapshot(ctx context.Context, change *mapdata.Change, mark *mapdata.Mark, s Snapshot) (Result, error) {
	c := &comparison{feed: change.Feed, mark: mark, at: change.At, places: make(map[string]int32), shortest: math.MaxInt64, verdict: newVerdict()}
	c.allowed, c.whole = newAllowance(in.limits(), mark), s.whole
	maxRows := MaxSnapshotRows
	if s.whole {
		c.allowed, maxRows = unbounded(mark), math.MaxInt
	}
	err := in.store.Stored(ctx, change.Feed, nil, func(st mapdata.Stored) {
		c.places[st.ExternalID] = int32(len(c.seen))
		c.seen = append(c.seen, sighting{stored: int32(len(c.stored)), row: -1, upsert: -1})
		c.stored = append(c.stored, st)
	})
	if err != nil {
		return Result{}, err
	}
	rows, err := in.readSnapshot(ctx, &s, c, maxRows)
	if err != nil {
		return Result{}, err
	}
	retired, lasting := c.finish(change)
	result := Result{
		unchanged: c.report.Accepted - len(change.Upserts) - retired, warned: len(c.warnings), stored: c.reasons(),
		Report: c.report, Rows: rows, RowsBefore: mark.LastRows,
		Shrank: mark.Snapshot > 0 && 2*rows < mark.LastRows,
	}
	if lasting && !c.timely {
		result.BodyHash = c.keptHash(s.Hash)
	}
	return result, nil
}

// readSnapshot reads and compares all rows.
func (in *Ingester) readSnapshot(ctx context.Context, s *Snapshot, c *comparison, maxRows int) (rows int, err error) {
	if s.Source != nil {
		c.foreign = true
		var again time.Time
		rows, again, err = readSource(ctx, s.Source, in.now(), c.take)
		c.meet(again)
		return rows, err
	}
	body, err := s.Open()
	if err != nil {
		return 0, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	return decode(body, in.now(), maxRows, c.take)
}

// meet records a start or an end of the document; zero: none.
func (c *comparison) meet(at time.Time) {
	if at.After(c.at) && (c.again.IsZero() || at.Before(c.again)) {
		c.again = at
	}
}

// keptHash returns the value to store as Polling.BodyHash.
func (c *comparison) keptHash(hash []byte) []byte {
	shortest := uint64(0)
	if c.shortest != math.MaxInt64 {
		shortest = uint64(c.shortest.Milliseconds())
	}
	kept := binary.BigEndian.AppendUint64(append(make([]byte, 0, keptLength), hash...), shortest)
	kept = binary.BigEndian.AppendUint64(kept, uint64(c.report.Rejected))
	kept = binary.BigEndian.AppendUint64(kept, uint64(len(c.warnings)))
	if c.again.IsZero() {
		return kept
	}
	// Rounded up, so that the start or end has passed once it is reached.
	return binary.BigEndian.AppendUint64(kept, uint64(c.again.Add(time.Millisecond-1).UnixMilli()))
}

// take compares one row.
func (c *comparison) take(index int, row Row, rejected *RowError) error {
	if rejected != nil {
		c.timely = c.timely || rejected.Code == codeInvalidObservedAt
		c.reject(rejected)
		return nil
	}
	c.report.Accepted++
	c.warn(index, &row)
	place, known := c.places[row.ExternalID]
	if !known {
		place = int32(len(c.seen))
		c.places[row.ExternalID] = place
		c.seen = append(c.seen, sighting{stored: -1, row: -1, upsert: -1})
	}
	seen := &c.seen[place]
	if seen.row >= 0 {
		c.duplicate(int(seen.row), row.ExternalID)
	}
	c.meet(row.EndsAt)
	ended := !row.EndsAt.IsZero() && !row.EndsAt.After(c.at)
	seen.row, seen.retire = int32(index), row.Retire || ended
	if seen.retire {
		c.forget(seen)
		return nil
	}
	var alive *mapdata.Stored
	if seen.stored >= 0 {
		alive = ifAlive(&c.stored[seen.stored], c.mark.SnapshotAt, c.at)
	}
	e := upsert(c.feed, &row, alive, c.at)
	if e.Lifetime > 0 {
		c.shortest = min(c.shortest, e.Lifetime)
	}
	if alive != nil && alive.Digest == e.Digest && alive.SeenAt.IsZero() && alive.AbsentSince == 0 {
		c.forget(seen)
		return nil
	}
	e.SeenAt = time.Time{} // at the feed's SnapshotAt, like all rows of this snapshot
	if !c.hold(&e) {
		c.forget(seen)
		c.report.Accepted--
		c.reject(c.allowed.full(index, e.ExternalID))
		return nil
	}
	if seen.upsert < 0 {
		seen.upsert = int32(len(c.upserts))
		c.upserts, c.owners = append(c.upserts, e), append(c.owners, place)
		return nil
	}
	c.upserts[seen.upsert] = e
	return nil
}

// hold copies an entity's properties and line so that they outlive the row. It refuses once the snapshot holds as much as its feed may,
// because a document may unpack to several times of that.
func (c *comparison) hold(e *mapdata.Entity) bool {
	if c.foreign {
		by := mapdata.RowBytes(e.ExternalID, e.Properties, e.Line)
		if c.held+by > c.allowed.feed.Bytes {
			c.allowed.rejected++
			return false
		}
		c.held += by
	}
	c.kept, e.Properties = keep(c.kept, e.Properties)
	e.Line = slices.Clone(e.Line)
	return true
}

// forget drops the upsert of an earlier row with the same external id.
func (c *comparison) forget(seen *sighting) {
	if seen.upsert >= 0 {
		c.upserts[seen.upsert].ExternalID = ""
		seen.upsert = -1
	}
}

// retireAfter is the number of consecutive good snapshots that must lack a persistent entity before it is retired (D6.9).
const retireAfter = 3

// finish adds the entities that were seen, and those that were not, to the change. It returns how many entities rows of the body retired,
// and whether the same body would change nothing more, because no missing row still waits to be retired.
func (c *comparison) finish(change *mapdata.Change) (retired int, lasting bool) {
	lasting = true
	number := c.mark.Snapshot + 1
	for i := range c.seen {
		seen := &c.seen[i]
		if seen.stored < 0 {
			continue
		}
		st := &c.stored[seen.stored]
		switch {
		case seen.retire:
			change.Retired = append(change.Retired, st.ExternalID)
			c.allowed.retire(st)
			retired++
		case seen.row >= 0 || !st.Alive(c.mark.SnapshotAt, c.at):
			// Seen, or expired: it does not count as missing.
		case c.whole:
			change.Retired = append(change.Retired, st.ExternalID)
			c.allowed.retire(st)
		case st.AbsentSince == 0:
			change.Absent = append(change.Absent, st.ExternalID)
			lasting = lasting && st.Lifetime > 0
		case st.Lifetime > 0:
			// Missing before: it expires in time.
		case number >= st.AbsentSince+retireAfter-1:
			change.Retired = append(change.Retired, st.ExternalID)
			c.allowed.retire(st)
		default:
			lasting = false
		}
	}
	c.store(change)
	return retired, lasting && c.allowed.rejected == 0 // later there may be room for rejected rows
}

// store adds the differences that have room to the change. Entities that are retired or shrink make room for all of the snapshot.
func (c *comparison) store(change *mapdata.Change) {
	old := func(i int) *mapdata.Stored {
		if at := c.seen[c.owners[i]].stored; at >= 0 {
			return &c.stored[at]
		}
		return nil
	}
	for i := range c.upserts {
		if e := &c.upserts[i]; e.ExternalID != "" && frees(growth(e, old(i))) {
			c.allowed.admit(growth(e, old(i)))
		}
	}
	for i := range c.upserts {
		e := &c.upserts[i]
		if e.ExternalID == "" {
			continue
		}
		if by := growth(e, old(i)); !frees(by) && !c.allowed.admit(by) {
			c.report.Accepted--
			c.reject(c.allowed.full(int(c.seen[c.owners[i]].row), e.ExternalID))
			continue
		}
		change.Upserts = append(change.Upserts, *e)
	}
	c.allowed.settle(change)
}
