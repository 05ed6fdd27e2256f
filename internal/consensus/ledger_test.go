package consensus_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/consensus"
	"wayside/internal/mapdata"
)

func tally(id string, confirms int) mapdata.Tally {
	return mapdata.Tally{Source: mapdata.Incidents, ExternalID: id, Confirms: confirms, ChangedAt: start}
}

// TestLedger holds what is found after tallies were set, set again and reset.
func TestLedger(t *testing.T) {
	l := consensus.NewLedger()
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
	l.Set([]mapdata.Tally{tally("a", 1), tally("b", 2)})
	expect("set", map[string]int{"a": 1, "b": 2})
	// The last vote on b was taken back: that it changed is still known (D4.3).
	ofFeed := tally("c", 5)
	ofFeed.Source = mapdata.FeedID{1}.Source()
	l.Set([]mapdata.Tally{tally("b", 0), ofFeed})
	expect("set again", map[string]int{"a": 1, "b": 0})
	l.Reset([]mapdata.Tally{tally("c", 3), ofFeed})
	expect("reset", map[string]int{"c": 3})
	l.Set([]mapdata.Tally{tally("a", 4)})
	expect("set after a reset", map[string]int{"a": 4, "c": 3})
}

// TestLedgerBesideAWriter holds that readers see a whole tally at any time, and never fewer than before.
func TestLedgerBesideAWriter(t *testing.T) {
	const ids, rounds = 300, 50
	l := consensus.NewLedger()
	write := func(confirms int) []mapdata.Tally {
		var all []mapdata.Tally
		for i := range ids {
			all = append(all, tally(fmt.Sprint(i), confirms))
		}
		return all
	}
	l.Set(write(0))
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
			l.Reset(write(n))
		} else {
			l.Set(write(n))
		}
	}
	close(done)
	readers.Wait()
}

// TestLookupDoesNotAllocate holds the price of a lookup, of which a read makes hundreds.
func TestLookupDoesNotAllocate(t *testing.T) {
	l := consensus.NewLedger()
	l.Set([]mapdata.Tally{tally("a", 1)})
	known, unknown := []byte("a"), []byte("b")
	if n := testing.AllocsPerRun(100, func() { l.Lookup(known); l.Lookup(unknown) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
