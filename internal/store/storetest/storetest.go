// Package storetest is the contract of every store: the promises of its ports, as tests that each backend passes. A new
// behaviour is added here first.
package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/votes"
	"wayside/internal/feeds/feed"
	"wayside/internal/feeds/ingest"
	"wayside/internal/feeds/provider/pull"
	"wayside/internal/feeds/provider/push"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
	"wayside/internal/people/apps"
	"wayside/internal/people/mail"
	"wayside/internal/people/takedown"
	"wayside/internal/store"
	"wayside/internal/store/replica"
)

// Store is the combination of the ports of all use cases.
type Store interface {
	account.Store
	account.PasskeyStore
	feed.Store
	apps.Store
	replica.Store
	ingest.Store
	mail.Outbox
	pull.Store
	push.Store
	takedown.Store
	votes.Store
	AnySealed(ctx context.Context) (*store.SealedHeader, error)
	AddAudit(ctx context.Context, entries ...mapdata.AuditEntry) error
	Reseal(ctx context.Context, reseal func(store.SealedHeader) ([]byte, error), audit mapdata.AuditEntry) (int, error)
	ResealSavedPlaces(ctx context.Context, reseal func(account mapdata.AccountID, sealed []byte) ([]byte, error)) error
	CountCurators(ctx context.Context) (int, error)
	// Prune severs old votes from their accounts (D9.7) and deletes expired data and the data of deleted feeds.
	Prune(ctx context.Context, now time.Time) error
	Close() error
}

// Fresh creates an empty database and returns a function that opens it, each call as another process would. The test
// closes the stores that it opened.
type Fresh func(t *testing.T) (open func(t *testing.T) Store)

// Run tests a store against the contract.
func Run(t *testing.T, fresh Fresh) {
	areas := []struct {
		name  string
		tests map[string]func(*testStore)
	}{
		{"accounts", accountTests()},
		{"sign-ins", signInTests()},
		{"sessions that end", sessionEndTests()},
		{"pairings", pairingTests()},
		{"passkeys", passkeyTests()},
		{"preferences", preferenceTests()},
		{"saved places", savedPlacesTests()},
		{"feeds", feedTests()},
		{"built-in feeds", builtinTests()},
		{"reports of drivers", reportTests()},
		{"acts of accounts", actTests()},
		{"entities", entityTests()},
		{"lines and ends", lineTests()},
		{"changes", changeTests()},
		{"polls", pollTests()},
		{"fencing of polls", fencingTests()},
		{"pushes", pushTests()},
		{"timelines", timelineTests()},
		{"audit log", auditTests()},
		{"accounts that end", eraseTests()},
		{"operators", operatorTests()},
		{"e-mails", emailTests()},
		{"notices", noticeTests()},
		{"calls", callTests()},
		{"votes", voteTests()},
		{"takedowns", takedownTests()},
		{"maintainers", invitationTests()},
		{"apps", appTests()},
		{"replicas", replicaTests()},
		{"side by side", concurrencyTests()},
		{"whole", wholeTests()},
	}
	for _, area := range areas {
		t.Run(area.name, func(t *testing.T) {
			for name, test := range area.tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(newTestStore(t, fresh))
				})
			}
		})
	}
}

// start is the time at which every test begins.
var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return start.Add(d) }

// testStore is a test and its store.
type testStore struct {
	*testing.T
	ctx   context.Context
	open  func(t *testing.T) Store
	store Store
	made  int // feeds and accounts so far, for names

	feedOwner mapdata.AccountID // recipient of the test's e-mails
}

func newTestStore(t *testing.T, fresh Fresh) *testStore {
	t.Helper()
	w := &testStore{T: t, ctx: t.Context(), open: fresh(t)}
	w.store = w.another()
	return w
}

// another opens the same database a second time.
func (w *testStore) another() Store {
	w.Helper()
	s := w.open(w.T)
	w.Cleanup(func() {
		if err := s.Close(); err != nil {
			w.Errorf("Close: %v", err)
		}
	})
	return s
}

