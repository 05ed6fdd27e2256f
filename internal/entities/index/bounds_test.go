package index

import (
	"testing"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// TestFeedsOfAnOverviewAreBounded checks that an overview names a hundred feeds.
func TestFeedsOfAnOverviewAreBounded(t *testing.T) {
	q := &search{v: &version{}}
	for i := range 1500 {
		q.v.feeds = append(q.v.feeds, &feed{id: mapdata.FeedID{byte(i), byte(i >> 8)}})
		q.seen = q.seen.with(uint32(i))
	}
	var o mapdata.Overview
	if q.report(geo.Tiles{}, &o); len(o.Feeds) != 100 {
		t.Errorf("an overview names %d feeds, want 100", len(o.Feeds))
	}
}
