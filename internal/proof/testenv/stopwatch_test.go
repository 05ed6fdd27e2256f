package testenv

import (
	"os"
	"runtime"
	"sync"
	"testing"
	"time"
)

// TestStopwatch checks that a stopwatch counts what is waited for, and does not count that others use the processors.
func TestStopwatch(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("SKIPPED: the system does not tell how long threads wait for a processor")
	}
	const pause = 300 * time.Millisecond
	var took, clock time.Duration
	eventually := func(what string, ok func() bool) { // another process may take the processors meanwhile
		t.Helper()
		for end := time.Now().Add(time.Minute); !ok(); {
			if time.Now().After(end) {
				t.Fatalf("%s: %v of %v", what, took, clock)
			}
		}
	}
	eventually("a timer is waited for", func() bool {
		watch := StartStopwatch()
		<-time.After(pause)
		took, clock = watch.Took(), time.Since(watch.began)
		if took > clock {
			t.Errorf("%v of %v", took, clock)
		}
		return took >= pause*9/10
	})
	eventually("others use the processors", func() bool {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4 * runtime.NumCPU()))
		watch := StartStopwatch()
		var busy sync.WaitGroup
		for range 4 * runtime.NumCPU() {
			busy.Go(func() {
				for time.Since(watch.began) < pause {
					continue
				}
			})
		}
		busy.Wait()
		took, clock = watch.Took(), time.Since(watch.began)
		return took < clock*9/10
	})
}
