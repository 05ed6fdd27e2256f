package live

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// A locator names the tiles in which a pin may be, for Find. It is written when the pin is new in its tile, and again
// when half of its lifetime is over, so that an unchanged pin costs no write.
const (
	locatorLife    = 2*Freshness + time.Minute
	locatorVersion = 1
	placeSize      = 16
	maxPlaces      = 4
)

// place is a tile in which a pin was seen.
type place struct {
	tile geo.Cell
	seen int64
}

func appendPlaces(dst []byte, places []place) []byte {
	dst = append(dst, locatorVersion)
	for _, p := range places {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(p.tile.Band))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(p.tile.Column))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(p.seen))
	}
	return dst
}

// readPlaces parses the output of appendPlaces, and returns nil for any other value.
func readPlaces(value []byte) []place {
	if len(value) == 0 || value[0] != locatorVersion || (len(value)-1)%placeSize != 0 || len(value) > 1+maxPlaces*placeSize {
		return nil
	}
	places := make([]place, 0, maxPlaces)
	for in := value[1:]; len(in) > 0; in = in[placeSize:] {
		places = append(places, place{
			tile: geo.Cell{
				Band:   int32(binary.LittleEndian.Uint32(in)),
				Column: int32(binary.LittleEndian.Uint32(in[4:])),
			},
			seen: int64(binary.LittleEndian.Uint64(in[8:])),
		})
	}
	return places
}

// addPlace adds or renews a place: the latest come first, and those that are too old or too many are dropped.
func addPlace(places []place, p place) []place {
	places = slices.DeleteFunc(places, func(o place) bool {
		if o.tile == p.tile {
			p.seen = max(p.seen, o.seen)
			return true
		}
		return p.seen-o.seen >= locatorLife.Milliseconds()
	})
	places = append(places, p)
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(b.seen, a.seen) })
	return places[:min(len(places), maxPlaces)]
}

// locate writes the locators that the answer's pins need.
func (c *Cache) locate(ctx context.Context, t *update) error {
	var missing []int
	var keys []string
	for n := range t.pins {
		p := &t.pins[n]
		if p.located == noTime || t.at-p.located >= Freshness.Milliseconds() {
			missing = append(missing, n)
			keys = append(keys, locatorKey(t.answer.Upstream, p.pin.ExternalID))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	values, err := c.driver.Get(ctx, keys)
	if err != nil {
		return fmt.Errorf("live: read locators: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelWrites)
	for k, n := range missing {
		p := &t.pins[n]
		group.Go(func() error {
			if err := c.writePlace(ctx, keys[k], values[k], place{t.ids[p.tile], t.at}); err != nil {
				return err
			}
			p.located = t.at
			return nil
		})
	}
	return group.Wait()
}

func (c *Cache) writePlace(ctx context.Context, key string, old []byte, p place) error {
	for range maxSwaps {
		done, err := c.driver.Swap(ctx, key, old, appendPlaces(nil, addPlace(readPlaces(old), p)), locatorLife)
		if err != nil {
			return fmt.Errorf("live: write locators: %w", err)
		}
		if done {
			return nil
		}
		values, err := c.driver.Get(ctx, []string{key})
		if err != nil {
			return fmt.Errorf("live: read locators: %w", err)
		}
		old = values[0]
	}
	return fmt.Errorf("live: write locators: %w", mapdata.ErrConflict)
}
