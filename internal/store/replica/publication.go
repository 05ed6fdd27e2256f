package replica

import (
	"sync"
	"sync/atomic"

	"wayside/internal/ground/mapdata"
)

// publication lets readers combine several projections at one revision. It is a sequence lock (seqlock): a reader notes the
// sequence, reads, and retries if the sequence has changed. After several retries a reader blocks publications instead.
type publication struct {
	sequence atomic.Uint64 // odd while projections are being published
	mu       sync.RWMutex  // locked by the publisher, and by readers that block publications
}

// publish runs one publication of all projections.
func (p *publication) publish(run func() mapdata.Touched) mapdata.Touched {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sequence.Add(1)
	defer p.sequence.Add(1)
	return run()
}

// Begin marks the beginning of a read of several projections.
func (p *publication) Begin() (mark uint64) { return p.sequence.Load() }

// Unchanged reports whether everything read since the mark was of one revision.
func (p *publication) Unchanged(mark uint64) bool { return mark&1 == 0 && p.sequence.Load() == mark }

// Hold blocks publications until release is called. It waits for a running one.
func (p *publication) Hold() (release func()) {
	p.mu.RLock()
	return p.mu.RUnlock
}
