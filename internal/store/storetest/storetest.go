// Package storetest is the contract of every store: the promises of the ports, as tests that each backend passes. A new
// behaviour is added here first.
package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/account"
	"wayside/internal/feed"
	"wayside/internal/geo"
	"wayside/internal/ingest"
	"wayside/internal/mail"
	"wayside/internal/mapdata"
	"wayside/internal/provider/pull"
	"wayside/internal/provider/push"
	"wayside/internal/replica"
	"wayside/internal/votes"
)

// Store is all that the use cases ask of a store.
type Store interface {
	account.Store
	account.PasskeyStore
	feed.Store
	replica.Store
	ingest.Store
	mail.Outbox
	pull.Store
	push.Store
	votes.Store
	// Prune does what time asks for: it severs votes from their accounts (D9.7) and frees the room of what is gone.
	Prune(ctx context.Context, now time.Time) error
	Close() error
}

// Fresh makes an empty database and returns what opens it: each call as another process would. The test closes what it
// opened.
type Fresh func(t *testing.T) (open func(t *testing.T) Store)

// Run holds a store to its contract.
func Run(t *testing.T, fresh Fresh) {
	areas := []struct {
		name  string
		tests map[string]func(*testStore)
	}{
		{"accounts", accountTests()},
		{"sign-ins", signInTests()},
		{"pairings", pairingTests()},
		{"passkeys", passkeyTests()},
		{"preferences", preferenceTests()},
		{"feeds", feedTests()},
		{"entities", entityTests()},
		{"changes", changeTests()},
		{"polls", pollTests()},
		{"fencing of polls", fencingTests()},
		{"pushes", pushTests()},
		{"timelines", timelineTests()},
		{"audit log", auditTests()},
		{"accounts that end", eraseTests()},
		{"letters", letterTests()},
		{"votes", voteTests()},
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

// start is when every test begins.
var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return start.Add(d) }

// testStore is one test with its store.
type testStore struct {
	*testing.T
	ctx   context.Context
	open  func(t *testing.T) Store
	store Store
	made  int // feeds and accounts so far, for names

	feedOwner mapdata.AccountID // who the letters of a test go to
}

func newTestStore(t *testing.T, fresh Fresh) *testStore {
	t.Helper()
	w := &testStore{T: t, ctx: t.Context(), open: fresh(t)}
	w.store = w.another()
	return w
}

// another opens the same database once more.
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

// must ends the test on an error that is no part of its promise.
func (w *testStore) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// same compares.
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

// unlimitedFeeds is a number of feeds that nobody reaches.
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

// draft makes a feed that is not stored yet.
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

// entity makes one that was seen first, last and changed at the given time.
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

// pushed makes a change of a push feed from its present mark.
func (w *testStore) pushed(f *mapdata.Feed, when time.Time, upserts ...mapdata.Entity) *mapdata.Change {
	w.Helper()
	mark, err := w.store.Mark(w.ctx, f.ID)
	w.must(err)
	return &mapdata.Change{
		Feed: f.ID, Base: mark.EntitiesRevision, At: when, Upserts: upserts,
		Attempt: mapdata.Attempt{
			At: when, Duration: 1500 * time.Microsecond, OK: true, Outcome: mapdata.OutcomeOK, Rows: len(upserts), Bytes: 321,
		},
	}
}

// polled makes a change of a pull feed's next good snapshot.
func (w *testStore) polled(f *mapdata.Feed, when time.Time, rows int, upserts ...mapdata.Entity) *mapdata.Change {
	w.Helper()
	c := w.pushed(f, when, upserts...)
	mark, err := w.store.Mark(w.ctx, f.ID)
	w.must(err)
	c.Snapshot = &mapdata.SnapshotTaken{Snapshot: mark.Snapshot + 1, Polling: mapdata.Polling{
		NextFetchAt: when.Add(time.Minute), LastFetchedAt: when, LastOutcome: mapdata.OutcomeOK, LastRows: rows,
		BodyHash: []byte("body at " + when.String()),
	}}
	return c
}

func (w *testStore) apply(c *mapdata.Change) {
	w.Helper()
	w.must(w.store.Apply(w.ctx, c))
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
