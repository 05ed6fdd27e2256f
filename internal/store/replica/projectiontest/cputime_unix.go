//go:build unix

package projectiontest

import (
	"syscall"
	"testing"
	"time"
)

// processTime returns how long processors have worked for this process, without other work on the machine.
func processTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
