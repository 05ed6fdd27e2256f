package traffic

import (
	"container/heap"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// timetable holds the times at which areas must be read again: one entry for each condition and each suppression,
// however often their times change. So it is bounded by the known conditions, and never drops an entry; a provider that
// moves the end of a pin with every push moves one entry. Its zero value is empty.
type timetable struct {
	entries entries
	returns map[string]*entry // ends of suppressions, by the entities that they hide
}

// entry is a time, and the area to read then. Its zero value is in no timetable.
type entry struct {
	at   time.Time
	area geo.Circle
	slot int    // its index in the heap plus 1; 0: it is in none
	key  string // key in returns; empty for conditions
}

// set adds an entry, or moves it to another time and area. It removes the entry if the time is zero or mapdata.ForGood.
func (t *timetable) set(e *entry, at time.Time, area geo.Circle) {
	if at.IsZero() || !at.Before(mapdata.ForGood()) {
		t.remove(e)
		return
	}
	e.at, e.area = at, area
	if e.slot > 0 {
		heap.Fix(&t.entries, e.slot-1)
		return
	}
	heap.Push(&t.entries, e)
}

// remove removes an entry, if it is in the timetable.
func (t *timetable) remove(e *entry) {
	if e.slot > 0 {
		heap.Remove(&t.entries, e.slot-1)
	}
	if t.returns[e.key] == e {
		delete(t.returns, e.key)
	}
}

// setReturn records when a suppression ends. A later call for the same entity replaces the earlier time.
func (t *timetable) setReturn(r mapdata.Return) {
	e := t.returns[r.EntityID]
	if e == nil {
		if t.returns == nil {
			t.returns = make(map[string]*entry)
		}
		e = &entry{key: r.EntityID}
		t.returns[r.EntityID] = e
	}
	t.set(e, r.At, r.Area)
}

// due returns the earliest entry that is due, or nil. The entry stays in the timetable until the caller, after reading
// its area, calls remove or set, so that a failed read loses nothing.
func (t *timetable) due(now time.Time) *entry {
	if len(t.entries) == 0 || t.entries[0].at.After(now) {
		return nil
	}
	return t.entries[0]
}

// dueBeyond reports whether more than limit entries are due. It visits at most about twice as many.
func (t *timetable) dueBeyond(limit int, now time.Time) bool {
	found := 0
	var count func(at int)
	count = func(at int) {
		if found > limit || at >= len(t.entries) || t.entries[at].at.After(now) {
			return
		}
		found++
		count(2*at + 1)
		count(2*at + 2)
	}
	count(0)
	return found > limit
}

// next returns how long the caller may sleep until the next entry is due, at most maxSleep.
func (t *timetable) next(now time.Time) time.Duration {
	if len(t.entries) == 0 {
		return maxSleep
	}
	return min(maxSleep, max(0, t.entries[0].at.Sub(now)))
}

// entries is a heap with the earliest entry first. Its entries know their slots.
type entries []*entry

func (e entries) Len() int           { return len(e) }
func (e entries) Less(i, j int) bool { return e[i].at.Before(e[j].at) }
func (e entries) Swap(i, j int) {
	e[i], e[j] = e[j], e[i]
	e[i].slot, e[j].slot = i+1, j+1
}

// Push implements heap.Interface.
func (e *entries) Push(x any) {
	if added, ok := x.(*entry); ok {
		*e = append(*e, added)
		added.slot = len(*e)
	}
}

// Pop implements heap.Interface.
func (e *entries) Pop() any {
	last := len(*e) - 1
	removed := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	removed.slot = 0
	return removed
}
