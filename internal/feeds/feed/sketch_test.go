package feed_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// TestSketch checks that only served feeds have a sketch, and that it is cached for a minute.
func TestSketch(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	r := pullOf("https://a.example/")
	r.Visibility = ptr("public")
	v, _ := ts.register(by, r)
	if _, err := ts.Sketch(t.Context(), v.ID); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("of a pending feed: %v", err)
	}
	ts.approve(v)
	if got, err := ts.Sketch(t.Context(), v.ID); err != nil || got.Middle != nil || len(got.Kinds) != 0 {
		t.Errorf("of an empty feed: %+v, %v", got, err)
	}
	mark, err := ts.db.Mark(t.Context(), v.ID)
	if err != nil {
		t.Fatal(err)
	}
	kinds := []string{"camera.speed", "alert.police", "camera.speed"}
	change := &mapdata.Change{Feed: v.ID, Base: mark.EntitiesRevision, At: ts.now, Attempt: mapdata.Attempt{At: ts.now, OK: true, Outcome: mapdata.OutcomeOK, Rows: 3}}
	for i, id := range kinds {
		kind, _ := mapdata.ParseKind(id)
		change.Upserts = append(change.Upserts, mapdata.Entity{
			Feed: v.ID, ExternalID: strconv.Itoa(i), Kind: kind, Point: geo.Point{Lat: 52 + float64(i), Lng: 5}, FirstSeenAt: ts.now, SeenAt: ts.now, ChangedAt: ts.now,
			Lifetime: time.Hour, Properties: []byte("{}"),
		})
	}
	if err := ts.db.Apply(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	if got, err := ts.Sketch(t.Context(), v.ID); err != nil || got.Middle != nil {
		t.Errorf("within the minute: %+v, %v", got, err)
	}
	ts.now = ts.now.Add(time.Minute)
	got, err := ts.Sketch(t.Context(), v.ID)
	if err != nil || got.Middle == nil || got.Middle.ExternalID != "1" || len(got.Kinds) != 2 || got.Kinds[0].ID() != "camera.speed" || got.Truncated {
		t.Errorf("after a minute: %+v, %v", got, err)
	}
	hiding := mapdata.Hiding{Until: mapdata.ForGood(), Reason: "wrong"}
	if _, err := ts.db.HidePin(t.Context(), &mapdata.PinTakedown{Source: v.ID.SourceID(), ExternalID: "1", Hiding: hiding, At: ts.now}); err != nil {
		t.Fatal(err)
	}
	ts.now = ts.now.Add(time.Minute)
	if got, err := ts.Sketch(t.Context(), v.ID); err != nil || got.Middle == nil || got.Middle.ExternalID == "1" || len(got.Kinds) != 1 {
		t.Errorf("with a hidden pin: %+v, %v", got, err)
	}
	if _, err := ts.Reject(t.Context(), mapdata.Operator(), v.ID, "", "no"); err != nil {
		t.Fatal(err)
	}
	if _, err := ts.Sketch(t.Context(), v.ID); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("of a rejected feed: %v", err)
	}
}
