package cli

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// userTimeout is TCP_USER_TIMEOUT, which package syscall does not name.
const userTimeout = 18

// giveUp lets the system close a connection on which nothing that was sent is acknowledged any more: a car that drove into
// a tunnel says no farewell, and what is sent to it would be repeated for a quarter of an hour. Connections inherit it from
// their listener.
func giveUp(_, _ string, raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, userTimeout, int(deadTimeout.Milliseconds()))
	})
	return errors.Join(err, failed)
}

// shutDoor stops listening and gives the connections that the system had made already and nobody had accepted: closing a
// listener breaks them off, although the other side has been let in as far as it can see. Between the last of them and the
// shutting lies nothing, not even the scheduler.
func shutDoor(l net.Listener) ([]net.Conn, error) {
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
				_ = syscall.Shutdown(int(listener), syscall.SHUT_RD) // what fails here is closed in a moment anyway
				return
			}
			fds = append(fds, fd)
		}
	})
	var conns []net.Conn
	for _, fd := range fds {
		file := os.NewFile(uintptr(fd), "connection")
		conn, connErr := net.FileConn(file) // of a copy
		err = errors.Join(err, connErr, file.Close())
		if connErr == nil {
			conns = append(conns, conn)
		}
	}
	return conns, err
}
