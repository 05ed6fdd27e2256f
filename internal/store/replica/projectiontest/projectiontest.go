// Package projectiontest tests the contract of projections of a replica; every projection runs it. Run it with the race detector.
package projectiontest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store/replica"
)

// Subject is a projection with the functions that its test needs.
type Subject struct {
	replica.Projection
	// Read returns what readers see, by name. It is called from many goroutines.
	Read func() map[string]string
	// Want returns what readers must see of a world.
	Want func(w *World) map[string]string
}

// Run holds a projection to its contract but for what it costs, which Scales does. fresh makes an empty one.
func Run(t *testing.T, fresh func() Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"what is staged is not seen before it is published": staysHidden,
		"changes lead where a load leads":                   followsChanges,
		"a second load under readers":                       loadsUnderReaders,
		"a load without votes and without a feed":           loadsFewer,
		"a load that fails leaves everything as it was":     survivesFailure,
		"a load that is cancelled as well":                  survivesCancel,
		"what is staged and dropped leaves no trace":        dropsStaged,
	} {
		t.Run(name, func(t *testing.T) { test(t, fresh()) })
	}
}

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func (s Subject) expect(t *testing.T, when string, w *World) {
	t.Helper()
	if diff := cmp.Diff(s.Want(w), s.Read()); diff != "" {
		t.Fatalf("%s: what is read differs from what is wanted (-/+):\n%s", when, diff)
	}
}

func (s Subject) stage(t *testing.T, w *World) mapdata.Staged {
	t.Helper()
	staged, err := s.Load(t.Context(), snapshot{World: w})
	if err != nil {
		t.Fatal("load: ", err)
	}
	return staged
}

func staysHidden(t *testing.T, s Subject) {
	empty, w := NewWorld(source(1), 0), NewWorld(source(1), 200)
	if cmp.Equal(s.Want(NewWorld(source(2), 100)), s.Want(w)) {
		t.Fatal("Want does not tell worlds apart: the tests could not fail")
	}
	s.stage(t, empty).Publish()
	staged := s.stage(t, w)
	s.expect(t, "a load was staged", empty)
	staged.Publish()
	s.expect(t, "it was published", w)
	random := source(3)
	for range 20 {
		before := w.Clone()
		var changes []mapdata.FeedChange
		for range 30 {
			changes = append(changes, w.Step(random))
		}
		staged = s.Apply(changes)
		s.expect(t, "changes were staged", before)
		staged.Publish()
		s.expect(t, "changes were published", w)
	}
}

func followsChanges(t *testing.T, s Subject) {
	w := NewWorld(source(4), 100)
	s.stage(t, w).Publish()
	random := source(5)
	for i := range 600 {
		s.Apply([]mapdata.FeedChange{w.Step(random)}).Publish()
		if i%20 == 0 {
			s.expect(t, fmt.Sprintf("after %d changes", i+1), w)
		}
		if i%200 == 199 {
			s.stage(t, w).Publish()
			s.expect(t, "loaded again", w)
		}
	}
}

