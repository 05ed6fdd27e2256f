//go:build !race

package catalog_test

import (
	"syscall"
	"testing"
	"time"

	"wayside/internal/entities/catalog"
	"wayside/internal/ground/mapdata"
	"wayside/internal/store/replica/projectiontest"
)

// TestProjectionScales holds what loads and changes cost.
func TestProjectionScales(t *testing.T) {
	projectiontest.Scales(t, func() projectiontest.Subject {
		c := catalog.New(nil)
		return projectiontest.Subject{Projection: c, Read: func() map[string]string { return readHealth(c) }, Want: wantHealth}
	})
}

// TestChangeCostIsIndependentOfSize checks that a change of one feed takes about the same of a processor among 10 000 feeds as among
// 100, except for the size of the copied page.
func TestChangeCostIsIndependentOfSize(t *testing.T) {
	const changes = 5_000
	cost := func(n int) time.Duration {
		c, feeds := manyFeeds(n)
		revision := int64(n)
		began := processorTime(t)
		for i := range changes {
			revision++
			c.Apply([]mapdata.FeedChange{changed(revision, feeds[i%n], ok(start))}).Publish()
		}
		return (processorTime(t) - began) / changes
	}
	small, all := cost(100), cost(10_000)
	t.Logf("a change among 100 feeds: %v, among 10 000: %v", small, all)
	if all > 5*small+20*time.Microsecond {
		t.Errorf("a change among 10 000 feeds takes %v, among 100 %v", all, small)
	}
}

// processorTime returns the time that this process took of processors.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
