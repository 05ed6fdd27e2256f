//go:build !race

package nearby_test

import (
	"syscall"
	"testing"
	"time"

	"wayside/internal/entities/nearby"
)

// TestReadsOfCrowdsAreFast holds that 20 000 rows of one kind in one place cost a reader 100 ms of a processor at most, and twice as
// much as half of them. The best of several runs counts, because caches are shared with others.
func TestReadsOfCrowdsAreFast(t *testing.T) {
	const (
		rows   = 20_000
		most   = 100 * time.Millisecond
		growth = 2.2
		small  = 10 * time.Millisecond // growth up to it is no matter: sparse places become crowds
		runs   = 5
	)
	var a nearby.Answer
	best := func(w *feedReader, limit int) time.Duration {
		least := time.Hour
		for range runs {
			began := processorTime(t)
			if err := w.Near(t.Context(), crowdQuery(limit), &a); err != nil {
				t.Fatal(err)
			}
			least = min(least, processorTime(t)-began)
		}
		return least
	}
	for _, feeds := range []int{2, 20} {
		for _, width := range []float64{0, 300} {
			half, all := newCrowd(t, rows/2, feeds, width), newCrowd(t, rows, feeds, width)
			for _, limit := range []int{20, nearby.MaxLimit} {
				before, now := best(half, limit), best(all, limit)
				t.Logf("%d feeds within %v m, limit %d: %v, half of them %v", feeds, width, limit, now, before)
				if now > most || now > max(small, time.Duration(growth*float64(before))) {
					t.Errorf("%d feeds within %v m, limit %d: a read of %d rows takes %v, of half as many %v", feeds, width, limit, rows, now, before)
				}
			}
		}
	}
}

// processorTime returns how long processors have worked for this process.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
