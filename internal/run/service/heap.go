package service

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// How much the heap may grow between two collections. A large heap consists mostly of large blocks without pointers, which are
// cheap to scan and expensive to hold twice, so that it grows by a constant size and not by a share of its size. A small heap would
// be collected after every batch if it grew by a quarter.
const (
	heapHeadroom = 96 << 20 // bytes
	minHeadroom  = 48 << 20 // bytes, while requests hold much
	minGrowth    = 15       // percent
	maxGrowth    = 200      // percent
)

// When memory is returned to the system. The runtime returns the memory that it does not expect to need soon, and derives that from
// the last collection. After a flood no collection follows for minutes (measured: 361 of 655 MB after a minute, 85 before).
const (
	giveBackInterval = 5 * time.Second // between two readings of the memory metrics
	minGivenBack     = 32 << 20        // bytes: less is not worth a collection
	busyFor          = time.Minute     // memory that is used again within this time is not returned
	giveBackWindow   = 2               // readings over which use is measured
)

// headroom returns the bytes by which the heap may grow while requests hold the given number of bytes: a flood gets no garbage beside
// what it holds.
func headroom(held uint64) uint64 {
	return max(heapHeadroom-min(held, heapHeadroom), minHeadroom)
}

// growth returns the headroom as a share of the live heap in percent: the value of GOGC.
func growth(live, held uint64) int {
	if live == 0 {
		return maxGrowth
	}
	return int(min(max(headroom(held)*100/live, minGrowth), maxGrowth))
}

// softLimit returns the bytes above which the runtime collects immediately: the live heap, the memory outside of the heap, and the
// headroom. It complements GOGC, whose percentage dates from the last collection: if the heap doubled meanwhile, GOGC would let it
// grow by twice the headroom.
func softLimit(live, other, held uint64) int64 {
	return int64(live + other + max(headroom(held), live*minGrowth/100)) //nolint:gosec // bytes of this machine
}

// heapTuner sets the bounds of the heap, and returns memory to the system after floods.
type heapTuner struct {
	most    int64                  // GOMEMLIMIT of the operator
	held    func() (now, most int) // bytes that requests hold
	samples []metrics.Sample
	percent int
	limit   int64

	floor     uint64                     // bytes of memory after the last return
	allocated [giveBackWindow + 1]uint64 // at the last readings, the newest last
}

// The indexes of metrics in heapTuner.samples.
const (
	liveBytes = iota
	allocatedBytes
	totalBytes
	releasedBytes
	objectBytes
	unusedBytes
	freeBytes
)

func newHeapTuner(held func() (now, most int)) *heapTuner {
	t := &heapTuner{most: debug.SetMemoryLimit(-1), held: held}
	for _, name := range []string{
		"/gc/heap/live:bytes", "/gc/heap/allocs:bytes", "/memory/classes/total:bytes", "/memory/classes/heap/released:bytes",
		"/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes", "/memory/classes/heap/free:bytes",
	} {
		t.samples = append(t.samples, metrics.Sample{Name: name})
	}
	return t
}

func (t *heapTuner) value(i int) uint64 { return t.samples[i].Value.Uint64() }

// tuneHeap sets GOGC and a soft limit by the size of the heap after each collection, and returns memory to the system, until ctx
// ends.
func tuneHeap(ctx context.Context, held func() (now, most int)) error {
	t := newHeapTuner(held)
	collected := make(chan struct{}, 1)
	tick := time.NewTicker(giveBackInterval)
	defer tick.Stop()
	t.set()
	notifyOfCollection(collected)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-collected:
			t.set()
			notifyOfCollection(collected)
		case <-tick.C:
			t.giveBack()
		}
	}
}

// notifyOfCollection sends to the channel after the next collection.
func notifyOfCollection(to chan<- struct{}) {
	sentinel := new(struct{ _ [4]*byte }) // with pointers: the smallest objects may share a block that lives longer
	runtime.AddCleanup(sentinel, func(to chan<- struct{}) {
		select {
		case to <- struct{}{}:
		default:
		}
	}, to)
}

// set sets the bounds by the size of the live heap.
func (t *heapTuner) set() {
	metrics.Read(t.samples)
	live := t.value(liveBytes)
	now, _ := t.held()
	held := uint64(max(now, 0))
	if percent := growth(live, held); percent != t.percent {
		debug.SetGCPercent(percent)
		t.percent = percent
	}
	other := t.value(totalBytes) - t.value(releasedBytes) - t.value(objectBytes) - t.value(unusedBytes) - t.value(freeBytes)
	// Each change stops the world for some microseconds, so that small ones are skipped.
	if limit := min(softLimit(live, other, held), t.most); math.Abs(float64(limit-t.limit)) > heapHeadroom/16 {
		debug.SetMemoryLimit(limit)
		t.limit = limit
	}
}

// giveBack returns memory to the system after a flood.
func (t *heapTuner) giveBack() {
	metrics.Read(t.samples)
	copy(t.allocated[:], t.allocated[1:])
	t.allocated[giveBackWindow] = t.value(allocatedBytes)
	used := t.value(totalBytes) - t.value(releasedBytes)
	if t.floor == 0 || used < t.floor {
		t.floor = used // at the start, whose spare memory was returned already
	}
	if t.allocated[0] == 0 || !worthGivingBack(used-t.floor, t.allocated[giveBackWindow]-t.allocated[0]) {
		return
	}
	runtime.GC() // frees what pools hold, which takes two collections
	freeMemory()
	metrics.Read(t.samples)
	t.floor = t.value(totalBytes) - t.value(releasedBytes)
	t.set()
}

// worthGivingBack reports whether it is worth returning excess bytes to the system, given the bytes that the program allocated
// during the last giveBackWindow readings: at that rate, the program must not need them again within busyFor.
func worthGivingBack(excess, allocated uint64) bool {
	return excess >= minGivenBack && allocated*uint64(busyFor/(giveBackInterval*giveBackWindow)) < excess
}

// freeMemory returns the memory to the system that loading or a flood used: about as much as remains in use.
func freeMemory() { debug.FreeOSMemory() }
