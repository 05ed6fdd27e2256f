package cli

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"time"
)

// How much the heap may grow between two collections. A large heap is mostly large blocks without pointers: cheap to look
// through, expensive to hold twice, so that it grows by a room and not by a share. A small one would be collected after
// every batch if it grew by a quarter.
const (
	heapRoom      = 128 << 20 // bytes
	leastGrowth   = 15        // percent
	mostGrowth    = 200       // percent
	collectLookAt = time.Second
)

// growth is the room as a share of what lives, in percent: what the runtime calls GOGC.
func growth(live uint64) int {
	if live == 0 {
		return mostGrowth
	}
	return int(min(max(heapRoom*100/live, leastGrowth), mostGrowth))
}

// runCollector sets the heap's growth as the heap grows, unless the operator has set GOGC.
func runCollector(env []string) func(context.Context) error {
	return func(ctx context.Context) error {
		if slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "GOGC=") }) {
			<-ctx.Done()
			return nil
		}
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		tick := time.NewTicker(collectLookAt)
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
}
