package index_test

import (
	"sync"
	"testing"
	"time"

	"wayside/internal/entities/index"
	"wayside/internal/ground/mapdata"
)

func alert(t *testing.T, id string) mapdata.Entity {
	t.Helper()
	e := entity(1, id, 52, 4)
	kind, ok := mapdata.ParseKind("alert.police")
	if !ok {
		t.Fatal("no such kind")
	}
	e.Kind, e.Lifetime = kind, time.Hour
	return e
}

func tallyOf(e *mapdata.Entity, confirms, disputes int) mapdata.Tally {
	return mapdata.Tally{
		Source: e.Feed.SourceID(), ExternalID: e.ExternalID, Confirms: confirms, Disputes: disputes,
		LastDisputeAt: start, ChangedAt: start.Add(time.Minute), LifeAt: e.FirstSeenAt,
	}
}

func votes(f *mapdata.Feed, tallies ...mapdata.Tally) []mapdata.FeedChange {
	return []mapdata.FeedChange{{Feed: f, FeedID: f.ID, Tallies: tallies}}
}

func singleHit(t *testing.T, ix *index.Index, edit func(*mapdata.Search)) *mapdata.Hit {
	t.Helper()
	s := around(52, 4, 1000)
	if edit != nil {
		edit(s)
	}
	hits, _ := ix.Search(s, nil)
	switch len(hits) {
	case 0:
		return nil
	case 1:
		return &hits[0]
	}
	t.Fatalf("%d hits", len(hits))
	return nil
}

