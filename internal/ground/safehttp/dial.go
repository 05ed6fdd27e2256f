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

// Resolver looks names up; *net.Resolver implements it. Providers' names have a trailing dot, so that no search domain is
// tried.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

const (
	maxDials    = 4               // maximum addresses tried per name
	dialTimeout = 3 * time.Second // maximum per address while others remain
)

// connect connects to the URL's host, with TLS unless the scheme is http, at an address that was checked (D6.4) unless the
// operator chose it. Once the TCP connection is made it returns a link, even if the TLS handshake fails.
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

// addresses resolves a host; it fails if any of its addresses is not allowed. An operator's host is not checked, and is looked
// up with search domains, because it may be a private name.
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

// dialAny tries the addresses in order, one at a time, so that a fetch never holds two connections.
func (c *Client) dialAny(ctx context.Context, addrs []netip.Addr, port int) (conn net.Conn, err error) {
	addrs = addrs[:min(len(addrs), maxDials)]
	for i, addr := range addrs {
		dialCtx, cancel := ctx, context.CancelFunc(func() {})
		if left := len(addrs) - i; left > 1 {
			dialCtx, cancel = context.WithTimeout(ctx, dialTimeoutFor(ctx, left))
		}
		conn, err = c.dial(dialCtx, "tcp", net.JoinHostPort(addr.Unmap().String(), strconv.Itoa(port)))
		cancel()
		if err == nil || ctx.Err() != nil {
			return conn, err
		}
	}
	return nil, err
}

// dialTimeoutFor returns the timeout for one of several remaining addresses.
func dialTimeoutFor(ctx context.Context, addrs int) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(dialTimeout, time.Until(deadline)/time.Duration(addrs))
	}
	return dialTimeout
}
