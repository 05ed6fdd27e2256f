package live

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

const (
	tries   = 20 // to swap one value: each that fails means that another writer got on
	writers = 8  // values written at a time: a shared cache is a network away
)

// taking is one answer on its way into the tiles.
type taking struct {
	answer *Answer
	area   circle
	at     int64 // when the answer came
	stamp  int64 // the upstream's own time; noTime: none
	now    int64

	ids    []tileID // the tiles that the area touches
	keys   []string
	values [][]byte // as they were at first
	tiles  []*tile

	stated map[string]int // places in pins by external id
	pins   []stating
	within [][]int // places in pins by tile
}

// stating is one pin of the answer, within its area.
type stating struct {
	pin     *Pin
	at      geo.Vector
	tile    int     // place in ids
	known   *record // the last word on it before, in any of the tiles; nil: none
	located int64   // when its locator was written; noTime: it is not
}

// Take stores an answer: what it says of its area replaces what its upstream said there before (D8.4). Pins that lie
// outside of the area, or nowhere, or are of no kind, are ignored. A pin that the upstream had in the same reply of its
// own cache before, by Stamp, is not renewed; an answer that came before what is stored overwrites nothing. Takes side by
// side lose nothing. It fails when the driver does, with mapdata.ErrConflict when others write the same tiles without
// end, and with mapdata.ErrMalformed for an area that is none; a part of the answer may be stored then.
func (c *Cache) Take(ctx context.Context, a *Answer) error {
	t, err := c.begin(ctx, a)
	if err != nil {
		return err
	}
	// Before the tiles, which say of their pins that these are located.
	if err := c.locate(ctx, t); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range t.ids {
		if t.values[i] != nil || len(t.within[i]) > 0 {
			group.Go(func() error { return c.write(ctx, t, i) })
		}
	}
	return group.Wait()
}

// begin reads what is stored of the area, and sorts the answer by it.
func (c *Cache) begin(ctx context.Context, a *Answer) (*taking, error) {
	area, err := circleOf(a.Center, a.Radius)
	if err != nil {
		return nil, err
	}
	t := &taking{
		answer: a, area: area, at: a.At.UnixMilli(), stamp: millisOf(a.Stamp), now: c.now().UnixMilli(),
		stated: make(map[string]int, len(a.Pins)),
	}
	places := make(map[tileID]int)
	var ring keyRing
	escaped := escape(a.Upstream)
	add := func(id tileID) int {
		i, ok := places[id]
		if !ok {
			i = len(t.ids)
			places[id] = i
			t.ids = append(t.ids, id)
			ring.addTile(escaped, id)
		}
		return i
	}
	for id := range area.tiles() {
		add(id)
	}
	for i := range a.Pins {
		t.state(&a.Pins[i], add)
	}
	t.within = make([][]int, len(t.ids))
	for n := range t.pins {
		at := t.pins[n].tile
		t.within[at] = append(t.within[at], n)
	}
	t.keys = ring.keys()
	if t.values, err = c.driver.Get(ctx, t.keys); err != nil {
		return nil, fmt.Errorf("live: read pins: %w", err)
	}
	t.tiles = c.tiles.all(t.keys, t.values, func(int) string { return a.Upstream }, c.now())
	t.recall()
	return t, nil
}

// state puts down one pin of the answer; of two under one external id, the later counts (D3.8).
func (t *taking) state(p *Pin, place func(tileID) int) {
	at := p.Point.Vector()
	if !p.Point.Valid() || !t.area.holds(at) || int(p.Kind) >= mapdata.KindCount {
		return
	}
	s := stating{pin: p, at: at, tile: place(grid.Cell(p.Point)), located: noTime}
	if n, ok := t.stated[p.ExternalID]; ok {
		t.pins[n] = s
		return
	}
	t.stated[p.ExternalID] = len(t.pins)
	t.pins = append(t.pins, s)
}

// recall finds what was said before of the answer's pins.
func (t *taking) recall() {
	for i, old := range t.tiles {
		if old == nil {
			continue
		}
		for j := range old.records {
			r := &old.records[j]
			n, ok := t.stated[r.pin.ExternalID]
			if !ok {
				continue
			}
			p := &t.pins[n]
			p.known = later(p.known, r)
			if p.tile == i {
				p.located = r.located
			}
		}
	}
}

// later gives the later word of two on one pin; either may be nil.
func later(a, b *record) *record {
	if a == nil || b != nil && (b.said > a.said || b.said == a.said && a.gone) {
		return b
	}
	return a
}

// write brings one tile up to the answer.
func (c *Cache) write(ctx context.Context, t *taking, i int) error {
	value, old := t.values[i], t.tiles[i]
	for range tries {
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

// merge makes a tile's records from what it held and what the answer says; changed is false when the answer says nothing
// of it that counts. old may be nil.
func (t *taking) merge(i int, old *tile) (records []record, changed bool) {
	var held []record
	if old != nil {
		held = old.records
	}
	records = make([]record, 0, len(held)+len(t.within[i]))
	here := make(map[int]*record)
	for j := range held {
		r := &held[j]
		n, stated := t.stated[r.pin.ExternalID]
		if stated {
			here[n] = r
		}
		switch {
		case stated && r.said <= t.at: // the answer's word takes its place, be it in this tile or another
			changed = true
		case r.lapsed(t.now):
		case !stated && !r.gone && r.said <= t.at && t.area.holds(r.pin.At):
			records = append(records, t.farewell(r))
			changed = true
		default:
			records = append(records, *r)
		}
	}
	for _, n := range t.within[i] {
		p := &t.pins[n]
		was := later(here[n], p.known)
		if was != nil && was.said > t.at {
			continue
		}
		records = append(records, t.record(p, was, here[n]))
		changed = true
	}
	return records, changed
}

// farewell is what stays of a pin that the answer lacks: enough to know it again.
func (t *taking) farewell(r *record) record {
	out := *r
	out.gone, out.said = true, t.at
	out.pin.Properties, out.pin.Line = nil, nil
	return out
}

// record makes a pin's record. was is the last word on it before, here what this tile held of it; both may be nil.
func (t *taking) record(p *stating, was, here *record) record {
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
	// What expired or went is new when it comes back (D3.6), unless it is the same word again.
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
