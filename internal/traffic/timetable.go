package traffic

import (
	"container/heap"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// timetable holds what must be read again, and when: one entry for each condition and each suppression, however often their
// times change. So it is bounded by what is known of the network, and nothing is left out. A provider that moves the end of a
// pin with every push moves one entry. Its zero value is empty.
type timetable struct {
	entries entries
	returns map[string]*entry // ends of suppressions, by the entities that they hide
}

// entry is a time and the area that is read then. Its zero value is in no timetable.
type entry struct {
	at   time.Time
	area geo.Circle
	slot int    // its place in the heap, from 1; 0: it is in none
	key  string // in returns, if it is a return
}

// set adds an entry, or moves it to another time and area. A time that never comes takes it out.
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

// remove takes an entry out, if it is in the timetable.
func (t *timetable) remove(e *entry) {
	if e.slot > 0 {
		heap.Remove(&t.entries, e.slot-1)
	}
	if t.returns[e.key] == e {
		delete(t.returns, e.key)
	}
}

// setReturn notes when a suppression ends. A later notice for the same entity replaces an earlier one.
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

// due returns the entry whose time came first, or nil if none has come. It stays in the timetable until remove or set is
// called, which is after its area was read: a read that fails loses nothing.
func (t *timetable) due(now time.Time) *entry {
	if len(t.entries) == 0 || t.entries[0].at.After(now) {
		return nil
	}
	return t.entries[0]
}

// dueBeyond reports whether more than limit entries are due. It looks at no more than twice as many.
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

// next returns for how long nothing is due, at most maxSleep.
func (t *timetable) next(now time.Time) time.Duration {
	if len(t.entries) == 0 {
		return maxSleep
	}
	return min(maxSleep, max(0, t.entries[0].at.Sub(now)))
}

// entries is a heap, the earliest first, whose entries know their places.
type entries []*entry

func (e entries) Len() int           { return len(e) }
func (e entries) Less(i, j int) bool { return e[i].at.Before(e[j].at) }
func (e entries) Swap(i, j int) {
	e[i], e[j] = e[j], e[i]
	e[i].slot, e[j].slot = i+1, j+1
}

// Push is for container/heap.
func (e *entries) Push(x any) {
	if added, ok := x.(*entry); ok {
		*e = append(*e, added)
		added.slot = len(*e)
	}
}

// Pop is for container/heap.
func (e *entries) Pop() any {
	last := len(*e) - 1
	removed := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	removed.slot = 0
	return removed
}
