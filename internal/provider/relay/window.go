package relay

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"wayside/internal/live"
)

// The windows of the cache (Provider-hosted: relay mode; D8.3), counted from the last good answer.
const (
	quiet   = 4 * time.Second  // no call: what is cached is the answer
	serving = 30 * time.Second // what is cached is the answer, and one call renews it; afterwards the reader waits
)

// need is what a reader's key asks for.
type need int

const (
	nothing need = iota // what is cached will do
	refresh             // it will do, but is to be renewed
	fetch               // it will not do
)

// needAt judges the age of a key's last good answer.
func needAt(age time.Duration) need {
	switch {
	case age < quiet:
		return nothing
	case age <= serving:
		return refresh
	}
	return fetch
}

// windows remembers when what was asked. It holds no answers: those lie in the live cache, without a driver's name, and
// what lies here is forgotten after 30 s (D13.1).
type windows struct{ driver live.Driver }

// needs says what each of the keys asks for at now.
func (w windows) needs(ctx context.Context, keys []string, now time.Time) ([]need, error) {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = "answered/" + key
	}
	values, err := w.driver.Get(ctx, names)
	if err != nil {
		return nil, fmt.Errorf("read windows: %w", err)
	}
	all := make([]need, len(keys))
	for i, value := range values {
		all[i] = fetch
		if len(value) == 8 {
			all[i] = needAt(now.Sub(time.UnixMilli(int64(binary.BigEndian.Uint64(value)))))
		}
	}
	return all, nil
}

// What lies under a claim.
var (
	calling = []byte{1}
	called  = []byte{2}
)

// claim takes the key's turn to call: it is given to one caller in four seconds, whichever node asks.
func (w windows) claim(ctx context.Context, key string) (bool, error) {
	ok, err := w.driver.Swap(ctx, "called/"+key, nil, calling, quiet)
	if err != nil {
		return false, fmt.Errorf("claim call: %w", err)
	}
	return ok, nil
}

// ended tells who waits at other nodes that the call is over, however it ended, so long after it was claimed.
func (w windows) ended(ctx context.Context, key string, after time.Duration) error {
	if after >= quiet {
		return nil
	}
	if _, err := w.driver.Swap(ctx, "called/"+key, calling, called, quiet-after); err != nil {
		return fmt.Errorf("end call: %w", err)
	}
	return nil
}

// lookAgain is how often a node looks whether another one's call is over.
const lookAgain = 50 * time.Millisecond

// wait waits until another node's call is over, or ctx is.
func (w windows) wait(ctx context.Context, key string) error {
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		values, err := w.driver.Get(ctx, []string{"called/" + key})
		if ctx.Err() != nil {
			return nil // it was waited for long enough, and that is no failure of ours
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

// answered notes a good answer.
func (w windows) answered(ctx context.Context, key string, now time.Time) error {
	key = "answered/" + key
	value := binary.BigEndian.AppendUint64(nil, uint64(now.UnixMilli()))
	for {
		old, err := w.driver.Get(ctx, []string{key})
		if err != nil {
			return fmt.Errorf("read window: %w", err)
		}
		done, err := w.driver.Swap(ctx, key, old[0], value, serving+time.Millisecond)
		if err != nil {
			return fmt.Errorf("note answer: %w", err)
		}
		if done {
			return nil
		}
	}
}

// flights are the calls under way, each one with all that wait for it.
type flights struct {
	mu    sync.Mutex
	byKey map[string]chan struct{}
}

// join gives what is closed when the key's call has ended, and says whether the caller has to see to it.
func (f *flights) join(key string) (done chan struct{}, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if done, under := f.byKey[key]; under {
		return done, false
	}
	done = make(chan struct{})
	f.byKey[key] = done
	return done, true
}

// land ends a key's call.
func (f *flights) land(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.byKey[key])
	delete(f.byKey, key)
}
