package replica

import (
	"context"
	"fmt"
	"sync"
)

// arrivals lets callers wait for the next published revision.
type arrivals struct {
	mu   sync.Mutex
	next chan struct{} // closed at the next one; nil: nobody waits
}

func (a *arrivals) wait() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.next == nil {
		a.next = make(chan struct{})
	}
	return a.next
}

func (a *arrivals) notify() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.next != nil {
		close(a.next)
		a.next = nil
	}
}

// Newest reads a revision of the store that is not below that of any transaction committed before the call.
func (f *Follower) Newest(ctx context.Context) (int64, error) {
	state, err := f.store.State(ctx)
	if err != nil {
		return 0, fmt.Errorf("read state: %w", err)
	}
	return state.Revision, nil
}

// WaitFor waits until readers see the revision, or ctx ends. It has the store polled immediately: another node may have
// written the revision.
func (f *Follower) WaitFor(ctx context.Context, revision int64) {
	for asked := false; f.Revision() < revision; {
		arrived := f.arrivals.wait()
		if f.Revision() >= revision {
			return
		}
		if !asked {
			asked = true
			f.opts.StoreChanged.Notify()
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return
		}
	}
}
