package sched

import (
	"sync"
	"testing"
)

// TestYield checks that many goroutines that yield all continue.
func TestYield(t *testing.T) {
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			for range 100 {
				Yield()
			}
		})
	}
	group.Wait()
}

// TestYieldWithoutPipe checks that a goroutine yields also where its pipe cannot be made, or fails.
func TestYieldWithoutPipe(*testing.T) {
	new(yielder).yield()
	y := newYielder()
	_ = y.read.Close()
	y.yield()
	y = newYielder()
	_ = y.write.Close()
	y.yield()
}

func BenchmarkYield(b *testing.B) {
	for b.Loop() {
		Yield()
	}
}
