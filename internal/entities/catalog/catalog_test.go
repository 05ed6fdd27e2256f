package catalog_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/catalog"
	"wayside/internal/ground/mapdata"
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

// changed returns a change of a feed with recorded attempts.
func changed(revision int64, f *mapdata.Feed, attempts ...mapdata.Attempt) mapdata.FeedChange {
	return mapdata.FeedChange{Revision: revision, Feed: f, FeedID: f.ID, Attempts: attempts}
}

func removed(f *mapdata.Feed) mapdata.FeedChange { return mapdata.FeedChange{FeedID: f.ID} }

func ok(at time.Time) mapdata.Attempt { return mapdata.Attempt{At: at, OK: true} }

func TestPublish(t *testing.T) {
	c := catalog.New(nil)
	served := feed(1, nil)
	private := feed(2, func(f *mapdata.Feed) { f.Visibility = mapdata.Private })
	off := feed(3, func(f *mapdata.Feed) { f.Active, f.Polling.ConsecutiveFailures = false, mapdata.MaxFailures }) // stays readable (D4.16)
	hidden := feed(4, func(f *mapdata.Feed) { f.Active = false })
	staged := c.Apply([]mapdata.FeedChange{changed(1, off), changed(2, private), changed(3, served), changed(4, hidden)})
	if len(c.Listed()) != 0 || c.ServedCount() != 0 {
		t.Error("feeds show before they are published")
	}
	staged.Publish()
	if diff := cmp.Diff([]*mapdata.Feed{served}, c.Listed()); diff != "" {
		t.Error("listed", diff)
	}
	guest := mapdata.AccountID{}
	if diff := cmp.Diff([]mapdata.SourceID{served.ID.SourceID(), off.ID.SourceID()}, c.Sources(guest)); diff != "" || c.ServedCount() != 2 {
		t.Error("a guest may name", diff)
	}
	if diff := cmp.Diff([]mapdata.SourceID{served.ID.SourceID(), off.ID.SourceID(), private.ID.SourceID()}, c.Sources(private.Owner)); diff != "" {
		t.Error("an owner may name", diff)
	}
	if c.Feed(private.ID, guest) != nil || c.Feed(private.ID, served.Owner) != nil || c.Feed(private.ID, private.Owner) != private {
		t.Error("a private feed is read by others, or not by its owner")
	}
	if c.Feed(hidden.ID, guest) != nil || c.ByLayer(hidden.Layer.Slug, guest) != nil || c.Feed(hidden.ID, hidden.Owner) != hidden {
		t.Error("a feed that its owner deactivated is read by others, or not by its owner")
	}
	if c.ByLayer(private.Layer.Slug, guest) != nil || c.ByLayer(served.Layer.Slug, guest) != served || c.ByLayer("moose", guest) != nil {
		t.Error("layers do not follow their feeds")
	}
	if got := c.Owned(private.Owner); len(got) != 1 || got[0] != private.ID || c.Owned(guest) != nil {
		t.Errorf("owned: %v", got)
	}
	c.Apply([]mapdata.FeedChange{removed(served)}).Publish()
	if len(c.Listed()) != 0 || c.Feed(served.ID, guest) != nil || c.ServedCount() != 1 {
		t.Error("a feed that is gone shows")
	}
	if c.ByLayer(served.Layer.Slug, guest) != nil || len(c.Owned(served.Owner)) != 0 {
		t.Error("layer or owner of a feed that is gone show")
	}
}

