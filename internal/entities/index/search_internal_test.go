package index

import (
	"testing"
	"time"
	"unsafe"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// TestSearchAfterPanic checks that a search that panicked leaves no state that affects another search.
func TestSearchAfterPanic(t *testing.T) {
	ix := New(func(dst []byte, _ *mapdata.Entity) []byte { return dst })
	f := &mapdata.Feed{ID: mapdata.FeedID{1}, Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true}
	ix.Apply([]mapdata.FeedChange{{Feed: f, FeedID: f.ID, Entities: []mapdata.Entity{
		{ExternalID: "broken", Point: geo.Point{Lat: 52, Lng: 4}},
		{ExternalID: "whole", Point: geo.Point{Lat: -30, Lng: 100}},
	}}})
	search := func(p geo.Point) (hits []mapdata.Hit, panicked bool) {
		defer func() { panicked = recover() != nil }()
		hits, _ = ix.Search(&mapdata.Search{Center: p, Radius: 100, Kinds: mapdata.AllKinds, Served: true, Limit: 10, Now: time.Unix(0, 0)}, nil)
		return hits, false
	}
	entries := ix.current.Load().cell(grid.Cell(geo.Point{Lat: 52, Lng: 4}))
	entries[0].ref = ref{segment: 1000}
	for range 3 {
		if _, panicked := search(geo.Point{Lat: 52, Lng: 4}); !panicked {
			t.Fatal("a reference to nowhere does not panic: this test tests nothing")
		}
	}
	for range 3 {
		if hits, panicked := search(geo.Point{Lat: -30, Lng: 100}); panicked || len(hits) != 1 {
			t.Errorf("%d hits elsewhere, panicked %v; want 1 hit", len(hits), panicked)
		}
	}
}

// TestSlotFillsCacheLine checks that a slot fills one cache line, so that checking a candidate loads one.
func TestSlotFillsCacheLine(t *testing.T) {
	if size := unsafe.Sizeof(slot{}); size != cacheLine {
		t.Errorf("a slot has %d bytes, want %d", size, cacheLine)
	}
}
