package session

import (
	"container/list"
	"fmt"
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
)

// Limits of one caller at the same time on one node.
const (
	// MaxPerAddress is for guests of one address (IPv6: one /64): the cars of a household or a small firm.
	MaxPerAddress = 20
	// MaxPerAccount is for an account: a car, a phone, and sessions left behind by reloaded pages.
	MaxPerAccount = 5
	// MaxStreams is the maximum number of streams of events of guests of one address. A session has at most one stream,
	// so MaxPerAccount also bounds the streams of an account.
	MaxStreams = 8
	// addressShare is the divisor for the share of the node's sessions and bytes that an address may hold, together with
	// its accounts: 1/20, or 5 %.
	addressShare = 20

	// idle is how long a session without a reader is protected when another caller needs its place. A page that lost its
	// connection is back by then.
	idle = 30 * time.Second
	// freeEvery is the interval in which a caller's positions may cause one search that is not counted as a route. Up to
	// freeBurst of them may come together, because several cars of one address may leave their routes at the same
	// moment.
	freeEvery = 5 * time.Second
	freeBurst = 4
)

// Caller identifies the account or guest that a session counts against. Its keys stay in memory only, because they may
// be an address.
type Caller struct {
	Key       ratelimit.Key // the account, or the address of a guest
	Address   ratelimit.Key
	IsAccount bool
}

// shares counts the resources of callers. Its methods are safe for concurrent use.
type shares struct {
	mu     sync.Mutex
	of     map[ratelimit.Key]*share
	unused list.List // of *Session that were never read and got no position, the oldest first
}

// share counts the resources of one caller or one address.
type share struct {
	sessions int // of an address, including those of its accounts
	own      map[*Session]struct{}
	pending  int // reserved seats
	bytes    int64
	searches ratelimit.State // free searches caused by positions
}

// Seat is a reserved place for a session, taken before the search for its route. The caller must release it; Open passes
// the place to the session.
type Seat struct {
	hub    *Hub
	caller Caller
	cost   int
	used   bool
}

// errShare returns the error for a caller that has the maximum number of sessions.
func errShare(what string, most int) error {
	return &mapdata.LimitError{RetryAfter: idle, What: fmt.Sprintf("%s (%d)", what, most)}
}

// Reserve takes a place for a session. It fails with *mapdata.LimitError if the caller has the maximum number of
// sessions, and with ErrFull if the node has. To make room it may end a session that was never used since it was opened,
// or one of the caller's own that no client reads.
//
// cost is the number of routes that each search of the session counts as, beyond the caller's free searches.
func (h *Hub) Reserve(c Caller, cost int) (*Seat, error) {
	for {
		evicted, err := h.shares.reserve(h, c)
		if evicted == nil {
			if err != nil {
				return nil, err
			}
			return &Seat{hub: h, caller: c, cost: cost}, nil
		}
		h.Close(evicted.ID)
	}
}

// reserve counts a place, or returns the session that must end first. That session takes no more readers.
func (s *shares) reserve(h *Hub, c Caller) (evicted *Session, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := h.Now()
	own, address := s.shareOf(c.Key), s.shareOf(c.Address)
	most, what := h.PerAddress, "sessions that guests of one address may have"
	if c.IsAccount {
		most, what = h.PerAccount, "sessions that one account may have"
	}
	switch {
	case len(own.own)+own.pending >= most:
		if evicted = own.endIdlest(now); evicted == nil {
			err = errShare(what, most)
		}
	case address.sessions >= h.AddressSessions:
		err = errShare("sessions that one address may have, those of accounts among them", h.AddressSessions)
	case address.bytes >= h.AddressBytes:
		err = errShare("bytes of routes that the sessions of one address may keep", int(h.AddressBytes))
	case h.Full():
		if evicted = s.endOldestUnused(now); evicted == nil {
			err = ErrFull
		}
	}
	if evicted == nil && err == nil {
		own.pending++
		address.sessions++
		return nil, nil //nolint:nilnil // no session needs to end
	}
	s.tidy(c)
	return evicted, err
}

func (s *shares) shareOf(key ratelimit.Key) *share {
	one := s.of[key]
	if one == nil {
		one = &share{own: make(map[*Session]struct{})}
		s.of[key] = one
	}
	return one
}

// tidy removes the entries of a caller that has no sessions.
func (s *shares) tidy(c Caller) {
	for _, key := range [...]ratelimit.Key{c.Key, c.Address} {
		if one := s.of[key]; one != nil && one.sessions == 0 && one.pending == 0 && len(one.own) == 0 {
			delete(s.of, key)
		}
	}
}

