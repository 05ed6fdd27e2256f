package live

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// maxParsedBytes is the memory that one generation of parsed tiles may take; there are two.
const maxParsedBytes = 64 << 20

// Cache implements the rules of live incidents (D8.3, D8.4) on top of a driver. It is safe for concurrent use, in one
// process and in several over one driver.
type Cache struct {
	driver    Driver
	now       func() time.Time
	tiles     tiles
	selectors sync.Pool // of *selector
}

// New returns a cache over driver. encode appends the form of an entity that readers get, which becomes Pin.Prepared.
func New(driver Driver, encode func(dst []byte, e *mapdata.Entity) []byte, now func() time.Time) *Cache {
	return &Cache{
		driver: driver, now: now,
		tiles: tiles{encode: encode, seed: maphash.MakeSeed(), limit: maxParsedBytes, current: make(map[string]*tile)},
	}
}

// Near appends to pins those of the upstreams that are fresh and lie within radius metres of center, in no order. The
// appended pins are shared and read-only, and stay valid for as long as they are referenced. It fails when the driver
// does, and with mapdata.ErrMalformed for a circle that is invalid or too large.
func (c *Cache) Near(
	ctx context.Context, upstreams []string, center geo.Point, radius float64, pins []*Pin,
) ([]*Pin, error) {
	area, err := newArea(center, radius)
	if err != nil || len(upstreams) == 0 {
		return pins, err
	}
	s, ok := c.selectors.Get().(*selector)
	if !ok {
		s = new(selector)
	}
	defer c.selectors.Put(s)
	keyNames := &s.keyNames
	for _, upstream := range upstreams {
		escaped := escape(upstream)
		for id := range area.tiles() {
			keyNames.addTile(escaped, id)
		}
	}
	keys := keyNames.keys()
	values, err := c.driver.Get(ctx, keys)
	if err != nil {
		return pins, fmt.Errorf("live: read pins: %w", err)
	}
	now := c.now()
	each := len(keys) / len(upstreams)
	found := c.tiles.all(keys, values, func(i int) string { return upstreams[i/each] }, now)
	for ; len(found) > 0; found = found[each:] {
		pins = s.selectPins(found[:each], &area, now.UnixMilli(), pins)
	}
	return pins, nil
}

// Find returns the fresh pins of the upstreams under the external id: at most one of each upstream, shared and
// read-only. It fails when the driver does.
func (c *Cache) Find(ctx context.Context, upstreams []string, externalID string) ([]*Pin, error) {
	locators := make([]string, len(upstreams))
	for i, upstream := range upstreams {
		locators[i] = locatorKey(upstream, externalID)
	}
	values, err := c.driver.Get(ctx, locators)
	if err != nil {
		return nil, fmt.Errorf("live: read locators: %w", err)
	}
	var keyNames keyBuilder
	var of []int // the upstream of each key
	for i, value := range values {
		for _, p := range readPlaces(value) {
			keyNames.addTile(escape(upstreams[i]), p.tile)
			of = append(of, i)
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	keys := keyNames.keys()
	if values, err = c.driver.Get(ctx, keys); err != nil {
		return nil, fmt.Errorf("live: read pins: %w", err)
	}
	now := c.now()
	best := make([]*mark, len(upstreams))
	pins := make([]*Pin, len(upstreams))
	hash := maphash.String(c.tiles.seed, externalID)
	for k, t := range c.tiles.all(keys, values, func(k int) string { return upstreams[of[k]] }, now) {
		if m, r := t.find(hash, externalID); m != nil && (best[of[k]] == nil || m.newerThan(best[of[k]])) {
			best[of[k]], pins[of[k]] = m, &r.pin
		}
	}
	var fresh []*Pin
	for i, m := range best {
		if m != nil && m.fresh(now.UnixMilli()) {
			fresh = append(fresh, pins[i])
		}
	}
	return fresh, nil
}

// find returns the record of an external id, or nil; the tile may be nil.
func (t *tile) find(hash uint64, externalID string) (*mark, *record) {
	if t == nil {
		return nil, nil
	}
	for i := range t.marks {
		if t.marks[i].hash == hash && t.records[i].pin.ExternalID == externalID {
			return &t.marks[i], &t.records[i]
		}
	}
	return nil, nil
}