// TestSearchReturnsVotes checks that votes are found with the entity if they were applied after it, before it, or by a load.
func TestSearchReturnsVotes(t *testing.T) {
	f, e := feed(1, mapdata.Approved), alert(t, "a")
	for name, fill := range map[string]func(ix *index.Index){
		"after":  func(ix *index.Index) { ix.Apply(change(f, e)); ix.Apply(votes(f, tallyOf(&e, 2, 1))) },
		"before": func(ix *index.Index) { ix.Apply(votes(f, tallyOf(&e, 2, 1))); ix.Apply(change(f, e)) },
		"moved": func(ix *index.Index) {
			ix.Apply(change(f, e))
			ix.Apply(votes(f, tallyOf(&e, 9, 9)))
			ix.Apply(votes(f, tallyOf(&e, 2, 1)))
			moved := e
			moved.Point.Lat += 0.001
			ix.Apply(change(f, moved))
		},
		"loaded": func(ix *index.Index) {
			l := ix.Load([]*mapdata.Feed{f}, 1)
			l.Part(0).Add(&e)
			other := tallyOf(&e, 7, 7)
			other.Source = mapdata.Incidents
			l.Finish([]mapdata.Tally{tallyOf(&e, 2, 1), other})
		},
	} {
		ix := index.New(encode)
		fill(ix)
		h := singleHit(t, ix, nil)
		if h == nil || h.Confirms != 2 || h.Disputes != 1 || h.ChangedAt != start.Add(time.Minute).UnixMilli() || h.Prior != mapdata.DefaultPrior {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

// TestSuppression checks that votes hide an entity until the end of the suppression, except from the owner and curators
// (D9.5).
func TestSuppression(t *testing.T) {
	f, e := feed(1, mapdata.Approved), alert(t, "a")
	ix := index.New(encode)
	ix.Apply(change(f, e))
	ix.Apply(votes(f, tallyOf(&e, 0, 3)))
	if h := singleHit(t, ix, nil); h != nil {
		t.Errorf("a suppressed pin is found: %+v", h)
	}
	until := start.Add(30 * time.Minute)
	for who, edit := range map[string]func(*mapdata.Search){
		"curator": func(s *mapdata.Search) { s.Suppressed = true },
		"owner":   func(s *mapdata.Search) { s.Own = []mapdata.FeedID{f.ID} },
	} {
		if h := singleHit(t, ix, edit); h == nil || h.DisputedUntil != until.UnixMilli() || h.Disputes != 3 {
			t.Errorf("%s: %+v", who, h)
		}
	}
	if h := singleHit(t, ix, func(s *mapdata.Search) { s.Now = until.Add(-time.Millisecond) }); h != nil {
		t.Error("found before its time")
	}
	if h := singleHit(t, ix, func(s *mapdata.Search) { s.Now = until }); h == nil || h.DisputedUntil != 0 || h.Disputes != 3 {
		t.Errorf("not back in time: %+v", h)
	}
	ix.Apply(votes(f, tallyOf(&e, 1, 3)))
	if singleHit(t, ix, nil) == nil {
		t.Error("a confirm does not bring it back")
	}
}

// TestConfirmExtendsExpiry checks that a confirm extends the expiry, and that nothing is swept before it (D9.6).
func TestConfirmExtendsExpiry(t *testing.T) {
	f, e := feed(1, mapdata.Approved), alert(t, "a")
	e.Lifetime = time.Minute
	tally := tallyOf(&e, 1, 0)
	tally.KeptUntil = start.Add(30 * time.Minute)
	ix := index.New(encode)
	ix.Apply(change(f, e))
	ix.Apply(votes(f, tally))
	at := func(after time.Duration) *mapdata.Hit {
		return singleHit(t, ix, func(s *mapdata.Search) { s.Now = start.Add(after) })
	}
	if h := at(29 * time.Minute); h == nil || h.ExpiresAt != tally.KeptUntil.UnixMilli() {
		t.Errorf("not kept: %+v", h)
	}
	if at(30*time.Minute) != nil {
		t.Error("kept beyond its time")
	}
	if swept := ix.Sweep(start.Add(29 * time.Minute)); len(swept) != 0 {
		t.Errorf("swept while it is kept: %v", swept)
	}
	if swept := ix.Sweep(start.Add(30 * time.Minute)); len(swept) != 1 {
		t.Errorf("not swept: %v", swept)
	}
}

// TestVotesOfAnEarlierLife checks that a reappearing entity is new (D3.6), but stays suppressed.
func TestVotesOfAnEarlierLife(t *testing.T) {
	f, e := feed(1, mapdata.Approved), alert(t, "a")
	confirmed, hidden := tallyOf(&e, 5, 0), tallyOf(&e, 0, 4)
	confirmed.KeptUntil = start.Add(5 * time.Hour)
	e.FirstSeenAt, e.ChangedAt = start.Add(time.Second), start.Add(time.Second)
	ix := index.New(encode)
	ix.Apply(change(f, e))
	ix.Apply(votes(f, confirmed))
	if h := singleHit(t, ix, nil); h == nil || h.Confirms != 0 || h.ExpiresAt != start.Add(time.Hour).UnixMilli() || h.ChangedAt != e.ChangedAt.UnixMilli() {
		t.Errorf("old votes count: %+v", h)
	}
	ix.Apply(votes(f, hidden))
	if h := singleHit(t, ix, nil); h != nil {
		t.Errorf("shaken off: %+v", h)
	}
}

// TestVoteIsAChange checks that a vote counts as a change of the entity (D4.3).
func TestVoteIsAChange(t *testing.T) {
	f, e := feed(1, mapdata.Approved), alert(t, "a")
	ix := index.New(encode)
	ix.Apply(change(f, e))
	since := func(s *mapdata.Search) { s.Since = start.Add(30 * time.Second) }
	if singleHit(t, ix, since) != nil {
		t.Fatal("found before anything changed")
	}
	ix.Apply(votes(f, tallyOf(&e, 1, 0)))
	if singleHit(t, ix, since) == nil {
		t.Error("a vote is no change")
	}
}

// TestConcurrentVotesAndSearches searches during votes, for the race detector.
func TestConcurrentVotesAndSearches(t *testing.T) {
	f := feed(1, mapdata.Approved)
	ix := index.New(encode)
	var all []mapdata.Entity
	for i := range 700 {
		e := alert(t, string(rune('A'+i)))
		all = append(all, e)
	}
	ix.Apply(change(f, all...))
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				hits, _ := ix.Search(around(52, 4, 1000), nil)
				for i := range hits {
					if hits[i].Confirms > 0 && hits[i].Confirms != hits[i].Disputes {
						t.Error("half a tally is read")
						return
					}
				}
			}
		})
	}
	for round := range 3 {
		for i := range all {
			ix.Apply(votes(f, tallyOf(&all[i], round+1, round+1)))
		}
	}
	close(stop)
	readers.Wait()
	if hits, _ := ix.Search(around(52, 4, 1000), nil); len(hits) != 700 || hits[0].Confirms != 3 {
		t.Errorf("%d hits, the first with %d confirms", len(hits), hits[0].Confirms)
	}
}