// endIdlest makes room at the caller's session that should end first, and returns it: one that was never used, otherwise the
// one that was silent for longest. It returns nil if all are in use.
func (o *share) endIdlest(now time.Time) *Session {
	for {
		if s := o.idlest(now); s == nil || s.yield(now) {
			return s
		} // a client came back meanwhile
	}
}

// idlest returns the session that endIdlest ends.
func (o *share) idlest(now time.Time) *Session {
	var best *Session
	for s := range o.own {
		if !s.isIdle(now) {
			continue
		}
		if best == nil || best.isUsed.Load() && !s.isUsed.Load() || best.isUsed.Load() == s.isUsed.Load() && s.lastHeard().Before(best.lastHeard()) {
			best = s
		}
	}
	return best
}

// endOldestUnused makes room at the oldest session that was never used since it was opened, and returns it. It returns nil
// if there is none.
func (s *shares) endOldestUnused(now time.Time) *Session {
	if front := s.unused.Front(); front != nil {
		if one, ok := front.Value.(*Session); ok && one.yield(now) {
			return one
		}
	}
	return nil
}

// Release gives the place back, unless a session was opened on it.
func (s *Seat) Release() {
	if s.used {
		return
	}
	s.used = true
	h := &s.hub.shares
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shareOf(s.caller.Key).pending--
	h.shareOf(s.caller.Address).sessions--
	h.tidy(s.caller)
}

// seat assigns a reserved place to a session.
func (s *shares) seat(seat *Seat, one *Session) {
	seat.used = true
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.shareOf(seat.caller.Key)
	own.pending--
	own.own[one] = struct{}{}
	one.unused = s.unused.PushBack(one)
}

// leave removes a session from its caller's share. Further calls do nothing.
func (s *shares) leave(one *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.of[one.caller.Key]
	if own == nil {
		return
	}
	if _, there := own.own[one]; !there {
		return
	}
	delete(own.own, one)
	if address := s.of[one.caller.Address]; address != nil {
		address.sessions--
	}
	s.forgetUnused(one)
	s.tidy(one.caller)
}

// use records that a session's events were read, or that its client sent a position.
func (s *shares) use(one *Session) {
	if one.isUsed.Swap(true) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetUnused(one)
}

func (s *shares) forgetUnused(one *Session) {
	if one.unused != nil {
		s.unused.Remove(one.unused)
		one.unused = nil
	}
}

// keep counts bytes of a session's route against its address. It returns false if the address has no room for them.
func (s *shares) keep(h *Hub, c Caller, bytes int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	address := s.of[c.Address]
	if address == nil {
		return true
	}
	if bytes > 0 && address.bytes+bytes > h.AddressBytes {
		return false
	}
	address.bytes += bytes
	return true
}

// isFree reports whether a search that a position caused is free for the caller, and counts it.
func (s *shares) isFree(c Caller, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.of[c.Key]
	if own == nil {
		return true
	}
	var d ratelimit.Decision
	own.searches, d = ratelimit.Decide(own.searches, now, ratelimit.Limit{Count: freeBurst, Per: freeBurst * freeEvery}, 1)
	return d.OK
}

// MayRead returns *mapdata.LimitError if guests of the session's address read the maximum number of sessions. A new
// stream replaces the session's earlier one, so the session itself does not count.
func (s *Session) MayRead() error {
	if s.caller.IsAccount {
		return nil
	}
	h := &s.hub.shares
	h.mu.Lock()
	defer h.mu.Unlock()
	streams := 0
	if own := h.of[s.caller.Key]; own != nil {
		for other := range own.own {
			if other != s && other.hasStream() {
				streams++
			}
		}
	}
	if streams >= MaxStreams {
		return errShare("streams of drives that guests of one address may read", MaxStreams)
	}
	return nil
}

// yield ends the session for its clients if it is idle, and reports whether it did. One that a client uses again after it
// was chosen to make room is kept: closing it later, without another look, would end a drive that is being led.
func (s *Session) yield(now time.Time) bool {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.stream != nil || now.Sub(s.lastHeard()) < idle {
		return false
	}
	s.over = true
	return true
}

// isIdle reports whether no client reads the session's events, or has sent a request for a while.
func (s *Session) isIdle(now time.Time) bool { return !s.hasStream() && now.Sub(s.lastHeard()) >= idle }

// hasStream reports whether a client reads the events.
func (s *Session) hasStream() bool {
	s.reading.Lock()
	defer s.reading.Unlock()
	return s.stream != nil
}

// lastHeard returns the time of the client's last request.
func (s *Session) lastHeard() time.Time { return time.Unix(0, s.lastRequest.Load()) }
