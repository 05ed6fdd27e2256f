package nearby_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/catalog"
	"wayside/internal/entities/index"
	"wayside/internal/entities/nearby"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

var (
	owner    = mapdata.AccountID{1}
	stranger = mapdata.AccountID{2}
)

// testReader is a Reader with a few feeds at 52, 4; each has one charger of each network.
type testReader struct {
	index     *index.Index
	catalogue *catalog.Catalog
	reader    *nearby.Reader
}

func newTestReader() *testReader {
	w := &testReader{index: index.New(func(dst []byte, _ *mapdata.Entity) []byte { return dst }), catalogue: catalog.New(nil)}
	w.reader = nearby.New(nearby.Config{Index: w.index, Catalog: w.catalogue, Primary: "tesla", Now: func() time.Time { return start }})
	return w
}

func (w *testReader) add(n byte, owner mapdata.AccountID, state mapdata.ReviewState, at geo.Point) *mapdata.Feed {
	charger, _ := mapdata.ParseKind("charger.supercharger")
	f := &mapdata.Feed{
		ID: mapdata.FeedID{15: n}, Owner: owner, Visibility: mapdata.Public, ReviewState: state, Active: true,
		Direction: mapdata.Push, Layer: mapdata.Layer{Slug: fmt.Sprintf("layer-%d", n)},
	}
	c := mapdata.FeedChange{Feed: f, FeedID: f.ID}
	for _, network := range []string{"", "tesla", "fastned", "ionity"} {
		c.Entities = append(c.Entities, mapdata.Entity{
			Feed: f.ID, ExternalID: fmt.Sprintf("%d %s", n, network), Kind: charger, Network: network, Point: at, FirstSeenAt: start, SeenAt: start, ChangedAt: start,
		})
	}
	w.index.Apply([]mapdata.FeedChange{c})
	w.catalogue.Apply([]mapdata.FeedChange{{Feed: f, FeedID: f.ID}}).Publish()
	return f
}

func (w *testReader) near(t *testing.T, edit func(*nearby.Query)) (ids []string, a nearby.Answer) {
	t.Helper()
	q := &nearby.Query{Center: geo.Point{Lat: 52, Lng: 4}, Radius: 1000, Kinds: mapdata.AllKinds, Limit: nearby.MaxLimit, Tier: mapdata.TierGuest}
	if edit != nil {
		edit(q)
	}
	if err := w.reader.Near(t.Context(), q, &a); err != nil {
		t.Fatal(err)
	}
	ids = []string{}
	for _, h := range a.Hits {
		ids = append(ids, string(h.ExternalID))
	}
	slices.Sort(ids)
	return ids, a
}

// TestNetworks checks the charger networks of each caller (D4.7).
func TestNetworks(t *testing.T) {
	w := newTestReader()
	w.add(1, owner, mapdata.Approved, geo.Point{Lat: 52, Lng: 4})
	primary := []string{"1 ", "1 tesla"}
	tests := []struct {
		name    string
		tier    mapdata.Tier
		named   bool
		wanted  []string
		applied []string
		found   []string
	}{
		{"guest", mapdata.TierGuest, false, nil, []string{"tesla"}, primary},
		{"guest who names one", mapdata.TierGuest, true, []string{"fastned"}, []string{"tesla"}, primary},
		{"account", mapdata.TierAccount, false, nil, []string{"tesla"}, primary},
		{"account with one more", mapdata.TierAccount, true, []string{"fastned"}, []string{"tesla", "fastned"}, []string{"1 ", "1 fastned", "1 tesla"}},
		{"account with two: the first named wins", mapdata.TierAccount, true, []string{"ionity", "fastned"}, []string{"tesla", "ionity"}, []string{"1 ", "1 ionity", "1 tesla"}},
		{"the primary named costs nothing", mapdata.TierAccount, true, []string{"tesla", "fastned"}, []string{"tesla", "fastned"}, []string{"1 ", "1 fastned", "1 tesla"}},
		{"the same named twice costs once", mapdata.TierPremium, true, []string{"ionity", "ionity"}, []string{"tesla", "ionity"}, []string{"1 ", "1 ionity", "1 tesla"}},
		{"premium", mapdata.TierPremium, false, nil, []string{"*"}, []string{"1 ", "1 fastned", "1 ionity", "1 tesla"}},
		{"premium who names", mapdata.TierPremium, true, []string{"fastned", "ionity"}, []string{"tesla", "fastned", "ionity"}, []string{"1 ", "1 fastned", "1 ionity", "1 tesla"}},
		{"premium who names none", mapdata.TierPremium, true, nil, []string{"tesla"}, primary},
		{"premium who names an unknown one", mapdata.TierPremium, true, []string{"moose"}, []string{"tesla", "moose"}, primary},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ids, a := w.near(t, func(q *nearby.Query) { q.Tier, q.Named, q.Networks, q.Account = tt.tier, tt.named, tt.wanted, stranger })
			if diff := cmp.Diff(tt.applied, a.Networks); diff != "" {
				t.Error("applied", diff)
			}
			if diff := cmp.Diff(tt.found, ids); diff != "" {
				t.Error("found", diff)
			}
		})
	}
}

