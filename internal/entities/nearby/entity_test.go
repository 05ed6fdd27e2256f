package nearby_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"wayside/internal/entities/law"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/votes"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// records holds the entities of feeds by their external ids.
type records struct {
	voted map[string]mapdata.Voted
	err   error
}

func (r *records) Voted(_ context.Context, _ mapdata.FeedID, externalID string, _ time.Time) (mapdata.Voted, error) {
	if v, ok := r.voted[externalID]; ok {
		return v, nil
	}
	return mapdata.Voted{}, r.err
}

// newEntityReader returns a reader with a feed 1 that pushes, a feed 2 that is pulled, a feed 3 that is pending, all
// owned by owner, and the live incident "live".
func newEntityReader(t *testing.T, all map[string]mapdata.Voted) (*nearby.Reader, *records) {
	t.Helper()
	w := newLawReader(t, nil)
	w.catalogue.Apply([]mapdata.FeedChange{{FeedID: mapdata.FeedID{15: 2}, Feed: &mapdata.Feed{
		ID: mapdata.FeedID{15: 2}, Owner: owner, Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true,
		Direction: mapdata.Pull, Layer: mapdata.Layer{Slug: "layer-2"},
	}}, {FeedID: mapdata.FeedID{15: 3}, Feed: &mapdata.Feed{
		ID: mapdata.FeedID{15: 3}, Owner: owner, Visibility: mapdata.Public, ReviewState: mapdata.Pending, Active: true,
		Direction: mapdata.Push, Layer: mapdata.Layer{Slug: "layer-3"},
	}}}).Publish()
	r := &records{voted: all, err: mapdata.ErrNotFound}
	w.reader.Records = r
	w.reader.Live = &fakeLive{pins: []mapdata.Hit{pin("live", police(t), inArea)}, health: mapdata.Health{Status: mapdata.Online}}
	w.reader.Tallies = votes.NewTallies(func() time.Time { return start })
	return w.reader, r
}

// ofFeed returns the id of an entity of a feed.
func ofFeed(n byte, externalID string) string {
	return mapdata.EntityID(mapdata.FeedID{15: n}.SourceID(), externalID)
}

// TestEndOfAnEntity checks which rule determines the end of an entity, and when it is.
func TestEndOfAnEntity(t *testing.T) {
	voted := func(lifetime, kept time.Duration) mapdata.Voted {
		v := mapdata.Voted{Entity: mapdata.Entity{Kind: police(t), Point: inArea, FirstSeenAt: start, SeenAt: start, Lifetime: lifetime}}
		if kept > 0 {
			v.Tally = mapdata.Tally{Confirms: 1, KeptUntil: start.Add(kept)}
		}
		return v
	}
	ending := func(v mapdata.Voted, after time.Duration) mapdata.Voted {
		v.Entity.EndsAt = start.Add(after)
		return v
	}
	reader, _ := newEntityReader(t, map[string]mapdata.Voted{
		"ends": ending(voted(time.Hour, 0), time.Minute), "ends later": ending(voted(time.Hour, 0), 2*time.Hour),
		"kept until its end": ending(voted(time.Hour, 3*time.Hour), 2*time.Hour), "kept, ends later": ending(voted(time.Hour, 3*time.Hour), 4*time.Hour),
		"persistent, ends": ending(voted(0, 0), time.Minute),
		"persistent":       voted(0, 0), "decaying": voted(time.Hour, 0), "kept": voted(time.Hour, 2*time.Hour),
		"kept less long": voted(time.Hour, time.Minute), "kept as long": voted(time.Hour, time.Hour), "persistent, kept": voted(0, time.Hour),
	})
	for _, tt := range []struct {
		id   string
		end  nearby.End
		goes time.Duration // after the start; 0: no time
	}{
		{mapdata.EntityID(mapdata.Incidents, "live"), nearby.EndFreshness, time.Minute},
		{ofFeed(1, "decaying"), nearby.EndLifetime, time.Hour},
		{ofFeed(2, "decaying"), nearby.EndLifetime, time.Hour},
		{ofFeed(1, "kept"), nearby.EndKept, 2 * time.Hour},
		{ofFeed(1, "kept less long"), nearby.EndLifetime, time.Hour},
		{ofFeed(1, "kept as long"), nearby.EndLifetime, time.Hour},
		{ofFeed(1, "ends"), nearby.EndStated, time.Minute},
		{ofFeed(1, "ends later"), nearby.EndLifetime, time.Hour},
		{ofFeed(1, "kept until its end"), nearby.EndStated, 2 * time.Hour},
		{ofFeed(1, "kept, ends later"), nearby.EndKept, 3 * time.Hour},
		{ofFeed(2, "persistent, ends"), nearby.EndStated, time.Minute},
		{ofFeed(1, "persistent"), nearby.EndRetired, 0},
		{ofFeed(1, "persistent, kept"), nearby.EndRetired, 0},
		{ofFeed(2, "persistent"), nearby.EndAbsent, 0},
	} {
		e, err := reader.Entity(t.Context(), tt.id, &nearby.Query{})
		if err != nil {
			t.Fatalf("%s: %v", tt.id, err)
		}
		want := time.Time{}
		if tt.goes > 0 {
			want = start.Add(tt.goes)
		}
		if e.End != tt.end || !e.Goes.Equal(want) {
			t.Errorf("%s: %s at %v, want %s at %v", tt.id, e.End, e.Goes, tt.end, want)
		}
	}
}

