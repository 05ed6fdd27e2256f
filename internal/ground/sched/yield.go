// Package sched lets long computations make room for short requests. The scheduler takes the processor away from a goroutine after 10 ms,
// and while all processors are busy it looks for requests that arrive every 10 ms: a short request waits for both.
package sched

import "sync"

// yielders is a pool, since few computations yield at a time.
var yielders = sync.Pool{New: func() any { return newYielder() }}

// Yield lets all goroutines run that are ready, and requests that have arrived, and returns when none of them needs this processor. It
// takes some microseconds. A computation of milliseconds calls it every few tenths of one.
func Yield() {
	y, ok := yielders.Get().(*yielder)
	if !ok {
		return
	}
	y.yield()
	yielders.Put(y)
}
