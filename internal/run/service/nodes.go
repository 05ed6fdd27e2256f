package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync/atomic"
	"time"

	"wayside/internal/drive/nav/session"
	"wayside/internal/nodes/cluster/forward"
	"wayside/internal/nodes/valkey"
)

const (
	addressTimeout = 2 * time.Second // to find this node's address at the start
	addressRetry   = 5 * time.Second // until it is tried again
)

// nodes holds the connections between the nodes of a service, over which a node asks the one that leads a driver.
type nodes struct {
	links   *forward.Links
	address atomic.Pointer[netip.AddrPort] // of this node; nil: it is not known
	leaving atomic.Bool                    // this node stops
}

// at returns the address at which other nodes reach this one; zero: it is not known.
func (n *nodes) at() netip.AddrPort {
	if address := n.address.Load(); address != nil {
		return *address
	}
	return netip.AddrPort{}
}

// openDrives makes the hub of drives and the connections between nodes. The keys of both are derived from the secret key, which all
// nodes share.
func (s *Service) openDrives(ctx context.Context) error {
	key, err := keyFor(s.config, "drives")
	if err != nil {
		return err
	}
	var at func() netip.AddrPort
	if s.config.Cache.URL != "" || s.config.Cluster.Address != "" {
		if err := s.openNodes(ctx); err != nil {
			return err
		}
		at = s.nodes.at
	}
	ids, err := session.NewIDs(key, at)
	if err != nil {
		return fmt.Errorf("ids of drives: %w", err)
	}
	s.drives = session.New(session.Options{Routes: s.routes, Now: s.now, Watch: s.roads.changed.Next, IDs: ids, Charge: s.chargeDrive, Admit: s.admitDrive})
	s.roads.closed = s.drives.Closed // before conditions are followed
	return s.metrics.Gauge("wayside_drives", "Drivers that this node leads.", func() float64 { return float64(s.drives.Len()) })
}

func (s *Service) openNodes(ctx context.Context) error {
	key, err := keyFor(s.config, "connections between nodes")
	if err != nil {
		return err
	}
	s.nodes = new(nodes)
	if s.nodes.links, err = forward.New(forward.Config{Key: key, Now: s.now, Log: s.log}); err != nil {
		return err
	}
	if err := s.findAddress(ctx); err != nil {
		s.log.Warn("this node does not know its address for the others yet, so that its drives are led at this node alone; it is tried again, or set cluster.address", "error", err)
	}
	return nil
}

// beforeAPI returns a handler that takes the connections that other nodes open at the public address, and passes all other requests
// to api.
func (s *Service) beforeAPI(api http.Handler) http.Handler {
	if s.nodes == nil {
		return api
	}
	return s.nodes.links.Before(api)
}

// runNodes serves the other nodes until ctx ends, and searches for this node's address if it is not known.
func (s *Service) runNodes(ctx context.Context) error {
	if s.nodes == nil {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(addressRetry)
	defer tick.Stop()
	finding, stop := context.WithCancel(ctx)
	defer stop()
	found := make(chan struct{})
	go func() {
		defer close(found)
		for s.nodes.address.Load() == nil {
			select {
			case <-finding.Done():
				return
			case <-tick.C:
				if err := s.findAddress(finding); err != nil && finding.Err() == nil {
					s.log.Debug("this node does not know its address for the others", "error", err)
				}
			}
		}
	}()
	err := s.nodes.links.Run(ctx)
	stop()
	<-found
	return err
}

// handOverPause is how long a stopping node answers /readyz with "not ready" before it ends its drives' streams. Proxies that ask
// /readyz every second or two send no requests to this node any more by then, so that drivers open their streams at other nodes.
const handOverPause = 3 * time.Second

// handOver makes the proxies send new requests to other nodes before the drives of this node end. It does not wait if this node is
// alone or leads no driver.
func (s *Service) handOver(ctx context.Context) error {
	<-ctx.Done()
	if s.nodes == nil || s.drives.Len() == 0 {
		return nil
	}
	s.nodes.leaving.Store(true)
	s.log.Info("the drives of this node are handed over", "drives", s.drives.Len())
	<-time.After(handOverPause)
	return nil
}

// errLeaving is the reason why a stopping node is not ready.
var errLeaving = errors.New("this node stops")

// checkLeaving returns why this node should get no new requests; nil: it should.
func (s *Service) checkLeaving() error {
	if s.nodes != nil && s.nodes.leaving.Load() {
		return errLeaving
	}
	return nil
}

// findAddress finds the address at which other nodes reach this one: the configured one, the one on which it listens, or, if it
// listens on all addresses, the one that the shared cache sees.
func (s *Service) findAddress(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, addressTimeout)
	defer cancel()
	listens, ok := s.public.Addr().(*net.TCPAddr)
	if !ok {
		return fmt.Errorf("it listens at no address of the network: %v", s.public.Addr())
	}
	address := listens.AddrPort()
	switch {
	case s.config.Cluster.Address != "":
		resolved, err := resolve(ctx, s.config.Cluster.Address)
		if err != nil {
			return fmt.Errorf("cluster.address: %w", err)
		}
		address = resolved
	case address.Addr().IsUnspecified():
		local, err := s.localAddress(ctx)
		if err != nil {
			return err
		}
		address = netip.AddrPortFrom(local, address.Port())
	}
	address = netip.AddrPortFrom(address.Addr().Unmap().WithZone(""), address.Port())
	if address.Addr().IsLoopback() && s.config.Cluster.Address == "" {
		if local, err := s.localAddress(ctx); err == nil && !local.IsLoopback() {
			s.log.Warn("this node listens at its own machine alone, and the shared cache is elsewhere: other nodes cannot ask it for its drives. Set cluster.address")
		}
	}
	s.nodes.address.Store(&address)
	return nil
}

// localAddress returns the address of this machine in the network of the shared cache. It sends nothing.
func (s *Service) localAddress(ctx context.Context) (netip.Addr, error) {
	server, err := valkey.Server(s.config.Cache.URL)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("cache.url: %w", err)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "udp", server)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("find the way to the shared cache: %w", err)
	}
	defer func() { _ = conn.Close() }() // nothing was sent
	local, ok := conn.LocalAddr().(*net.UDPAddr)
	if !ok {
		return netip.Addr{}, fmt.Errorf("the way to the shared cache begins at no address: %v", conn.LocalAddr())
	}
	return local.AddrPort().Addr(), nil
}

// resolve returns the first address of a host and port.
func resolve(ctx context.Context, address string) (netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("take the port off: %w", err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("read the port: %w", err)
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("look the host up: %w", err)
	}
	return netip.AddrPortFrom(ips[0], uint16(number)), nil
}
