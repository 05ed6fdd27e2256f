package index_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"wayside/internal/entities/index"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

func touches(t mapdata.Touched, p geo.Point) bool {
	for _, a := range t.Areas {
		if a.Meets(geo.Circle{Center: p}) {
			return true
		}
	}
	return false
}

// TestApplyReturnsTouchedAreas checks that every change lies within the areas that Apply returns, anywhere on the
// globe, and that an entity seen again touches none.
func TestApplyReturnsTouchedAreas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ix := index.New(encode)
		draw := func(name string) geo.Point {
			return geo.Point{
				Lat: rapid.OneOf(rapid.Float64Range(-90, 90), rapid.SampledFrom([]float64{-90, 90, 89.999, 0})).Draw(t, name+" lat"),
				Lng: rapid.OneOf(rapid.Float64Range(-180, 180), rapid.SampledFrom([]float64{-180, 180, 179.9999})).Draw(t, name+" lng"),
			}
		}
		f := feed(1, mapdata.Approved)
		at, to := draw("at"), draw("to")
		e := entity(1, "a", at.Lat, at.Lng)
		apply := func(c mapdata.FeedChange) mapdata.Touched {
			c.Feed, c.FeedID = f, f.ID
			return ix.Apply([]mapdata.FeedChange{c})
		}
		if got := apply(mapdata.FeedChange{Entities: []mapdata.Entity{e}}); !touches(got, at) {
			t.Fatalf("new at %v: %v", at, got)
		}
		e.SeenAt = e.SeenAt.Add(time.Second)
		if got := apply(mapdata.FeedChange{Entities: []mapdata.Entity{e}}); len(got.Areas) > 0 {
			t.Fatalf("seen again: %v", got)
		}
		e.Point, e.ChangedAt = to, e.SeenAt
		if got := apply(mapdata.FeedChange{Entities: []mapdata.Entity{e}}); !touches(got, at) || !touches(got, to) {
			t.Fatalf("moved from %v to %v: %v", at, to, got)
		}
		tally := mapdata.Tally{Source: f.ID.SourceID(), ExternalID: "a", Disputes: 5, LastDisputeAt: e.SeenAt, ChangedAt: e.SeenAt, LifeAt: e.FirstSeenAt}
		got := apply(mapdata.FeedChange{Tallies: []mapdata.Tally{tally}})
		if !touches(got, to) || len(got.Returns) != 1 || !got.Returns[0].At.Equal(tally.DisputedUntil(e.Kind)) || !got.Returns[0].Area.Meets(geo.Circle{Center: to}) {
			t.Fatalf("hidden at %v: %v", to, got)
		}
		e.Point, e.ChangedAt = at, e.ChangedAt.Add(time.Second)
		got = apply(mapdata.FeedChange{Entities: []mapdata.Entity{e}})
		if len(got.Returns) != 1 || !got.Returns[0].Area.Meets(geo.Circle{Center: at}) {
			t.Fatalf("moved to %v while hidden: %v", at, got)
		}
		to = at
		hidden := *f
		hidden.ReviewState = mapdata.Pending
		f = &hidden
		if got := apply(mapdata.FeedChange{}); !touches(got, to) {
			t.Fatalf("not served any more at %v: %v", to, got)
		}
		if got := apply(mapdata.FeedChange{Gone: []string{"a"}}); !touches(got, to) {
			t.Fatalf("gone from %v: %v", to, got)
		}
		loader := ix.Load([]*mapdata.Feed{f}, 1)
		loader.Part(0).Add(&e)
		if got := loader.Finish([]mapdata.Tally{tally}); !got.Everywhere || len(got.Returns) != 1 {
			t.Fatalf("loaded: %v", got)
		}
		got = ix.Apply([]mapdata.FeedChange{{FeedID: f.ID}})
		if !touches(got, to) {
			t.Fatalf("its feed is gone from %v: %v", to, got)
		}
	})
}