// TestFeedChangesOwnerAndLayer checks the lookups by owner and layer after a feed's owner or slug changed.
func TestFeedChangesOwnerAndLayer(t *testing.T) {
	c := catalog.New(nil)
	before := feed(1, func(f *mapdata.Feed) { f.ReviewState = mapdata.Pending })
	second := feed(2, func(f *mapdata.Feed) { f.Owner = before.Owner })
	c.Apply([]mapdata.FeedChange{changed(1, second), changed(2, before)}).Publish()
	if diff := cmp.Diff([]mapdata.FeedID{before.ID, second.ID}, c.Owned(before.Owner)); diff != "" {
		t.Error("owned, oldest first", diff)
	}
	moved := feed(1, func(f *mapdata.Feed) { f.Owner = mapdata.AccountID{9} })
	c.Apply([]mapdata.FeedChange{changed(3, moved)}).Publish()
	if diff := cmp.Diff([]mapdata.FeedID{second.ID}, c.Owned(before.Owner)); diff != "" {
		t.Error("owned by the earlier owner", diff)
	}
	if c.ByLayer(moved.Layer.Slug, moved.Owner) != moved || len(c.Owned(moved.Owner)) != 1 || c.ServedCount() != 2 {
		t.Error("a feed with another owner, and approved, is not found")
	}
	renamed := feed(1, func(f *mapdata.Feed) { f.Owner = moved.Owner; f.Layer.Slug = "other" })
	c.Apply([]mapdata.FeedChange{changed(4, renamed)}).Publish()
	if c.ByLayer(moved.Layer.Slug, moved.Owner) != nil || c.ByLayer("other", moved.Owner) != renamed || len(c.Owned(moved.Owner)) != 1 {
		t.Error("a layer with another slug is not found, or found by the earlier one")
	}
}

func TestHealthIsCachedAndUpdated(t *testing.T) {
	c := catalog.New(nil)
	f := feed(1, nil)
	c.Apply([]mapdata.FeedChange{changed(1, f)}).Publish()
	first := c.ServedHealth(start)
	if len(first) != 1 || first[0].Status != mapdata.Offline {
		t.Fatalf("never polled: %+v", first)
	}
	if again := c.ServedHealth(start.Add(time.Minute)); &again[0] != &first[0] {
		t.Error("the same health is not the same slice")
	}
	c.Apply([]mapdata.FeedChange{changed(2, f)}).Publish()
	if again := c.ServedHealth(start.Add(time.Minute)); &again[0] != &first[0] {
		t.Error("the same health is not the same slice after a change that does not concern it")
	}
	c.Apply([]mapdata.FeedChange{changed(3, f, ok(start))}).Publish()
	later := c.ServedHealth(start)
	if later[0].Status != mapdata.Online || later[0].OK != 1 || first[0].Status != mapdata.Offline {
		t.Errorf("after a poll: %+v; before: %+v", later, first)
	}
	named := c.Health([]mapdata.FeedID{f.ID, {9}}, start)
	if named[0].Status != mapdata.Online || named[1].Status != mapdata.Offline {
		t.Errorf("by name: %+v", named)
	}
}

// TestHealthIsExactInTime checks that a change of health is visible within a second (D12.7), whether a poll or time alone causes it.
func TestHealthIsExactInTime(t *testing.T) {
	c := catalog.New(nil)
	f := feed(1, func(f *mapdata.Feed) { f.Direction, f.LastPushAt = mapdata.Push, start })
	c.Apply([]mapdata.FeedChange{changed(1, f, ok(start))}).Publish()
	status := func(at time.Time) mapdata.Status {
		served, named := c.ServedHealth(at), c.Health([]mapdata.FeedID{f.ID}, at)
		if served[0] != named[0] {
			t.Errorf("at %v: served %+v, named %+v", at, served[0], named[0])
		}
		return served[0].Status
	}
	for _, tt := range []struct {
		after time.Duration
		want  mapdata.Status
	}{{0, mapdata.Online}, {time.Hour, mapdata.Online}, {24 * time.Hour, mapdata.Online}, {24*time.Hour + 900*time.Millisecond, mapdata.Offline}} {
		if got := status(start.Add(tt.after)); got != tt.want {
			t.Errorf("%v after the last push: %s, want %s", tt.after, got, tt.want)
		}
	}
	silent := start.Add(25 * time.Hour)
	if c.Health([]mapdata.FeedID{f.ID}, silent); status(silent) != mapdata.Offline {
		t.Fatal("not offline after a day of silence")
	}
	again := feed(1, func(f *mapdata.Feed) { f.Direction, f.LastPushAt = mapdata.Push, silent })
	c.Apply([]mapdata.FeedChange{changed(2, again, ok(silent))}).Publish()
	if got := status(silent.Add(900 * time.Millisecond)); got != mapdata.Online {
		t.Errorf("0.9 s after a push: %s", got)
	}
	if served := c.ServedHealth(silent.Add(59 * time.Minute)); served[0].OK != 1 {
		t.Errorf("59 minutes after a push: %+v", served[0])
	}
	if served := c.ServedHealth(silent.Add(time.Hour + 900*time.Millisecond)); served[0].OK != 0 {
		t.Errorf("an hour after a push: %+v", served[0])
	}
}