// TestOwnerSeesOwnFeeds checks that only owners read their own pending feeds, with every network (D4.8).
func TestOwnerSeesOwnFeeds(t *testing.T) {
	w := newTestReader()
	pending := w.add(1, owner, mapdata.Pending, geo.Point{Lat: 52, Lng: 4})
	all := []string{"1 ", "1 fastned", "1 ionity", "1 tesla"}
	name := string(pending.ID.SourceID())
	for _, edit := range map[string]func(*nearby.Query){
		"plain":     func(*nearby.Query) {},
		"by source": func(q *nearby.Query) { q.Sources = []string{name} },
		"by layer":  func(q *nearby.Query) { q.ByLayer, q.Layers = true, []string{"layer-1"} },
		"by both":   func(q *nearby.Query) { q.ByLayer, q.Layers, q.Sources = true, []string{"layer-1"}, []string{name} },
	} {
		ids, a := w.near(t, func(q *nearby.Query) { q.Account, q.Tier = owner, mapdata.TierAccount; edit(q) })
		if diff := cmp.Diff(all, ids); diff != "" {
			t.Error(diff)
		}
		if len(a.Sources) != 1 || a.Sources[0].ID != pending.ID.SourceID() {
			t.Errorf("sources: %v", a.Sources)
		}
	}
	for _, account := range []mapdata.AccountID{{}, stranger} {
		if ids, a := w.near(t, func(q *nearby.Query) { q.Account = account }); len(ids)+len(a.Sources) != 0 {
			t.Errorf("%v reads %v of %v", account, ids, a.Sources)
		}
		q := &nearby.Query{Radius: 1, Limit: 1, Account: account, Sources: []string{name, "moose"}}
		var unknown *nearby.UnknownSourcesError
		if err := w.reader.Near(t.Context(), q, &nearby.Answer{}); !errors.As(err, &unknown) || len(unknown.Unknown) != 2 || !slices.Equal(unknown.Valid, mapdata.BuiltinSources()) {
			t.Errorf("%v names another's feed: %v", account, err)
		}
		if err := w.reader.CheckSources(q); !errors.As(err, &unknown) {
			t.Errorf("CheckSources: %v", err)
		}
	}
}

// TestSourcesAround checks that up to 100 sources are all listed, and more only near the query.
func TestSourcesAround(t *testing.T) {
	w := newTestReader()
	for n := range byte(100) {
		w.add(n, owner, mapdata.Approved, geo.Point{Lat: -40, Lng: 100})
	}
	if _, a := w.near(t, nil); len(a.Sources) != 100 {
		t.Errorf("of 100 sources %d are listed", len(a.Sources))
	}
	inArea := w.add(200, owner, mapdata.Approved, geo.Point{Lat: 52, Lng: 4})
	w.add(201, owner, mapdata.Pending, geo.Point{Lat: 52, Lng: 4})
	_, a := w.near(t, nil)
	if len(a.Sources) != 1 || a.Sources[0].ID != inArea.ID.SourceID() {
		t.Errorf("of 101 sources these are listed: %v", a.Sources)
	}
}
