package replica

import (
	"sync"
	"sync/atomic"

	"wayside/internal/mapdata"
)

// publication lets readers combine several projections without seeing two revisions in one answer. It is a sequence lock: a
// reader notes the sequence, reads, and reads again if the sequence has moved. A reader that was overtaken several times
// holds publications back instead.
type publication struct {
	sequence atomic.Uint64 // odd while projections are being published
	mu       sync.RWMutex  // held by the publisher, and by readers that hold publications back
}

// publish runs all publications that belong together.
func (p *publication) publish(run func() mapdata.Touched) mapdata.Touched {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sequence.Add(1)
	defer p.sequence.Add(1)
	return run()
}

// Begin marks the beginning of a read of several projections.
func (p *publication) Begin() (mark uint64) { return p.sequence.Load() }

// Unchanged says whether all that was read since the mark was of one revision.
func (p *publication) Unchanged(mark uint64) bool { return mark&1 == 0 && p.sequence.Load() == mark }

// Hold holds publications back until release is called. It waits for one that is under way.
func (p *publication) Hold() (release func()) {
	p.mu.RLock()
	return p.mu.RUnlock
}
