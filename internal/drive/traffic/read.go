package traffic

import (
	"context"
	"slices"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// pending holds the areas that were notified and are not read yet. Conditions that are due by time stay in the timetable
// instead.
type pending struct {
	everywhere bool
	areas      []geo.Circle // at most maxAreas; if there are more, everywhere is set instead
}

// take adds the notified changes to the pending ones. It processes each notification once, however often reads fail
// afterwards.
func (f *Follower) take(ctx context.Context, moved mapdata.Touched) {
	f.pending.everywhere = f.pending.everywhere || moved.Everywhere
	for _, area := range moved.Areas {
		f.addArea(area)
	}
	for _, r := range moved.Returns {
		f.known.again.setReturn(r)
	}
	for i := range moved.Live {
		vote := &moved.Live[i]
		area, ok := f.locate(ctx, vote.ExternalID)
		if !ok {
			continue
		}
		f.addArea(area)
		if until := vote.WithheldUntil(vote.Kind); !until.IsZero() {
			f.known.again.setReturn(mapdata.Return{EntityID: mapdata.EntityID(mapdata.Incidents, vote.ExternalID), At: until, Area: area})
		}
	}
}

// addArea adds an area to the pending ones, unless it is too far from the network to change anything there.
func (f *Follower) addArea(area geo.Circle) {
	p := &f.pending
	if p.everywhere || !readCircle(area).Box().Meets(f.Bounds) {
		return
	}
	if len(p.areas) == maxAreas {
		p.everywhere = true
		return
	}
	p.areas = append(p.areas, area)
}

// readPending reads what is pending and what is due. An area is forgotten only after it was read.
func (f *Follower) readPending(ctx context.Context, now time.Time) error {
	p, again := &f.pending, &f.known.again
	if p.everywhere || again.dueBeyond(maxAreas, now) {
		if err := f.readAll(ctx, now); err != nil {
			p.everywhere = true
			return err
		}
		*p = pending{}
		for e := again.due(now); e != nil; e = again.due(now) {
			again.remove(e)
		}
		return nil
	}
	for i, area := range p.areas {
		if err := f.readArea(ctx, area, now); err != nil {
			p.areas = slices.Clone(p.areas[i:])
			return err
		}
	}
	p.areas = nil
	for e := again.due(now); e != nil; e = again.due(now) {
		if err := f.readArea(ctx, e.area, now); err != nil {
			return err
		}
		if e == again.due(now) { // only ends of suppressions remain due here: a condition that was read got a new time, or is gone
			again.remove(e)
		}
	}
	return nil
}

// locate returns the place of a live incident.
func (f *Follower) locate(ctx context.Context, externalID string) (geo.Circle, bool) {
	if c := f.known.byID[mapdata.EntityID(mapdata.Incidents, externalID)]; c != nil {
		return geo.Circle{Center: c.pins[0].at, Radius: 1}, true
	}
	if f.Locate == nil {
		return geo.Circle{}, false
	}
	at, ok := f.Locate(ctx, externalID)
	return geo.Circle{Center: at, Radius: 1}, ok
}

// nearCircle returns the circle in which a change within an area may affect conditions.
func nearCircle(area geo.Circle) geo.Circle {
	area.Radius += mergeDistance
	return area
}

// readCircle returns the circle that must be read for a change within an area: everything that may be merged with the
// pins in nearCircle.
func readCircle(area geo.Circle) geo.Circle { return nearCircle(nearCircle(area)) }

// readArea reads the conditions in a circle again.
func (f *Follower) readArea(ctx context.Context, area geo.Circle, now time.Time) error {
	near, read := nearCircle(area), readCircle(area)
	bounds := f.Bounds.Grown(mergeDistance)
	found := map[string]*Condition{}
	collect := func(h *mapdata.Hit) {
		if !bounds.Contains(h.Point) {
			return // as readAll does, so that every known condition stays within reach of later reads
		}
		if c := f.condition(h, now); slices.ContainsFunc(c.pins, within(near)) {
			found[c.EntityID] = c
		}
	}
	if read.Radius <= largestCircle {
		more, err := f.Reader.Read(ctx, read, nil, f.kinds, readLimit, collect)
		if err != nil {
			return err
		}
		if !more {
			f.replace(f.known.within(near), found)
			return nil
		}
	}
	clear(found)
	if err := f.readBox(ctx, read.Box(), collect); err != nil {
		return err
	}
	f.replace(f.known.within(near), found)
	return nil
}

// condition returns the current condition of a pin, which often is its previous one.
func (f *Follower) condition(h *mapdata.Hit, now time.Time) *Condition {
	id := mapdata.EntityID(h.Source, string(h.ExternalID))
	return f.Network.conditionOf(h, id, f.known.byID[id], now, f.left)
}

// largestCircle is the radius in metres of the largest circle of one read: beyond it, live incidents are not included.
const largestCircle = 50_000

// readAll reads the whole network again.
func (f *Follower) readAll(ctx context.Context, now time.Time) error {
	found := map[string]*Condition{}
	err := f.readBox(ctx, f.Bounds.Grown(mergeDistance), func(h *mapdata.Hit) {
		c := f.condition(h, now)
		found[c.EntityID] = c
	})
	if err != nil {
		return err
	}
	old := make([]*Condition, 0, len(f.known.byID))
	for _, c := range f.known.byID {
		old = append(old, c)
	}
	f.replace(old, found)
	return nil
}

// readBox reads a box, in parts that are small enough for one read each.
func (f *Follower) readBox(ctx context.Context, box geo.Box, each func(*mapdata.Hit)) error {
	if box.North-box.South <= largestBox && box.East-box.West <= largestBox {
		around := box.Grown(mergeDistance) // so that pins on both sides of an edge are merged
		more, err := f.Reader.Read(ctx, around.Circle(), &around, f.kinds, readLimit, func(h *mapdata.Hit) {
			if box.Contains(h.Point) {
				each(h)
			}
		})
		if err != nil || !more || box.North-box.South < smallestBox {
			return err
		}
	}
	lat, lng := (box.South+box.North)/2, (box.West+box.East)/2
	for _, part := range [...]geo.Box{
		{South: box.South, West: box.West, North: lat, East: lng},
		{South: box.South, West: lng, North: lat, East: box.East},
		{South: lat, West: box.West, North: box.North, East: lng},
		{South: lat, West: lng, North: box.North, East: box.East},
	} {
		if err := f.readBox(ctx, part, each); err != nil {
			return err
		}
	}
	return nil
}

// replace replaces the old conditions by those that were found.
func (f *Follower) replace(old []*Condition, found map[string]*Condition) {
	for _, c := range old {
		if found[c.EntityID] == nil {
			f.known.remove(c)
		}
	}
	for _, c := range found {
		f.known.put(c)
	}
}
