package votes

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Bounds of the stored positions of accounts. A full Presence holds some 64 MiB; an account costs its owner an e-mail.
const (
	presenceShards   = 64
	accountsPerShard = 1_600 // 102 400 accounts of a node within ten minutes
	trailSpacing     = 2_000 // metres between two stored positions of an account
	maxTrail         = 26    // as many as fit into the distance at 300 km/h within PresenceKept, 50 km
	forgetInterval   = time.Minute
)

// Presence stores the positions of accounts in the last ten minutes (mapdata.PresenceKept), which they sent with reads,
// drives, reports and votes. It is only in this process's memory: a stored vote contains whether its account was near,
// not a position. Its methods are safe for concurrent use.
//
// A position that the account cannot have reached from its last one at 300 km/h (D17.37) is ignored, so that an account
// has only one place: a driver who looks at another town on the map keeps the previous one.
type Presence struct {
	now    func() time.Time
	shards [presenceShards]presenceShard
}

type presenceShard struct {
	mu     sync.Mutex
	trails map[mapdata.AccountID]*trail
}

// trail is the history of one account: its last position, and earlier ones trailSpacing apart, the oldest first.
type trail struct {
	last   sighting
	before []sighting
}

type sighting struct {
	at    time.Time
	place geo.Point
}

// NewPresence creates an empty Presence.
func NewPresence(now func() time.Time) *Presence {
	p := &Presence{now: now}
	for i := range p.shards {
		p.shards[i].trails = make(map[mapdata.AccountID]*trail)
	}
	return p
}

// Run removes positions as they become too old, until ctx ends.
func (p *Presence) Run(ctx context.Context) error {
	tick := time.NewTicker(forgetInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			p.Forget()
		}
	}
}

// Forget removes positions that are older than mapdata.PresenceKept.
func (p *Presence) Forget() {
	now := p.now()
	for i := range p.shards {
		s := &p.shards[i]
		s.mu.Lock()
		for account, t := range s.trails {
			if t.forget(now) {
				delete(s.trails, account)
			}
		}
		s.mu.Unlock()
	}
}

// Seen stores a position that an account sent. A guest, the zero account, is ignored.
func (p *Presence) Seen(account mapdata.AccountID, place geo.Point) {
	if account.IsZero() {
		return
	}
	now := p.now()
	s := p.shard(account)
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.trails[account]
	if t == nil || t.forget(now) {
		if t == nil && len(s.trails) >= accountsPerShard {
			s.evict()
		}
		s.trails[account] = &trail{last: sighting{now, place}}
		return
	}
	if !mapdata.Plausible(t.last.place, place, now.Sub(t.last.at)) {
		return
	}
	t.add(sighting{now, place})
}

// Near reports whether the account was near the entity in the last ten minutes (mapdata.Entity.NearPlace).
func (p *Presence) Near(account mapdata.AccountID, e *mapdata.Entity) bool {
	now := p.now()
	s := p.shard(account)
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.trails[account]
	if t == nil || t.forget(now) {
		return false
	}
	if e.NearPlace(t.last.place) {
		return true
	}
	for i := range t.before {
		if e.NearPlace(t.before[i].place) {
			return true
		}
	}
	return false
}

func (p *Presence) shard(account mapdata.AccountID) *presenceShard {
	// The end of a UUIDv7 is random.
	return &p.shards[binary.BigEndian.Uint64(account[8:])%presenceShards]
}

// evict removes the account that was seen least recently.
func (s *presenceShard) evict() {
	var oldest mapdata.AccountID
	var at time.Time
	for account, t := range s.trails {
		if at.IsZero() || t.last.at.Before(at) {
			oldest, at = account, t.last.at
		}
	}
	delete(s.trails, oldest)
}

func (t *trail) add(s sighting) {
	anchor := t.last
	if len(t.before) > 0 {
		anchor = t.before[len(t.before)-1]
	}
	if geo.Distance(anchor.place, s.place) >= trailSpacing {
		if len(t.before) == maxTrail {
			t.before = t.before[:copy(t.before, t.before[1:])]
		}
		t.before = append(t.before, t.last)
	}
	t.last = s
}

// forget removes positions that are too old at now, and reports whether none is left.
func (t *trail) forget(now time.Time) bool {
	old := now.Add(-mapdata.PresenceKept)
	kept := 0
	for kept < len(t.before) && t.before[kept].at.Before(old) {
		kept++
	}
	t.before = t.before[:copy(t.before, t.before[kept:])]
	return t.last.at.Before(old)
}

// Accounts returns the number of accounts with a stored position.
func (p *Presence) Accounts() (n int) {
	for i := range p.shards {
		s := &p.shards[i]
		s.mu.Lock()
		n += len(s.trails)
		s.mu.Unlock()
	}
	return n
}
