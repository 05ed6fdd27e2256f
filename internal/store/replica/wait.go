package replica

import (
	"context"
	"fmt"
)

// Newest reads a revision of the store that is not below that of any transaction committed before the call.
func (f *Follower) Newest(ctx context.Context) (int64, error) {
	state, err := f.store.State(ctx)
	if err != nil {
		return 0, fmt.Errorf("read state: %w", err)
	}
	return state.Revision, nil
}

// WaitFor waits until readers see the revision, or ctx ends. It makes the follower poll the store immediately, because another node
// may have written the revision.
func (f *Follower) WaitFor(ctx context.Context, revision int64) {
	for asked := false; f.Revision() < revision; {
		arrived := f.published.Next()
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

// Await waits until readers see the changes that were committed before the call, or ctx ends. It does not wait during the initial
// load, or if the store's revision cannot be read.
func (f *Follower) Await(ctx context.Context) {
	if !f.Loaded() {
		return
	}
	if revision, err := f.Newest(ctx); err == nil {
		f.WaitFor(ctx, revision)
	}
}
