package main

import (
	"errors"
	"sync"
	"sync/atomic"
)

// eachAtOnce calls do with each number below count, atOnce of them concurrently. After an error it begins no further call.
func eachAtOnce(count, atOnce int, do func(i int) error) error {
	var (
		next   atomic.Int64
		group  sync.WaitGroup
		mu     sync.Mutex
		failed error
	)
	for range atOnce {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < count; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
					next.Store(int64(count))
				}
			}
		})
	}
	group.Wait()
	return failed
}
