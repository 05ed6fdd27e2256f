package httpserver

import (
	"bytes"
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// userTimeout is TCP_USER_TIMEOUT, which package syscall does not name.
const userTimeout = 18

// setUserTimeout lets the system close a connection whose sent data is not acknowledged for unackedTimeout. A car that lost
// its network closes nothing, and the system would retransmit for a quarter of an hour. Connections inherit the option from
// their listener.
func setUserTimeout(_, _ string, raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, userTimeout, int(unackedTimeout.Milliseconds()))
	})
	return errors.Join(err, failed)
}

// stopListening shuts the listener down and returns the connections that the system had established and that were not
// accepted yet. Closing the listener would reset them, although their clients are connected already. The shutdown follows the
// last accept within one callback, without a switch to another goroutine.
func stopListening(l net.Listener) ([]net.Conn, error) {
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return nil, nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	var fds []int
	err = raw.Control(func(listener uintptr) {
		for {
			fd, _, err := syscall.Accept4(int(listener), syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
			if errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.ECONNABORTED) {
				continue
			}
			if err != nil {
				_ = syscall.Shutdown(int(listener), syscall.SHUT_RD) // if it fails, the listener is closed right after
				return
			}
			fds = append(fds, fd)
		}
	})
	var conns []net.Conn
	for _, fd := range fds {
		file := os.NewFile(uintptr(fd), "connection")
		conn, connErr := net.FileConn(file) // duplicates the descriptor
		err = errors.Join(err, connErr, file.Close())
		if connErr == nil {
			conns = append(conns, conn)
		}
	}
	return conns, err
}

// peekBytes is how much of a header is waited for. A longer one arrives in net/http's own buffers.
const peekBytes = 4 << 10

// peekBuffers is a pool, because a connection needs its buffer for microseconds.
var peekBuffers = sync.Pool{New: func() any { return new([peekBytes]byte) }}

// awaitHeader waits until the header of a request or its first 4 KB have arrived, and leaves them in the socket. It reports whether there
// is something to answer: false where the client closes the connection without a word, or the time is over.
func awaitHeader(conn *net.TCPConn, timeout time.Duration) (ok bool) {
	raw, err := conn.SyscallConn()
	if err == nil {
		err = conn.SetReadDeadline(time.Now().Add(timeout))
	}
	if err != nil {
		return false
	}
	err = raw.Read(func(fd uintptr) bool {
		var done bool
		done, ok = peekHeader(int(fd))
		return done
	})
	return err == nil && ok && conn.SetReadDeadline(time.Time{}) == nil
}

// peekHeader looks at what a socket has received. done says that there is nothing to wait for, and ok whether there is something to answer
// then.
func peekHeader(fd int) (done, ok bool) {
	buffer, isBuffer := peekBuffers.Get().(*[peekBytes]byte)
	if !isBuffer {
		return true, true
	}
	defer peekBuffers.Put(buffer)
	n, _, err := syscall.Recvfrom(fd, buffer[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	for errors.Is(err, syscall.EINTR) {
		n, _, err = syscall.Recvfrom(fd, buffer[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	}
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return false, false
	case err != nil, n == 0:
		return true, false
	}
	// A client that has closed its side sends no more: net/http answers half a header.
	return n == len(buffer) || endsHeader(buffer[:n]) || hasHungUp(fd), true
}

// endsHeader reports whether the end of a header is in text. Package net/http takes lines without CR too.
func endsHeader(text []byte) bool {
	return bytes.Contains(text, []byte("\n\r\n")) || bytes.Contains(text, []byte("\n\n"))
}

// hasHungUp reports whether the other side of a connection has ended it.
func hasHungUp(fd int) bool {
	states := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}} //nolint:gosec // a descriptor
	n, err := unix.Poll(states, 0)
	return err != nil || n > 0
}
