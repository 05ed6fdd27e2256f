//go:build unix && !race

package index_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"wayside/internal/entities/index"
	"wayside/internal/ground/mapdata"
)

// sameCellEntities returns n entities of one feed within one cell of the grid, with the given ChangedAt.
func sameCellEntities(n int, at time.Time) []mapdata.Entity {
	entities := make([]mapdata.Entity, n)
	for i := range entities {
		entities[i] = entity(1, fmt.Sprint(i), 52.001+float64(i%1000)*1e-6, 4.001+float64(i/1000)*1e-5)
		entities[i].ChangedAt, entities[i].Lifetime = at, time.Hour
	}
	return entities
}

// TestBulkChangesOfOneCell checks that changes of all entities of a dense cell cost about in proportion to their number: eight
// times as many take at most 24 times as long, not 64 times. The bound allows for the CPU's caches, which only hold the
// small set.
func TestBulkChangesOfOneCell(t *testing.T) {
	const small, large, maxRatio = 5_000, 40_000, 24
	f := feed(1, mapdata.Pending)
	steps := []struct {
		name string
		run  func(*index.Index, int)
	}{
		{"store", func(ix *index.Index, n int) { ix.Apply(change(f, sameCellEntities(n, start)...)) }},
		{"change", func(ix *index.Index, n int) { ix.Apply(change(f, sameCellEntities(n, start.Add(time.Minute))...)) }},
		{"remove two of three", func(ix *index.Index, n int) {
			gone := make([]string, 0, n)
			for i := range n {
				if i%3 != 0 { // the next steps find segments that are mostly, but not entirely, dead
					gone = append(gone, fmt.Sprint(i))
				}
			}
			ix.Apply([]mapdata.FeedChange{{Feed: f, FeedID: f.ID, Gone: gone}})
		}},
		{"sweep", func(ix *index.Index, n int) {
			ix.Apply(change(f, sameCellEntities(n, start)...))
			if swept := ix.Sweep(start.Add(time.Hour)); len(swept) != 1 || len(swept[0].ExternalIDs) != n {
				t.Errorf("swept %d feeds' entities", len(swept))
			}
		}},
		{"remove feed", func(ix *index.Index, n int) {
			ix.Apply(change(f, sameCellEntities(n, start)...))
			ix.Apply([]mapdata.FeedChange{{FeedID: f.ID}})
			if ix.Len() != 0 {
				t.Errorf("%d of %d entities are left", ix.Len(), n)
			}
		}},
	}
	// measure returns the minimum CPU time of each step over some runs, to exclude other load on the machine.
	measure := func(n int) []time.Duration {
		least := make([]time.Duration, len(steps))
		for range 2 {
			ix := index.New(encode)
			for i, step := range steps {
				begin := processTime(t)
				step.run(ix, n)
				if took := processTime(t) - begin; least[i] == 0 || took < least[i] {
					least[i] = took
				}
			}
		}
		return least
	}
	smallTimes, largeTimes := measure(small), measure(large)
	for i, step := range steps {
		ratio := float64(largeTimes[i]) / float64(smallTimes[i])
		t.Logf("%s: %v for %d entities, %v for %d (%.1f times)", step.name, smallTimes[i], small, largeTimes[i], large, ratio)
		if ratio > maxRatio {
			t.Errorf("%s takes %.1f times as long for eight times the entities", step.name, ratio)
		}
	}
}

// processTime returns the CPU time of this process.
func processTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkBulkChange changes 200 000 entities of one cell in one batch, with a concurrent reader.
func BenchmarkBulkChange(b *testing.B) {
	const n = 200_000
	f := feed(1, mapdata.Approved)
	ix := index.New(encode)
	ix.Apply(change(f, sameCellEntities(n, start)...))
	ix.Apply(change(f, entity(1, "elsewhere", 10, 10)))
	search := around(10, 10, 1000)
	check := func(found []string) {
		if len(found) != 1 {
			b.Errorf("found %v", found)
		}
	}
	timer := time.NewTimer(time.Second)
	idleSearches, idleTime := searchDuring(ix, search, func() { <-timer.C }, check)
	var searchesDuring int
	var changing time.Duration
	i := 0
	for b.Loop() {
		b.StopTimer()
		i++
		entities := sameCellEntities(n, start.Add(time.Duration(i)*time.Second))
		b.StartTimer()
		searches, took := searchDuring(ix, search, func() { ix.Apply(change(f, entities...)) }, check)
		searchesDuring, changing = searchesDuring+searches, changing+took
	}
	speed := float64(searchesDuring) / changing.Seconds() / (float64(idleSearches) / idleTime.Seconds())
	b.ReportMetric(100*speed, "%reads")
}
