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

// Resolver looks names up; a *net.Resolver does. Names come with a trailing dot, so that no search domain is tried.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

const (
	maxDials     = 4               // addresses of one name that are tried
	dialPatience = 3 * time.Second // for one address while there are others
)

// connect makes a TLS connection to the URL's host, by an address that was checked (D6.4).
func (c *Client) connect(ctx context.Context, u *URL) (raw net.Conn, secure *tls.Conn, err error) {
	addrs, err := c.addresses(ctx, u.host)
	if err != nil {
		return nil, nil, err
	}
	raw, err = c.dialAny(ctx, addrs, u.port)
	if err != nil {
		return nil, nil, dialFailed(err)
	}
	settings := c.tls.Clone()
	settings.ServerName = u.host
	secure = tls.Client(raw, settings)
	if err := secure.HandshakeContext(ctx); err != nil {
		return raw, nil, handshakeFailed(err)
	}
	return raw, secure, nil
}

// addresses gives where a name leads; if any of it is not allowed, nothing is.
func (c *Client) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if fixed, named := c.hosts[host]; named {
		return []netip.Addr{fixed}, nil
	}
	if slices.Contains(c.ownHosts, host) {
		return nil, blocked()
	}
	found, err := c.resolver.LookupNetIP(ctx, "ip", host+".")
	if err == nil && len(found) == 0 {
		err = &net.DNSError{Err: "no address", IsNotFound: true}
	}
	if err != nil {
		return nil, lookupFailed(err)
	}
	for _, addr := range found {
		if !c.policy.allows(addr) {
			return nil, blocked()
		}
	}
	return found, nil
}

// dialAny tries addresses in their order, one at a time, so that a fetch never holds two connections.
func (c *Client) dialAny(ctx context.Context, addrs []netip.Addr, port int) (conn net.Conn, err error) {
	addrs = addrs[:min(len(addrs), maxDials)]
	for i, addr := range addrs {
		patience, cancel := ctx, context.CancelFunc(func() {})
		if i < len(addrs)-1 {
			patience, cancel = context.WithTimeout(ctx, dialPatience)
		}
		conn, err = c.dial(patience, "tcp", net.JoinHostPort(addr.Unmap().String(), strconv.Itoa(port)))
		cancel()
		if err == nil || ctx.Err() != nil {
			return conn, err
		}
	}
	return nil, err
}
