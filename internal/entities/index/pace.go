package index

import (
	"time"

	"wayside/internal/ground/sched"
)

// yieldEvery is the number of rows after which the writer lets other goroutines run. A search takes a few microseconds and
// must not wait until the scheduler preempts the writer, which takes 10 ms.
const yieldEvery = 32

// pace lets other goroutines run between the writer's rows. On a busy machine a yield may take long. The writer then
// works for as long as it waited before it yields again, so that it gets at least half of a processor, and its changes
// become visible in time.
type pace struct {
	rows   int
	resume time.Time // no yield before
}

// row counts rows of work, and yields when it is time.
func (p *pace) row(n int) {
	if p.rows += n; p.rows < yieldEvery {
		return
	}
	p.rows = 0
	now := time.Now()
	if now.Before(p.resume) {
		return
	}
	sched.Yield()
	p.resume = now.Add(2 * time.Since(now))
}