// TestPersistentPushFeedStaysOnline checks that only a push feed whose entities expire goes offline without pushes (D4.15).
func TestPersistentPushFeedStaysOnline(t *testing.T) {
	for _, tt := range []struct {
		persistent, decaying int
		want                 mapdata.Status
	}{{1, 0, mapdata.Online}, {1, 1, mapdata.Offline}, {0, 1, mapdata.Offline}, {0, 0, mapdata.Offline}} {
		c := catalog.New(func(mapdata.FeedID) (int, int) { return tt.persistent, tt.decaying })
		f := feed(1, func(f *mapdata.Feed) { f.Direction, f.LastPushAt = mapdata.Push, start })
		c.Apply([]mapdata.FeedChange{changed(1, f, ok(start))}).Publish()
		if got := c.ServedHealth(start.Add(25 * time.Hour))[0].Status; got != tt.want {
			t.Errorf("%d persistent, %d decaying entities: %s, want %s", tt.persistent, tt.decaying, got, tt.want)
		}
	}
}

// manyFeeds creates a catalogue of n public push feeds.
func manyFeeds(n int) (*catalog.Catalog, []*mapdata.Feed) {
	c := catalog.New(nil)
	var feeds []*mapdata.Feed
	var changes []mapdata.FeedChange
	for i := range n {
		f := &mapdata.Feed{
			ID: mapdata.FeedID{1, byte(i >> 8), byte(i)}, Owner: mapdata.AccountID{byte(i), byte(i >> 8)}, Layer: mapdata.Layer{Slug: fmt.Sprint("l", i)},
			Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true, Direction: mapdata.Push, LastPushAt: start,
		}
		feeds, changes = append(feeds, f), append(changes, changed(int64(i+1), f, ok(start)))
	}
	c.Apply(changes).Publish()
	return c, feeds
}

// TestUnchangedReadsDoNotAllocate checks that reading unchanged health does not allocate.
func TestUnchangedReadsDoNotAllocate(t *testing.T) {
	c, _ := manyFeeds(10_000)
	c.ServedHealth(start)
	if n := testing.AllocsPerRun(100, func() { c.ServedHealth(start.Add(time.Second)); c.ServedCount() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestConcurrentReaders checks that readers see consistent views while feeds are added, changed and removed, also for the race
// detector.
func TestConcurrentReaders(t *testing.T) {
	c, feeds := manyFeeds(200)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				for _, f := range c.Listed() {
					if f == nil {
						t.Error("a served feed is not there")
						return
					}
				}
				if n := len(c.ServedHealth(start)); n < 199 || n > 200 {
					t.Errorf("%d served sources, want 199 or 200", n)
					return
				}
				c.Sources(feeds[0].Owner)
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for i := range 500 {
		f := feeds[i%len(feeds)]
		c.Apply([]mapdata.FeedChange{removed(f)}).Publish()
		c.Apply([]mapdata.FeedChange{changed(int64(1000+i), f, ok(start))}).Publish()
	}
	close(done)
	readers.Wait()
}
