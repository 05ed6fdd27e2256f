package nearby_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/law"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/votes"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// TestLimitsOfAQuery checks the numbers of D4.1 and D4.2, on which clients rely.
func TestLimitsOfAQuery(t *testing.T) {
	if nearby.DefaultLimit != 200 || nearby.MaxLimit != 1000 || nearby.MaxRadius != 50_000 {
		t.Errorf("limits %d and %d, radius %d", nearby.DefaultLimit, nearby.MaxLimit, nearby.MaxRadius)
	}
}

// recordedIndex records the limits and radii of the searches in an index.
type recordedIndex struct {
	nearby.Index
	limits []int
	radii  []float64
}

func (x *recordedIndex) Search(s *mapdata.Search, hits []mapdata.Hit) ([]mapdata.Hit, bool) {
	x.limits, x.radii = append(x.limits, s.Limit), append(x.radii, s.Radius)
	return x.Index.Search(s, hits)
}

// TestReadIsBounded checks a read of one pin behind many that the law hides: it considers 4096 entities of feeds, and
// reports that there may be more.
func TestReadIsBounded(t *testing.T) {
	for _, tt := range []struct {
		hidden int
		want   []string
		limits []int
	}{
		{64, []string{"ice"}, []int{66}},
		{65, []string{"ice"}, []int{66, 264}},
		{4095, []string{"ice"}, []int{66, 264, 1056, 4096}},
		{4096, []string{}, []int{66, 264, 1056, 4096}},
	} {
		pins := []lawPin{
			{id: "ice", kind: "alert.hazard.ice", at: geo.Point{Lat: 52.001, Lng: 4}},
			{id: "jam", kind: "traffic.jam", at: geo.Point{Lat: 52.002, Lng: 4}},
		}
		for i := range tt.hidden {
			pins = append(pins, lawPin{id: fmt.Sprint(i), kind: "alert.police", at: inArea})
		}
		w := newLawReader(t, lawOf(t, noPolice), pins...)
		x := &recordedIndex{Index: w.index}
		w.reader.Index = x
		ids, a := w.near(t, func(q *nearby.Query) { q.Limit = 1 })
		if !slices.Equal(ids, tt.want) || !a.Truncated {
			t.Errorf("%d hidden: %v, truncated %v, want %v, truncated", tt.hidden, ids, a.Truncated, tt.want)
		}
		if !slices.Equal(x.limits, tt.limits) {
			t.Errorf("%d hidden: searches of %v, want %v", tt.hidden, x.limits, tt.limits)
		}
	}
}

// TestContextOfAnEntity checks how far around an entity others are read: 600 m, and farther where a chain of matches
// leads beyond.
func TestContextOfAnEntity(t *testing.T) {
	jam, ok := mapdata.ParseKind("traffic.jam")
	if !ok {
		t.Fatal("no such kind")
	}
	for _, tt := range []struct {
		links int
		want  []float64
	}{
		{0, []float64{600}},
		{1, []float64{600}}, // 290 m: nothing beyond 600 m may match it
		{2, []float64{600, 2400}},
		{7, []float64{600, 2400}},
		{8, []float64{600, 2400, 9600}},
		{40, []float64{600, 2400, 9600}},
	} {
		feeds := make([][]mapdata.Entity, 2)
		for i := range tt.links {
			feeds[i%2] = append(feeds[i%2], mapdata.Entity{
				Feed: mapdata.FeedID{15: byte(i%2 + 1)}, ExternalID: fmt.Sprint("link ", i), Kind: jam,
				Point:       geo.Point{Lat: 52 + float64(i+1)*290/111_194.93, Lng: 5},
				FirstSeenAt: start, SeenAt: start, ChangedAt: start, Lifetime: time.Hour,
			})
		}
		reader := chainReader(feeds)
		x := &recordedIndex{Index: reader.Index}
		reader.Index = x
		reader.Live = &fakeLive{pins: []mapdata.Hit{pin("live", jam, geo.Point{Lat: 52, Lng: 5})}}
		reader.Encode = func(dst []byte, _ *mapdata.Entity) []byte { return append(dst, 0) }
		if _, err := reader.Entity(t.Context(), mapdata.EntityID(mapdata.Incidents, "live"), &nearby.Query{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, x.radii); diff != "" {
			t.Errorf("%d links: %s", tt.links, diff)
		}
	}
}

// TestLawOfOneEntity checks that an entity that the law hides is also hidden from a read by its id, except for its
// owner and curators who do not drive. A live incident has no owner, and a guest owns nothing.
func TestLawOfOneEntity(t *testing.T) {
	w := newLawReader(t, lawOf(t, noPolice), lawPin{id: "of owner", kind: "alert.police", at: inArea}, lawPin{id: "outside", kind: "alert.police", at: outsideArea})
	ownerless := mapdata.FeedID{15: 2}
	w.catalogue.Apply([]mapdata.FeedChange{{FeedID: ownerless, Feed: &mapdata.Feed{
		ID: ownerless, Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true, Direction: mapdata.Push,
		Layer: mapdata.Layer{Slug: "layer-2"},
	}}}).Publish()
	kind := police(t)
	w.reader.Live = &fakeLive{pins: []mapdata.Hit{pin("live", kind, inArea), pin("live outside", kind, outsideArea)}}
	w.reader.Tallies = votes.NewTallies(func() time.Time { return start })
	w.reader.Records = oneKind{kind}
	feedID := mapdata.FeedID{15: 1}.SourceID()
	for _, tt := range []struct {
		name  string
		id    string
		query nearby.Query
		shown bool
	}{
		{"guest", mapdata.EntityID(feedID, "inArea"), nearby.Query{}, false},
		{"another driver", mapdata.EntityID(feedID, "inArea"), nearby.Query{Account: stranger}, false},
		{"owner", mapdata.EntityID(feedID, "inArea"), nearby.Query{Account: owner}, true},
		{"owner who drives", mapdata.EntityID(feedID, "inArea"), nearby.Query{Account: owner, Driving: true}, false},
		{"curator", mapdata.EntityID(feedID, "inArea"), nearby.Query{Account: stranger, Curator: true}, true},
		{"curator who drives", mapdata.EntityID(feedID, "inArea"), nearby.Query{Account: stranger, Curator: true, Driving: true}, false},
		{"guest, outside the area", mapdata.EntityID(feedID, "outsideArea"), nearby.Query{}, true},
		{"guest, feed without an owner", mapdata.EntityID(ownerless.SourceID(), "inArea"), nearby.Query{}, false},
		{"guest, live incident", mapdata.EntityID(mapdata.Incidents, "live"), nearby.Query{}, false},
		{"driver, live incident", mapdata.EntityID(mapdata.Incidents, "live"), nearby.Query{Account: stranger}, false},
		{"curator, live incident", mapdata.EntityID(mapdata.Incidents, "live"), nearby.Query{Account: stranger, Curator: true}, true},
		{"driver, live incident outside the area", mapdata.EntityID(mapdata.Incidents, "live outside"), nearby.Query{Account: stranger}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := w.reader.Allowed(t.Context(), tt.id, &tt.query); (err == nil) != tt.shown || err != nil && !errors.Is(err, mapdata.ErrNotFound) {
				t.Errorf("Allowed = %v", err)
			}
			if _, err := w.reader.Entity(t.Context(), tt.id, &tt.query); (err == nil) != tt.shown || err != nil && !errors.Is(err, mapdata.ErrNotFound) {
				t.Errorf("Entity: %v", err)
			}
		})
	}
}

