package index

import (
	"fmt"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestOldVotesAreDropped checks that memory does not grow with all votes ever cast, while votes on stored entities are
// kept.
func TestOldVotesAreDropped(t *testing.T) {
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	const perDay, days = 50, 120
	f := &mapdata.Feed{ID: mapdata.FeedID{1}, Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true}
	ix := New(func(dst []byte, _ *mapdata.Entity) []byte { return dst })
	p := Projection{Index: ix, Now: func() time.Time { return now }}
	apply := func(lifetime time.Duration, ids ...string) {
		c := mapdata.FeedChange{Feed: f, FeedID: f.ID}
		votes := c
		for _, id := range ids {
			c.Entities = append(c.Entities, mapdata.Entity{Feed: f.ID, ExternalID: id, FirstSeenAt: now, SeenAt: now, ChangedAt: now, Lifetime: lifetime})
			votes.Tallies = append(votes.Tallies, mapdata.Tally{Source: f.ID.SourceID(), ExternalID: id, Confirms: 2, ChangedAt: now, LifeAt: now})
		}
		p.Apply([]mapdata.FeedChange{c, votes}).Publish()
	}
	apply(0, "lasting")
	for day := range days {
		var ids []string
		for i := range perDay {
			ids = append(ids, fmt.Sprint(day, " ", i))
		}
		apply(time.Hour, ids...)
		now = now.Add(24 * time.Hour)
		p.Sweep(now.Add(-time.Minute))
		if held := len(ix.writer.votes); held > 10*perDay {
			t.Fatalf("after %d days there are votes on %d entities", day+1, held)
		}
		if numbers := ix.writer.newest; numbers > 12*perDay {
			t.Fatalf("after %d days %d tallies take memory", day+1, numbers)
		}
	}
	hits, _ := ix.Search(&mapdata.Search{Radius: 1000, Kinds: mapdata.AllKinds, Served: true, AllNetworks: true, Now: now, Limit: 10}, nil)
	if len(hits) != 1 || hits[0].Confirms != 2 {
		t.Errorf("what persists with its votes: %+v", hits)
	}
	// Votes of eight days ago are kept, because they may suppress an entity that reappears.
	if ix.writer.voteNumber(f.ID, fmt.Appendf(nil, "%d 0", days-7)) == 0 {
		t.Error("votes of a week ago are forgotten")
	}
}
