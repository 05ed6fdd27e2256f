package index_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wayside/internal/entities/index"
	"wayside/internal/ground/mapdata"
)

// state formats the search results and counts of an index around 52, 4.
func state(ix *index.Index) []string {
	s := around(52, 4, 50_000)
	s.Suppressed = true
	hits, _ := ix.Search(s, nil)
	out := []string{fmt.Sprint("entities: ", ix.Len())}
	for n := range byte(3) {
		persistent, decaying := ix.Counts(feedID(n))
		out = append(out, fmt.Sprintf("feed %d: %d persistent, %d decaying", n, persistent, decaying))
	}
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s %s at %v, changed %d, seen %d, expires %d, votes %d %d", h.Source, h.ExternalID, h.Point,
			h.ChangedAt, h.LastSeenAt, h.ExpiresAt, h.Confirms, h.Disputes))
	}
	slices.Sort(out[4:])
	return out
}

// drawChange draws a change of any sort: new, moved, confirmed and removed entities, votes, and changed feeds.
func drawChange(t *rapid.T) []mapdata.FeedChange {
	n := byte(rapid.IntRange(1, 2).Draw(t, "feed"))
	if rapid.IntRange(0, 19).Draw(t, "remove feed") == 0 {
		return []mapdata.FeedChange{{FeedID: feedID(n)}}
	}
	f := feed(n, rapid.SampledFrom([]mapdata.ReviewState{mapdata.Approved, mapdata.Approved, mapdata.Pending}).Draw(t, "review"))
	f.SnapshotAt = start.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "snapshot")) * time.Minute)
	c := mapdata.FeedChange{Feed: f, FeedID: f.ID}
	for range rapid.IntRange(0, 8).Draw(t, "rows") {
		id := fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "id"))
		switch rapid.IntRange(0, 3).Draw(t, "what") {
		case 0:
			c.Gone = append(c.Gone, id)
		case 1:
			c.Tallies = append(c.Tallies, mapdata.Tally{
				Source: f.ID.SourceID(), ExternalID: id, Confirms: rapid.IntRange(0, 9).Draw(t, "confirms"), ChangedAt: start, LifeAt: start.Add(time.Hour),
			})
		default:
			e := entity(n, id, 52+float64(rapid.IntRange(0, 3).Draw(t, "lat"))/100, 4)
			e.SeenAt = start.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "seen")) * time.Second)
			c.Entities = append(c.Entities, e)
		}
	}
	return []mapdata.FeedChange{c}
}

// TestStageIsInvisibleUntilPublished stages changes and loads, some of which are never published, and compares the
// index with one that did not get these.
func TestStageIsInvisibleUntilPublished(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ix, other := index.New(encode), index.New(encode)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			changes := drawChange(t)
			before := state(ix)
			staged := ix.Stage(changes)
			if diff := cmp.Diff(before, state(ix)); diff != "" {
				t.Fatalf("readers see what is staged: %s", diff)
			}
			switch rapid.IntRange(0, 3).Draw(t, "then") {
			case 0:
				continue // never published
			case 1:
				stageLoad(ix, []*mapdata.Feed{feed(1, mapdata.Approved)}, []mapdata.Entity{entity(1, "loaded", 52, 4)})
				continue // the load replaces the change and is never published either
			case 2:
				ix.Sweep(start.Add(-time.Hour)) // sweeps nothing, and replaces the change
				continue
			}
			persistent, decaying := staged.Counts(feedID(1))
			staged.Publish()
			other.Apply(changes)
			if p, d := ix.Counts(feedID(1)); p != persistent || d != decaying {
				t.Fatalf("staged %d persistent and %d decaying entities, published %d and %d", persistent, decaying, p, d)
			}
			if diff := cmp.Diff(state(other), state(ix)); diff != "" {
				t.Fatalf("differs from an index that had the published changes only: %s", diff)
			}
		}
	})
}

// TestPublishOfReplacedVersion checks that publishing a replaced version panics.
func TestPublishOfReplacedVersion(t *testing.T) {
	ix := index.New(encode)
	f := feed(1, mapdata.Approved)
	replaced := ix.Stage(change(f, entity(1, "a", 52, 4)))
	ix.Apply(change(f, entity(1, "b", 52, 4)))
	defer func() {
		if recover() == nil {
			t.Error("it was published")
		}
		if diff := cmp.Diff([]string{"b"}, ids(ix, around(52, 4, 100))); diff != "" {
			t.Error(diff)
		}
	}()
	replaced.Publish()
}
