package account

import (
	"context"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"wayside/internal/mapdata"
)

// Bounds of destinations that phones send to cars.
const (
	destinationTTL     = 10 * time.Minute
	maxDestinations    = 10_000 // of all accounts, each of at most two kilobytes
	maxDestinationText = 200    // characters
)

// Destination is where a driver wants to go, as a phone sends it to the account's cars.
type Destination struct {
	Lat, Lng     float64
	Name, Detail string
}

// destinations keeps what phones sent until a car takes it, for at most ten minutes, in the memory of this process alone: where
// somebody drives is not stored (D13.1). The zero value is empty.
type destinations struct {
	mu   sync.Mutex
	sent map[mapdata.AccountID]sentDestination
}

type sentDestination struct {
	Destination
	until time.Time
}

// put replaces what was sent to the account's cars before. It reports false when too many accounts have one.
func (d *destinations) put(id mapdata.AccountID, sent *Destination, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sent == nil {
		d.sent = map[mapdata.AccountID]sentDestination{}
	}
	if _, replaces := d.sent[id]; !replaces && len(d.sent) >= maxDestinations {
		for other, s := range d.sent {
			if !now.Before(s.until) {
				delete(d.sent, other)
			}
		}
		if len(d.sent) >= maxDestinations {
			return false
		}
	}
	d.sent[id] = sentDestination{*sent, now.Add(destinationTTL)}
	return true
}

// take removes what was sent and returns it; nil: nothing.
func (d *destinations) take(id mapdata.AccountID, now time.Time) *Destination {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok := d.sent[id]
	if !ok {
		return nil
	}
	delete(d.sent, id)
	if !now.Before(s.until) {
		return nil
	}
	return &s.Destination
}

// SendDestination keeps a destination until one of the account's paired screens takes it. It fails with mapdata.ErrConflict when
// the account has no paired screen.
func (s *Service) SendDestination(ctx context.Context, id mapdata.AccountID, d *Destination) error {
	if err := checkDestination(d); err != nil {
		return err
	}
	sessions, err := s.Sessions(ctx, id)
	if err != nil {
		return err
	}
	hasScreen := false
	for i := range sessions {
		hasScreen = hasScreen || sessions[i].Scope == mapdata.ScopeScreen
	}
	if !hasScreen {
		return mapdata.Describe(mapdata.ErrConflict, "No car is signed in to this account. Sign one in: open its menu, Account, and scan the code.")
	}
	if !s.destinations.put(id, d, s.now()) {
		return mapdata.Describe(mapdata.ErrUnavailable, fmt.Sprintf("Too many destinations wait for their cars. Try again in %d minutes.", int(destinationTTL/time.Minute)))
	}
	return nil
}

// TakeDestination returns the destination that a phone sent, once; nil: there is none.
func (s *Service) TakeDestination(id mapdata.AccountID) *Destination {
	return s.destinations.take(id, s.now())
}

func checkDestination(d *Destination) error {
	c := fieldErrors{}
	c.inRange("lat", &d.Lat, -90, 90)
	c.inRange("lng", &d.Lng, -180, 180)
	c.line("name", d.Name)
	c.line("detail", d.Detail)
	return c.Err()
}

func (c *fieldErrors) line(field, text string) {
	if utf8.RuneCountInString(text) > maxDestinationText || text != clean(text, maxDestinationText) {
		c.Add(field, "invalid_"+field, "must be one line of at most 200 characters, without control characters")
	}
}
