package votes_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/votes"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
)

// fakeStore records the ballot that it was given, and returns the same result to all calls.
type fakeStore struct {
	votes.Store
	ballot *mapdata.Ballot
	answer mapdata.Voted
	vote   mapdata.Vote
	err    error
}

func (s *fakeStore) CastVote(_ context.Context, b *mapdata.Ballot) (mapdata.Voted, error) {
	s.ballot = b
	return s.answer, s.err
}

func (s *fakeStore) Vote(context.Context, mapdata.SourceID, string, mapdata.AccountID) (mapdata.Vote, error) {
	return s.vote, s.err
}

// oneFeed is the only feed; all accounts but the stranger may read it.
type oneFeed mapdata.Feed

func (f *oneFeed) Feed(id mapdata.FeedID, account mapdata.AccountID) *mapdata.Feed {
	if id != f.ID || account == stranger {
		return nil
	}
	return (*mapdata.Feed)(f)
}

// oneIncident is the only live incident.
type oneIncident struct {
	voted mapdata.Voted
	err   error
}

func (l *oneIncident) Find(_ context.Context, externalID string) (mapdata.Voted, error) {
	if externalID != l.voted.Entity.ExternalID {
		return mapdata.Voted{}, mapdata.ErrNotFound
	}
	return l.voted, l.err
}

var (
	driver   = mapdata.AccountID{1}
	stranger = mapdata.AccountID{2}
	owner    = mapdata.AccountID{3}
	feedID   = mapdata.FeedID{15: 1}
	errDown  = errors.New("the store is down")
)

// newService returns a service around a store, with one feed of the owner's and one live incident "live".
func newService(store *fakeStore) (*votes.Service, *oneIncident) {
	live := &oneIncident{voted: mapdata.Voted{Entity: mapdata.Entity{ExternalID: "live", Kind: 3}, Prior: 0.7}}
	return votes.New(votes.Config{
		Store: store, Feeds: &oneFeed{ID: feedID, Owner: owner}, Live: live,
		Now:          func() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 123_456_789, time.FixedZone("", 3600)) },
		StoreChanged: signal.NewStoreChanged(),
	}), live
}

// notified reports whether a signal was given since the last call.
func notified(s signal.StoreChanged) bool {
	select {
	case <-s.C():
		return true
	default:
		return false
	}
}

// TestCast checks the ballot that the store gets and the result, for an entity of a feed and for a live incident.
func TestCast(t *testing.T) {
	at := time.Date(2026, 11, 21, 8, 0, 0, 123_000_000, time.UTC)
	liveEntity := mapdata.Entity{ExternalID: "live", Kind: 3}
	for _, tt := range []struct {
		name     string
		id       string
		external string
		source   mapdata.SourceID
		live     *mapdata.Entity
		ofFeed   bool
		prior    float64
	}{
		{"entity of a feed", mapdata.EntityID(feedID.SourceID(), "x"), "x", feedID.SourceID(), nil, true, 0},
		{"live incident", mapdata.EntityID(mapdata.Incidents, "live"), "live", mapdata.Incidents, &liveEntity, false, 0.7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := &fakeStore{answer: mapdata.Voted{Tally: mapdata.Tally{Confirms: 2}}}
			s, _ := newService(store)
			voted, feed, err := s.Cast(t.Context(), tt.id, driver, mapdata.Confirm)
			if err != nil {
				t.Fatal(err)
			}
			want := &mapdata.Ballot{Source: tt.source, ExternalID: tt.external, Account: driver, Vote: mapdata.Confirm, At: at, Live: tt.live}
			if diff := cmp.Diff(want, store.ballot); diff != "" {
				t.Error(diff)
			}
			if voted.Tally.Confirms != 2 || voted.Prior != tt.prior || (feed != nil) != tt.ofFeed {
				t.Errorf("%+v of %v", voted, feed)
			}
			if !notified(s.StoreChanged) {
				t.Error("the change is not announced")
			}
		})
	}
}

