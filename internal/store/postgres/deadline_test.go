package postgres

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestReadsEndAtADeadline checks that a read from a server that sends nothing ends after readTimeout, or at the
// deadline that was set.
func TestReadsEndAtADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		conn := &deadlineConn{Conn: ours}
		defer conn.Close()
		waits := func(want time.Duration) {
			t.Helper()
			began := time.Now()
			if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("Read = %v, want a deadline", err)
			}
			if took := time.Since(began); took != want {
				t.Errorf("gave up after %v, want %v", took, want)
			}
		}
		waits(readTimeout)
		waits(readTimeout) // restarts with each read
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		waits(time.Minute)
		if err := conn.SetDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		waits(readTimeout)
		go func() { // as the cancellation of a read does
			time.Sleep(time.Second)
			_ = conn.SetReadDeadline(time.Now())
		}()
		waits(time.Second)
	})
}
