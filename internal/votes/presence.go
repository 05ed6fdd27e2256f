package votes

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// Bounds of what is remembered of where accounts were. A full Presence holds some 64 MiB; accounts cost an e-mail each.
const (
	presenceShards   = 64
	accountsPerShard = 1_600 // 102 400 accounts of a node within ten minutes
	trailSpacing     = 2_000 // metres between two remembered positions of an account
	maxTrail         = 26    // as many as 300 km/h make of PresenceKept, 50 km
	forgetInterval   = time.Minute
)

// Presence remembers where accounts were in the last ten minutes (mapdata.PresenceKept), by the positions that they sent with
// reads, drives, reports and votes. It is in this process's memory alone, and nothing of it leaves: a vote is stored with
// whether its account was near, not with a place. Its methods are safe for concurrent use.
//
// A position that the account cannot have reached from its last one at 300 km/h (D17.37) is ignored, so that an account is
// not everywhere at once: a driver who looks at another town on the map stays where they are.
type Presence struct {
	now    func() time.Time
	shards [presenceShards]presenceShard
}

type presenceShard struct {
	mu     sync.Mutex
	trails map[mapdata.AccountID]*trail
}

// trail is where one account was: its last position, and those that lie trailSpacing apart before it, the oldest first.
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

// Run forgets positions as they become too old, until ctx ends.
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

// Forget removes what is older than mapdata.PresenceKept.
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

// Seen remembers that an account sent its position. A guest, the zero account, is not remembered.
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

// forget removes what is too old at now, and reports whether nothing is left.
func (t *trail) forget(now time.Time) bool {
	old := now.Add(-mapdata.PresenceKept)
	kept := 0
	for kept < len(t.before) && t.before[kept].at.Before(old) {
		kept++
	}
	t.before = t.before[:copy(t.before, t.before[kept:])]
	return t.last.at.Before(old)
}

// Accounts returns how many accounts are remembered.
func (p *Presence) Accounts() (n int) {
	for i := range p.shards {
		s := &p.shards[i]
		s.mu.Lock()
		n += len(s.trails)
		s.mu.Unlock()
	}
	return n
}