// loadsUnderReaders checks that each reader sees one world or the next, never another, and never the earlier one again.
func loadsUnderReaders(t *testing.T, s Subject) {
	const worlds = 12
	var all []*World
	var want []map[string]string
	for i := range worlds {
		w := NewWorld(source(uint64(10+i)), 150+10*i)
		all, want = append(all, w), append(want, s.Want(w))
	}
	s.stage(t, all[0]).Publish()
	var published atomic.Int64
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				oldest := published.Load()
				got := s.Read()
				newest := min(published.Load()+1, worlds-1)
				found := false
				for n := oldest; n <= newest && !found; n++ {
					found = cmp.Equal(want[n], got)
				}
				if !found {
					t.Errorf("a reader saw neither world %d nor one up to %d:\n%s", oldest, newest, cmp.Diff(want[oldest], got))
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for n := 1; n < worlds; n++ {
		s.stage(t, all[n]).Publish()
		published.Store(int64(n))
	}
	close(done)
	readers.Wait()
}

// loadsFewer checks a second load that has fewer votes and lacks a feed whose external ids others have too.
func loadsFewer(t *testing.T, s Subject) {
	w := NewWorld(source(6), 400)
	s.stage(t, w).Publish()
	fewer := w.Clone()
	fewer.delete(fewer.Feeds()[0].ID)
	for k := range fewer.Tallies {
		if k.ExternalID > "1" {
			delete(fewer.Tallies, k)
		}
	}
	s.stage(t, fewer).Publish()
	s.expect(t, "fewer votes", fewer)
	clear(fewer.Tallies)
	s.stage(t, fewer).Publish()
	s.expect(t, "no votes", fewer)
	random := source(7)
	for range 100 {
		s.Apply([]mapdata.FeedChange{fewer.Step(random)}).Publish()
	}
	s.expect(t, "changes after it", fewer)
}

func survivesFailure(t *testing.T, s Subject) {
	w := NewWorld(source(8), 300)
	s.stage(t, w).Publish()
	next := NewWorld(source(9), 300)
	for _, after := range []int64{0, 1, 3, 10} {
		var yielded atomic.Int64
		staged, err := s.Load(t.Context(), snapshot{next, func() error {
			if yielded.Add(1) > after {
				return errBroken
			}
			return nil
		}})
		if err == nil {
			t.Fatalf("a load of a store that broke after %d values did not fail: %v", after, staged)
		}
		s.expect(t, "a load failed", w)
		s.Apply([]mapdata.FeedChange{w.Step(source(uint64(after)))}).Publish()
		s.expect(t, "a change after a load that failed", w)
	}
	s.stage(t, next).Publish()
	s.expect(t, "a load after others failed", next)
}

func survivesCancel(t *testing.T, s Subject) {
	w := NewWorld(source(8), 300)
	s.stage(t, w).Publish()
	ctx, cancel := context.WithCancel(t.Context())
	var yielded atomic.Int64
	_, err := s.Load(ctx, snapshot{NewWorld(source(9), 300), func() error {
		if yielded.Add(1) == 3 {
			cancel()
		}
		return nil
	}})
	cancel()
	if err == nil {
		t.Fatal("a load that was cancelled did not fail")
	}
	s.expect(t, "a load was cancelled", w)
	s.Apply([]mapdata.FeedChange{w.Step(source(2))}).Publish()
	s.expect(t, "a change after it", w)
}

func dropsStaged(t *testing.T, s Subject) {
	w := NewWorld(source(20), 300)
	s.stage(t, w).Publish()
	random := source(21)
	for range 30 {
		other := w.Clone()
		var dropped []mapdata.FeedChange
		for range 10 {
			dropped = append(dropped, other.Step(random))
		}
		s.Apply(dropped)
		s.stage(t, other)
		s.expect(t, "staged and dropped", w)
		s.Apply([]mapdata.FeedChange{w.Step(random)}).Publish()
		s.expect(t, "a change after it", w)
	}
}

// Scales holds that a load and a change of n rows in one place take about n, not n². It is for files that are not built with the race
// detector, which changes what things cost.
func Scales(t *testing.T, fresh func() Subject) {
	t.Helper()
	n := 100_000
	if testing.Short() {
		n = 20_000
	}
	cost := func(n int) time.Duration {
		s := fresh()
		w := NewWorld(source(1), 0)
		f := w.Feeds()[0]
		c := mapdata.FeedChange{Revision: 1, Feed: f, FeedID: f.ID}
		for i := range n {
			e := Entity(f.ID, fmt.Sprint(i))
			e.Point.Lng += float64(i) / float64(n) / 1000
			w.Entities[Key{f.ID, e.ExternalID}] = e
			e.ChangedAt = Start.Add(time.Second)
			c.Entities = append(c.Entities, e)
		}
		began := processTime(t)
		s.stage(t, w).Publish()
		s.Apply([]mapdata.FeedChange{c}).Publish()
		return processTime(t) - began
	}
	cost(n / 16) // memory is warm
	var few, many time.Duration
	for range 3 { // caches and the collector are shared with other work
		few, many = cost(n/8), cost(n)
		t.Logf("%d rows: %v, %d rows: %v", n/8, few, n, many)
		if many <= 30*few+20*time.Millisecond { // 64 times if it were quadratic
			return
		}
	}
	t.Errorf("%d rows in one place take %v, an eighth of them %v", n, many, few)
}
