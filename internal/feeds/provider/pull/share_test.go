package pull

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
)

// TestHangingFeedsOfOneAccountTakeTheirShare checks that feeds of one account on hosts that all hang take only a part
// of a node's connections, so that other accounts' feeds are polled in time (F10).
func TestHangingFeedsOfOneAccountTakeTheirShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hanging, others = 300, 20
		var now, most atomic.Int64
		polled := make(chan struct{}, others)
		m := newMemory(t)
		w := &web{answer: func(ctx context.Context, r safehttp.Request) (string, error) {
			if r.URL.Host()[0] != 'h' {
				polled <- struct{}{}
				return "[]", nil
			}
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer now.Add(-1)
			<-ctx.Done()
			return "", ctx.Err()
		}}
		for i := range hanging {
			id := m.add(fmt.Sprintf("h%d.example.org", i), time.Minute)
			m.feeds[id].Owner = mapdata.AccountID{1}
		}
		for i := range others {
			m.add(fmt.Sprintf("o%d.example.org", i), time.Minute)
		}
		began := time.Now()
		stop := run(t, m.poller(w, nil))
		for range others {
			<-polled
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("others were polled after %v", took)
		}
		synctest.Wait()
		if got := most.Load(); got != 16 {
			t.Errorf("%d fetches of one account at a time, want 16", got)
		}
		stop()
	})
}
