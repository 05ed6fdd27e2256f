package storetest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
)

// boundsLimits are so small that the test reaches them all the time.
var boundsLimits = mapdata.StorageLimits{
	EntitiesPerFeed: 6, BytesPerFeed: 260, BytesPerAccount: 400, UnreviewedEntitiesPerFeed: 3, UnreviewedBytesPerFeed: 130,
}

// boundsModel is an account with a push feed, a pull feed and a feed that is deleted and created again, with the last usage of each.
type boundsModel struct {
	*testStore
	r     *rapid.T
	in    *ingest.Ingester
	owner *mapdata.Account
	feeds []*mapdata.Feed
	now   time.Time
	known map[mapdata.FeedID]mapdata.Usage
}

// keepsBounds runs pushes, snapshots, retirements, approvals, removals of expired entities and deletions in any order. After each, it
// checks that the counts equal a recount of the rows, as after a restart, and that no bound was crossed (D5.10).
func keepsBounds(w *testStore) {
	rapid.Check(w.T, func(r *rapid.T) {
		m := &boundsModel{testStore: w, r: r, owner: w.account(), now: start, known: make(map[mapdata.FeedID]mapdata.Usage)}
		m.in = ingest.New(w.store, func() time.Time { return m.now }, signal.StoreChanged{})
		m.in.Limits = boundsLimits
		for _, direction := range []mapdata.Direction{mapdata.Push, mapdata.Pull, mapdata.Push} {
			m.register(direction)
		}
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			m.now = m.now.Add(time.Duration(rapid.IntRange(1, 40).Draw(r, "minutes")) * time.Minute)
			f := rapid.SampledFrom(m.feeds).Draw(r, "feed")
			switch rapid.IntRange(0, 9).Draw(r, "step") {
			case 0:
				m.approve(f)
			case 1:
				w.must(w.store.Forget(w.ctx, f.ID, slices.Sorted(maps.Keys(w.entities(f))), m.now))
			case 2:
				w.must(w.store.DeleteFeed(w.ctx, f.ID, mapdata.AuditEntry{At: m.now}))
				m.feeds = slices.DeleteFunc(m.feeds, func(o *mapdata.Feed) bool { return o.ID == f.ID })
				m.register(f.Direction)
			default:
				m.send(f)
			}
			m.check()
		}
		w.must(w.store.DeleteAccount(w.ctx, m.owner.ID, mapdata.AuditEntry{At: m.now}))
	})
}

func (m *boundsModel) register(direction mapdata.Direction) {
	f := m.draft(m.owner)
	f.Direction, f.ReviewState = direction, mapdata.Pending
	if direction == mapdata.Pull {
		f.PullURL, f.PullInterval = "https://feeds.example.org/all.json", time.Hour
	}
	m.must(m.store.CreateFeed(m.ctx, f, unlimitedFeeds))
	m.feeds = append(m.feeds, f)
}

func (m *boundsModel) approve(f *mapdata.Feed) {
	_, err := m.store.UpdateFeed(m.ctx, f.ID, func(f *mapdata.Feed) (mapdata.Side, error) {
		f.ReviewState = rapid.SampledFrom([]mapdata.ReviewState{mapdata.Approved, mapdata.Rejected}).Draw(m.r, "decision")
		return mapdata.Side{}, nil
	})
	m.must(err)
}

// send pushes or polls some rows; each is accepted or rejected as feed_full.
func (m *boundsModel) send(f *mapdata.Feed) {
	var rows []string
	for range rapid.IntRange(0, 6).Draw(m.r, "rows") {
		ttl := rapid.SampledFrom([]int{1, 1800, 86_400}).Draw(m.r, "ttl")
		rows = append(rows, fmt.Sprintf(`{"external_id":"%d","kind":"alert.construction","lat":1,"lng":1,"ttl_seconds":%d,"properties":{"a":"%s"}}`,
			rapid.IntRange(0, 8).Draw(m.r, "id"), ttl, strings.Repeat("é", rapid.IntRange(0, 40).Draw(m.r, "size"))))
	}
	body := []byte("[" + strings.Join(rows, ",") + "]")
	var (
		report ingest.Report
		err    error
	)
	if f.Direction == mapdata.Push {
		var batch *ingest.Batch
		batch, err = ingest.DecodeBatch(body, m.now)
		m.must(err)
		report, err = m.in.Push(m.ctx, f.ID, batch)
	} else {
		hash := sha256.Sum256(body)
		report, err = m.in.Snapshot(m.ctx, f.ID, ingest.Snapshot{
			Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }, Hash: hash[:], At: m.now,
			Finish: func(r ingest.Result) (ingest.Record, error) {
				return ingest.Record{
					Polling: mapdata.Polling{LastFetchedAt: m.now, LastOutcome: mapdata.OutcomeOK, LastRows: r.Rows, LastRejected: r.Report.Rejected, BodyHash: r.BodyHash},
					Attempt: mapdata.Attempt{At: m.now, OK: true, Outcome: mapdata.OutcomeOK, Rows: r.Rows, Rejected: r.Report.Rejected},
				}, nil
			},
		})
	}
	m.must(err)
	if report.Accepted+report.Rejected != len(rows) {
		m.r.Fatalf("%d rows: %+v", len(rows), report)
	}
}

// check compares the counts with a recount, and checks both against the bounds.
func (m *boundsModel) check() {
	var account int64
	for _, f := range m.feeds {
		stored := m.entities(f)
		count := mapdata.Usage{}
		for id, e := range stored {
			count = count.Plus(mapdata.Usage{Entities: 1, Bytes: mapdata.RowBytes(id, e.Properties, e.Line)})
		}
		mark, err := m.store.Mark(m.ctx, f.ID)
		m.must(err)
		if mark.Holds != count {
			m.r.Fatalf("feed %s counts %+v, it holds %+v", f.ID, mark.Holds, count)
		}
		most, before := boundsLimits.OfFeed(mark.ApprovedOnce), m.known[f.ID]
		if count.Entities > max(most.Entities, before.Entities) || count.Bytes > max(most.Bytes, before.Bytes) {
			m.r.Fatalf("feed %s grew from %+v to %+v, beyond %+v", f.ID, before, count, most)
		}
		m.known[f.ID] = count
		account += count.Bytes
	}
	mark, err := m.store.Mark(m.ctx, m.feeds[0].ID)
	m.must(err)
	if mark.AccountBytes != account || account > boundsLimits.BytesPerAccount {
		m.r.Fatalf("the account counts %d bytes, its feeds hold %d of at most %d", mark.AccountBytes, account, boundsLimits.BytesPerAccount)
	}
}
