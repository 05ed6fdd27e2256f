package safehttp

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"
)

// Resolver looks names up; a *net.Resolver does. Providers' names come with a trailing dot, so that no search domain is tried.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

const (
	maxDials    = 4               // addresses of one name that are tried
	dialTimeout = 3 * time.Second // for one address while there are others, at most
)

// connect makes a connection to the URL's host, in TLS unless the scheme is http, by an address that was checked (D6.4)
// unless the operator chose it. When the TCP connection was made, there is a link even if shaking hands failed.
func (c *Client) connect(ctx context.Context, u *URL) (*link, error) {
	addrs, err := c.addresses(ctx, u)
	if err != nil {
		return nil, err
	}
	raw, err := c.dialAny(ctx, addrs, u.port)
	if err != nil {
		return nil, dialFailed(err)
	}
	l := &link{raw: raw, stream: raw, origin: u.Origin()}
	if u.parsed.Scheme == "http" {
		return l, nil
	}
	settings := c.tls.Clone()
	settings.ServerName = u.host
	secure := tls.Client(raw, settings)
	if err := secure.HandshakeContext(ctx); err != nil {
		return l, handshakeFailed(err)
	}
	l.stream = secure
	return l, nil
}

// addresses gives where a host leads; if any of it is not allowed, nothing is. The operator's own choice is not judged, and
// its name is looked up as the machine does it, with search domains: it may be a private one.
func (c *Client) addresses(ctx context.Context, u *URL) ([]netip.Addr, error) {
	if u.addr.IsValid() {
		return []netip.Addr{u.addr}, nil
	}
	if fixed, named := c.hosts[u.host]; named {
		return []netip.Addr{fixed}, nil
	}
	name := u.host
	if !u.operator {
		if slices.Contains(c.ownHosts, u.host) {
			return nil, blocked()
		}
		name += "."
	}
	found, err := c.resolver.LookupNetIP(ctx, "ip", name)
	if err == nil && len(found) == 0 {
		err = &net.DNSError{Err: "no address", IsNotFound: true}
	}
	if err != nil {
		return nil, lookupFailed(err)
	}
	if !u.operator && !c.allowed(found) {
		return nil, blocked()
	}
	return found, nil
}

func (c *Client) allowed(addrs []netip.Addr) bool {
	return !slices.ContainsFunc(addrs, func(addr netip.Addr) bool { return !c.policy.allows(addr) })
}

// dialAny tries addresses in their order, one at a time, so that a fetch never holds two connections.
func (c *Client) dialAny(ctx context.Context, addrs []netip.Addr, port int) (conn net.Conn, err error) {
	addrs = addrs[:min(len(addrs), maxDials)]
	for i, addr := range addrs {
		patience, cancel := ctx, context.CancelFunc(func() {})
		if left := len(addrs) - i; left > 1 {
			patience, cancel = context.WithTimeout(ctx, share(ctx, left))
		}
		conn, err = c.dial(patience, "tcp", net.JoinHostPort(addr.Unmap().String(), strconv.Itoa(port)))
		cancel()
		if err == nil || ctx.Err() != nil {
			return conn, err
		}
	}
	return nil, err
}

// share is what one address gets of the time that is left for several.
func share(ctx context.Context, addrs int) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(dialTimeout, time.Until(deadline)/time.Duration(addrs))
	}
	return dialTimeout
}
