package live

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"wayside/internal/mapdata"
)

// A locator says in which tiles a pin may stand, so that Find need not know where to look. It is written when the pin is
// new in its tile, and again when half of its time is over: what stays where it is costs no writing.
const (
	locatorLife    = 2*Freshness + time.Minute
	locatorVersion = 1
	placeSize      = 16
	mostPlaces     = 4
)

// place is a tile in which a pin was seen.
type place struct {
	tile tileID
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

// readPlaces gives nothing for what appendPlaces did not write.
func readPlaces(value []byte) []place {
	if len(value) == 0 || value[0] != locatorVersion || (len(value)-1)%placeSize != 0 || len(value) > 1+mostPlaces*placeSize {
		return nil
	}
	places := make([]place, 0, mostPlaces)
	for in := value[1:]; len(in) > 0; in = in[placeSize:] {
		places = append(places, place{
			tile: tileID{
				Band:   int32(binary.LittleEndian.Uint32(in)),
				Column: int32(binary.LittleEndian.Uint32(in[4:])),
			},
			seen: int64(binary.LittleEndian.Uint64(in[8:])),
		})
	}
	return places
}

// with adds a place, or renews it: the latest come first, and those that are too old or too many go.
func with(places []place, p place) []place {
	places = slices.DeleteFunc(places, func(o place) bool {
		if o.tile == p.tile {
			p.seen = max(p.seen, o.seen)
			return true
		}
		return p.seen-o.seen >= locatorLife.Milliseconds()
	})
	places = append(places, p)
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(b.seen, a.seen) })
	return places[:min(len(places), mostPlaces)]
}

// locate writes the locators that the answer's pins need.
func (c *Cache) locate(ctx context.Context, t *taking) error {
	var need []int
	var keys []string
	for n := range t.pins {
		p := &t.pins[n]
		if p.located == noTime || t.at-p.located >= Freshness.Milliseconds() {
			need = append(need, n)
			keys = append(keys, locatorKey(t.answer.Upstream, p.pin.ExternalID))
		}
	}
	if len(need) == 0 {
		return nil
	}
	values, err := c.driver.Get(ctx, keys)
	if err != nil {
		return fmt.Errorf("live: read locators: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for k, n := range need {
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
	for range tries {
		done, err := c.driver.Swap(ctx, key, old, appendPlaces(nil, with(readPlaces(old), p)), locatorLife)
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
