package session

import (
	"container/list"
	"fmt"
	"sync"
	"time"

	"wayside/internal/mapdata"
	"wayside/internal/ratelimit"
)

// What one caller may have of a node at the same time.
const (
	// MaxPerAddress is for guests of one address (IPv6: one /64): the cars of a household or a small firm.
	MaxPerAddress = 20
	// MaxPerAccount is for an account: a car, a phone, and what was left behind by pages that were loaded again.
	MaxPerAccount = 5
	// MaxStreams are the streams of events of guests of one address. A session has one at most, so an account has no more than sessions.
	MaxStreams = 8
	// addressShare is which part of the node's sessions and bytes an address may hold, its accounts together: 5 %.
	addressShare = 20

	// idle is how long a session that nobody reads is kept when its place is wanted: a page that lost its connection is back by then.
	idle = 30 * time.Second
	// freeEvery is how often a caller's positions cause a search that is not counted as a route. Of these, freeBurst may come together: cars of one
	// address lose their ways by chance at the same moment.
	freeEvery = 5 * time.Second
	freeBurst = 4
)

// Caller is whom a session counts against. Its keys are in memory only: they may be an address.
type Caller struct {
	Key       ratelimit.Key // the account, or the address of a guest
	Address   ratelimit.Key
	IsAccount bool
}

// shares counts what callers have. Its methods may be called from many goroutines.
type shares struct {
	mu     sync.Mutex
	of     map[ratelimit.Key]*share
	unused list.List // of *Session that nobody has read or sent a position to, the oldest first
}

// share is what one caller has, or one address.
type share struct {
	sessions int // of an address, those of its accounts too
	own      map[*Session]struct{}
	pending  int // places that are reserved
	bytes    int64
	searches ratelimit.State // that positions caused, beyond which they count
}

// Seat is a place for a session, taken before its route is searched. It has to be released; Open makes the place the session's.
type Seat struct {
	hub    *Hub
	caller Caller
	cost   int
	used   bool
}

// errShare is the error of a caller who has as many sessions as one may have.
func errShare(what string, most int) error {
	return &mapdata.LimitError{RetryAfter: idle, What: fmt.Sprintf("%s (%d)", what, most)}
}

// Reserve takes a place for a session. It fails with *mapdata.LimitError for a caller who has as many as one may, and with ErrFull if the node
// has. A session that nobody used since it was opened makes room for another one, and so does one of the caller's own that nobody reads.
//
// cost is how many routes each search of the session counts as that is beyond the caller's free ones.
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

// reserve counts a place, or names the session that has to end first.
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
		if evicted = own.idlest(now); evicted == nil {
			err = errShare(what, most)
		}
	case address.sessions >= h.AddressSessions:
		err = errShare("sessions that one address may have, those of accounts among them", h.AddressSessions)
	case address.bytes >= h.AddressBytes:
		err = errShare("bytes of routes that the sessions of one address may keep", int(h.AddressBytes))
	case h.Full():
		if evicted = s.oldestUnused(now); evicted == nil {
			err = ErrFull
		}
	}
	if evicted == nil && err == nil {
		own.pending++
		address.sessions++
		return nil, nil //nolint:nilnil // nothing has to end
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

// tidy forgets a caller who has nothing.
func (s *shares) tidy(c Caller) {
	for _, key := range [...]ratelimit.Key{c.Key, c.Address} {
		if one := s.of[key]; one != nil && one.sessions == 0 && one.pending == 0 && len(one.own) == 0 {
			delete(s.of, key)
		}
	}
}

// idlest returns the caller's session that is the first to make room: one that nobody ever used, otherwise the one that was silent for longest;
// nil: all are in use.
func (o *share) idlest(now time.Time) *Session {
	var best *Session
	for s := range o.own {
		if s.hasStream() || now.Sub(s.lastHeard()) < idle {
			continue
		}
		if best == nil || best.isUsed.Load() && !s.isUsed.Load() || best.isUsed.Load() == s.isUsed.Load() && s.lastHeard().Before(best.lastHeard()) {
			best = s
		}
	}
	return best
}

// oldestUnused returns a session that nobody used since it was opened; nil: there is none.
func (s *shares) oldestUnused(now time.Time) *Session {
	if front := s.unused.Front(); front != nil {
		if one, ok := front.Value.(*Session); ok && now.Sub(one.lastHeard()) >= idle {
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

// seat makes a session the owner of a place.
func (s *shares) seat(seat *Seat, one *Session) {
	seat.used = true
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.shareOf(seat.caller.Key)
	own.pending--
	own.own[one] = struct{}{}
	one.unused = s.unused.PushBack(one)
}

// leave takes a session out of its caller's share. It does so once.
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

// use notes that a session was read, or that its client sent a position.
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

// keep counts bytes of a session's route against its address; false: the address keeps as many as it may.
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

// isFree reports whether a search that a position caused is one that does not count, and notes it.
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

// MayRead fails with *mapdata.LimitError if guests of one address read as many sessions as they may. A stream takes the place of the one before
// of the same session, which does not count.
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

// hasStream reports whether a client reads the events.
func (s *Session) hasStream() bool {
	s.reading.Lock()
	defer s.reading.Unlock()
	return s.stream != nil
}

// lastHeard returns the time of the client's last request.
func (s *Session) lastHeard() time.Time { return time.Unix(0, s.lastWord.Load()) }