// TestVotesOfAnEntity checks the effects of votes on an entity: hidden, returned, or of an earlier life.
func TestVotesOfAnEntity(t *testing.T) {
	minute := func(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
	voted := func(tally *mapdata.Tally) mapdata.Voted {
		return mapdata.Voted{Tally: *tally, Entity: mapdata.Entity{
			Kind: police(t), Point: inArea, FirstSeenAt: minute(-120), SeenAt: minute(-5), ChangedAt: minute(-100), Lifetime: time.Hour,
		}}
	}
	reader, _ := newEntityReader(t, map[string]mapdata.Voted{
		"without votes": voted(&mapdata.Tally{}),
		"voted":         voted(&mapdata.Tally{Confirms: 4, Disputes: 2, LastDisputeAt: minute(-40), ChangedAt: minute(-20)}),
		"hidden":        voted(&mapdata.Tally{Disputes: 3, LastDisputeAt: minute(-10), ChangedAt: minute(-10)}),
		"returned":      voted(&mapdata.Tally{Disputes: 3, LastDisputeAt: minute(-40), ChangedAt: minute(-40)}),
		"earlier life":  voted(&mapdata.Tally{Confirms: 4, ChangedAt: minute(-130), LifeAt: minute(-180)}),
	})
	type shown struct {
		Confirms, Disputes       int32
		Changed, Hidden, Expires int // minutes after the start; 0: none
	}
	minutes := func(ms int64) int {
		if ms == 0 {
			return 0
		}
		return int(time.UnixMilli(ms).Sub(start) / time.Minute)
	}
	for _, tt := range []struct {
		id    string
		guest bool // sees it
		want  shown
	}{
		{"without votes", true, shown{0, 0, -100, 0, 55}},
		{"voted", true, shown{4, 2, -20, 0, 55}},
		{"hidden", false, shown{0, 3, -10, 20, 55}},
		{"returned", true, shown{0, 3, -10, 0, 55}}, // 30 minutes after the last dispute
		{"earlier life", true, shown{0, 0, -100, 0, 55}},
	} {
		for name, q := range map[string]nearby.Query{"guest": {}, "another driver": {Account: stranger}, "owner": {Account: owner}, "curator": {Account: stranger, Curator: true}} {
			e, err := reader.Entity(t.Context(), ofFeed(1, tt.id), &q)
			if !tt.guest && (name == "guest" || name == "another driver") {
				if !errors.Is(err, mapdata.ErrNotFound) {
					t.Errorf("%s sees %s: %v", name, tt.id, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s does not see %s: %v", name, tt.id, err)
				continue
			}
			h := &e.Hit
			if diff := cmp.Diff(tt.want, shown{h.Confirms, h.Disputes, minutes(h.ChangedAt), minutes(h.DisputedUntil), minutes(h.ExpiresAt)}); diff != "" {
				t.Errorf("%s, %s: %s", tt.id, name, diff)
			}
			if h.Layer != "layer-1" || h.Prior != 0.5 || h.Rank != 1<<20 || minutes(h.FirstSeenAt) != -120 || minutes(h.LastSeenAt) != -5 {
				t.Errorf("%s, %s: %+v", tt.id, name, h)
			}
		}
	}
}

// TestEntityErrors checks that a missing entity is not found, in words for people, and that other failures keep their
// cause.
func TestEntityErrors(t *testing.T) {
	errDown := errors.New("the store is down")
	for _, tt := range []struct {
		name string
		id   string
		edit func(*nearby.Reader, *records)
		want error
	}{
		{"no id", "moose", nil, mapdata.ErrNotFound},
		{"unknown feed", ofFeed(9, "stored"), nil, mapdata.ErrNotFound},
		{"feed that the caller may not read", ofFeed(3, "stored"), nil, mapdata.ErrNotFound},
		{"unknown entity", ofFeed(1, "x"), nil, mapdata.ErrNotFound},
		{"unknown incident", mapdata.EntityID(mapdata.Incidents, "x"), nil, mapdata.ErrNotFound},
		{"no incidents", mapdata.EntityID(mapdata.Incidents, "live"), func(r *nearby.Reader, _ *records) { r.Live = nil }, mapdata.ErrNotFound},
		{"store down", ofFeed(1, "x"), func(_ *nearby.Reader, r *records) { r.err = errDown }, errDown},
		{"live cache down", mapdata.EntityID(mapdata.Incidents, "live"), func(r *nearby.Reader, _ *records) { r.Live = downCache{} }, mapdata.ErrUnavailable},
	} {
		reader, r := newEntityReader(t, map[string]mapdata.Voted{"stored": {Entity: mapdata.Entity{Kind: police(t), Point: inArea}}})
		if tt.edit != nil {
			tt.edit(reader, r)
		}
		_, err := reader.Entity(t.Context(), tt.id, &nearby.Query{})
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		var described *mapdata.Described
		if errors.Is(err, mapdata.ErrNotFound) && (!errors.As(err, &described) || described.Detail != "Unknown entity, or no longer there.") {
			t.Errorf("%s: %q is no sentence for people", tt.name, err)
		}
		// Without a law, no lookup is needed to find that it allows an entity.
		if err := reader.Allowed(t.Context(), tt.id, &nearby.Query{}); err != nil {
			t.Errorf("%s: Allowed = %v without a law", tt.name, err)
		}
	}
}

// downCache is a live source whose cache is unreachable.
type downCache struct{}

func (downCache) Find(context.Context, string) (mapdata.Voted, error) {
	return mapdata.Voted{}, mapdata.ErrUnavailable
}

func (downCache) Health() mapdata.Health { return mapdata.Health{Status: mapdata.Offline} }

func (downCache) Near(_ context.Context, _ *mapdata.Search, _ string, hits []mapdata.Hit) ([]mapdata.Hit, mapdata.Health) {
	return hits, mapdata.Health{Status: mapdata.Offline}
}

// TestMergedEntity checks that the shown entity names the others with the sums of their votes, that the others name it,
// and that the health of each source is returned once.
func TestMergedEntity(t *testing.T) {
	kind := police(t)
	entity := func(feed byte, id string, lat float64) mapdata.Entity {
		return mapdata.Entity{
			Feed: mapdata.FeedID{15: feed}, ExternalID: id, Kind: kind, Point: geo.Point{Lat: lat, Lng: 5},
			FirstSeenAt: start, SeenAt: start, ChangedAt: start, Lifetime: time.Hour,
		}
	}
	// One external id in both feeds: only the source differs.
	one, other := entity(1, "same", 52), entity(2, "same", 52.0005)
	near := entity(1, "near", 52.003)           // 330 m away: not merged
	accident := entity(1, "accident", 52.00001) // nearer to the first than the pin that represents it
	accident.Kind, _ = mapdata.ParseKind("alert.accident")
	reader := chainReader([][]mapdata.Entity{{one, near, accident}, {other}})
	live := pin("live", kind, geo.Point{Lat: 52.0001, Lng: 5})
	live.Confirms = 0
	reader.Live = &fakeLive{pins: []mapdata.Hit{live}, health: mapdata.Health{Status: mapdata.Online}}
	reader.Encode = func(dst []byte, _ *mapdata.Entity) []byte { return append(dst, 0) }
	tallies := votes.NewTallies(func() time.Time { return start })
	tallies.Apply([]mapdata.FeedChange{{Tallies: []mapdata.Tally{
		{Source: mapdata.Incidents, ExternalID: "live", Confirms: 3, Disputes: 1, LastDisputeAt: start, ChangedAt: start, Kind: kind},
	}}}).Publish()
	reader.Tallies = tallies
	reader.Records = &byFeed{{15: 1}: {one, near, accident}, {15: 2}: {other}}
	first, second := mapdata.FeedID{15: 1}.SourceID(), mapdata.FeedID{15: 2}.SourceID()
	for _, tt := range []struct {
		id      string
		merged  []mapdata.MergedID
		into    *mapdata.MergedID
		sources []mapdata.SourceID
		votes   [2]int32
	}{
		{
			mapdata.EntityID(mapdata.Incidents, "live"),
			[]mapdata.MergedID{{Source: first, ExternalID: []byte("same")}, {Source: second, ExternalID: []byte("same")}},
			nil,
			[]mapdata.SourceID{mapdata.Incidents, first, second},
			[2]int32{3, 1},
		},
		{ofFeed(1, "same"), nil, &mapdata.MergedID{Source: mapdata.Incidents, ExternalID: []byte("live")}, []mapdata.SourceID{first, mapdata.Incidents}, [2]int32{}},
		{ofFeed(2, "same"), nil, &mapdata.MergedID{Source: mapdata.Incidents, ExternalID: []byte("live")}, []mapdata.SourceID{second, mapdata.Incidents}, [2]int32{}},
		{ofFeed(1, "accident"), nil, nil, []mapdata.SourceID{first}, [2]int32{}},
		{ofFeed(1, "near"), nil, nil, []mapdata.SourceID{first}, [2]int32{}},
	} {
		e, err := reader.Entity(t.Context(), tt.id, &nearby.Query{})
		if err != nil {
			t.Fatalf("%s: %v", tt.id, err)
		}
		if diff := cmp.Diff(tt.merged, e.Hit.Merged, cmpopts.IgnoreFields(mapdata.MergedID{}, "Prepared", "ExpiresAt", "Point", "Kind")); diff != "" {
			t.Errorf("%s: merged %s", tt.id, diff)
		}
		if diff := cmp.Diff(tt.into, e.MergedInto); diff != "" {
			t.Errorf("%s: merged into %s", tt.id, diff)
		}
		var sources []mapdata.SourceID
		for _, s := range e.Sources {
			sources = append(sources, s.ID)
		}
		if diff := cmp.Diff(tt.sources, sources); diff != "" {
			t.Errorf("%s: sources %s", tt.id, diff)
		}
		if got := [2]int32{e.Hit.Confirms, e.Hit.Disputes}; got != tt.votes {
			t.Errorf("%s: votes %v, want %v", tt.id, got, tt.votes)
		}
	}
}

// byFeed holds the entities of feeds, without votes.
type byFeed map[mapdata.FeedID][]mapdata.Entity

func (b byFeed) Voted(_ context.Context, feed mapdata.FeedID, externalID string, _ time.Time) (mapdata.Voted, error) {
	for _, e := range b[feed] {
		if e.ExternalID == externalID {
			return mapdata.Voted{Entity: e}, nil
		}
	}
	return mapdata.Voted{}, mapdata.ErrNotFound
}

// TestZoneOfOneEntity checks that a camera that is read by its id is shown as its zone, without details that reveal its
// position, except to its owner when not driving.
func TestZoneOfOneEntity(t *testing.T) {
	camera, ok := mapdata.ParseKind("camera.speed")
	if !ok {
		t.Fatal("no such kind")
	}
	w := newLawReader(t, lawOf(t, cameraZones))
	inside := mapdata.Voted{Entity: mapdata.Entity{
		Feed: mapdata.FeedID{15: 1}, ExternalID: "inside", Kind: camera, Point: inArea, Properties: []byte(`{"street":"secret"}`), SeenAt: start,
	}}
	outside := inside
	outside.Entity.ExternalID, outside.Entity.Point = "outside", outsideArea
	w.reader.Records = &records{voted: map[string]mapdata.Voted{"inside": inside, "outside": outside}}
	middle := law.Middle(inArea, 4000)
	for _, tt := range []struct {
		name     string
		voted    *mapdata.Voted
		query    nearby.Query
		point    geo.Point
		zone     int32
		prepared string
	}{
		{"guest", &inside, nearby.Query{}, middle, 4000, fmt.Sprintf(`%v {"wayside_zone_m":4000}`, middle)},
		{"owner who drives", &inside, nearby.Query{Account: owner, Driving: true}, middle, 4000, fmt.Sprintf(`%v {"wayside_zone_m":4000}`, middle)},
		{"owner", &inside, nearby.Query{Account: owner}, inArea, 0, fmt.Sprintf(`%v {"street":"secret"}`, inArea)},
		{"guest, outside the area", &outside, nearby.Query{}, outsideArea, 0, fmt.Sprintf(`%v {"street":"secret"}`, outsideArea)},
	} {
		e, err := w.reader.Entity(t.Context(), ofFeed(1, tt.voted.Entity.ExternalID), &tt.query)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		shown := w.reader.Shown(tt.voted, e.Feed, &tt.query)
		for _, h := range []*mapdata.Hit{&e.Hit, &shown} {
			if h.Point != tt.point || h.Zone != tt.zone || string(h.Prepared) != tt.prepared {
				t.Errorf("%s: %v, zone %d, %s", tt.name, h.Point, h.Zone, h.Prepared)
			}
		}
	}
}