// must ends the test on an unexpected error.
func (w *testStore) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// same compares two values.
func (w *testStore) same(what string, got, want any) {
	w.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func (w *testStore) account() *mapdata.Account {
	w.Helper()
	id, err := mapdata.NewAccountID()
	w.must(err)
	w.made++
	a := &mapdata.Account{
		ID: id, Email: fmt.Sprintf("driver%d@example.org", w.made), Role: mapdata.Driver, Tier: mapdata.TierAccount, CreatedAt: start,
	}
	w.must(w.store.CreateAccount(w.ctx, a))
	return a
}

// unlimitedFeeds is a limit of feeds that no test reaches.
const unlimitedFeeds = 1_000_000

// pushFeed registers an approved public push feed of the owner.
func (w *testStore) pushFeed(owner *mapdata.Account) *mapdata.Feed {
	w.Helper()
	f := w.draft(owner)
	f.PushTokenHash = []byte("push token of " + f.ID.String())
	w.must(w.store.CreateFeed(w.ctx, f, unlimitedFeeds))
	return f
}

// pullFeed registers an approved public pull feed that is due at start.
func (w *testStore) pullFeed(owner *mapdata.Account) *mapdata.Feed {
	w.Helper()
	f := w.draft(owner)
	f.Direction, f.PullURL, f.PullInterval = mapdata.Pull, "https://feeds.example.org/all.json", time.Minute
	f.Polling.NextFetchAt = start
	w.must(w.store.CreateFeed(w.ctx, f, unlimitedFeeds))
	return f
}

// draft returns a feed that is not stored.
func (w *testStore) draft(owner *mapdata.Account) *mapdata.Feed {
	w.Helper()
	id, err := mapdata.NewFeedID()
	w.must(err)
	w.made++
	return &mapdata.Feed{
		ID: id, Owner: owner.ID, Name: fmt.Sprintf("Feed %d", w.made), Description: "What it says", Attribution: "© Somebody", Licence: "ODbL-1.0",
		Layer:     mapdata.Layer{ID: id.String(), Slug: fmt.Sprintf("feed-%d-layer", w.made), Name: "A layer"},
		SpecURL:   "https://example.org/spec",
		Direction: mapdata.Push, Visibility: mapdata.Public, Active: true, ReviewState: mapdata.Approved,
		CreatedAt: at(time.Duration(w.made) * time.Millisecond), UpdatedAt: at(time.Duration(w.made) * time.Millisecond),
	}
}

// entity returns an entity that was first seen, last seen and changed at the given time.
func entity(f *mapdata.Feed, externalID string, seen time.Time) mapdata.Entity {
	return mapdata.Entity{
		Feed: f.ID, ExternalID: externalID, Kind: kindOf("alert.construction"),
		Point:      geo.Point{Lat: 52.370216, Lng: 4.895168},
		Properties: []byte(`{"street":"Damrak"}`), Digest: 0xfedcba9876543210,
		FirstSeenAt: seen, SeenAt: seen, ChangedAt: seen, Lifetime: 7 * 24 * time.Hour,
	}
}

func kindOf(id string) mapdata.Kind {
	k, ok := mapdata.ParseKind(id)
	if !ok {
		panic("no kind " + id)
	}
	return k
}

// pushed returns a change of a push feed based on its current mark.
func (w *testStore) pushed(f *mapdata.Feed, when time.Time, upserts ...mapdata.Entity) *mapdata.Change {
	w.Helper()
	mark, err := w.store.Mark(w.ctx, f.ID)
	w.must(err)
	return &mapdata.Change{
		Feed: f.ID, Base: mark.EntitiesRevision, Holds: mark.Holds, At: when, Upserts: upserts,
		Attempt: mapdata.Attempt{
			At: when, Duration: 1500 * time.Microsecond, OK: true, Outcome: mapdata.OutcomeOK, Rows: len(upserts), Bytes: 321,
		},
	}
}

// polled returns the change of a pull feed's next good snapshot.
func (w *testStore) polled(f *mapdata.Feed, when time.Time, rows int, upserts ...mapdata.Entity) *mapdata.Change {
	w.Helper()
	c := w.pushed(f, when, upserts...)
	mark, err := w.store.Mark(w.ctx, f.ID)
	w.must(err)
	c.Snapshot = &mapdata.SnapshotTaken{Snapshot: mark.Snapshot + 1, Polling: mapdata.Polling{
		NextFetchAt: when.Add(time.Minute), LastFetchedAt: when, LastOutcome: mapdata.OutcomeOK, LastRows: rows,
		BodyHash: []byte("body at " + when.String()), LastSkipped: 2, Skips: []mapdata.Skip{{Reason: "no_kind", Items: 2}},
		Validators: mapdata.Validators{Generation: 1, Documents: []mapdata.Validator{{URL: "u", ETag: when.String()}}},
	}}
	return c
}

func (w *testStore) apply(c *mapdata.Change) {
	w.Helper()
	w.count(c)
	w.must(w.store.Apply(w.ctx, c))
	mark, err := w.store.Mark(w.ctx, c.Feed)
	w.must(err)
	w.same("what the feed holds after a change", mark.Holds, c.Holds.Plus(c.Grows))
}

// count sets the growth of the feed's usage in the change.
func (w *testStore) count(c *mapdata.Change) {
	w.Helper()
	bytes := make(map[string]int64)
	w.must(w.store.Stored(w.ctx, c.Feed, nil, func(s mapdata.Stored) { bytes[s.ExternalID] = s.Bytes }))
	c.Grows = mapdata.Usage{}
	for i := range c.Upserts {
		e := &c.Upserts[i]
		old, known := bytes[e.ExternalID]
		c.Grows.Bytes += mapdata.RowBytes(e.ExternalID, e.Properties, e.Line) - old
		if !known {
			c.Grows.Entities++
		}
	}
	for _, id := range c.Retired {
		if old, known := bytes[id]; known {
			c.Grows = c.Grows.Plus(mapdata.Usage{Entities: -1, Bytes: -old})
		}
	}
}

// entities reads all stored entities of the feed, by external id.
func (w *testStore) entities(f *mapdata.Feed) map[string]mapdata.Entity {
	w.Helper()
	all := make(map[string]mapdata.Entity)
	w.must(w.store.AllEntities(w.ctx, 0, 1, func(e *mapdata.Entity) {
		if e.Feed == f.ID {
			own := *e
			own.Properties = append([]byte(nil), e.Properties...)
			all[e.ExternalID] = own
		}
	}))
	return all
}

func (w *testStore) state() mapdata.StoreState {
	w.Helper()
	s, err := w.store.State(w.ctx)
	w.must(err)
	return s
}

func byID(all ...mapdata.Entity) map[string]mapdata.Entity {
	m := make(map[string]mapdata.Entity)
	for _, e := range all {
		m[e.ExternalID] = e
	}
	return m
}
