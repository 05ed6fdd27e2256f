package nearby_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/catalog"
	"wayside/internal/entities/index"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/votes"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// fakeLive is a live source with fixed pins and health.
type fakeLive struct {
	pins   []mapdata.Hit
	health mapdata.Health
	asked  []string // drivers of the calls of Near
}

func (c *fakeLive) Near(_ context.Context, s *mapdata.Search, driver string, hits []mapdata.Hit) ([]mapdata.Hit, mapdata.Health) {
	c.asked = append(c.asked, driver)
	reach := geo.ChordSquaredOf(s.Radius)
	for _, p := range c.pins {
		if p.Chord = p.Point.Vector().ChordSquared(s.Center.Vector()); p.Chord <= reach && s.Kinds.Has(p.Kind) {
			hits = append(hits, p)
		}
	}
	return hits, c.health
}

func (c *fakeLive) Find(_ context.Context, externalID string) (mapdata.Voted, error) {
	for _, p := range c.pins {
		if string(p.ExternalID) == externalID {
			return mapdata.Voted{Entity: mapdata.Entity{ExternalID: externalID, Kind: p.Kind, Point: p.Point, SeenAt: start, Lifetime: time.Minute}, Prior: 0.5}, nil
		}
	}
	return mapdata.Voted{}, mapdata.ErrNotFound
}

func (c *fakeLive) Health() mapdata.Health { return c.health }

func pin(id string, kind mapdata.Kind, at geo.Point) mapdata.Hit {
	return mapdata.Hit{
		Source: mapdata.Incidents, Layer: "incidents", Kind: kind, ExternalID: []byte(id), Prepared: []byte{0}, Point: at,
		Prior: mapdata.DefaultPrior, Upstream: "u", ChangedAt: start.UnixMilli(),
	}
}

func police(t testing.TB) mapdata.Kind {
	t.Helper()
	k, ok := mapdata.ParseKind("alert.police")
	if !ok {
		t.Fatal("no such kind")
	}
	return k
}

// newCrowdedReader returns a reader with many alerts of two feeds and of the live source within a few kilometres; a
// quarter of them are duplicates.
func newCrowdedReader(t testing.TB, feeds, live int) (*nearby.Reader, *fakeLive) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	kind := police(t)
	somewhere := func() geo.Point {
		return geo.Point{Lat: 52 + (rng.Float64()-0.5)*0.1, Lng: 5 + (rng.Float64()-0.5)*0.16}
	}
	ix, catalogue := index.New(func(dst []byte, _ *mapdata.Entity) []byte { return append(dst, 0) }), catalog.New(nil)
	var places []geo.Point
	for n := byte(1); n <= 2; n++ {
		f := &mapdata.Feed{
			ID: mapdata.FeedID{15: n}, Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true, Direction: mapdata.Push,
			Layer: mapdata.Layer{Slug: fmt.Sprintf("layer-%d", n)},
		}
		c := mapdata.FeedChange{Feed: f, FeedID: f.ID}
		for i := range feeds / 2 {
			at := somewhere()
			if len(places) > 0 && rng.IntN(4) == 0 {
				at = places[rng.IntN(len(places))]
				at.Lat += rng.Float64() * 0.001
			}
			places = append(places, at)
			c.Entities = append(c.Entities, mapdata.Entity{
				Feed: f.ID, ExternalID: fmt.Sprintf("%d-%d", n, i), Kind: kind, Point: at, FirstSeenAt: start, SeenAt: start, ChangedAt: start, Lifetime: time.Hour,
			})
		}
		ix.Apply([]mapdata.FeedChange{c})
		catalogue.Apply([]mapdata.FeedChange{{Feed: f, FeedID: f.ID}}).Publish()
	}
	source := &fakeLive{health: mapdata.Health{Status: mapdata.Online}}
	for i := range live {
		at := places[rng.IntN(len(places))]
		at.Lng += rng.Float64() * 0.0015
		source.pins = append(source.pins, pin(fmt.Sprintf("live-%d", i), kind, at))
	}
	return nearby.New(nearby.Config{
		Index: ix, Catalog: catalogue, Primary: "tesla", Now: func() time.Time { return start }, Live: source, Tallies: votes.NewTallies(func() time.Time { return start }),
	}), source
}

// TestMergingPrecedesLimit checks for any limit that the answer is a prefix of the answer without a limit (D10.1).
func TestMergingPrecedesLimit(t *testing.T) {
	reader, _ := newCrowdedReader(t, 3000, 300)
	read := func(limit int, center geo.Point) (names []string, truncated bool) {
		t.Helper()
		var a nearby.Answer
		q := &nearby.Query{Center: center, Radius: 4000, Kinds: mapdata.AllKinds, Limit: limit, Driver: "d"}
		if err := reader.Near(t.Context(), q, &a); err != nil {
			t.Fatal(err)
		}
		for i := range a.Hits {
			name := string(a.Hits[i].ExternalID)
			for _, m := range a.Hits[i].Merged {
				name += "+" + string(m.ExternalID)
			}
			names = append(names, name)
		}
		return names, a.Truncated
	}
	rng := rand.New(rand.NewPCG(3, 4))
	merged := 0
	for range 20 {
		center := geo.Point{Lat: 52 + (rng.Float64()-0.5)*0.05, Lng: 5 + (rng.Float64()-0.5)*0.05}
		whole, cut := read(4000, center)
		if cut {
			t.Fatal("the whole is cut")
		}
		for _, limit := range []int{1, 5, 50, 200, len(whole) - 1, len(whole), len(whole) + 1} {
			part, cut := read(limit, center)
			if want := whole[:min(limit, len(whole))]; !slices.Equal(part, want) {
				t.Fatalf("limit %d: %s", limit, cmp.Diff(want, part))
			}
			if cut != (limit < len(whole)) {
				t.Errorf("limit %d of %d: truncated %v", limit, len(whole), cut)
			}
		}
		for _, name := range whole {
			if slices.Contains([]byte(name), '+') {
				merged++
			}
		}
	}
	if merged < 100 {
		t.Errorf("only %d merged pins: the test has no effect", merged)
	}
}

