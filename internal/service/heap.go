package service

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// How much the heap may grow between two collections. A large heap consists mostly of large blocks without pointers, which
// are cheap to scan and expensive to hold twice: it grows by a constant size and not by a share of its size. A small one
// would be collected after every batch if it grew by a quarter.
const (
	heapHeadroom     = 128 << 20 // bytes
	minGrowth        = 15        // percent
	maxGrowth        = 200       // percent
	heapTuneInterval = time.Second
)

// growth returns the headroom as a share of the live heap in percent: the value of GOGC.
func growth(live uint64) int {
	if live == 0 {
		return maxGrowth
	}
	return int(min(max(heapHeadroom*100/live, minGrowth), maxGrowth))
}

// tuneHeap sets GOGC by the size of the heap until ctx ends.
func tuneHeap(ctx context.Context) error {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	tick := time.NewTicker(heapTuneInterval)
	defer tick.Stop()
	for set := 0; ; {
		metrics.Read(live)
		if want := growth(live[0].Value.Uint64()); want != set {
			debug.SetGCPercent(want)
			set = want
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// freeMemory returns to the system what loading used: about as much as remains in use.
func freeMemory() { debug.FreeOSMemory() }
