package live

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

const (
	maxSwaps       = 20 // attempts to swap one value: each that fails means that another writer succeeded
	parallelWrites = 8  // values written at a time: a shared cache is a network away
)

// update is one answer that is being written into the tiles.
type update struct {
	answer *Answer
	area   area
	at     int64 // when the answer arrived
	stamp  int64 // the upstream's own time; noTime: none
	now    int64

	ids    []geo.Cell // the tiles that the area touches
	keys   []string
	values [][]byte // before the update
	tiles  []*tile

	byID   map[string]int // indexes in pins by external id
	pins   []statement
	within [][]int // indexes in pins by tile
}

// statement is one pin of the answer that lies within its area.
type statement struct {
	pin     *Pin
	at      geo.Vector
	tile    int     // index in ids
	known   *record // its newest previous record, in any of the tiles; nil: none
	located int64   // when its locator was written; noTime: never
}

// Take stores an answer: its pins replace those of its upstream in its area (D8.4). It ignores pins outside of the
// area, without a valid position, or of an unknown kind. It does not renew a pin that the upstream had in the same
// reply of its own cache before, by Stamp; an answer older than the stored one overwrites nothing. Concurrent calls
// lose nothing. Take fails when the driver does, with mapdata.ErrConflict when others keep writing the same tiles, and
// with mapdata.ErrMalformed for an invalid area; a part of the answer may be stored then.
func (c *Cache) Take(ctx context.Context, a *Answer) error {
	t, err := c.begin(ctx, a)
	if err != nil {
		return err
	}
	// Before the tiles, whose records state that the pins are located.
	if err := c.locate(ctx, t); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelWrites)
	for i := range t.ids {
		if t.values[i] != nil || len(t.within[i]) > 0 {
			group.Go(func() error { return c.write(ctx, t, i) })
		}
	}
	return group.Wait()
}

// begin reads the stored tiles of the area, and groups the answer by tile.
func (c *Cache) begin(ctx context.Context, a *Answer) (*update, error) {
	area, err := newArea(a.Center, a.Radius)
	if err != nil {
		return nil, err
	}
	t := &update{
		answer: a, area: area, at: a.At.UnixMilli(), stamp: millisOf(a.Stamp), now: c.now().UnixMilli(),
		byID: make(map[string]int, len(a.Pins)),
	}
	places := make(map[geo.Cell]int)
	var keyNames keyBuilder
	escaped := escape(a.Upstream)
	placeOf := func(id geo.Cell) int {
		i, ok := places[id]
		if !ok {
			i = len(t.ids)
			places[id] = i
			t.ids = append(t.ids, id)
			keyNames.addTile(escaped, id)
		}
		return i
	}
	for id := range area.tiles() {
		placeOf(id)
	}
	for i := range a.Pins {
		t.add(&a.Pins[i], placeOf)
	}
	t.within = make([][]int, len(t.ids))
	for n := range t.pins {
		at := t.pins[n].tile
		t.within[at] = append(t.within[at], n)
	}
	t.keys = keyNames.keys()
	if t.values, err = c.driver.Get(ctx, t.keys); err != nil {
		return nil, fmt.Errorf("live: read pins: %w", err)
	}
	t.tiles = c.tiles.all(t.keys, t.values, func(int) string { return a.Upstream }, c.now())
	t.findKnown()
	return t, nil
}

// add adds one pin of the answer; of two with one external id the later counts (D3.8).
func (t *update) add(p *Pin, place func(geo.Cell) int) {
	at := p.Point.Vector()
	if !p.Point.Valid() || !t.area.contains(at) || int(p.Kind) >= mapdata.KindCount {
		return
	}
	s := statement{pin: p, at: at, tile: place(tileGrid.Cell(p.Point)), located: noTime}
	if n, ok := t.byID[p.ExternalID]; ok {
		t.pins[n] = s
		return
	}
	t.byID[p.ExternalID] = len(t.pins)
	t.pins = append(t.pins, s)
}

