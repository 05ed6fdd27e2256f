package takedown_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/people/takedown"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// fixture is a service over an empty database, with an account of each kind and a public feed with the entity "a".
type fixture struct {
	*takedown.Service
	db                     *sqlite.DB
	owner, curator, driver *mapdata.Account
	feed                   *mapdata.Feed
	pin                    string
}

// oneIncident is the only live incident.
type oneIncident struct{}

func (oneIncident) Find(_ context.Context, externalID string) (mapdata.Voted, error) {
	if externalID != "live" {
		return mapdata.Voted{}, mapdata.ErrNotFound
	}
	return mapdata.Voted{Entity: mapdata.Entity{ExternalID: "live", Properties: []byte("{}"), FirstSeenAt: start, SeenAt: start}}, nil
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	now := func() time.Time { return start }
	db, err := sqlite.Open(t.Context(), sqlitetest.Path(t), sqlite.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	f := &fixture{db: db, Service: takedown.New(takedown.Config{Store: db, Live: oneIncident{}, Now: now, Signals: signal.NewSet()})}
	f.owner, f.curator, f.driver = f.account(t, mapdata.Driver), f.account(t, mapdata.Curator), f.account(t, mapdata.Driver)
	f.feed = f.newFeed(t, f.owner, mapdata.Public)
	f.pin = mapdata.EntityID(f.feed.ID.SourceID(), "a")
	return f
}

func (f *fixture) account(t *testing.T, role mapdata.Role) *mapdata.Account {
	t.Helper()
	id, err := mapdata.NewAccountID()
	if err != nil {
		t.Fatal(err)
	}
	a := &mapdata.Account{ID: id, Email: id.String() + "@example.org", Role: role, Tier: mapdata.TierAccount, CreatedAt: start}
	if err := f.db.CreateAccount(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return a
}

func (f *fixture) newFeed(t *testing.T, owner *mapdata.Account, visibility mapdata.Visibility) *mapdata.Feed {
	t.Helper()
	id, err := mapdata.NewFeedID()
	if err != nil {
		t.Fatal(err)
	}
	made := &mapdata.Feed{
		ID: id, Owner: owner.ID, Name: "Police", Layer: mapdata.Layer{ID: id.String(), Slug: id.String(), Name: "x"}, Direction: mapdata.Push,
		Visibility: visibility, Active: true, ReviewState: mapdata.Approved, CreatedAt: start, UpdatedAt: start,
	}
	if err := f.db.CreateFeed(t.Context(), made, 100); err != nil {
		t.Fatal(err)
	}
	change := &mapdata.Change{Feed: id, At: start, Attempt: mapdata.Attempt{At: start, OK: true}, Upserts: []mapdata.Entity{{
		Feed: id, ExternalID: "a", Properties: []byte("{}"), FirstSeenAt: start, SeenAt: start, ChangedAt: start, Lifetime: time.Hour,
	}}}
	if err := f.db.Apply(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	return made
}

// TestHideIsRefused checks who may hide which pins, and for how long.
func TestHideIsRefused(t *testing.T) {
	f := newFixture(t)
	curator, live := mapdata.ActorOf(f.curator), mapdata.EntityID(mapdata.Incidents, "live")
	own, private := f.newFeed(t, f.curator, mapdata.Public), f.newFeed(t, f.owner, mapdata.Private)
	in := func(d time.Duration) time.Time { return start.Add(d) }
	for _, tt := range []struct {
		name  string
		by    mapdata.Actor
		id    string
		order takedown.Order
		want  error
		field string
	}{
		{"guest", mapdata.Actor{}, f.pin, takedown.Order{Reason: "x"}, mapdata.ErrForbidden, ""},
		{"driver", mapdata.ActorOf(f.driver), f.pin, takedown.Order{Reason: "x"}, mapdata.ErrForbidden, ""},
		{"owner", mapdata.ActorOf(f.owner), f.pin, takedown.Order{Reason: "x"}, mapdata.ErrForbidden, ""},
		{"curator's own feed", curator, mapdata.EntityID(own.ID.SourceID(), "a"), takedown.Order{Reason: "x"}, mapdata.ErrForbidden, ""},
		{"private feed", curator, mapdata.EntityID(private.ID.SourceID(), "a"), takedown.Order{Reason: "x"}, mapdata.ErrNotFound, ""},
		{"no id", curator, "moose", takedown.Order{Reason: "x"}, mapdata.ErrNotFound, ""},
		{"unknown entity", curator, mapdata.EntityID(f.feed.ID.SourceID(), "b"), takedown.Order{Reason: "x"}, mapdata.ErrNotFound, ""},
		{"unknown feed", curator, mapdata.EntityID(mapdata.FeedID{9}.SourceID(), "a"), takedown.Order{Reason: "x"}, mapdata.ErrNotFound, ""},
		{"unknown incident", curator, mapdata.EntityID(mapdata.Incidents, "b"), takedown.Order{Reason: "x", Until: in(time.Hour)}, mapdata.ErrNotFound, ""},
		{"no reason", curator, f.pin, takedown.Order{Reason: " "}, nil, "reason"},
		{"long reason", curator, f.pin, takedown.Order{Reason: strings.Repeat("é", 501)}, nil, "reason"},
		{"over already", curator, f.pin, takedown.Order{Reason: "x", Until: start}, nil, "until"},
		{"too long", curator, f.pin, takedown.Order{Reason: "x", Until: in(takedown.LongestHiding + time.Second)}, nil, "until"},
		{"incident for good", curator, live, takedown.Order{Reason: "x"}, nil, "until"},
		{"incident too long", curator, live, takedown.Order{Reason: "x", Until: in(mapdata.LongestLiveHiding + time.Second)}, nil, "until"},
	} {
		_, err := f.Hide(t.Context(), tt.by, tt.id, tt.order)
		var invalid *mapdata.InvalidError
		switch {
		case tt.field == "" && !errors.Is(err, tt.want), tt.field != "" && (!errors.As(err, &invalid) || invalid.Fields[0].Field != tt.field):
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if all, err := f.Hidden(t.Context(), curator, mapdata.FeedID{}); err != nil || len(all) != 0 {
		t.Errorf("hidden: %+v, %v", all, err)
	}
	for name, err := range map[string]error{
		"private feed": hideError(f.Hide(t.Context(), mapdata.Operator(), mapdata.EntityID(private.ID.SourceID(), "a"), takedown.Order{Reason: "x"})),
		"incident":     hideError(f.Hide(t.Context(), curator, live, takedown.Order{Reason: "x", Until: in(mapdata.LongestLiveHiding)})),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func hideError(_ *mapdata.HiddenPin, err error) error { return err }

// TestHideAndShow checks the data stored with a decision, and who sees the pin.
func TestHideAndShow(t *testing.T) {
	f := newFixture(t)
	curator := mapdata.ActorOf(f.curator)
	if err := f.Show(t.Context(), curator, f.pin); !errors.Is(err, mapdata.ErrConflict) {
		t.Errorf("shown before it was hidden: %v", err)
	}
	hidden, err := f.Hide(mapdata.WithVia(t.Context(), mapdata.ViaPage), curator, f.pin, takedown.Order{Reason: " Wrong. ", Until: start.Add(time.Hour)})
	if err != nil || hidden.Reason != "Wrong." || !hidden.Until.Equal(start.Add(time.Hour)) {
		t.Fatalf("hidden %+v, %v", hidden, err)
	}
	for name, by := range map[string]mapdata.Actor{"owner": mapdata.ActorOf(f.owner), "curator": curator, "operator": mapdata.Operator()} {
		if all, err := f.Hidden(t.Context(), by, f.feed.ID); err != nil || len(all) != 1 {
			t.Errorf("%s sees %+v, %v", name, all, err)
		}
	}
	if _, err := f.Hidden(t.Context(), mapdata.ActorOf(f.driver), f.feed.ID); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("a driver: %v", err)
	}
	if _, err := f.Hidden(t.Context(), mapdata.ActorOf(f.owner), mapdata.FeedID{}); !errors.Is(err, mapdata.ErrForbidden) {
		t.Errorf("everything, to an owner: %v", err)
	}
	if err := f.Show(t.Context(), curator, f.pin); err != nil {
		t.Fatal(err)
	}
	entries, err := f.db.Audit(t.Context(), &mapdata.AuditQuery{Subject: f.pin, Limit: 9})
	if err != nil || len(entries) != 2 || entries[1].Actor != f.curator.ID || entries[1].Via != mapdata.ViaPage || entries[1].Note != "Wrong." || entries[1].Owner != f.owner.ID {
		t.Errorf("entries %+v, %v", entries, err)
	}
	emails, err := f.db.DueEmails(t.Context(), start, start.Add(time.Minute), 9)
	if err != nil || len(emails) != 2 || emails[0].Kind != mapdata.EmailPinHidden || emails[0].Data["until"] != "2026-11-21 09:00 UTC" || emails[1].Kind != mapdata.EmailPinShown {
		t.Errorf("e-mails %+v, %v", emails, err)
	}
}

// TestComplaints checks the rules of complaints.
func TestComplaints(t *testing.T) {
	f := newFixture(t)
	var (
		invalid *mapdata.InvalidError
		limit   *mapdata.LimitError
	)
	for _, text := range []string{strings.Repeat("é", 501), "a\x00"} {
		if err := f.Complain(t.Context(), f.driver.ID, f.pin, text); !errors.As(err, &invalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := f.Complain(t.Context(), f.driver.ID, "moose", ""); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("no id: %v", err)
	}
	for range 3 { // an account has one open complaint on a source
		if err := f.Complain(t.Context(), f.driver.ID, f.pin, " Wrong. "); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := f.Complaints(t.Context(), mapdata.ActorOf(f.owner)); !errors.Is(err, mapdata.ErrForbidden) {
		t.Errorf("read by an owner: %v", err)
	}
	all, open, err := f.Complaints(t.Context(), mapdata.ActorOf(f.curator))
	if err != nil || open != 1 || len(all) != 1 || all[0].Text != "Wrong." || all[0].SourceName != "Police" {
		t.Fatalf("complaints %+v, %d, %v", all, open, err)
	}
	if err := f.CloseComplaint(t.Context(), mapdata.ActorOf(f.owner), all[0].ID, ""); !errors.Is(err, mapdata.ErrForbidden) {
		t.Errorf("closed by an owner: %v", err)
	}
	if err := f.CloseComplaint(t.Context(), mapdata.ActorOf(f.curator), all[0].ID, "Corrected."); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		err := f.Complain(t.Context(), f.driver.ID, mapdata.EntityID(mapdata.FeedID{byte(i), 1}.SourceID(), "x"), "")
		if last := i == 9; last != errors.As(err, &limit) {
			t.Errorf("complaint %d of the day: %v", i+2, err)
		}
	}
}
