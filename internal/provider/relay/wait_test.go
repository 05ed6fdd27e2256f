package relay

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestReadersWaitTwoSeconds holds how long a reader waits for upstreams together, however many there are (D8.6).
func TestReadersWaitTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := []awaitedCall{{done: make(chan struct{})}, {done: make(chan struct{})}}
		began := time.Now()
		time.AfterFunc(time.Second, func() { close(calls[0].done) })
		waitFor(t.Context(), calls)
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("waited for %v", took)
		}
	})
}
