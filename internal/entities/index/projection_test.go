package index_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/entities/index"
	"wayside/internal/ground/mapdata"
	"wayside/internal/store/replica/projectiontest"
)

// TestProjection runs the contract tests of projections.
func TestProjection(t *testing.T) { projectiontest.Run(t, subject) }

// subject returns an empty index with what is read of it.
func subject() projectiontest.Subject {
	now := func() time.Time { return projectiontest.Start }
	ix := index.New(func(dst []byte, e *mapdata.Entity) []byte { return append(dst, e.Properties...) })
	return projectiontest.Subject{
		Projection: index.Projection{Index: ix, Now: now},
		Read: func() map[string]string {
			hits, _ := ix.Search(&mapdata.Search{Center: projectiontest.Center, Radius: 5000, Kinds: mapdata.AllKinds, Served: true, Now: now(), Limit: 10_000}, nil)
			read := make(map[string]string)
			for i := range hits {
				h := &hits[i]
				read[fmt.Sprintf("%s/%s", h.Source, h.ExternalID)] = fmt.Sprintf("%v %s %d confirms", h.Point, h.Prepared, h.Confirms)
			}
			return read
		},
		Want: func(w *projectiontest.World) map[string]string {
			want := make(map[string]string)
			for k, e := range w.Entities {
				if w.Registered[k.Feed].Served() {
					want[fmt.Sprintf("%s/%s", k.Feed.SourceID(), k.ExternalID)] = fmt.Sprintf("%v %s %d confirms", e.Point, e.Properties, w.Tallies[k].Confirms)
				}
			}
			return want
		},
	}
}

// slowSnapshot is a store of one entity, each read of which takes a second.
type slowSnapshot struct {
	mapdata.StoreSnapshot
	feed *mapdata.Feed

	mu          sync.Mutex
	now, atMost int // concurrent reads
	since       time.Time
}

func (s *slowSnapshot) Feeds() []*mapdata.Feed { return []*mapdata.Feed{s.feed} }

func (s *slowSnapshot) read() {
	s.mu.Lock()
	s.now++
	s.atMost = max(s.atMost, s.now)
	s.mu.Unlock()
	time.Sleep(time.Second)
	s.mu.Lock()
	s.now--
	s.mu.Unlock()
}

func (s *slowSnapshot) Entities(_ context.Context, part, _ int, yield func(*mapdata.Entity)) error {
	s.read()
	if e := entity(1, "x", 52, 4); part == 0 {
		yield(&e)
	}
	return nil
}

func (s *slowSnapshot) FeedTallies(_ context.Context, since time.Time, _ func(*mapdata.Tally)) error {
	s.mu.Lock()
	s.since = since
	s.mu.Unlock()
	s.read()
	return nil
}

// TestLoadLeavesAProcessorToReaders checks that a first load reads with all processors, and that a reload leaves one
// processor to the readers of the index.
func TestLoadLeavesAProcessorToReaders(t *testing.T) {
	for _, tt := range []struct{ processors, first, again int }{{1, 3, 1}, {2, 3, 1}, {3, 3, 2}, {16, 3, 2}} {
		t.Run(fmt.Sprint(tt.processors), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(tt.processors))
			synctest.Test(t, func(t *testing.T) {
				p := index.Projection{Index: index.New(encode), Now: time.Now}
				for _, want := range []int{tt.first, tt.again} {
					from := &slowSnapshot{feed: feed(1, mapdata.Approved)}
					staged, err := p.Load(t.Context(), from)
					if err != nil {
						t.Fatal(err)
					}
					staged.Publish()
					if got := from.atMost; got != want || p.Len() != 1 {
						t.Errorf("%d reads of the store at once, want %d; %d entities", got, want, p.Len())
					}
				}
			})
		})
	}
}

// TestLoadLeavesOldTallies checks that a load requests only the votes that can still count, not all that were ever
// cast.
func TestLoadLeavesOldTallies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := index.Projection{Index: index.New(encode), Now: time.Now}
		from := &slowSnapshot{feed: feed(1, mapdata.Approved)}
		want := mapdata.OldestSuppression(time.Now())
		if _, err := p.Load(t.Context(), from); err != nil {
			t.Fatal(err)
		}
		// The load requests them immediately or after its first read, which takes a second.
		if early := from.since.Sub(want); early < 0 || early > time.Second {
			t.Errorf("asked for tallies since %v, want %v", from.since, want)
		}
	})
}
