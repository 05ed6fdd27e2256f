package httpserver

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Limits bound the connections of one server. Without them, one client that opens connections and sends nothing would use up
// the descriptors that the database and polls need.
type Limits struct {
	Total      int            // connections at the same time; 0: DefaultTotal
	PerAddress int            // connections of one address (IPv6: of one /64), at most half of Total; 0: DefaultPerAddress
	Exempt     []netip.Prefix // addresses without the bound PerAddress: proxies, which connect for many clients
}

// Defaults of Limits.
const (
	DefaultPerAddress = 256
	maxDefaultTotal   = 16_384
	ownDescriptors    = 512 // for the database, polls, upstreams, e-mail, files and the second address
)

// DefaultTotal returns how many connections this process has room for: its limit of open files less those that it needs itself.
func DefaultTotal() int {
	files := maxOpenFiles()
	return min(files-min(ownDescriptors, files/2), maxDefaultTotal)
}

// idleShare is the part of Limits.Total that may be connections which net/http has and which wait for their clients: idle ones, and those
// in the middle of a body or an answer. Each takes 17 KB, and one that has not sent its first header 2 KB.
const idleShare = 4

// reservedConns is the number of connections beyond Limits.Total that this machine and exempt addresses may open, so that health
// checks are answered while others hold everything else.
const reservedConns = 16

func (l Limits) withDefaults() Limits {
	if l.Total <= 0 {
		l.Total = DefaultTotal()
	}
	if l.PerAddress <= 0 {
		l.PerAddress = DefaultPerAddress
	}
	l.PerAddress = max(1, min(l.PerAddress, l.Total/2))
	return l
}

// connections is the set of a server's open connections. If there is no room for a new one, the address with the most connections that
// wait for their clients loses the one of them that has waited longest. So a client that sends its request immediately is answered,
// whatever connections others keep open. A new connection is refused only if all others are being answered.
type connections struct {
	limits  Limits
	refused atomic.Int64 // connections that found no room
	evicted atomic.Int64 // connections closed to make room

	mu     sync.Mutex
	begun  int // connections that net/http has had
	all    []*boundedConn
	groups map[netip.Prefix][]*boundedConn // by address; without exempt connections
}

// admit adds a connection to the set, or returns false if there is no room.
func (s *connections) admit(c *boundedConn) bool {
	addr := peerAddr(c)
	c.exempt = slices.ContainsFunc(s.limits.Exempt, func(p netip.Prefix) bool { return p.Contains(addr) })
	c.group = addressGroup(addr)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.exempt && len(s.groups[c.group]) >= s.limits.PerAddress && !s.evict(s.groups[c.group]) {
		s.refused.Add(1)
		return false
	}
	total := s.limits.Total
	if c.exempt || addr.IsLoopback() {
		total += reservedConns
	}
	if len(s.all) >= total && !s.evict(s.all) {
		s.refused.Add(1)
		return false
	}
	c.inAll, s.all = len(s.all), append(s.all, c)
	if !c.exempt {
		c.inGroup = len(s.groups[c.group])
		s.groups[c.group] = append(s.groups[c.group], c)
	}
	c.member = true
	return true
}

// peerAddr returns the address of a connection's client.
func peerAddr(c net.Conn) netip.Addr {
	if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// addressGroup returns the range whose connections are counted together: one address, or a /64 of IPv6.
func addressGroup(addr netip.Addr) netip.Prefix {
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	group, _ := addr.WithZone("").Prefix(bits) // it fails only for the zero address, which becomes a separate group
	return group
}

// evict closes a sixteenth of the connections, of those that wait for their clients in the order of byAddress, so that the search
// costs each new connection little: at most 22 µs, if all of 16 384 are being answered (measured). It reports whether any was closed.
// The caller holds s.mu.
func (s *connections) evict(from []*boundedConn) bool {
	waiting := byAddress(waitingLongest(from, func(*boundedConn) bool { return true }))
	return s.closeAll(waiting[:min(len(waiting), max(1, len(from)/16))])
}

// candidate is a connection that has waited for its client since a time.
type candidate struct {
	conn  *boundedConn
	since int64
}

// waitingLongest returns the connections that wait for their clients and may be closed, those that have waited longest first.
func waitingLongest(from []*boundedConn, may func(c *boundedConn) bool) []candidate {
	var waiting []candidate
	for _, c := range from {
		if since := c.waiting.Load(); since > 0 && !c.exempt && may(c) {
			waiting = append(waiting, candidate{c, since})
		}
	}
	slices.SortFunc(waiting, func(a, b candidate) int { return cmp.Compare(a.since, b.since) })
	return waiting
}

// closeAll closes connections that still wait, and reports whether it closed any. s.mu is held.
func (s *connections) closeAll(list []candidate) bool {
	closed := false
	for _, w := range list {
		closed = s.close(w.conn, w.since) || closed
	}
	return closed
}

// serve notes that net/http has a connection from now on. Now and then it closes those of net/http's connections that wait for their
// clients beyond the share that may, of the addresses with the most of them first.
func (s *connections) serve(c *boundedConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.served = true
	s.begun++
	if most := max(s.limits.Total/idleShare, reservedConns); s.begun%(most/reservedConns) == 0 {
		if waiting := waitingLongest(s.all, func(c *boundedConn) bool { return c.served }); len(waiting) > most {
			s.closeAll(byAddress(waiting)[:len(waiting)-most])
		}
	}
}

// byAddress sorts connections, of which those that have waited longest come first, so that each address keeps as many of its newest ones
// as every other one does: the last are the newest of each address, those before them the second newest. It returns the same slice.
func byAddress(waiting []candidate) []candidate {
	rank := make(map[*boundedConn]int, len(waiting))
	count := make(map[netip.Prefix]int)
	for _, w := range slices.Backward(waiting) {
		rank[w.conn] = count[w.conn.group]
		count[w.conn.group]++
	}
	slices.SortStableFunc(waiting, func(a, b candidate) int { return rank[b.conn] - rank[a.conn] })
	return waiting
}

// closeIdle closes connections that have waited for their clients since before the given time.
func (s *connections) closeIdle(before time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range slices.Clone(s.all) {
		if since := c.waiting.Load(); since > 0 && since < before.UnixNano() && !c.exempt {
			s.close(c, since)
		}
	}
}

// close closes a connection that has been waiting since the given time without a break. The caller holds s.mu.
func (s *connections) close(c *boundedConn, since int64) bool {
	if !c.waiting.CompareAndSwap(since, evictedConn) {
		return false // its request has come
	}
	s.evicted.Add(1)
	s.remove(c)
	_ = c.TCPConn.Close() // the client may have closed it
	return true
}

// remove removes a connection from the set, once. The caller holds s.mu.
func (s *connections) remove(c *boundedConn) {
	if !c.member {
		return
	}
	c.member = false
	last := s.all[len(s.all)-1]
	s.all[c.inAll], last.inAll = last, c.inAll
	s.all[len(s.all)-1] = nil
	s.all = s.all[:len(s.all)-1]
	if c.exempt {
		return
	}
	group := s.groups[c.group]
	last = group[len(group)-1]
	group[c.inGroup], last.inGroup = last, c.inGroup
	group[len(group)-1] = nil
	if s.groups[c.group] = group[:len(group)-1]; len(group) == 1 {
		delete(s.groups, c.group)
	}
}

// len returns how many connections are open.
func (s *connections) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

// crowded reports whether more than half of the room is in use.
func (s *connections) crowded() bool { return s.len() > s.limits.Total/2 }
