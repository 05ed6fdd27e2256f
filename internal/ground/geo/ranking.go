package geo

import "slices"

// Ranked is a small stand-in for a search result. Results are large, and sorting stand-ins moves each result only once.
type Ranked struct {
	Chord float64 // squared chord to the centre, 0 to 4; see Vector.ChordSquared
	Ref   uint64  // the caller's reference to the result
}

// TieBreaker orders results that are equally far from the centre. CompareTies returns 0 only for equal references.
type TieBreaker interface {
	CompareTies(a, b uint64) int
}

// Ranking sorts results by distance and reuses its buffers between calls. The zero value is ready to use. It is not safe
// for concurrent use.
type Ranking struct {
	buckets []int
	spare   []Ranked
}

const (
	// minChord is the squared chord of a few nanometres; dividing by less would overflow the bucket scale.
	minChord = 1e-30
	// maxComparisonSort is the number of items up to which a comparison sort is as fast as a bucket sort.
	maxComparisonSort = 12
)

// Sort returns the items, nearest first. The result may be another slice than items; Ranking then keeps items as its buffer.
//
// It is a bucket sort over the squared chord with as many buckets as items: area grows with the squared chord, so items
// that are spread evenly over the map fill the buckets evenly, and few comparisons remain.
func (r *Ranking) Sort(items []Ranked, ties TieBreaker) []Ranked {
	n := len(items)
	if n <= maxComparisonSort {
		compareSort(items, ties)
		return items
	}
	farthest := 0.0
	for i := range items {
		farthest = max(farthest, items[i].Chord)
	}
	scale := 0.0 // all in one bucket
	if farthest > minChord {
		scale = float64(n-1) / farthest
	}
	r.buckets = slices.Grow(r.buckets[:0], n+1)[:n+1]
	clear(r.buckets)
	for i := range items {
		r.buckets[int(items[i].Chord*scale)+1]++
	}
	for i := range n {
		r.buckets[i+1] += r.buckets[i]
	}
	sorted := slices.Grow(r.spare[:0], n)[:n]
	for i := range items {
		bucket := &r.buckets[int(items[i].Chord*scale)]
		sorted[*bucket] = items[i]
		*bucket++ // the next free place of the bucket, finally its end
	}
	r.spare = items
	from := 0
	for _, end := range r.buckets[:n] {
		if end-from > 1 {
			compareSort(sorted[from:end], ties)
		}
		from = end
	}
	return sorted
}

func compareSort(items []Ranked, ties TieBreaker) {
	slices.SortFunc(items, func(a, b Ranked) int {
		switch {
		case a.Chord < b.Chord:
			return -1
		case a.Chord > b.Chord:
			return 1
		}
		return ties.CompareTies(a.Ref, b.Ref)
	})
}
