package traffic

import (
	"container/heap"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// timetable is what must be read again, and when. Its zero value is empty.
type timetable struct{ entries entries }

// maxEntries bounds the timetable: a provider could move the end of a pin with every push. What is left out is read with the
// next change nearby.
const maxEntries = 1 << 18

func (t *timetable) add(at time.Time, area geo.Circle) {
	if at.Before(mapdata.ForGood()) && len(t.entries) < maxEntries {
		heap.Push(&t.entries, mapdata.Return{At: at, Area: area})
	}
}

// due takes the areas whose time has come.
func (t *timetable) due(now time.Time) []geo.Circle {
	var areas []geo.Circle
	for len(t.entries) > 0 && !t.entries[0].At.After(now) {
		areas = append(areas, t.entries[0].Area)
		heap.Pop(&t.entries)
	}
	return areas
}

// next is how long nothing is due, at most maxSleep.
func (t *timetable) next(now time.Time) time.Duration {
	if len(t.entries) == 0 {
		return maxSleep
	}
	return min(maxSleep, max(0, t.entries[0].At.Sub(now)))
}

// entries is a heap, the earliest first.
type entries []mapdata.Return

func (e entries) Len() int           { return len(e) }
func (e entries) Less(i, j int) bool { return e[i].At.Before(e[j].At) }
func (e entries) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push is for container/heap.
func (e *entries) Push(x any) {
	if r, ok := x.(mapdata.Return); ok {
		*e = append(*e, r)
	}
}

// Pop is for container/heap.
func (e *entries) Pop() any {
	last := len(*e) - 1
	r := (*e)[last]
	*e = (*e)[:last]
	return r
}
