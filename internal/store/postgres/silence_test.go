package postgres

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestImpatient: a server that says nothing is given up, and a deadline of somebody's own holds instead.
func TestImpatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		conn := &impatient{Conn: ours}
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
		waits(silence)
		waits(silence) // each time anew
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		waits(time.Minute)
		if err := conn.SetDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		waits(silence)
		go func() { // as whoever cancels a read
			time.Sleep(time.Second)
			_ = conn.SetReadDeadline(time.Now())
		}()
		waits(time.Second)
	})
}