// oneKind returns a persistent entity of one kind for every id, at the place of the law's area or beyond it.
type oneKind struct{ kind mapdata.Kind }

func (o oneKind) Voted(_ context.Context, feed mapdata.FeedID, externalID string, _ time.Time) (mapdata.Voted, error) {
	at := inArea
	if externalID == "outsideArea" {
		at = outsideArea
	}
	return mapdata.Voted{Entity: mapdata.Entity{Feed: feed, ExternalID: externalID, Kind: o.kind, Point: at, FirstSeenAt: start, SeenAt: start, ChangedAt: start}}, nil
}

// TestReadStopsWhenSure checks that a read with a final answer searches no further.
func TestReadStopsWhenSure(t *testing.T) {
	var pins []lawPin
	for i := range 300 {
		pins = append(pins, lawPin{id: fmt.Sprint(i), kind: "traffic.jam", at: geo.Point{Lat: 52 + float64(i)/1e5, Lng: 4}})
	}
	w := newLawReader(t, lawOf(t, noPolice), pins...)
	x := &recordedIndex{Index: w.index}
	w.reader.Index = x
	if ids, a := w.near(t, func(q *nearby.Query) { q.Limit = 1 }); !slices.Equal(ids, []string{"0"}) || !a.Truncated || !slices.Equal(x.limits, []int{66}) {
		t.Errorf("%v, truncated %v, searches of %v", ids, a.Truncated, x.limits)
	}
}

// TestSecondSearchKeepsIncidents checks that every live incident is still present when a read must search the feeds
// again.
func TestSecondSearchKeepsIncidents(t *testing.T) {
	pins := []lawPin{{id: "of feed", kind: "traffic.jam", at: geo.Point{Lat: 52.004, Lng: 4}}}
	for i := range 100 {
		pins = append(pins, lawPin{id: fmt.Sprint(i), kind: "alert.police", at: inArea})
	}
	w := newLawReader(t, lawOf(t, noPolice), pins...)
	x := &recordedIndex{Index: w.index}
	w.reader.Index = x
	ice, _ := mapdata.ParseKind("alert.hazard.ice")
	live := &fakeLive{}
	for i, id := range []string{"first", "second", "third"} {
		live.pins = append(live.pins, pin(id, ice, geo.Point{Lat: 52 + float64(i+1)*0.002, Lng: 4.005}))
	}
	w.reader.Live = live
	w.reader.Tallies = votes.NewTallies(func() time.Time { return start })
	ids, a := w.near(t, func(q *nearby.Query) { q.Limit = 5 })
	if diff := cmp.Diff([]string{"first", "of feed", "second", "third"}, ids); diff != "" || a.Truncated || !slices.Equal(x.limits, []int{74, 296}) {
		t.Errorf("searches of %v, truncated %v: %s", x.limits, a.Truncated, diff)
	}
}

// TestForgottenAnswerHoldsNothing checks that an answer that is kept for the next read keeps none of its entities, also
// when a law put zones among them.
func TestForgottenAnswerHoldsNothing(t *testing.T) {
	for name, l := range map[string]*law.Law{"no law": nil, "zones": lawOf(t, cameraZones), "hidden": lawOf(t, noPolice)} {
		w := newLawReader(t, l,
			lawPin{id: "camera", kind: "camera.speed", at: inArea}, lawPin{id: "ice", kind: "alert.hazard.ice", at: inArea},
			lawPin{id: "police", kind: "alert.police", at: inArea}, lawPin{id: "jam", kind: "traffic.jam", at: inArea})
		_, a := w.near(t, func(q *nearby.Query) { q.Radius = 5000 })
		hits := a.Hits
		if len(hits) < 3 {
			t.Fatalf("%s: %d hits", name, len(hits))
		}
		a.Forget()
		for i := range hits {
			if hits[i].ExternalID != nil || hits[i].Prepared != nil || hits[i].Merged != nil {
				t.Errorf("%s: %s is kept", name, hits[i].ExternalID)
			}
		}
	}
}
