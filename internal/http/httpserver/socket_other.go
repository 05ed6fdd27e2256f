//go:build !linux

package httpserver

import (
	"net"
	"syscall"
)

// setUserTimeout does nothing here: the system decides when a connection is dead.
func setUserTimeout(string, string, syscall.RawConn) error { return nil }

// stopListening returns nothing here: connections that were not accepted yet are reset by closing the listener.
func stopListening(net.Listener) ([]net.Conn, error) { return nil, nil }
