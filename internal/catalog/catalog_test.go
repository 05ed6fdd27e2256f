package catalog_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/catalog"
	"wayside/internal/mapdata"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func feed(n byte, edit func(*mapdata.Feed)) *mapdata.Feed {
	f := &mapdata.Feed{
		ID: mapdata.FeedID{15: n}, Owner: mapdata.AccountID{n}, Direction: mapdata.Pull, Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true,
		Layer: mapdata.Layer{Slug: string(rune('a' + n))},
	}
	if edit != nil {
		edit(f)
	}
	return f
}

func TestCatalogueShowsWhatIsPublished(t *testing.T) {
	c := catalog.New()
	served := feed(1, nil)
	private := feed(2, func(f *mapdata.Feed) { f.Visibility = mapdata.Private })
	off := feed(3, func(f *mapdata.Feed) { f.Active = false })
	for _, f := range []*mapdata.Feed{off, private, served} {
		c.Set(f, true)
	}
	if len(c.Listed()) != 0 {
		t.Error("feeds show before they are published")
	}
	c.Publish()
	if diff := cmp.Diff([]*mapdata.Feed{served}, c.Listed()); diff != "" {
		t.Error("listed", diff)
	}
	guest := mapdata.AccountID{}
	if diff := cmp.Diff([]mapdata.SourceID{served.ID.Source(), off.ID.Source()}, c.Sources(guest)); diff != "" {
		t.Error("a guest may name", diff)
	}
	if diff := cmp.Diff([]mapdata.SourceID{served.ID.Source(), off.ID.Source(), private.ID.Source()}, c.Sources(private.Owner)); diff != "" {
		t.Error("an owner may name", diff)
	}
	if c.Feed(private.ID, guest) != nil || c.Feed(private.ID, served.Owner) != nil || c.Feed(private.ID, private.Owner) != private {
		t.Error("a private feed is read by others, or not by its owner")
	}
	if c.ByLayer(private.Layer.Slug, guest) != nil || c.ByLayer(served.Layer.Slug, guest) != served || c.ByLayer("moose", guest) != nil {
		t.Error("layers do not follow their feeds")
	}
	if got := c.Owned(private.Owner); len(got) != 1 || got[0] != private.ID || c.Owned(guest) != nil {
		t.Errorf("owned: %v", got)
	}
	c.Remove(served.ID)
	c.Publish()
	if len(c.Listed()) != 0 || c.Feed(served.ID, guest) != nil {
		t.Error("a feed that is gone shows")
	}
}

func TestHealthIsJudgedAnewAndShared(t *testing.T) {
	c := catalog.New()
	f := feed(1, nil)
	c.Set(f, true)
	c.Publish()
	first := c.ServedHealth(start)
	if len(first) != 1 || first[0].Status != mapdata.Offline {
		t.Fatalf("never polled: %+v", first)
	}
	if again := c.ServedHealth(start.Add(time.Minute)); &again[0] != &first[0] {
		t.Error("the same health is not the same slice")
	}
	c.Add(f.ID, []mapdata.Attempt{{At: start, OK: true}})
	if !c.Newest(f.ID).Equal(start) || !c.Newest(mapdata.FeedID{9}).IsZero() {
		t.Errorf("newest attempt: %v", c.Newest(f.ID))
	}
	later := c.ServedHealth(start.Add(2 * time.Minute))
	if later[0].Status != mapdata.Online || later[0].OK != 1 || first[0].Status != mapdata.Offline {
		t.Errorf("after a poll: %+v; before: %+v", later, first)
	}
	named := c.Health([]mapdata.FeedID{f.ID, {9}}, start)
	if named[0].Status != mapdata.Online || named[1].Status != mapdata.Offline {
		t.Errorf("by name: %+v", named)
	}
}
