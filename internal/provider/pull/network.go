package pull

import (
	"sync"
	"time"

	"wayside/internal/mapdata"
)

// When this node's own network is at fault (D6.11).
const (
	networkWindow = 5 * time.Minute
	networkFeeds  = 5
	networkHosts  = 3
)

// network remembers whether this node's polls of late could connect to anything.
type network struct {
	mu        sync.Mutex
	connected time.Time // the last time that a poll did
	failures  map[mapdata.FeedID]noConnection
}

type noConnection struct {
	at   time.Time
	host string
}

// met takes note of a poll that connected to something: the network is there.
func (n *network) met(now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.connected = now
	n.failures = nil
}

// missed takes note of a poll that could connect to nothing, and says whether that is our own fault: within five minutes,
// at least 5 feeds on at least 3 hosts were polled, and all failed so.
func (n *network) missed(feed mapdata.FeedID, host string, now time.Time) (ours bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failures == nil {
		n.failures = make(map[mapdata.FeedID]noConnection)
	}
	n.failures[feed] = noConnection{now, host}
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
