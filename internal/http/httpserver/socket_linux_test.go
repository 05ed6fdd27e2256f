package httpserver

import (
	"log/slog"
	"net"
	"syscall"
	"testing"
)

// TestConnectionsInheritUserTimeout checks the TCP_USER_TIMEOUT of an accepted connection.
func TestConnectionsInheritUserTimeout(t *testing.T) {
	s, err := Listen(t.Context(), "127.0.0.1:0", Limits{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	client, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := s.listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		got, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, userTimeout)
		if err != nil || got != 45_000 {
			t.Errorf("%d ms, %v", got, err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}
