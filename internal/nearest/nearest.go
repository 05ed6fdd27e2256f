// Package nearest puts what was found around a place in order.
package nearest

import "slices"

// Item stands for something found: large things are ordered by these, and moved once.
type Item struct {
	Chord float64 // squared chord to the centre, 0 to 4, see package geo
	Place uint64  // where it is found again
}

// Ties orders what lies equally far. It gives 0 only for one and the same place.
type Ties interface {
	CompareTies(a, b uint64) int
}

// Order keeps its memory from call to call. The zero value is ready; it serves one goroutine at a time.
type Order struct {
	steps []int
	spare []Item
}

const (
	// onePlace is a squared chord of some nanometres. Steps of less would be divided by next to nothing.
	onePlace = 1e-30
	// few are sorted as quickly by comparing them.
	few = 12
)

// Sort gives the items, nearest first, in an array that may be another one: the one given is then the order's own.
//
// Area grows as the squared chord does: what lies about evenly falls evenly into steps of it, of which there are as many as
// items, and little is left to compare.
func (o *Order) Sort(items []Item, ties Ties) []Item {
	n := len(items)
	if n <= few {
		sort(items, ties)
		return items
	}
	farthest := 0.0
	for i := range items {
		farthest = max(farthest, items[i].Chord)
	}
	scale := 0.0 // all in one step
	if farthest > onePlace {
		scale = float64(n-1) / farthest
	}
	o.steps = slices.Grow(o.steps[:0], n+1)[:n+1]
	clear(o.steps)
	for i := range items {
		o.steps[int(items[i].Chord*scale)+1]++
	}
	for i := range n {
		o.steps[i+1] += o.steps[i]
	}
	sorted := slices.Grow(o.spare[:0], n)[:n]
	for i := range items {
		step := &o.steps[int(items[i].Chord*scale)]
		sorted[*step] = items[i]
		*step++ // where its step's next one goes, in the end where the step ends
	}
	o.spare = items
	from := 0
	for _, end := range o.steps[:n] {
		if end-from > 1 {
			sort(sorted[from:end], ties)
		}
		from = end
	}
	return sorted
}

func sort(items []Item, ties Ties) {
	slices.SortFunc(items, func(a, b Item) int {
		switch {
		case a.Chord < b.Chord:
			return -1
		case a.Chord > b.Chord:
			return 1
		}
		return ties.CompareTies(a.Place, b.Place)
	})
}
