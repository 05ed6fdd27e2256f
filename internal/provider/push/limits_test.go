package push

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/ratelimit"
)

// TestTwoBucketsAreTakenInOneStep asks from several goroutines at the edge of a rate, many times: exactly as many pass as
// both rates let, and each of them took one request.
func TestTwoBucketsAreTakenInOneStep(t *testing.T) {
	const rounds, callers, calls = 2000, 4, 12
	s := New(Config{Buckets: ratelimit.NewMemory(100), Requests: 30, Entities: 70})
	hash := sha256.Sum256([]byte("token"))
	r := s.rates(hash[:])
	for round := range rounds {
		now := time.Unix(int64(round)*60, 0) // all buckets are full again
		var (
			group  sync.WaitGroup
			passed atomic.Int32
			begin  = make(chan struct{})
		)
		for range callers {
			group.Go(func() {
				<-begin
				for range calls {
					if s.takeBoth(r, 7, now) == nil {
						passed.Add(1)
					}
				}
			})
		}
		close(begin)
		group.Wait()
		if left := s.peek(r.requests, 0, now).Remaining; passed.Load() != 10 || left != 20 {
			t.Fatalf("round %d: %d passed, %d requests are left; want 10 and 20", round, passed.Load(), left)
		}
	}
}
