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

	"wayside/internal/mapdata"
)

// Bounds of destinations that phones send to cars.
const (
	destinationTTL     = 10 * time.Minute
	maxDestinations    = 10_000 // of all accounts that sent one by this node, each of at most two kilobytes
	maxDestinationText = 200    // characters

	maxDestinationWrites = 4 // attempts to replace one in the shared cache
	takenDestination     = 0 // replaces one for a millisecond
)

// Destination is where a driver wants to go, as a phone sends it to the account's cars, or as the driver keeps it.
type Destination struct {
	Lat, Lng     float64
	Name, Detail string
}

// DestinationCache keeps small values for a while where all nodes find them, and may lose them.
type DestinationCache interface {
	// Get returns the values under the keys in their order, nil where there is none.
	Get(ctx context.Context, keys []string) ([][]byte, error)
	// Swap puts value under key for ttl if the key holds exactly old now (nil: nothing), and says whether it did.
	Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error)
}

// destinations keeps what phones sent until a car takes it, for at most ten minutes: where somebody drives is in no database
// (D13.1). On several nodes it lies in the cache that they share, encrypted, under a name that only they can compute; while that
// is out of reach, in the memory of the node that the phone reached.
type destinations struct {
	shared DestinationCache // nil: there is one node
	aead   cipher.AEAD
	name   func(mapdata.AccountID) string // of an account's key in shared

	mu   sync.Mutex
	sent map[mapdata.AccountID]sentDestination
}

// sentDestination is in shared if its Destination is nil.
type sentDestination struct {
	*Destination
	until  time.Time
	forget *time.Timer
}

// newDestinations makes those of a single node. keyed hashes a text with the server's key.
func newDestinations(keyed func(text string) []byte) *destinations {
	d := &destinations{sent: map[mapdata.AccountID]sentDestination{}}
	block, _ := aes.NewCipher(keyed("wayside destination seal")) // the key has 32 bytes: it never fails
	d.aead, _ = cipher.NewGCMWithRandomNonce(block)              // nor does this, for AES
	d.name = func(id mapdata.AccountID) string {
		return "destination/" + base64.RawURLEncoding.EncodeToString(keyed("wayside destination of\x00"+id.String()))
	}
	return d
}

// put replaces what was sent to the account's cars before. It reports false when too many accounts have one.
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

// keep replaces what this node has of an account, until the time is up.
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

// drop forgets what was sent, unless something newer was.
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

// share puts what was sent into the cache of all nodes; false: it does not answer, or others write there all the time.
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

// take removes what was sent and returns it; nil: nothing.
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

// takeShared takes it out of the cache of all nodes. Where the cache does not answer, the car asks again.
func (d *destinations) takeShared(ctx context.Context, id mapdata.AccountID, now time.Time) *Destination {
	name := d.name(id)
	values, err := d.shared.Get(ctx, []string{name})
	if err != nil || values[0] == nil {
		return nil
	}
	// Of two cars that ask at the same time, one replaces the value.
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

// ShareDestinations has destinations reach cars at all nodes of the cache. It is called before the service answers requests.
func (s *Service) ShareDestinations(cache DestinationCache) { s.destinations.shared = cache }

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
	if !s.destinations.put(ctx, id, d, s.now()) {
		return mapdata.Describe(mapdata.ErrUnavailable, fmt.Sprintf("Too many destinations wait for their cars. Try again in %d minutes.", int(destinationTTL/time.Minute)))
	}
	return nil
}

// TakeDestination returns the destination that a phone sent, once; nil: there is none.
func (s *Service) TakeDestination(ctx context.Context, id mapdata.AccountID) *Destination {
	return s.destinations.take(ctx, id, s.now())
}

func checkDestination(d *Destination) error {
	c := fieldErrors{}
	c.destination("", d)
	return c.Err()
}

// destination checks a destination whose fields have a prefix, such as "home.".
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
