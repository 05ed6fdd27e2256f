package roadtest

import (
	"syscall"
	"testing"
	"time"
)

// ProcessorTime returns the time that this process has taken of processors: for bounds, which a busy machine does not break.
func ProcessorTime(t testing.TB) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
