//go:build unix

package sched

import (
	"os"
	"runtime"
	"syscall"
)

// yielder is a pipe through which a goroutine wakes itself. The scheduler polls the network before it finds the goroutine ready, which it
// does not where a goroutine calls runtime.Gosched: that one waits in a queue that comes before the network.
type yielder struct {
	read, write *os.File
	raw         syscall.RawConn
	byte        [1]byte
}

func newYielder() *yielder {
	y := new(yielder)
	var err error
	if y.read, y.write, err = os.Pipe(); err == nil {
		y.raw, err = y.read.SyscallConn()
	}
	if err != nil { // no descriptors are left
		y.raw = nil
	}
	return y
}

func (y *yielder) yield() {
	if y.raw == nil {
		runtime.Gosched()
		return
	}
	waited := false
	err := y.raw.Read(func(fd uintptr) bool {
		if !waited {
			waited = true
			_, err := y.write.Write(y.byte[:]) // not before: what happened before the wait began would be forgotten
			return err != nil
		}
		_, err := syscall.Read(int(fd), y.byte[:])
		return err != syscall.EAGAIN
	})
	if err != nil {
		runtime.Gosched()
	}
}
