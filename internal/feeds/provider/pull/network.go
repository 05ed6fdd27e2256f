package pull

import (
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
)

// When this node's own network is at fault (D6.11).
const (
	networkWindow = 5 * time.Minute
	networkFeeds  = 5
	networkHosts  = 3
)

// network tracks whether this node's recent polls could connect to any host.
type network struct {
	mu        sync.Mutex
	connected time.Time // the last time that a poll connected
	failures  map[mapdata.FeedID]connectFailure
}

type connectFailure struct {
	at   time.Time
	host string
}

// noteConnected records a poll that connected to a host: the network works.
func (n *network) noteConnected(now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.connected = now
	n.failures = nil
}

// noteUnreachable records a poll that could not connect, and reports whether this node's network is at fault: within five
// minutes at least 5 feeds on at least 3 hosts were polled, and none could connect (D6.11).
func (n *network) noteUnreachable(feed mapdata.FeedID, host string, now time.Time) (ours bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failures == nil {
		n.failures = make(map[mapdata.FeedID]connectFailure)
	}
	n.failures[feed] = connectFailure{now, host}
	hosts := make(map[string]bool)
	for id, f := range n.failures {
		if now.Sub(f.at) > networkWindow {
			delete(n.failures, id)
			continue
		}
		hosts[f.host] = true
	}
	return (n.connected.IsZero() || now.Sub(n.connected) > networkWindow) && len(n.failures) >= networkFeeds && len(hosts) >= networkHosts
}
