package main

import (
	"errors"
	"sync"
	"sync/atomic"
)

// eachAtOnce calls do with each number below count, some at the same time. After an error none are begun any more.
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
