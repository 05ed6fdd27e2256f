package index_test

import (
	"testing"

	"wayside/internal/entities/index"
	"wayside/internal/ground/mapdata"
)

// TestSeveralFeeds checks that a second feed counts only for entities that a search would find.
func TestSeveralFeeds(t *testing.T) {
	ix := index.New(encode)
	for n, state := range []mapdata.ReviewState{mapdata.Approved, mapdata.Approved, mapdata.Pending} {
		ix.Apply(change(feed(byte(n+1), state), entity(byte(n+1), "1", 52, 4+float64(n)*0.01), entity(byte(n+1), "2", 52, 4+float64(n)*0.01)))
	}
	police, _ := mapdata.ParseKind("alert.police")
	for _, tt := range []struct {
		name string
		edit func(*mapdata.Search)
		want bool
	}{
		{"one in the circle", func(s *mapdata.Search) { s.Radius = 500 }, false},
		{"two in the circle", func(*mapdata.Search) {}, true},
		{"the limit does not count", func(s *mapdata.Search) { s.Limit = 1 }, true},
		{"other kinds", func(s *mapdata.Search) { s.Kinds = mapdata.KindSet(0).With(police) }, false},
		{"one selected", func(s *mapdata.Search) { s.Served, s.Feeds = false, []mapdata.FeedID{feedID(2)} }, false},
		{"their own and another", func(s *mapdata.Search) {
			s.Served, s.Feeds, s.Own = false, []mapdata.FeedID{feedID(1)}, []mapdata.FeedID{feedID(3)}
		}, true},
		{"nothing", func(s *mapdata.Search) { s.Center.Lat = 10 }, false},
	} {
		s := around(52, 4, 5000)
		tt.edit(s)
		if got := ix.SeveralFeeds(s); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
