//go:build !linux

package cli

import (
	"net"
	"syscall"
)

// giveUp leaves it to the system here when a connection is dead.
func giveUp(string, string, syscall.RawConn) error { return nil }

// shutDoor knows no way here to keep connections that nobody has accepted yet: closing breaks them off.
func shutDoor(net.Listener) ([]net.Conn, error) { return nil, nil }
