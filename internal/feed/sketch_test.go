package feed_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"wayside/internal/feed"
	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// A sketch is of served feeds alone, and is repeated for a minute.
func TestSketch(t *testing.T) {
	o := newOffice(t)
	_, by := o.someone("owner@example.com", mapdata.Driver)
	r := pullOf("https://a.example/")
	r.Visibility = ptr("public")
	v, _ := o.register(by, r)
	if _, err := o.Sketch(t.Context(), v.ID); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("of a pending feed: %v", err)
	}
	o.approve(v)
	if got, err := o.Sketch(t.Context(), v.ID); err != nil || got.Middle != nil || len(got.Kinds) != 0 {
		t.Errorf("of an empty feed: %+v, %v", got, err)
	}
	mark, err := o.db.Mark(t.Context(), v.ID)
	if err != nil {
		t.Fatal(err)
	}
	kinds := []string{"camera.speed", "alert.police", "camera.speed"}
	change := &mapdata.Change{Feed: v.ID, Base: mark.EntitiesRevision, At: o.now, Attempt: mapdata.Attempt{At: o.now, OK: true, Outcome: mapdata.OutcomeOK, Rows: 3}}
	for i, id := range kinds {
		kind, _ := mapdata.ParseKind(id)
		change.Upserts = append(change.Upserts, mapdata.Entity{
			Feed: v.ID, ExternalID: strconv.Itoa(i), Kind: kind, Point: geo.Point{Lat: 52 + float64(i), Lng: 5}, FirstSeenAt: o.now, SeenAt: o.now, ChangedAt: o.now,
			Lifetime: time.Hour, Properties: []byte("{}"),
		})
	}
	if err := o.db.Apply(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	if got, err := o.Sketch(t.Context(), v.ID); err != nil || got.Middle != nil {
		t.Errorf("within the minute: %+v, %v", got, err)
	}
	o.now = o.now.Add(time.Minute)
	got, err := o.Sketch(t.Context(), v.ID)
	if err != nil || got.Middle == nil || got.Middle.ExternalID != "1" || len(got.Kinds) != 2 || got.Kinds[0].ID() != "camera.speed" || got.Truncated {
		t.Errorf("after a minute: %+v, %v", got, err)
	}
	if _, err := o.Reject(t.Context(), feed.Operator(), v.ID, "", "no"); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Sketch(t.Context(), v.ID); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("of a rejected feed: %v", err)
	}
}