// findKnown finds the newest previous record of each of the answer's pins.
func (t *update) findKnown() {
	for i, old := range t.tiles {
		if old == nil {
			continue
		}
		for j := range old.records {
			r := &old.records[j]
			n, ok := t.byID[r.pin.ExternalID]
			if !ok {
				continue
			}
			p := &t.pins[n]
			p.known = latest(p.known, r)
			if p.tile == i {
				p.located = r.located
			}
		}
	}
}

// latest returns the newer of two records of one pin; either may be nil.
func latest(a, b *record) *record {
	if a == nil || b != nil && (b.said > a.said || b.said == a.said && a.gone) {
		return b
	}
	return a
}

// write updates one tile by compare and swap.
func (c *Cache) write(ctx context.Context, t *update, i int) error {
	value, old := t.values[i], t.tiles[i]
	for range maxSwaps {
		records, changed := t.merge(i, old)
		if !changed {
			return nil
		}
		done, err := c.driver.Swap(ctx, t.keys[i], value, writeTile(records), Freshness)
		if err != nil {
			return fmt.Errorf("live: write pins: %w", err)
		}
		if done {
			return nil
		}
		values, err := c.driver.Get(ctx, t.keys[i:i+1])
		if err != nil {
			return fmt.Errorf("live: read pins: %w", err)
		}
		value = values[0]
		old = c.tiles.all(t.keys[i:i+1], values, func(int) string { return t.answer.Upstream }, c.now())[0]
	}
	return fmt.Errorf("live: write pins: %w", mapdata.ErrConflict)
}

// merge merges a tile's records with the answer; changed is false when the answer changes nothing in it. old may be
// nil.
func (t *update) merge(i int, old *tile) (records []record, changed bool) {
	var held []record
	if old != nil {
		held = old.records
	}
	records = make([]record, 0, len(held)+len(t.within[i]))
	here := make(map[int]*record)
	for j := range held {
		r := &held[j]
		n, stated := t.byID[r.pin.ExternalID]
		if stated {
			here[n] = r
		}
		switch {
		case stated && r.said <= t.at: // the answer's record replaces it, in this tile or another
			changed = true
		case r.obsolete(t.now):
		case !stated && !r.gone && r.said <= t.at && t.area.contains(r.pin.At):
			records = append(records, t.tombstone(r))
			changed = true
		default:
			records = append(records, *r)
		}
	}
	for _, n := range t.within[i] {
		p := &t.pins[n]
		was := latest(here[n], p.known)
		if was != nil && was.said > t.at {
			continue
		}
		records = append(records, t.record(p, was, here[n]))
		changed = true
	}
	return records, changed
}

// tombstone returns the tombstone of a pin that the new answer no longer contains, so that an older answer that arrives
// late does not bring the pin back.
func (t *update) tombstone(r *record) record {
	out := *r
	out.gone, out.said = true, t.at
	out.pin.Properties, out.pin.Line = nil, nil
	return out
}

// record returns a pin's record. was is its newest previous record, here the previous one in this tile; both may be
// nil.
func (t *update) record(p *statement, was, here *record) record {
	r := record{pin: *p.pin, said: t.at, located: p.located}
	if here != nil {
		r.located = max(r.located, here.located)
	}
	e := &r.pin
	e.At, e.Stamp = p.at, timeOf(t.stamp)
	if e.Lifetime <= 0 || e.Lifetime > Freshness {
		e.Lifetime = Freshness
	}
	at := timeOf(t.at)
	e.SeenAt, e.ChangedAt = at, at
	if e.FirstSeenAt.IsZero() || e.FirstSeenAt.After(at) {
		e.FirstSeenAt = at
	}
	if was == nil {
		return r
	}
	replay := t.stamp != noTime && was.stamp() == t.stamp
	if replay {
		e.SeenAt = was.pin.SeenAt
	}
	// A pin that expired or was removed is new when it comes back (D3.6), unless the upstream repeats the same reply.
	if !replay && (was.gone || was.until() <= t.at) {
		return r
	}
	if was.pin.FirstSeenAt.Before(e.FirstSeenAt) {
		e.FirstSeenAt = was.pin.FirstSeenAt
	}
	if !was.gone && was.pin.Digest == e.Digest {
		e.ChangedAt = was.pin.ChangedAt
	}
	return r
}
