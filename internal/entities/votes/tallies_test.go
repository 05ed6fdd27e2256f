package votes_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/votes"
	"wayside/internal/ground/mapdata"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func clock() time.Time { return start }

// tallySnapshot is a store snapshot with tallies only.
type tallySnapshot []mapdata.Tally

func (s tallySnapshot) Feeds() []*mapdata.Feed { return nil }

func (s tallySnapshot) Entities(context.Context, int, int, func(*mapdata.Entity)) error { return nil }

func (s tallySnapshot) FeedTallies(context.Context, time.Time, func(*mapdata.Tally)) error {
	return nil
}

func (s tallySnapshot) Attempts(context.Context, func(*mapdata.FeedAttempt)) error { return nil }

func (s tallySnapshot) LiveTallies(_ context.Context, kind mapdata.Kind, since time.Time, yield func(*mapdata.Tally)) error {
	for i := range s {
		if t := s[i]; t.Kind == kind && !t.ChangedAt.Before(since) {
			yield(&t)
		}
	}
	return nil
}

func set(tallies *votes.Tallies, all ...mapdata.Tally) {
	tallies.Apply([]mapdata.FeedChange{{Tallies: all}}).Publish()
}

func load(t *testing.T, tallies *votes.Tallies, all ...mapdata.Tally) {
	t.Helper()
	staged, err := tallies.Load(t.Context(), tallySnapshot(all))
	if err != nil {
		t.Fatal(err)
	}
	staged.Publish()
}

func tally(id string, confirms int) mapdata.Tally {
	return mapdata.Tally{Source: mapdata.Incidents, ExternalID: id, Confirms: confirms, ChangedAt: start}
}

// TestTallies checks lookups after tallies were set, changed and loaded.
func TestTallies(t *testing.T) {
	l := votes.NewTallies(clock)
	expect := func(when string, want map[string]int) {
		t.Helper()
		for _, id := range []string{"a", "b", "c", "", "none"} {
			got, ok := l.Lookup([]byte(id))
			confirms, known := want[id]
			if ok != known {
				t.Errorf("%s: %q found: %v, want %v", when, id, ok, known)
			} else if known && !cmp.Equal(got, tally(id, confirms)) {
				t.Errorf("%s: %q is %+v", when, id, got)
			}
		}
	}
	expect("at first", nil)
	set(l, tally("a", 1), tally("b", 2))
	expect("set", map[string]int{"a": 1, "b": 2})
	// The last vote on b was withdrawn; its tally with the time of the change is kept (D4.3).
	ofFeed := tally("c", 5)
	ofFeed.Source = mapdata.FeedID{1}.SourceID()
	l.Apply([]mapdata.FeedChange{{Tallies: []mapdata.Tally{tally("b", 0)}}, {FeedID: mapdata.FeedID{1}, Tallies: []mapdata.Tally{ofFeed}}}).Publish()
	expect("set again", map[string]int{"a": 1, "b": 0})
	load(t, l, tally("c", 3))
	expect("loaded", map[string]int{"c": 3})
	set(l, tally("a", 4))
	expect("set after a load", map[string]int{"a": 4, "c": 3})
}

// TestConcurrentLookup checks that concurrent readers see consistent tallies that never go back.
func TestConcurrentLookup(t *testing.T) {
	const ids, rounds = 300, 50
	l := votes.NewTallies(clock)
	write := func(confirms int) []mapdata.Tally {
		var all []mapdata.Tally
		for i := range ids {
			all = append(all, tally(fmt.Sprint(i), confirms))
		}
		return all
	}
	set(l, write(0)...)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			var seen [ids]int
			for {
				for i := range ids {
					got, ok := l.Lookup(fmt.Append(nil, i))
					if !ok || got.ExternalID != fmt.Sprint(i) || got.Confirms < seen[i] {
						t.Errorf("%d: found %v after %d confirms: %+v", i, ok, seen[i], got)
						return
					}
					seen[i] = got.Confirms
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for n := range rounds {
		if n%5 == 0 {
			load(t, l, write(n)...)
		} else {
			set(l, write(n)...)
		}
	}
	close(done)
	readers.Wait()
}

// TestLookupDoesNotAllocate checks the cost of a lookup, of which a read makes hundreds.
func TestLookupDoesNotAllocate(t *testing.T) {
	l := votes.NewTallies(clock)
	set(l, tally("a", 1))
	known, unknown := []byte("a"), []byte("b")
	if n := testing.AllocsPerRun(100, func() { l.Lookup(known); l.Lookup(unknown) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func count(tallies *votes.Tallies) (n int) {
	for range tallies.All() {
		n++
	}
	return n
}

func kindOf(t *testing.T, id string) mapdata.Kind {
	t.Helper()
	k, ok := mapdata.ParseKind(id)
	if !ok {
		t.Fatalf("no kind %s", id)
	}
	return k
}

// TestOldTalliesAreDropped checks that memory does not grow with all votes ever cast, neither by a load nor while running.
// Tallies of kinds with a lifetime of hours are kept for a week, those of road works for half a year.
func TestOldTalliesAreDropped(t *testing.T) {
	const day, perDay, days = 24 * time.Hour, 10, 400
	police, works := kindOf(t, "alert.police"), kindOf(t, "alert.construction")
	now := start
	running := votes.NewTallies(func() time.Time { return now })
	var all []mapdata.Tally
	for n := range days {
		var today []mapdata.Tally
		for i := range perDay {
			one := tally(fmt.Sprint(n, " ", i), 1)
			one.ChangedAt, one.Kind = now, police
			if i == 0 {
				one.Kind = works
			}
			today = append(today, one)
		}
		all = append(all, today...)
		set(running, today...)
		now = now.Add(day)
		running.Sweep(now.Add(-time.Minute))
		if held := count(running); held > 8*perDay+181 {
			t.Fatalf("after %d days %d tallies are held", n, held)
		}
	}
	loaded := votes.NewTallies(func() time.Time { return now })
	load(t, loaded, all...)
	if held := count(loaded); held > 8*perDay+181 {
		t.Errorf("%d tallies are loaded", held)
	}
	for name, tallies := range map[string]*votes.Tallies{"running": running, "loaded": loaded} {
		for ago, held := range map[int][2]bool{7: {true, true}, 9: {true, false}, 180: {true, false}, 182: {false, false}} {
			for i, kind := range []string{"road works", "police"} {
				if _, ok := tallies.Lookup([]byte(all[len(all)-ago*perDay+i].ExternalID)); ok != held[i] {
					t.Errorf("%s: a vote on %s of %d days ago is held: %v", name, kind, ago, ok)
				}
			}
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	l := votes.NewTallies(clock)
	var tallies []mapdata.Tally
	for i := range 100_000 {
		tallies = append(tallies, mapdata.Tally{Source: mapdata.Incidents, ExternalID: fmt.Sprintf("alert-%d-some-id", i), Confirms: 1})
	}
	set(l, tallies...)
	var known, unknown [512][]byte
	for i := range known {
		known[i], unknown[i] = fmt.Appendf(nil, "alert-%d-some-id", 7*i), fmt.Appendf(nil, "alert-%d-other-id", 7*i)
	}
	for name, ids := range map[string]*[512][]byte{"known": &known, "unknown": &unknown} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, ok := l.Lookup(ids[i&511]); ok != (name == "known") {
					b.Fatal(ok)
				}
				i++
			}
		})
	}
	b.Run("set", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			set(l, tallies[i%len(tallies)])
			i++
		}
	})
}
