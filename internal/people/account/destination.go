package account

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"wayside/internal/ground/mapdata"
)

// Bounds of destinations that phones send to cars.
const (
	destinationTTL     = 10 * time.Minute
	maxDestinations    = 10_000 // of all accounts with one at this node, each of at most two kilobytes
	maxDestinationText = 200    // characters

	maxDestinationWrites = 4 // attempts to replace one in the shared cache
	takenDestination     = 0 // the value that replaces a taken destination for a millisecond
)

// Destination is a driver's destination, sent from a phone to the account's cars, or saved by the driver.
type Destination struct {
	Lat, Lng     float64
	Name, Detail string
}

// DestinationCache stores small values for a while where all nodes find them, and may lose them.
type DestinationCache interface {
	// Get returns the values of the keys in their order, nil for an absent one.
	Get(ctx context.Context, keys []string) ([][]byte, error)
	// Swap stores value under key for ttl if the key's current value is exactly old (nil: none), and reports whether it did.
	Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error)
}

// destinations stores destinations from phones until a car takes them, for at most ten minutes, and in no database, because no database may
// reveal where somebody drives (D13.1). On several nodes they are in the cache that the nodes share, encrypted, under a name that only the
// nodes can compute; while that is out of reach, in the memory of the node that the phone reached.
type destinations struct {
	shared DestinationCache // nil: there is one node
	aead   cipher.AEAD
	name   func(mapdata.AccountID) string // returns the name of an account's key in shared

	mu   sync.Mutex
	sent map[mapdata.AccountID]sentDestination
}

// sentDestination is a stored destination; one with a nil Destination is in shared.
type sentDestination struct {
	*Destination
	until  time.Time
	forget *time.Timer
}

// newDestinations returns the destinations of a single node. keyed hashes a text with the server's key.
func newDestinations(keyed func(text string) []byte) *destinations {
	d := &destinations{sent: map[mapdata.AccountID]sentDestination{}}
	block, _ := aes.NewCipher(keyed("wayside destination seal")) // the key has 32 bytes: never fails
	d.aead, _ = cipher.NewGCMWithRandomNonce(block)              // never fails for AES
	d.name = func(id mapdata.AccountID) string {
		return "destination/" + base64.RawURLEncoding.EncodeToString(keyed("wayside destination of\x00"+id.String()))
	}
	return d
}

// put replaces the previous destination for the account's cars. It returns false when too many accounts have one.
func (d *destinations) put(ctx context.Context, id mapdata.AccountID, sent *Destination, now time.Time) bool {
	until := now.Add(destinationTTL)
	if !d.keep(id, sentDestination{Destination: sent, until: until}, now) {
		return false
	}
	if d.shared != nil && d.share(ctx, id, sent, until) {
		d.keep(id, sentDestination{until: until}, now)
	}
	return true
}

// keep replaces the account's destination at this node, until it expires.
func (d *destinations) keep(id mapdata.AccountID, sent sentDestination, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, replaces := d.sent[id]
	if !replaces && len(d.sent) >= maxDestinations {
		return false
	}
	if replaces {
		before.forget.Stop()
	}
	sent.forget = time.AfterFunc(sent.until.Sub(now), func() { d.drop(id, sent.until) })
	d.sent[id] = sent
	return true
}

// drop removes the destination, unless a newer one replaced it.
func (d *destinations) drop(id mapdata.AccountID, until time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sent[id].until.Equal(until) {
		delete(d.sent, id)
	}
}

// sharedDestination is the encrypted value in the cache.
type sharedDestination struct {
	Destination
	Until time.Time
}

// share stores a destination in the cache of all nodes. It returns false if the cache does not answer, or others write there all the time.
func (d *destinations) share(ctx context.Context, id mapdata.AccountID, sent *Destination, until time.Time) bool {
	plain, err := json.Marshal(sharedDestination{*sent, until})
	if err != nil {
		return false
	}
	name := d.name(id)
	value := d.aead.Seal(nil, nil, plain, []byte(name))
	for range maxDestinationWrites {
		old, err := d.shared.Get(ctx, []string{name})
		if err != nil {
			return false
		}
		if done, err := d.shared.Swap(ctx, name, old[0], value, destinationTTL); done || err != nil {
			return done
		}
	}
	return false
}

// take removes the account's destination and returns it; nil: none.
func (d *destinations) take(ctx context.Context, id mapdata.AccountID, now time.Time) *Destination {
	d.mu.Lock()
	s, kept := d.sent[id]
	delete(d.sent, id)
	d.mu.Unlock()
	if kept {
		s.forget.Stop()
	}
	if s.Destination != nil && now.Before(s.until) {
		return s.Destination
	}
	if d.shared == nil {
		return nil
	}
	return d.takeShared(ctx, id, now)
}

// takeShared takes the destination out of the cache of all nodes. Where the cache does not answer, it returns nil and the car retries.
func (d *destinations) takeShared(ctx context.Context, id mapdata.AccountID, now time.Time) *Destination {
	name := d.name(id)
	values, err := d.shared.Get(ctx, []string{name})
	if err != nil || values[0] == nil {
		return nil
	}
	// Of two cars that ask at the same time, only one replaces the value.
	if done, err := d.shared.Swap(ctx, name, values[0], []byte{takenDestination}, time.Millisecond); !done || err != nil {
		return nil
	}
	var found sharedDestination
	plain, err := d.aead.Open(nil, nil, values[0], []byte(name))
	if err != nil || json.Unmarshal(plain, &found) != nil || !now.Before(found.Until) {
		return nil
	}
	return &found.Destination
}

// ShareDestinations makes destinations reach cars at all nodes of the cache. It is called before the service answers requests.
func (s *Service) ShareDestinations(cache DestinationCache) { s.destinations.shared = cache }

// SendDestination stores a destination until one of the account's paired screens takes it. It fails with mapdata.ErrConflict when the
// account has no paired screen.
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
	if !s.destinations.put(ctx, id, d, s.now()) {
		return mapdata.Describe(mapdata.ErrUnavailable, fmt.Sprintf("Too many destinations wait for their cars. Try again in %d minutes.", int(destinationTTL/time.Minute)))
	}
	return nil
}

// TakeDestination returns the destination that a phone sent, once, or nil if there is none.
func (s *Service) TakeDestination(ctx context.Context, id mapdata.AccountID) *Destination {
	return s.destinations.take(ctx, id, s.now())
}

func checkDestination(d *Destination) error {
	c := fieldErrors{}
	c.destination("", d)
	return c.Err()
}

// destination validates a destination whose fields have a prefix, such as "home.".
func (c *fieldErrors) destination(prefix string, d *Destination) {
	c.inRange(prefix+"lat", &d.Lat, -90, 90)
	c.inRange(prefix+"lng", &d.Lng, -180, 180)
	c.line(prefix+"name", d.Name)
	c.line(prefix+"detail", d.Detail)
}

func (c *fieldErrors) line(field, text string) {
	if utf8.RuneCountInString(text) > maxDestinationText || text != clean(text, maxDestinationText) {
		c.Add(field, "invalid_"+field[strings.LastIndexByte(field, '.')+1:], "must be one line of at most 200 characters, without control characters")
	}
}
