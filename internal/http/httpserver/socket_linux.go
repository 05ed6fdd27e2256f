package httpserver

import (
	"errors"
	"net"
	"os"
	"syscall"
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

// stopListening shuts the listener down and returns the connections that the system had established and that were not accepted yet.
// Closing the listener would reset them, although their clients are connected already. The shutdown follows the last accept within
// one callback, without a switch to another goroutine.
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