// TestTrustFollowsTheSource checks that votes on drivers' reports count after another time than those on other entities
// (D9.8, D17.37).
func TestTrustFollowsTheSource(t *testing.T) {
	store := new(fakeStore)
	s, _ := newService(store)
	s.TrustAfter, s.ReportsTrust = time.Hour, 24*time.Hour
	for id, want := range map[string]time.Duration{
		mapdata.EntityID(feedID.SourceID(), "x"):    time.Hour,
		mapdata.EntityID(mapdata.Incidents, "live"): time.Hour,
		mapdata.EntityID(mapdata.Drivers, "x"):      24 * time.Hour,
	} {
		if id == mapdata.EntityID(mapdata.Drivers, "x") {
			reports, _ := mapdata.Drivers.FeedID()
			s.Feeds = &oneFeed{ID: reports, Owner: owner}
		} else {
			s.Feeds = &oneFeed{ID: feedID, Owner: owner}
		}
		if _, _, err := s.Cast(t.Context(), id, driver, mapdata.Confirm); err != nil {
			t.Fatal(id, err)
		}
		if store.ballot.TrustAfter != want {
			t.Errorf("%s: trust after %v, want %v", id, store.ballot.TrustAfter, want)
		}
	}
}

// TestCastFails checks that a vote on an entity that cannot be voted on stores nothing and announces no change.
func TestCastFails(t *testing.T) {
	live, ofFeed := mapdata.EntityID(mapdata.Incidents, "live"), mapdata.EntityID(feedID.SourceID(), "x")
	for _, tt := range []struct {
		name    string
		id      string
		account mapdata.AccountID
		edit    func(*votes.Service, *fakeStore, *oneIncident)
		want    error
		stored  bool
	}{
		{"no id", "moose", driver, nil, mapdata.ErrNotFound, false},
		{"feed of another", ofFeed, stranger, nil, mapdata.ErrNotFound, false},
		{"feed of their own", ofFeed, owner, nil, mapdata.ErrForbidden, false}, // D9.8
		{"unknown incident", mapdata.EntityID(mapdata.Incidents, "gone"), driver, nil, mapdata.ErrNotFound, false},
		{"no incidents", live, driver, func(s *votes.Service, _ *fakeStore, _ *oneIncident) { s.Live = nil }, mapdata.ErrNotFound, false},
		{"live cache out of reach", live, driver, func(_ *votes.Service, _ *fakeStore, l *oneIncident) { l.err = mapdata.ErrUnavailable }, mapdata.ErrUnavailable, false},
		{"unknown to the store", ofFeed, driver, func(_ *votes.Service, f *fakeStore, _ *oneIncident) { f.err = mapdata.ErrNotFound }, mapdata.ErrNotFound, true},
		{"store down", ofFeed, driver, func(_ *votes.Service, f *fakeStore, _ *oneIncident) { f.err = errDown }, errDown, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := new(fakeStore)
			s, incident := newService(store)
			if tt.edit != nil {
				tt.edit(s, store, incident)
			}
			voted, feed, err := s.Cast(t.Context(), tt.id, tt.account, mapdata.Dispute)
			if !errors.Is(err, tt.want) || feed != nil || voted.Prior != 0 {
				t.Errorf("%+v of %v: %v", voted, feed, err)
			}
			var described *mapdata.Described
			if errors.Is(err, mapdata.ErrNotFound) && (!errors.As(err, &described) || described.Detail != "Unknown entity, or no longer there.") {
				t.Errorf("%q is no sentence for people", err)
			}
			if (store.ballot != nil) != tt.stored || notified(s.StoreChanged) {
				t.Errorf("stored %+v", store.ballot)
			}
		})
	}
}

// TestStanding checks the result for an account's own vote.
func TestStanding(t *testing.T) {
	store := &fakeStore{vote: mapdata.Dispute}
	s, _ := newService(store)
	id := mapdata.EntityID(feedID.SourceID(), "x")
	if v, err := s.Standing(t.Context(), id, driver); v != mapdata.Dispute || err != nil {
		t.Errorf("%v, %v", v, err)
	}
	if v, err := s.Standing(t.Context(), "moose", driver); v != mapdata.NoVote || err != nil {
		t.Errorf("of no entity: %v, %v", v, err)
	}
	store.err = errDown
	if v, err := s.Standing(t.Context(), id, driver); v != mapdata.NoVote || !errors.Is(err, errDown) {
		t.Errorf("store down: %v, %v", v, err)
	}
}
