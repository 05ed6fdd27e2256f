//go:build !linux

package httpserver

import "net"

// headerPoller passes connections on immediately: net/http waits for their headers.
type headerPoller struct{ pass func(net.Conn) }

func newHeaderPoller(pass, _ func(net.Conn)) (*headerPoller, error) { return &headerPoller{pass}, nil }

func (p *headerPoller) run() {}

func (p *headerPoller) add(c *boundedConn) { p.pass(c) }

func (p *headerPoller) close() error { return nil }
