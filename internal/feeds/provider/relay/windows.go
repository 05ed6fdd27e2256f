package relay

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"wayside/internal/entities/live"
)

// The windows of the cache (Provider-hosted: relay mode; D8.3), counted from the last good answer.
const (
	freshFor = 4 * time.Second  // the cached answer is served without a call
	staleFor = 30 * time.Second // the cached answer is served and one call refreshes it; afterwards the reader waits
)

// window is the state of a key's cached answer, in the words of RFC 5861.
type window int

const (
	fresh window = iota
	stale
	expired
)

// windowAt returns the window of a key for the age of its last good answer.
func windowAt(age time.Duration) window {
	switch {
	case age < freshFor:
		return fresh
	case age <= staleFor:
		return stale
	}
	return expired
}

// windows stores when a key's last good answer came. The answers themselves are in the live cache, without any driver's
// key, and the windows expire after 30 s (D13.1).
type windows struct{ driver live.Driver }

// states returns the state of each key at now.
func (w windows) states(ctx context.Context, keys []string, now time.Time) ([]window, error) {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = "answered/" + key
	}
	values, err := w.driver.Get(ctx, names)
	if err != nil {
		return nil, fmt.Errorf("read windows: %w", err)
	}
	all := make([]window, len(keys))
	for i, value := range values {
		all[i] = expired
		if len(value) == 8 {
			all[i] = windowAt(now.Sub(time.UnixMilli(int64(binary.BigEndian.Uint64(value)))))
		}
	}
	return all, nil
}

// Values of a claim.
var (
	calling = []byte{1}
	called  = []byte{2}
)

// claim claims the right to call for a key: one caller on all nodes gets it within four seconds.
func (w windows) claim(ctx context.Context, key string) (bool, error) {
	ok, err := w.driver.Swap(ctx, "called/"+key, nil, calling, freshFor)
	if err != nil {
		return false, fmt.Errorf("claim call: %w", err)
	}
	return ok, nil
}

// ended marks the call as over, the given time after it was claimed, so that readers at other nodes continue.
func (w windows) ended(ctx context.Context, key string, after time.Duration) error {
	if after >= freshFor {
		return nil
	}
	if _, err := w.driver.Swap(ctx, "called/"+key, calling, called, freshFor-after); err != nil {
		return fmt.Errorf("end call: %w", err)
	}
	return nil
}

// claimPollInterval is how often a node checks whether another node's call is over.
const claimPollInterval = 50 * time.Millisecond

// wait waits until another node's call is over, or ctx is.
func (w windows) wait(ctx context.Context, key string) error {
	tick := time.NewTicker(claimPollInterval)
	defer tick.Stop()
	for {
		values, err := w.driver.Get(ctx, []string{"called/" + key})
		if ctx.Err() != nil {
			return nil // the wait is bounded, and a timeout is not an error
		}
		if err != nil {
			return fmt.Errorf("wait for a call: %w", err)
		}
		if !bytes.Equal(values[0], calling) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// answered stores the time of a good answer.
func (w windows) answered(ctx context.Context, key string, now time.Time) error {
	key = "answered/" + key
	value := binary.BigEndian.AppendUint64(nil, uint64(now.UnixMilli()))
	for {
		old, err := w.driver.Get(ctx, []string{key})
		if err != nil {
			return fmt.Errorf("read window: %w", err)
		}
		done, err := w.driver.Swap(ctx, key, old[0], value, staleFor+time.Millisecond)
		if err != nil {
			return fmt.Errorf("note answer: %w", err)
		}
		if done {
			return nil
		}
	}
}

// inFlight holds the calls in progress at this node, by key, so that readers of one key share one call.
type inFlight struct {
	mu    sync.Mutex
	byKey map[string]chan struct{}
}

// join returns a channel that is closed when the key's call has ended. The first caller must make the call.
func (f *inFlight) join(key string) (done chan struct{}, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if done, under := f.byKey[key]; under {
		return done, false
	}
	done = make(chan struct{})
	f.byKey[key] = done
	return done, true
}

// finish ends a key's call.
func (f *inFlight) finish(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.byKey[key])
	delete(f.byKey, key)
}