// TestIncidentSelection checks that the live source is only called for queries that select it.
func TestIncidentSelection(t *testing.T) {
	reader, source := newCrowdedReader(t, 10, 3)
	chargers := mapdata.SelectKinds("charger.supercharger")
	for _, tt := range []struct {
		name string
		edit func(*nearby.Query)
		live bool
	}{
		{"everything", func(*nearby.Query) {}, true},
		{"by name", func(q *nearby.Query) { q.Sources = []string{"incidents"} }, true},
		{"by layer", func(q *nearby.Query) { q.ByLayer, q.Layers = true, []string{"incidents"} }, true},
		{"another source", func(q *nearby.Query) { q.Sources = []string{string(mapdata.FeedID{15: 1}.SourceID())} }, false},
		{"another layer", func(q *nearby.Query) { q.ByLayer, q.Layers = true, []string{"layer-1"} }, false},
		{"both must match", func(q *nearby.Query) {
			q.Sources, q.ByLayer, q.Layers = []string{"incidents"}, true, []string{"layer-1"}
		}, false},
		{"kinds that no incident has", func(q *nearby.Query) { q.Kinds = chargers }, false},
	} {
		source.asked = nil
		var a nearby.Answer
		q := &nearby.Query{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 20_000, Kinds: mapdata.AllKinds, Limit: 100, Driver: "d"}
		tt.edit(q)
		if err := reader.Near(t.Context(), q, &a); err != nil {
			t.Fatal(err)
		}
		if a.Live != tt.live || (len(source.asked) > 0) != tt.live {
			t.Errorf("%s: live %v, asked %v", tt.name, a.Live, source.asked)
		}
		if tt.live && (a.Incidents.ID != mapdata.Incidents || a.Incidents.Status != mapdata.Online) {
			t.Errorf("%s: health %+v", tt.name, a.Incidents)
		}
	}
}

// TestSinceCoversMergedPins checks that a pin has changed when an entity merged into it has (D4.3).
func TestSinceCoversMergedPins(t *testing.T) {
	reader, source := newCrowdedReader(t, 2, 0)
	kind := police(t)
	at := geo.Point{Lat: 52.3, Lng: 5}
	old, fresh := pin("old", kind, at), pin("fresh", kind, geo.Point{Lat: 52.3005, Lng: 5})
	fresh.Upstream, fresh.Rank, fresh.ChangedAt = "v", 1, start.Add(time.Minute).UnixMilli()
	alone := pin("alone", kind, geo.Point{Lat: 52.31, Lng: 5})
	source.pins = []mapdata.Hit{old, fresh, alone}
	var a nearby.Answer
	q := &nearby.Query{Center: at, Radius: 5000, Kinds: mapdata.AllKinds, Limit: 100, Since: start.Add(30 * time.Second)}
	if err := reader.Near(t.Context(), q, &a); err != nil {
		t.Fatal(err)
	}
	if len(a.Hits) != 1 || string(a.Hits[0].ExternalID) != "old" || len(a.Hits[0].Merged) != 1 {
		t.Errorf("%+v", a.Hits)
	}
}

// TestEndOfSuppressionIsAChange checks that a live incident counts as changed when votes cease to hide it, so that a
// driver who requests changes sees it again (D4.3).
func TestEndOfSuppressionIsAChange(t *testing.T) {
	reader, source := newCrowdedReader(t, 2, 0)
	at := geo.Point{Lat: 52.3, Lng: 5}
	source.pins = []mapdata.Hit{pin("a", police(t), at)}
	source.pins[0].ChangedAt = start.Add(-2 * time.Hour).UnixMilli()
	ended := start.Add(-time.Minute)
	tallies := votes.NewTallies(func() time.Time { return start })
	tally := mapdata.Tally{Source: mapdata.Incidents, ExternalID: "a", Disputes: 5}
	for !tally.WithheldUntil(police(t)).Equal(ended) {
		tally.LastDisputeAt = tally.LastDisputeAt.Add(ended.Sub(tally.WithheldUntil(police(t))))
	}
	tally.ChangedAt = tally.LastDisputeAt
	tallies.Apply([]mapdata.FeedChange{{Tallies: []mapdata.Tally{tally}}}).Publish()
	reader.Tallies = tallies
	for since, want := range map[time.Time]int{ended.Add(-time.Second): 1, ended.Add(time.Second): 0} {
		var a nearby.Answer
		q := &nearby.Query{Center: at, Radius: 1000, Kinds: mapdata.AllKinds, Limit: 100, Since: since}
		if err := reader.Near(t.Context(), q, &a); err != nil || len(a.Hits) != want {
			t.Errorf("since %v before the end: %d hits, %v", ended.Sub(since), len(a.Hits), err)
		}
	}
}

func BenchmarkNearWithIncidents(b *testing.B) {
	reader, _ := newCrowdedReader(b, 600, 300)
	var a nearby.Answer
	q := &nearby.Query{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 20_000, Kinds: mapdata.AllKinds, Limit: 1000, Driver: "d"}
	b.ReportAllocs()
	for b.Loop() {
		if err := reader.Near(b.Context(), q, &a); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(a.Hits)), "pins")
}
